// What one watcher still has to be told.
//
// While the reader keeps up, every change is kept and told as a step of its own. One that falls
// behind gets the rest as dirty keys: for each object, what the watcher knows and what is true now.
// So the memory is bounded by the number of objects, a slow reader costs nobody else anything, and
// the final state is never lost. A batch of dirty keys is complete up to one revision: removals
// first (addresses before interfaces), then the rest (interfaces first).
//
// Any thread. Locks: the state's before the subscription's own, which is the last.
#ifndef LINKVANE_SERVER_STATE_SUBSCRIPTION_H_
#define LINKVANE_SERVER_STATE_SUBSCRIPTION_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "netlink/mutex.h"
#include "server/state/change.h"
#include "server/state/filter.h"
#include "server/state/read_mask.h"
#include "server/state/row.h"
#include "server/state/snapshot.h"

namespace linkvane::server {

struct WatchOptions {
  bool interfaces = true;
  bool addrs = true;
  InterfaceFilter interface_filter;
  AddrFilter addr_filter;
  ReadMask interface_mask{ResourceKind::kInterface};
  ReadMask addr_mask{ResourceKind::kAddr};
  bool include_previous = false;
  bool skip_snapshot = false;
  // The reason (a ResyncReason) why the stream does not continue after resume_from; 0 if none was
  // given.
  int resync_reason = 0;
};

class Subscription {
 public:
  // Steps that are kept before the reader counts as behind.
  static constexpr size_t kMostSteps = 1024;
  // About where a response is cut, in bytes.
  static constexpr size_t kBatchBytes = 256 << 10;

  // `created` is the encoded WatchCreated; revisions are told with `epoch`.
  Subscription(WatchOptions options, std::string epoch, std::string created);

  // Where the stream begins: the state at `revision`. With the state's lock held, together with the
  // registration for later changes. Also anew, after wants_snapshot().
  void Begin(SnapshotPtr interfaces, SnapshotPtr addrs, uint64_t revision)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Takes a change. With the state's lock held.
  void Take(const ChangePtr& change) ABSL_LOCKS_EXCLUDED(mutex_);

  // Appends the next WatchResponse, encoded; false if there is nothing to say now.
  bool Next(std::string& out) ABSL_LOCKS_EXCLUDED(mutex_);

  // The snapshot was given up, as the reader was too slow: Begin() has to be called again.
  bool wants_snapshot() const ABSL_LOCKS_EXCLUDED(mutex_);

  // A bookmark; false if something else is to be said first.
  bool Bookmark(std::string& out) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  enum class Phase : uint8_t { kCreated, kResync, kSnapshot, kWantsSnapshot, kSynced, kLive };

  struct PendingEvent {
    int type = 0;  // An EventType; 0 for a gap.
    RowPtr row;
    RowPtr previous;
    FieldSet changed;
    uint64_t revision = 0;  // Of a gap: the revision of the loss.
    uint64_t from = 0;      // Of a gap: the last revision before.
    absl::Time time;
    uint32_t coalesced = 1;
    bool left_filter = false;
  };

  struct Dirty {
    RowPtr base;       // What the watcher knows; null if nothing.
    RowPtr last_seen;  // The last matching state of that incarnation.
    RowPtr now;        // Null: gone.
    bool now_visible = false;
    FieldSet changed;
    uint32_t steps = 0;
    uint64_t revision = 0;
    absl::Time time;
  };

  bool Wanted(const Change& change) const;
  bool Visible(const RowPtr& row) const;
  const ReadMask& MaskOf(const Row& row) const {
    return row.kind == ResourceKind::kInterface ? options_.interface_mask : options_.addr_mask;
  }
  void Fold(const Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddStep(const Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddDirty() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FillBatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool NextSnapshot(std::string& out) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool NextLive(std::string& out) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::string EncodeRevision(uint64_t number) const;
  void AppendCheckpoint(uint64_t number, std::string& out) const;
  std::string EncodeResource(const Row& row) const;
  void AppendEvent(const PendingEvent& event, std::string& events) const;

  const WatchOptions options_;
  const std::string epoch_;
  const std::string created_;

  mutable Mutex mutex_;
  Phase phase_ ABSL_GUARDED_BY(mutex_) = Phase::kCreated;
  int resync_reason_ ABSL_GUARDED_BY(mutex_);
  // The snapshot, and how far it has been sent.
  SnapshotPtr interfaces_ ABSL_GUARDED_BY(mutex_);
  SnapshotPtr addrs_ ABSL_GUARDED_BY(mutex_);
  size_t position_ ABSL_GUARDED_BY(mutex_) = 0;
  // Everything up to here has been taken.
  uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t synced_at_ ABSL_GUARDED_BY(mutex_) = 0;
  // What comes next: the dirty keys if there are any, then the steps.
  std::map<std::string, Dirty> dirty_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::pair<uint64_t, uint64_t>> dirty_gap_ ABSL_GUARDED_BY(mutex_);
  bool behind_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<ChangePtr> steps_ ABSL_GUARDED_BY(mutex_);
  // The batch being sent.
  std::deque<PendingEvent> batch_ ABSL_GUARDED_BY(mutex_);
  uint64_t batch_end_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_SUBSCRIPTION_H_
