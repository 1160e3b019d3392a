// What is read from the kernel for one answer and kept nowhere, because it is slow to get: virtual
// functions (a driver may take a millisecond and more for each) and what drivers tell of the
// physical link.
//
// It is read on a thread of its own, one request after the other, so that nobody who did not ask
// for it waits for it. While nobody does, the thread sleeps.
//
// Any thread.
#ifndef LINKVANE_SERVER_STATE_LIVE_VALUES_H_
#define LINKVANE_SERVER_STATE_LIVE_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>  // NOLINT(build/c++11)
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "netlink/connection_pool.h"
#include "netlink/ethtool.h"
#include "netlink/mutex.h"
#include "server/state/indexed_fields.h"
#include "server/state/interface_row.h"

namespace linkvane::server {

class LiveValues {
 public:
  struct Wanted {
    bool vfs = false;
    bool ethtool = false;
    bool any() const { return vfs || ethtool; }
  };
  // The fields of each interface that has any.
  using Result = absl::StatusOr<std::shared_ptr<const IndexedFields>>;
  using Done = std::function<void(const Result&)>;

  // How many requests may wait.
  static constexpr size_t kMostWaiting = 64;

  // Connections of NETLINK_ROUTE and of NETLINK_GENERIC.
  LiveValues(netlink::ConnectionPool& route, netlink::ConnectionPool& generic);
  ~LiveValues();

  void Start();
  // Ends the thread, and everything that waits with CANCELLED.
  void Stop();

  // Reads what is wanted of these interfaces, and calls `done` with it, on the thread; at once with
  // RESOURCE_EXHAUSTED if too many wait. An interface that is gone by then, or whose driver tells
  // nothing, has no fields. Errors are those of the kernel, and DEADLINE_EXCEEDED.
  void Read(Wanted wanted, std::vector<RowPtr> interfaces, absl::Time deadline, Done done)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Job {
    Wanted wanted;
    std::vector<RowPtr> interfaces;
    absl::Time deadline;
    Done done;
  };

  void Run();
  Result Answer(const Job& job);
  absl::Status ReadVfs(int32_t index, absl::Time deadline, std::string& out);
  absl::Status ReadEthtool(const Job& job,
                           absl::flat_hash_map<int32_t, netlink::EthtoolView>& settings);

  netlink::ConnectionPool& route_;
  netlink::ConnectionPool& generic_;
  std::optional<uint16_t> ethtool_family_;  // Only the thread's.

  Mutex mutex_;
  CondVar wake_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_LIVE_VALUES_H_
