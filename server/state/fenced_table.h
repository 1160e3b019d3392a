// A table that two sources keep right although they overtake each other: events, which tell of
// changes in their order, and dumps, which tell of everything but take a while.
//
// The fence. A dump begins when all events so far have been applied, and is merged when all events
// that came meanwhile have been. Every row remembers when it was last touched (by an event, by a
// removal that followed from one, or by a merge), on a clock that only counts touches. A row
// touched after the dump's fence keeps what it has, and a removed one stays away, since the dump
// may have read it before the change; every other row takes what the dump said, and goes if the
// dump did not name it. So the table never goes back in time. (A merge touches what it changed, and
// while other dumps run also what it confirmed.) Where a kept row and the dump differ, or where an
// interrupted dump did not name a row, Finish() says so and the caller looks again.
//
// Rows that did not change cost a comparison and nothing else: what a dump says is compared when it
// arrives, and only differences are kept until the merge.
//
// Traits:
//   Key, Row (a cheap handle), Statement (what the kernel says of an object; may point into a
//   buffer), Kept (owns a Statement: made from one, and statement() gives it back).
//   Comparison Compare(const Row&, const Statement&)
//   Row Put(const Key&, const Row* old, const Statement&, Comparison)   makes the new row, tells it
//   void Removed(const Key&, const Row& old)                            tells the removal
//
// Not thread-safe: whoever writes holds the state's lock.
#ifndef LINKVANE_SERVER_STATE_FENCED_TABLE_H_
#define LINKVANE_SERVER_STATE_FENCED_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace linkvane::server {

enum class Comparison : uint8_t {
  kSame,
  kOnlyVolatile,  // Only values that run by themselves differ: the row is refreshed, no change
                  // told.
  kDiffers
};

// Why a dump is less than it could be.
struct DumpFlaws {
  // The kernel's table changed meanwhile: what the dump said is true, its silence proves nothing.
  bool interrupted = false;
  // Events were lost since it began. What it said can be older than what a dump says that began
  // after the loss, so it touches nothing: the other's word counts, whichever is merged first.
  bool lost_events = false;
};

// What a merge did, and what it leaves to be done.
template <typename Key>
struct MergeOutcome {
  // A row that was kept differs from what the dump said: dump again, to be sure.
  bool conflict = false;
  // How many changes the dump brought, of which no event had told.
  uint64_t changes = 0;
  // Rows that an interrupted dump did not name. They are still there; ask for each.
  std::vector<Key> unnamed;
};

template <typename Traits>
class FencedTable {
 public:
  using Key = typename Traits::Key;
  using Row = typename Traits::Row;
  using Statement = typename Traits::Statement;
  using Kept = typename Traits::Kept;

  struct Slot {
    Row row;
    uint64_t touched = 0;  // On the touch clock.
    uint64_t version = 0;  // Of the row, unique in the table.
    // What the running whole dump said of it: which dump, at which place, of which version that it
    // is the same.
    uint64_t named_by = 0;
    uint64_t named_version = 0;
    uint64_t place = 0;
    // Rows of a group are shown in this order: places in the last whole dump, newer ones behind.
    uint64_t order = 0;
  };
  using Slots = absl::btree_map<Key, Slot>;
  using DumpId = uint64_t;

  // No dump that began within `removal_grace` after an event removed a row brings it back: for
  // tables whose kernel side announces a removal before it takes place.
  FencedTable(Traits& traits, absl::Duration removal_grace)
      : traits_(traits), removal_grace_(removal_grace) {}

  // An event says how an object is now.
  void EventSays(const Key& key, const Statement& statement) {
    tombstones_.erase(key);
    Slot& slot = PutIfDifferent(key, statement).first;
    slot.touched = ++touch_clock_;
  }

  // An event, or a removal that followed from one, says that an object is gone.
  bool EventRemoves(const Key& key, absl::Time now) {
    const auto it = slots_.find(key);
    Bury(key, now, /*by_event=*/true);
    if (it == slots_.end()) return false;
    Remove(it);
    return true;
  }

  // Puts the fence: call it when every event so far has been applied. At most one whole dump of the
  // same rows at a time.
  DumpId Begin(bool whole, absl::Time now) {
    const DumpId id = ++last_dump_;
    running_.emplace(id, Dump{.fence = touch_clock_, .begun = now, .whole = whole});
    return id;
  }

  // The dump says how an object is.
  void DumpSays(DumpId id, const Key& key, const Statement& statement) {
    Dump& dump = running_.at(id);
    const auto it = slots_.find(key);
    if (!dump.whole) dump.named[key] = it == slots_.end() ? 0 : it->second.version;
    const uint64_t place = dump.whole ? ++dump.places : 0;
    if (it != slots_.end()) {
      Slot& slot = it->second;
      if (dump.whole) {
        slot.named_by = id;
        slot.named_version = slot.version;
        slot.place = place;
      }
      if (traits_.Compare(slot.row, statement) == Comparison::kSame) return;
    }
    dump.staged.push_back({key, Kept(statement), place});
  }

  // Merges the dump: call it when every event that came meanwhile has been applied. `in_scope` says
  // for which rows the dump's silence means absence.
  MergeOutcome<Key> Finish(DumpId id, DumpFlaws flaws, absl::FunctionRef<bool(const Key&)> in_scope,
                           absl::Time now) {
    auto node = running_.extract(id);
    Dump& dump = node.mapped();
    MergeOutcome<Key> outcome;
    outcome.conflict = dump.conflict;

    // What the dump named in a way that differs from the table. `kept` rows stay as they are.
    std::vector<std::pair<Key, Kept>> puts;
    absl::flat_hash_map<Key, uint64_t> staged;  // With places.
    for (auto& [key, kept, place] : dump.staged) {
      staged[key] = place;
      const auto it = slots_.find(key);
      if (it != slots_.end()) {
        const Comparison comparison = traits_.Compare(it->second.row, kept.statement());
        if (comparison == Comparison::kSame) continue;
        if (it->second.touched > dump.fence) {
          outcome.conflict = outcome.conflict || comparison == Comparison::kDiffers;
          continue;
        }
      } else if (StaysAway(key, dump)) {
        outcome.conflict = true;
        continue;
      }
      puts.emplace_back(key, std::move(kept));
    }

    // What it did not name, and what changed since it named it.
    std::vector<Key> removals;
    for (auto& [key, slot] : slots_) {
      const auto said = staged.find(key);
      const bool differed = said != staged.end();
      const uint64_t* same_version = NamedVersion(id, dump, key, slot);
      if (differed || same_version != nullptr) {
        if (!differed && slot.version == *same_version) {
          // Another dump that runs may have read it earlier.
          if (!running_.empty() && !flaws.lost_events) slot.touched = ++touch_clock_;
        } else if (!differed && slot.touched > dump.fence) {
          outcome.conflict = true;
        }
        if (dump.whole && !flaws.interrupted) {
          PutInPlace(slot, slot.named_by == id ? slot.place : said->second);
        }
      } else if (in_scope(key)) {
        if (slot.touched > dump.fence) {
          outcome.conflict = true;
        } else if (flaws.interrupted) {
          outcome.unnamed.push_back(key);
        } else {
          removals.push_back(key);
        }
      }
    }

    // A traits call may remove rows of its own accord (they follow from another's removal), so look
    // each up again.
    for (const Key& key : removals) {
      const auto it = slots_.find(key);
      if (it == slots_.end()) continue;
      if (!flaws.lost_events) Bury(key, now, /*by_event=*/false);
      Remove(it);
      ++outcome.changes;
    }
    for (auto& [key, kept] : puts) {
      tombstones_.erase(key);
      auto [slot, comparison] = PutIfDifferent(key, kept.statement());
      if (comparison == Comparison::kDiffers) {
        if (!flaws.lost_events) slot.touched = ++touch_clock_;
        ++outcome.changes;
      }
      if (dump.whole && !flaws.interrupted) PutInPlace(slot, staged.at(key));
    }
    Exhume(now);
    return outcome;
  }

  // Forgets a dump that failed.
  void Abandon(DumpId id, absl::Time now) {
    running_.erase(id);
    Exhume(now);
  }

  // Replaces a row for a reason that lies in another table (a name it shows). No touch: the kernel
  // said nothing of it.
  void Replace(const Key& key, Row row) {
    Slot& slot = slots_.at(key);
    slot.row = std::move(row);
    // The dump's word for the old row holds for the new one, which says the same.
    const uint64_t old_version = std::exchange(slot.version, ++version_clock_);
    if (slot.named_version == old_version) slot.named_version = slot.version;
    for (auto& [id, dump] : running_) {
      const auto it = dump.named.find(key);
      if (it != dump.named.end() && it->second == old_version) it->second = slot.version;
    }
  }

  const Slots& slots() const { return slots_; }
  const Row* Find(const Key& key) const {
    const auto it = slots_.find(key);
    return it == slots_.end() ? nullptr : &it->second.row;
  }
  // Grows with everything that a reader of the table could notice.
  uint64_t version() const { return version_clock_; }
  // Removals still remembered. For tests.
  size_t tombstones() const { return tombstones_.size(); }

 private:
  // What a dump said that was different then from what the table had.
  struct Staged {
    Key key;
    Kept kept;
    uint64_t place;
  };
  struct Dump {
    uint64_t fence = 0;
    absl::Time begun;
    bool whole = false;
    bool conflict = false;
    uint64_t places = 0;
    std::vector<Staged> staged;
    absl::flat_hash_map<Key, uint64_t> named;  // Of a dump that is not whole: with versions.
  };
  struct Tombstone {
    uint64_t touched = 0;
    absl::Time time;
    bool by_event = false;
  };

  // The version of the row that the dump named; null if it did not name it, or not before it came.
  static const uint64_t* NamedVersion(DumpId id, const Dump& dump, const Key& key,
                                      const Slot& slot) {
    if (dump.whole) return slot.named_by == id ? &slot.named_version : nullptr;
    const auto it = dump.named.find(key);
    return it == dump.named.end() ? nullptr : &it->second;
  }

  void PutInPlace(Slot& slot, uint64_t place) {
    if (slot.order == place) return;
    slot.order = place;
    ++version_clock_;
  }

  std::pair<Slot&, Comparison> PutIfDifferent(const Key& key, const Statement& statement) {
    const auto it = slots_.find(key);
    if (it == slots_.end()) {
      Row row = traits_.Put(key, nullptr, statement, Comparison::kDiffers);
      Slot& slot = slots_[key];
      slot.row = std::move(row);
      slot.version = ++version_clock_;
      slot.order = kBehindAllPlaces + slot.version;
      return {slot, Comparison::kDiffers};
    }
    const Comparison comparison = traits_.Compare(it->second.row, statement);
    if (comparison == Comparison::kSame) return {it->second, comparison};
    const Row old = it->second.row;
    Row row = traits_.Put(key, &old, statement, comparison);
    Slot& slot = slots_.at(key);
    slot.row = std::move(row);
    slot.version = ++version_clock_;
    return {slot, comparison};
  }

  void Remove(typename Slots::iterator it) {
    // A running dump may have said before that it is there.
    for (auto& [id, dump] : running_) {
      if (dump.whole ? it->second.named_by == id : dump.named.contains(it->first)) {
        dump.conflict = true;
      }
    }
    const Key key = it->first;
    const Row old = std::move(it->second.row);
    slots_.erase(it);
    ++version_clock_;
    traits_.Removed(key, old);
  }

  void Bury(const Key& key, absl::Time now, bool by_event) {
    const Tombstone stone{.touched = ++touch_clock_, .time = now, .by_event = by_event};
    if (!running_.empty() || (by_event && removal_grace_ > absl::ZeroDuration())) {
      tombstones_[key] = stone;
    }
  }

  bool StaysAway(const Key& key, const Dump& dump) const {
    const auto it = tombstones_.find(key);
    return it != tombstones_.end() && Outweighs(it->second, dump);
  }

  bool Outweighs(const Tombstone& stone, const Dump& dump) const {
    return stone.touched > dump.fence || InGrace(stone, dump.begun);
  }
  bool InGrace(const Tombstone& stone, absl::Time time) const {
    return stone.by_event && time - stone.time < removal_grace_;
  }

  // Drops the tombstones that neither a running dump nor one that begins now needs.
  void Exhume(absl::Time now) {
    for (auto it = tombstones_.begin(); it != tombstones_.end();) {
      const Tombstone& stone = it->second;
      const bool needed =
          InGrace(stone, now) || std::ranges::any_of(running_, [&](const auto& dump) {
            return Outweighs(stone, dump.second);
          });
      it = needed ? std::next(it) : tombstones_.erase(it);
    }
  }

  static constexpr uint64_t kBehindAllPlaces = uint64_t{1} << 48;

  Traits& traits_;
  const absl::Duration removal_grace_;
  Slots slots_;
  std::map<Key, Tombstone> tombstones_;
  std::map<DumpId, Dump> running_;
  uint64_t touch_clock_ = 0;
  uint64_t version_clock_ = 0;
  DumpId last_dump_ = 0;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_FENCED_TABLE_H_
