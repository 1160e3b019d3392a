// Listings that have pages still to come.
//
// A listing keeps the rows (and the counters) that all its pages show, until one minute after its
// last use. The store is bounded: when it is full, listings whose last page was sent make room,
// then new ones are refused; a running one is never given up.
//
// Any thread.
#ifndef LINKVANE_SERVER_RPC_PAGE_STORE_H_
#define LINKVANE_SERVER_RPC_PAGE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "netlink/mutex.h"
#include "server/state/read_mask.h"
#include "server/state/row.h"
#include "server/state/stats_block.h"

namespace linkvane::server {

// What the pages of a listing are cut from. Immutable.
struct Listing {
  std::vector<RowPtr> rows;  // Those that match.
  ReadMask mask{ResourceKind::kInterface};
  std::shared_ptr<const StatsBlock> stats;
  std::shared_ptr<const IndexedFields> live;
  uint64_t revision = 0;
  absl::Time observed_at;
  std::string arguments;  // All arguments that have to stay the same from page to page, encoded.
  size_t bytes = 0;       // What it keeps alive, about.
};

class PageStore {
 public:
  static constexpr absl::Duration kKeep = absl::Minutes(1);
  static constexpr size_t kMostListings = 32;
  static constexpr size_t kMostBytes = size_t{128} << 20;

  explicit PageStore(std::string epoch)
      : epoch_(std::move(epoch)), random_(std::random_device{}()) {}

  // Keeps a listing. 0 if the store is full.
  uint64_t Keep(std::shared_ptr<const Listing> listing, absl::Time now);

  // The token of the page that begins at `position`. Only tokens that were made here are taken.
  std::string Token(uint64_t id, size_t position) const;

  enum class Found : uint8_t { kFound, kExpired, kMalformed };
  // The listing of a token, and where its page begins.
  Found Find(std::string_view token, absl::Time now, uint64_t& id,
             std::shared_ptr<const Listing>& listing, size_t& position);

  // The last page of a listing was sent (it may be asked for again, if there is room).
  void Finished(uint64_t id);

  // Drops what was not used for a minute.
  void Expire(absl::Time now);

  // Listings with pages still to come.
  size_t running() const;

 private:
  struct Entry {
    std::shared_ptr<const Listing> listing;
    absl::Time used;
    bool finished = false;
  };
  static uint64_t NewSecret();
  void ExpireLocked(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropLocked(std::map<uint64_t, Entry>::iterator it) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string epoch_;
  const uint64_t secret_ = NewSecret();
  mutable Mutex mutex_;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_PAGE_STORE_H_
