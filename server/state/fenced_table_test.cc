#include "server/state/fenced_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "absl/time/time.h"
#include "server/state/testing/letters.h"

namespace linkvane::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

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
