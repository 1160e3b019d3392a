// The one writer of the state: reads the kernel's events and dumps, and puts both into the tables.
//
// "One writer" is a lock, not a thread. A thread of the Observer's own waits for events; whoever
// needs a dump runs it on their own thread (DumpTable, AskLink, AskAddrs), without the lock while
// the kernel answers, so that events are drained and others read meanwhile. Every dump is fenced:
// see FencedTable.
//
// Locks: one, `mutex_`, for the state and the event socket. Nothing else is locked or called while
// it is held, except the ChangeSink.
#ifndef LINKVANE_SERVER_STATE_OBSERVER_H_
#define LINKVANE_SERVER_STATE_OBSERVER_H_

#include <atomic>
#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>  // NOLINT(build/c++11)
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "netlink/connection_pool.h"
#include "netlink/monitor.h"
#include "netlink/mutex.h"
#include "server/state/network_state.h"
#include "server/state/stats_block.h"

namespace linkvane::server {

struct DumpReport {
  // The kernel flagged the dump as interrupted, or has left out rows without a word: those that it
  // named are true, but others may exist.
  bool interrupted = false;
  // A row that was kept differs from what the dump said.
  bool conflict = false;
  // Changes of which no event had told.
  uint64_t changes = 0;
  // When the kernel was read.
  absl::Time observed_at;
  // The counters, if asked for.
  std::shared_ptr<const StatsBlock> stats;
};

class Observer {
 public:
  using MonitorOpener = std::function<absl::StatusOr<std::unique_ptr<netlink::Monitor>>()>;

  struct Callbacks {
    // After changes were told, on the thread that brought them, without any lock.
    std::function<void()> published;
    // After events were lost; likewise.
    std::function<void()> lost;
    // When AskDoubtful() has something to do, or VLANs have to be dumped since nobody knows what
    // they are; likewise.
    std::function<void()> doubtful = nullptr;
  };

  struct Counts {
    uint64_t dumps = 0;  // Of whole tables.
    uint64_t interrupted_dumps = 0;
    uint64_t overruns = 0;
    uint64_t audit_differences = 0;
    uint64_t event_datagrams = 0;
  };

  // `pool` and `sink` have to outlive the Observer. `open_monitor` opens the event socket, at the
  // start and again should it fail.
  Observer(std::string epoch, netlink::ConnectionPool& pool, MonitorOpener open_monitor,
           ChangeSink& sink, Callbacks callbacks);
  ~Observer();

  // Opens the event socket and starts to read it.
  absl::Status Start();
  // Ends the thread. Dumps have to have ended.
  void Stop();

  // Dumps a table and merges it. At most one call at a time for one table. Asks for the rows that
  // an interrupted dump did not name.
  absl::StatusOr<DumpReport> DumpTable(TableId table, bool with_stats, absl::Time deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Asks for one link, and merges the answer. NOT_FOUND if the kernel knows none. The kernel's own
  // name for it is in the answer: a name may be an alternative one.
  struct LinkAnswer {
    InterfaceRowPtr row;
    uint64_t revision = 0;
    DumpReport report;
  };
  absl::StatusOr<LinkAnswer> AskLink(int32_t index, bool with_stats, absl::Time deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<LinkAnswer> AskLink(std::string_view name, bool with_stats, absl::Time deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Asks for the links of one master or one kind (the kernel filters), and merges them. A link that
  // the table has among them but the answer does not name may have changed or gone: it is asked
  // for. False if there are so many of these that a dump of all is cheaper.
  absl::StatusOr<bool> AskLinks(const netlink::LinkDumpFilter& filter, absl::Time deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Asks for the interfaces of which the last event does not tell how they are now. False if there
  // are so many of these that a dump of all is cheaper.
  bool AskDoubtful(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);

  // Asks for the addresses of one family on one interface (the kernel filters), and merges them.
  absl::StatusOr<DumpReport> AskAddrs(TableId table, int32_t interface_index, absl::Time deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Reads the state: `read(NetworkState&)` runs with the lock held.
  template <typename F>
  auto Read(F&& read) ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    return std::forward<F>(read)(state_);
  }

  // Whether the tables are known to be right: every one was dumped without interruption since the
  // start and since the last loss of events.
  bool synced() const { return synced_.load(std::memory_order_acquire); }
  // Whether something happened since the last dump of the VLANs that changes them without an event.
  bool vlans_in_doubt() const { return vlans_in_doubt_.load(std::memory_order_acquire); }
  // The tables that still have to be dumped for that.
  std::vector<TableId> Unclean() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether they ever were known to be right.
  bool known() const { return known_.load(std::memory_order_acquire); }
  // When the kernel was last read, for a dump or for events.
  absl::Time last_read() const ABSL_LOCKS_EXCLUDED(mutex_);

  Counts counts() const ABSL_LOCKS_EXCLUDED(mutex_);
  const std::string& epoch() const { return epoch_; }
  std::optional<uint64_t> netns_cookie() const { return netns_cookie_; }

 private:
  // Drains the event socket into the state.
  void DrainLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteLossLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteDoubtsLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A dump without interruption has ended, during which the tables were told all changes.
  void NoteCleanLocked(TableId table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Calls the callbacks that a section with the lock, which began at these values, calls for.
  struct Before {
    uint64_t revision;
    uint64_t losses;
    uint64_t vlan_doubts;
    // Of a section that began a dump.
    uint64_t losses_at_fence;
    uint64_t vlan_doubts_at_fence;
  };
  Before BeforeLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return {state_.revision(), losses_, vlan_doubts_, losses_, vlan_doubts_};
  }
  void Publish(Before before) ABSL_LOCKS_EXCLUDED(mutex_);

  // `answered`, if not null, gets the indexes of the links that the answer names.
  absl::StatusOr<DumpReport> Ask(netlink::Request& request, RunningDump dump, Before before,
                                 std::shared_ptr<StatsBlock> stats, bool one_answer,
                                 std::vector<int32_t>* answered, absl::Time deadline,
                                 bool doubted = false) ABSL_LOCKS_EXCLUDED(mutex_);
  std::pair<RunningDump, Before> BeginQuestion(TableId table, std::optional<int32_t> index)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void AskForUnnamed(TableId table, const std::vector<int32_t>& unnamed, absl::Time deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void ReadEvents();
  void ReopenMonitor();

  const std::string epoch_;
  netlink::ConnectionPool& pool_;
  const MonitorOpener open_monitor_;
  const Callbacks callbacks_;
  std::optional<uint64_t> netns_cookie_;

  mutable Mutex mutex_;
  NetworkState state_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<netlink::Monitor> monitor_ ABSL_GUARDED_BY(mutex_);
  bool monitor_failed_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t losses_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t vlan_doubts_ ABSL_GUARDED_BY(mutex_) = 0;  // Of the state's, those that were noted.
  std::bitset<kTables> unclean_ ABSL_GUARDED_BY(mutex_);
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  absl::Time last_read_ ABSL_GUARDED_BY(mutex_);

  std::atomic<bool> synced_ = false;
  std::atomic<bool> vlans_in_doubt_ = false;
  std::atomic<bool> known_ = false;
  std::atomic<bool> stopping_ = false;
  int wake_fd_ = -1;
  std::thread thread_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_OBSERVER_H_
