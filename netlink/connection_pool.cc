#include "netlink/connection_pool.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

namespace linkvane::netlink {
namespace {

absl::Status ShutDown() { return absl::CancelledError("the netlink connections were shut down"); }

}  // namespace

ConnectionPool::Lease::~Lease() {
  if (connection_ != nullptr) pool_->Release(std::move(connection_));
}

ConnectionPool::ConnectionPool(size_t capacity, Opener opener)
    : capacity_(std::max<size_t>(capacity, 1)), opener_(std::move(opener)) {
  // Lending and giving back allocate nothing.
  idle_.reserve(capacity_);
  lent_.reserve(capacity_);
}

ConnectionPool::~ConnectionPool() = default;

absl::StatusOr<ConnectionPool::Lease> ConnectionPool::Acquire(absl::Time deadline) {
  {
    MutexLock lock(mutex_);
    if (absl::Status status = TakePlace(deadline); !status.ok()) return status;
    if (!idle_.empty()) {
      // The one used last: its buffer and its socket are the likeliest to be in the caches.
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      lent_.push_back(connection.get());
      return Lease(this, std::move(connection));
    }
  }

  absl::StatusOr<std::unique_ptr<Connection>> connection = opener_();
  MutexLock lock(mutex_);
  if (!connection.ok()) {
    LeavePlace();
    return connection.status();
  }
  ++opened_;
  if (shut_down_) {
    LeavePlace();
    return ShutDown();
  }
  lent_.push_back(connection->get());
  return Lease(this, *std::move(connection));
}

absl::Status ConnectionPool::TakePlace(absl::Time deadline) {
  if (shut_down_) return ShutDown();
  if (places_ < capacity_) {
    // A place is handed on to those who wait, so none is free while anybody does.
    ++places_;
    return absl::OkStatus();
  }
  Waiter waiter;
  waiters_.push_back(&waiter);
  while (!waiter.granted && !shut_down_ && absl::Now() < deadline) {
    waiter.condition.WaitUntil(mutex_, deadline);
  }
  if (!waiter.granted) std::erase(waiters_, &waiter);
  if (shut_down_) {
    if (waiter.granted) LeavePlace();
    return ShutDown();
  }
  if (!waiter.granted) {
    return absl::DeadlineExceededError("all netlink connections are in use");
  }
  return absl::OkStatus();
}

void ConnectionPool::LeavePlace() {
  if (waiters_.empty()) {
    --places_;
    return;
  }
  Waiter* const first = waiters_.front();
  waiters_.erase(waiters_.begin());
  first->granted = true;
  first->condition.NotifyOne();
}

void ConnectionPool::Release(std::unique_ptr<Connection> connection) {
  {
    MutexLock lock(mutex_);
    std::erase(lent_, connection.get());
    if (connection->healthy() && !shut_down_) {
      idle_.push_back(std::move(connection));
      LeavePlace();
      return;
    }
    if (!shut_down_) ++discarded_;
  }
  // Closed without the lock, but before the place is free: never more sockets than places.
  connection.reset();
  MutexLock lock(mutex_);
  LeavePlace();
}

void ConnectionPool::Shutdown() {
  std::vector<std::unique_ptr<Connection>> idle;
  MutexLock lock(mutex_);
  shut_down_ = true;
  for (Connection* connection : lent_) connection->Cancel();
  for (Waiter* waiter : waiters_) waiter->condition.NotifyOne();
  idle.swap(idle_);
}

ConnectionPool::Counts ConnectionPool::counts() const {
  MutexLock lock(mutex_);
  return {.opened = opened_,
          .discarded = discarded_,
          .in_use = places_,
          .idle = idle_.size(),
          .waiting = waiters_.size()};
}

}  // namespace linkvane::netlink
