// A FencedTable small enough to be told in a line: of letters.
#ifndef LINKVANE_SERVER_STATE_TESTING_LETTERS_H_
#define LINKVANE_SERVER_STATE_TESTING_LETTERS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/state/fenced_table.h"

namespace linkvane::server {

// What is said of an object: a value, and one that runs by itself.
struct Said {
  int value = 0;
  int running = 0;
};

// A table of letters, and the changes that it tells: "a=1" (put), "-a" (removed).
class Letters {
 public:
  explicit Letters(absl::Duration grace = absl::ZeroDuration()) : table_(traits_, grace) {}

  void Event(char key, int value, int running = 0) { table_.EventSays(key, {value, running}); }
  void EventRemoves(char key) { table_.EventRemoves(key, now_); }

  uint64_t Begin() { return table_.Begin(/*whole=*/true, now_); }
  uint64_t Ask() { return table_.Begin(/*whole=*/false, now_); }
  void Says(uint64_t dump, char key, int value, int running = 0) {
    table_.DumpSays(dump, key, {value, running});
  }
  // `scope` is what the dump is about; everything, if it is empty.
  MergeOutcome<char> Finish(uint64_t dump, const std::string& scope = "") {
    return End(dump, scope, {});
  }
  MergeOutcome<char> FinishInterrupted(uint64_t dump) {
    return End(dump, "", {.interrupted = true});
  }
  MergeOutcome<char> FinishAfterALoss(uint64_t dump) {
    return End(dump, "", {.lost_events = true});
  }
  // A whole dump at this moment.
  MergeOutcome<char> Dump(const std::vector<std::pair<char, int>>& rows) {
    const uint64_t dump = Begin();
    for (const auto& [key, value] : rows) Says(dump, key, value);
    return Finish(dump);
  }

  void Pass(absl::Duration time) { now_ += time; }

  // "a1 b2".
  std::string Rows() const {
    std::string text;
    for (const auto& [key, slot] : table_.slots()) {
      absl::StrAppend(&text, text.empty() ? "" : " ", std::string(1, key), slot.row.value);
    }
    return text;
  }
  // The keys in the order in which they are shown.
  std::string Order() const {
    std::vector<std::pair<uint64_t, char>> places;
    for (const auto& [key, slot] : table_.slots()) places.emplace_back(slot.order, key);
    std::ranges::sort(places);
    std::string text;
    for (const auto& [place, key] : places) text += key;
    return text;
  }
  int Running(char key) const { return table_.Find(key)->running; }
  std::vector<std::string> TakeTold() { return std::exchange(traits_.told, {}); }
  int puts() const { return traits_.puts; }
  size_t tombstones() const { return table_.tombstones(); }
  uint64_t version() const { return table_.version(); }
  void Abandon(uint64_t dump) { table_.Abandon(dump, now_); }
  void Replace(char key, int running) { table_.Replace(key, {table_.Find(key)->value, running}); }

 private:
  struct Traits {
    using Key = char;
    using Row = Said;
    using Statement = Said;
    struct Kept {
      explicit Kept(const Said& s) : said(s) {}
      Said statement() const { return said; }
      Said said;
    };
    static Comparison Compare(const Said& row, const Said& said) {
      if (row.value != said.value) return Comparison::kDiffers;
      return row.running == said.running ? Comparison::kSame : Comparison::kOnlyVolatile;
    }
    Said Put(char key, const Said* /*old*/, const Said& said, Comparison comparison) {
      ++puts;
      if (comparison == Comparison::kDiffers) {
        told.push_back(absl::StrCat(std::string(1, key), "=", said.value));
      }
      return said;
    }
    void Removed(char key, const Said& /*old*/) { told.push_back(std::string{'-', key}); }
    std::vector<std::string> told;
    int puts = 0;
  };

  MergeOutcome<char> End(uint64_t dump, const std::string& scope, DumpFlaws flaws) {
    return table_.Finish(
        dump, flaws,
        [&scope](char key) { return scope.empty() || scope.find(key) != std::string::npos; }, now_);
  }

  Traits traits_;
  FencedTable<Traits> table_;
  absl::Time now_ = absl::UnixEpoch();
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_TESTING_LETTERS_H_
