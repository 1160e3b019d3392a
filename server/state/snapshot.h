// A table's rows at one moment, in order, shared by all who read it.
#ifndef LINKVANE_SERVER_STATE_SNAPSHOT_H_
#define LINKVANE_SERVER_STATE_SNAPSHOT_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "server/state/row.h"

namespace linkvane::server {

struct Snapshot {
  std::vector<RowPtr> rows;
  // Set when so many newer ones are alive that whoever still reads this one has to start anew.
  // Its rows stay valid as long as it is held.
  mutable std::atomic<bool> expired = false;
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

// Keeps the latest snapshot of a table, and bounds how many live: what an old one holds back is
// memory of rows that are long gone.
class SnapshotCache {
 public:
  static constexpr size_t kLive = 8;

  // The snapshot of table version `version`; `fill(std::vector<RowPtr>&)` makes it if need be.
  template <typename Fill>
  const SnapshotPtr& Get(uint64_t version, Fill&& fill) {
    if (latest_ != nullptr && version_ == version) return latest_;
    auto snapshot = std::make_shared<Snapshot>();
    fill(snapshot->rows);
    latest_ = std::move(snapshot);
    version_ = version;
    std::erase_if(live_, [](const std::weak_ptr<const Snapshot>& held) { return held.expired(); });
    live_.push_back(latest_);
    while (live_.size() > kLive) {
      if (const SnapshotPtr oldest = live_.front().lock()) oldest->expired = true;
      live_.pop_front();
    }
    return latest_;
  }

 private:
  SnapshotPtr latest_;
  uint64_t version_ = 0;
  std::deque<std::weak_ptr<const Snapshot>> live_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_SNAPSHOT_H_
