// A bounded number of connections, lent to one user at a time.
//
// Connections are opened when needed and kept, for a primed one with its grown buffer is what makes
// a dump cheap. One that is no longer healthy, or was cancelled, is closed instead of kept.
//
// All methods may be called from any thread.
#ifndef LINKVANE_NETLINK_CONNECTION_POOL_H_
#define LINKVANE_NETLINK_CONNECTION_POOL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "netlink/connection.h"
#include "netlink/mutex.h"

namespace linkvane::netlink {

class ConnectionPool {
 public:
  using Opener = std::function<absl::StatusOr<std::unique_ptr<Connection>>()>;

  // A connection, given back when the lease ends. Must not outlive the pool.
  class Lease {
   public:
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Connection* operator->() const { return connection_.get(); }
    Connection& operator*() const { return *connection_; }

   private:
    friend class ConnectionPool;
    Lease(ConnectionPool* pool, std::unique_ptr<Connection> connection)
        : pool_(pool), connection_(std::move(connection)) {}
    ConnectionPool* pool_;
    std::unique_ptr<Connection> connection_;  // Null once moved from.
  };

  struct Counts {
    uint64_t opened = 0;     // Connections opened since the start.
    uint64_t discarded = 0;  // Closed because they were not healthy.
    size_t in_use = 0;
    size_t idle = 0;
    size_t waiting = 0;  // Callers that wait for one.
  };

  // `capacity` is at least 1. `opener` opens connections; it may be called from several threads.
  ConnectionPool(size_t capacity, Opener opener);
  ~ConnectionPool();

  // Lends a connection; waits for one, first come first served, while all are lent. Errors:
  // DEADLINE_EXCEEDED, CANCELLED after Shutdown(), and those of the opener.
  absl::StatusOr<Lease> Acquire(absl::Time deadline);

  // Cancels what the lent connections do, and every later Acquire().
  void Shutdown();

  Counts counts() const;
  size_t capacity() const { return capacity_; }

 private:
  // One caller of Acquire() that waits. Lives on its stack.
  struct Waiter {
    CondVar condition;
    bool granted = false;
  };

  // Waits for one of the `capacity_` places, and takes it.
  absl::Status TakePlace(absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Hands the caller's place on to whoever waits longest.
  void LeavePlace() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Release(std::unique_ptr<Connection> connection);

  const size_t capacity_;
  const Opener opener_;

  mutable Mutex mutex_;
  bool shut_down_ ABSL_GUARDED_BY(mutex_) = false;
  // Places taken: connections that are lent, being opened or being closed.
  size_t places_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Waiter*> waiters_ ABSL_GUARDED_BY(mutex_);  // In the order they came.
  std::vector<std::unique_ptr<Connection>> idle_ ABSL_GUARDED_BY(mutex_);  // Last used last.
  // The lent ones, for Shutdown(). A connection leaves it before it is destroyed.
  std::vector<Connection*> lent_ ABSL_GUARDED_BY(mutex_);
  uint64_t opened_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t discarded_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_CONNECTION_POOL_H_
