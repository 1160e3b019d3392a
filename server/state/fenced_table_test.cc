#include "server/state/fenced_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace linkvane::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

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

TEST(FencedTableTest, TakesWhatADumpSays) {
  Letters letters;
  letters.Dump({{'a', 1}, {'b', 1}, {'c', 1}});
  letters.TakeTold();
  const MergeOutcome<char> outcome = letters.Dump({{'a', 1}, {'b', 2}, {'d', 1}});
  EXPECT_EQ(letters.Rows(), "a1 b2 d1");
  EXPECT_THAT(letters.TakeTold(), UnorderedElementsAre("b=2", "-c", "d=1"));
  EXPECT_EQ(outcome.changes, 3);
  EXPECT_FALSE(outcome.conflict);
  EXPECT_THAT(outcome.unnamed, IsEmpty());
}

TEST(FencedTableTest, KeepsRowsThatAnEventTouchedAfterTheFence) {
  Letters letters;
  letters.Dump({{'a', 1}, {'b', 1}});
  const uint64_t dump = letters.Begin();
  letters.Event('a', 2);
  letters.Event('b', 1);  // Says what was known: that counts, too.
  letters.Says(dump, 'a', 1);
  letters.Says(dump, 'b', 0);
  const MergeOutcome<char> outcome = letters.Finish(dump);
  EXPECT_EQ(letters.Rows(), "a2 b1");
  EXPECT_TRUE(outcome.conflict);
  EXPECT_EQ(outcome.changes, 0);
}

TEST(FencedTableTest, OverwritesRowsThatAnEventTouchedBeforeTheFence) {
  Letters letters;
  letters.Event('a', 2);
  EXPECT_FALSE(letters.Dump({{'a', 1}}).conflict);
  EXPECT_EQ(letters.Rows(), "a1");
}

TEST(FencedTableTest, ARowRemovedAfterTheFenceStaysAway) {
  Letters letters;
  letters.Dump({{'a', 1}});
  const uint64_t dump = letters.Begin();
  letters.EventRemoves('a');
  letters.Says(dump, 'a', 1);
  EXPECT_TRUE(letters.Finish(dump).conflict);
  EXPECT_EQ(letters.Rows(), "");
}

TEST(FencedTableTest, ARowThatCameAndWentAfterTheFenceStaysAway) {
  Letters letters;
  const uint64_t dump = letters.Begin();
  letters.Says(dump, 'a', 1);
  letters.EventRemoves('a');  // Its coming was before the fence, and is not known.
  EXPECT_TRUE(letters.Finish(dump).conflict);
  EXPECT_EQ(letters.Rows(), "");
}

TEST(FencedTableTest, ARowRemovedBeforeTheFenceComesBack) {
  Letters letters;
  letters.Event('a', 1);
  letters.EventRemoves('a');
  letters.Dump({{'a', 1}});
  EXPECT_EQ(letters.Rows(), "a1");
}

TEST(FencedTableTest, KeepsARowThatCameAfterTheFenceThoughTheDumpDoesNotNameIt) {
  Letters letters;
  const uint64_t dump = letters.Begin();
  letters.Event('a', 1);
  EXPECT_TRUE(letters.Finish(dump).conflict);
  EXPECT_EQ(letters.Rows(), "a1");
}

TEST(FencedTableTest, ARowThatChangedAfterTheDumpNamedItAsItWasIsAConflict) {
  Letters letters;
  letters.Dump({{'a', 1}});
  for (const bool whole : {true, false}) {
    const uint64_t dump = whole ? letters.Begin() : letters.Ask();
    letters.Says(dump, 'a', letters.Rows() == "a1" ? 1 : 2);
    letters.Event('a', letters.Rows() == "a1" ? 2 : 3);
    EXPECT_TRUE(letters.Finish(dump, "a").conflict) << whole;
  }
  EXPECT_EQ(letters.Rows(), "a3");
}

TEST(FencedTableTest, ARowThatWentAfterTheDumpNamedItIsAConflict) {
  Letters letters;
  letters.Dump({{'a', 1}, {'b', 1}});
  const uint64_t dump = letters.Begin();
  const uint64_t question = letters.Ask();
  letters.Says(dump, 'a', 1);
  letters.Says(question, 'b', 1);
  letters.EventRemoves('a');
  letters.EventRemoves('b');
  EXPECT_TRUE(letters.Finish(dump).conflict);
  EXPECT_TRUE(letters.Finish(question, "b").conflict);
}

TEST(FencedTableTest, WhatEventsHadSaidAlreadyIsNoConflictAndNoChange) {
  Letters letters;
  letters.Dump({{'a', 1}, {'b', 1}});
  letters.TakeTold();
  const uint64_t dump = letters.Begin();
  letters.Says(dump, 'a', 2);
  letters.Event('a', 2);
  letters.EventRemoves('b');
  const MergeOutcome<char> outcome = letters.Finish(dump);
  EXPECT_FALSE(outcome.conflict);
  EXPECT_EQ(outcome.changes, 0);
  EXPECT_THAT(letters.TakeTold(), ElementsAre("a=2", "-b"));
}

TEST(FencedTableTest, TombstonesAreKeptUntilNoRunningDumpBeganBeforeThem) {
  Letters letters;
  letters.Dump({{'a', 1}});
  const uint64_t early = letters.Begin();
  letters.EventRemoves('a');
  const uint64_t late = letters.Ask();
  letters.Finish(late, "a");
  EXPECT_EQ(letters.tombstones(), 1);
  letters.Says(early, 'a', 1);
  letters.Finish(early);
  EXPECT_EQ(letters.Rows(), "");
  EXPECT_EQ(letters.tombstones(), 0);
}

TEST(FencedTableTest, ADumpThatFailedKeepsNoTombstoneAndChangesNothing) {
  Letters letters;
  letters.Dump({{'a', 1}, {'b', 1}});
  const uint64_t dump = letters.Begin();
  letters.Says(dump, 'a', 2);
  letters.EventRemoves('b');
  EXPECT_EQ(letters.tombstones(), 1);
  letters.Abandon(dump);
  EXPECT_EQ(letters.Rows(), "a1");
  EXPECT_EQ(letters.tombstones(), 0);
}

TEST(FencedTableTest, WithoutADumpNoTombstoneIsKept) {
  Letters letters;
  letters.Event('a', 1);
  letters.EventRemoves('a');
  EXPECT_EQ(letters.tombstones(), 0);
}

TEST(FencedTableTest, AnInterruptedDumpNeverRemovesAndTellsWhatItDidNotName) {
  Letters letters;
  letters.Dump({{'a', 1}, {'b', 1}, {'c', 1}, {'d', 1}});
  const uint64_t dump = letters.Begin();
  letters.Says(dump, 'b', 2);
  letters.Says(dump, 'e', 1);
  letters.Event('d', 1);
  const MergeOutcome<char> outcome = letters.FinishInterrupted(dump);
  EXPECT_EQ(letters.Rows(), "a1 b2 c1 d1 e1");
  EXPECT_THAT(outcome.unnamed, ElementsAre('a', 'c'));  // Of d an event spoke.
}

TEST(FencedTableTest, AQuestionRemovesOnlyWhatItAskedFor) {
  Letters letters;
  letters.Dump({{'a', 1}, {'b', 1}, {'c', 1}});
  const uint64_t question = letters.Ask();
  letters.Says(question, 'b', 2);
  letters.Finish(question, "ab");
  EXPECT_EQ(letters.Rows(), "b2 c1");
}

TEST(FencedTableTest, AMergeCountsAsATouchForOtherDumps) {
  Letters letters;
  letters.Dump({{'a', 1}, {'b', 1}, {'c', 1}});
  const uint64_t dump = letters.Begin();
  letters.Says(dump, 'b', 1);
  letters.Says(dump, 'c', 0);
  const uint64_t question = letters.Ask();
  letters.Says(question, 'a', 2);
  letters.Says(question, 'c', 1);  // Confirmed, after the dump read otherwise.
  letters.Finish(question, "abc");
  EXPECT_EQ(letters.Rows(), "a2 c1");
  EXPECT_TRUE(letters.Finish(dump).conflict);
  EXPECT_EQ(letters.Rows(), "a2 c1");
}

TEST(FencedTableTest, DumpsOfDifferentRowsDoNotSeeEachOther) {
  Letters letters;
  letters.Dump({{'a', 1}, {'b', 1}});
  const uint64_t first = letters.Begin();
  const uint64_t second = letters.Begin();
  letters.Says(second, 'b', 2);
  letters.Says(first, 'a', 2);
  EXPECT_FALSE(letters.Finish(first, "a").conflict);
  EXPECT_FALSE(letters.Finish(second, "b").conflict);
  EXPECT_EQ(letters.Rows(), "a2 b2");
}

TEST(FencedTableTest, UnchangedRowsAreNotMadeAgain) {
  Letters letters;
  letters.Dump({{'a', 1}, {'b', 1}});
  const int puts = letters.puts();
  const uint64_t version = letters.version();
  letters.Dump({{'a', 1}, {'b', 1}});
  letters.Event('a', 1);
  EXPECT_EQ(letters.puts(), puts);
  EXPECT_EQ(letters.version(), version);
}

TEST(FencedTableTest, ValuesThatRunByThemselvesAreRefreshedWithoutAChange) {
  Letters letters;
  letters.Dump({{'a', 1}, {'b', 1}});
  letters.TakeTold();
  const uint64_t dump = letters.Begin();
  letters.Says(dump, 'a', 1, /*running=*/7);
  letters.Says(dump, 'b', 1);
  EXPECT_EQ(letters.Finish(dump).changes, 0);
  letters.Event('b', 1, /*running=*/8);
  EXPECT_EQ(letters.Running('a'), 7);
  EXPECT_EQ(letters.Running('b'), 8);
  EXPECT_THAT(letters.TakeTold(), IsEmpty());
}

TEST(FencedTableTest, RowsHaveTheirPlacesInTheLastWholeDump) {
  Letters letters;
  letters.Dump({{'c', 1}, {'a', 1}, {'b', 1}});
  EXPECT_EQ(letters.Order(), "cab");
  const uint64_t version = letters.version();
  letters.Dump({{'b', 1}, {'a', 1}, {'c', 1}});
  EXPECT_EQ(letters.Order(), "bac");
  EXPECT_GT(letters.version(), version);
}

TEST(FencedTableTest, ARowThatTheDumpBringsHasItsPlaceAtOnce) {
  Letters letters;
  letters.Dump({{'c', 1}, {'a', 1}});
  const uint64_t dump = letters.Begin();
  letters.Says(dump, 'c', 1);
  letters.Says(dump, 'd', 1);
  letters.Says(dump, 'b', 1);
  letters.Says(dump, 'a', 2);
  letters.Event('d', 1);
  letters.Finish(dump);
  EXPECT_EQ(letters.Order(), "cdba");
}

TEST(FencedTableTest, NewRowsOfEventsStandBehindInTheirOrder) {
  Letters letters;
  letters.Dump({{'c', 1}, {'d', 1}});
  letters.Event('b', 1);
  letters.Event('a', 1);
  EXPECT_EQ(letters.Order(), "cdba");
}

TEST(FencedTableTest, InterruptedDumpsAndQuestionsMoveNothing) {
  Letters letters;
  letters.Dump({{'b', 1}, {'a', 1}});
  const uint64_t dump = letters.Begin();
  letters.Says(dump, 'a', 1);
  letters.Says(dump, 'b', 1);
  letters.FinishInterrupted(dump);
  const uint64_t question = letters.Ask();
  letters.Says(question, 'a', 2);
  letters.Finish(question, "a");
  EXPECT_EQ(letters.Order(), "ba");
}

TEST(FencedTableTest, WithinTheGraceAnEventsRemovalOutweighsADumpThatBeganAfterIt) {
  Letters letters(absl::Seconds(1));
  letters.Event('a', 1);
  letters.EventRemoves('a');
  letters.Pass(absl::Milliseconds(999));
  const uint64_t dump = letters.Begin();
  letters.Says(dump, 'a', 1);
  letters.Pass(absl::Seconds(9));  // It takes its time; what counts is when it began.
  EXPECT_TRUE(letters.Finish(dump).conflict);
  EXPECT_EQ(letters.Rows(), "");
}

TEST(FencedTableTest, AfterTheGraceADumpIsBelieved) {
  Letters letters(absl::Seconds(1));
  letters.Event('a', 1);
  letters.EventRemoves('a');
  EXPECT_EQ(letters.tombstones(), 1);
  letters.Pass(absl::Seconds(1));
  letters.Dump({{'a', 1}});
  EXPECT_EQ(letters.Rows(), "a1");
  EXPECT_EQ(letters.tombstones(), 0);
}

TEST(FencedTableTest, WithinTheGraceAnEventBringsARowBack) {
  Letters letters(absl::Seconds(1));
  letters.Event('a', 1);
  letters.EventRemoves('a');
  letters.Event('a', 2);
  EXPECT_FALSE(letters.Dump({{'a', 2}}).conflict);
  EXPECT_EQ(letters.Rows(), "a2");
}

TEST(FencedTableTest, TheGraceIsOnlyForRemovalsThatAnEventTold) {
  Letters letters(absl::Seconds(1));
  letters.Dump({{'a', 1}});
  letters.Dump({});
  letters.Dump({{'a', 1}});
  EXPECT_EQ(letters.Rows(), "a1");
}

TEST(FencedTableTest, AnEventThatBringsARowBackEndsTheGrace) {
  Letters letters(absl::Seconds(1));
  letters.Event('a', 1);
  letters.EventRemoves('a');
  letters.Event('a', 2);
  letters.Dump({});
  letters.Dump({{'a', 2}});
  EXPECT_EQ(letters.Rows(), "a2");
}

TEST(FencedTableTest, ARemovalThatAMergeBroughtIsRememberedForOtherDumps) {
  Letters letters;
  letters.Dump({{'a', 1}});
  const uint64_t dump = letters.Begin();
  letters.Finish(letters.Ask(), "a");  // Finds it gone.
  EXPECT_EQ(letters.tombstones(), 1);
  letters.Says(dump, 'a', 1);
  EXPECT_TRUE(letters.Finish(dump).conflict);
  EXPECT_EQ(letters.Rows(), "");
}

TEST(FencedTableTest, ADumpThatBeganAfterALossOutweighsOneThatBeganBeforeIt) {
  for (const bool older_first : {true, false}) {
    Letters letters;
    letters.Dump({{'a', 1}, {'b', 1}, {'c', 1}, {'e', 1}});
    const uint64_t older = letters.Begin();
    letters.Says(older, 'a', 1);
    letters.Says(older, 'b', 2);
    letters.Says(older, 'e', 1);
    const uint64_t newer = letters.Ask();  // All that changed meanwhile is lost.
    letters.Says(newer, 'a', 3);
    letters.Says(newer, 'b', 3);
    letters.Says(newer, 'c', 3);
    letters.Says(newer, 'd', 3);
    if (older_first) letters.FinishAfterALoss(older);
    letters.Finish(newer, "abcde");
    if (!older_first) letters.FinishAfterALoss(older);
    EXPECT_EQ(letters.Rows(), "a3 b3 c3 d3");
  }
}

TEST(FencedTableTest, ARowReplacedForAnotherTablesSakeIsNoConflict) {
  Letters letters;
  letters.Dump({{'a', 1}, {'b', 1}});
  const uint64_t dump = letters.Begin();
  const uint64_t question = letters.Ask();
  letters.Event('a', 1);  // A touch that changes nothing.
  letters.Says(dump, 'a', 1);
  letters.Says(dump, 'b', 1);
  letters.Says(question, 'a', 1);
  letters.Replace('a', 0);
  EXPECT_FALSE(letters.Finish(question, "a").conflict);
  EXPECT_FALSE(letters.Finish(dump).conflict);
}

}  // namespace
}  // namespace linkvane::server
