// Decides when the kernel is asked, and lets all who wait share the answer.
//
// A dump that starts after a request came is fresh enough for it. So a table has at most one dump
// running and one generation of callers waiting for the next: a thousand callers cost the kernel
// what one costs. The dump runs on the thread of whoever came first; the others' callbacks run
// there too.
//
// A thread of its own looks after what nobody asks for: the repair after a loss of events, another
// look after an interrupted or contradicted dump, and the audits, in which every table is dumped
// again since some changes make no event.
#ifndef LINKVANE_SERVER_STATE_REFRESHER_H_
#define LINKVANE_SERVER_STATE_REFRESHER_H_

#include <array>
#include <functional>
#include <memory>
#include <random>
#include <thread>  // NOLINT(build/c++11)
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "netlink/mutex.h"
#include "server/state/observer.h"

namespace linkvane::server {

class Refresher {
 public:
  // What came of it: OK, and when the kernel was read; else why not, as in Observer::DumpTable, or
  // UNAVAILABLE at the deadline while no uninterrupted dump could be had.
  struct Result {
    absl::Status status;
    absl::Time observed_at;
    std::shared_ptr<const StatsBlock> stats;
  };
  using Done = std::function<void(const Result&)>;

  // Tables are audited every `audit_interval`, more or less.
  Refresher(Observer& observer, absl::Duration audit_interval);
  ~Refresher();

  void Start();
  // Ends the thread, and everything that waits with CANCELLED.
  void Stop();

  // Calls `done` once the table reflects everything that happened before this call: on this thread,
  // after a dump, or on another's if one is running already. After a loss of events, that includes
  // the repair of all tables.
  void Refresh(TableId table, bool with_stats, absl::Time deadline, Done done)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Calls `done` as soon as the tables are known to be right; at once if they are.
  void WhenSynced(absl::Time deadline, Done done) ABSL_LOCKS_EXCLUDED(mutex_);

  // Refresh() of several tables, one after the other.
  void RefreshAll(std::vector<TableId> tables, absl::Time deadline, Done done)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Calls `done` at once if the tables were ever known to be right, else as WhenSynced().
  void WhenKnown(absl::Time deadline, Done done) ABSL_LOCKS_EXCLUDED(mutex_);

  // An answer contradicted the table, or was interrupted: has the table dumped soon.
  void LookAgain(TableId table) ABSL_LOCKS_EXCLUDED(mutex_);

  // Has the maintenance thread look again (events were lost).
  void Wake() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Waiter {
    bool with_stats = false;
    absl::Time deadline;
    Done done;
  };
  struct Parked {
    absl::Time deadline;
    Result result;
    Done done;
  };
  struct Table {
    bool running = false;
    std::vector<Waiter> waiting;
    absl::Time next_audit = absl::InfiniteFuture();
    absl::Time next_look = absl::InfiniteFuture();  // After an interruption or a contradiction.
    absl::Duration pause;
    int looks = 0;
  };

  // `done`, after another look at the VLANs of bridges if those are in doubt.
  Done WithVlans(absl::Time deadline, Done done);
  void RunGenerations(TableId table);
  // When to look at a table again after a dump.
  void Plan(Table& table, bool again) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Park(const Parked& parked) ABSL_LOCKS_EXCLUDED(mutex_);
  void ReleaseParked() ABSL_LOCKS_EXCLUDED(mutex_);
  void Maintain();
  absl::Time NextDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration Jittered(absl::Duration interval) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Observer& observer_;
  const absl::Duration audit_interval_;

  Mutex mutex_;
  CondVar wake_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  std::array<Table, kTables> tables_ ABSL_GUARDED_BY(mutex_);
  std::vector<Parked> parked_ ABSL_GUARDED_BY(mutex_);
  absl::Time next_repair_ ABSL_GUARDED_BY(mutex_);
  absl::Duration repair_pause_ ABSL_GUARDED_BY(mutex_);
  std::minstd_rand random_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_REFRESHER_H_
