// Plays every interleaving of dumps, events and changes within bounds: two objects, up to four
// changes. See testing/fence_play.h for what is checked.
//
// All of them together, and with everything that can go wrong at the same time, would be too many.
// So each test has one thing that goes wrong, or one pair of dumps, and its own bounds: four
// changes where one dump runs at a time, two or three otherwise, and more changes where they are of
// a single object. Within its bounds nothing is left out but what differs only in the order of
// steps that do not see each other. With a sanitizer, each has one change less.
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <string>

#include "absl/time/time.h"
#include "server/state/testing/choices.h"
#include "server/state/testing/fence_play.h"

namespace linkvane::server {
namespace {

using enum Op;

// The table has something, the kernel already something else, and no event told of it.
const std::vector<std::pair<ObjectState, ObjectState>> kUnannounced = {
    {1, 1}, {kAbsent, 1}, {1, kAbsent}, {1, 2}};

#ifdef LINKVANE_SANITIZED
constexpr int kFewer = 1;
#else
constexpr int kFewer = 0;
#endif

void PlayAll(const FenceBounds& bounds) {
  Choices choices;
  uint64_t interleavings = 0;
  do {
    FencePlay play(bounds, choices);
    const std::string wrong = play.Run();
    if (!play.redundant()) ++interleavings;
    ASSERT_EQ(wrong, "") << "in interleaving " << interleavings;
  } while (choices.Next());
  std::cout << interleavings << " interleavings\n";
  ::testing::Test::RecordProperty("interleavings", std::to_string(interleavings));
}

TEST(FenceModelTest, DumpAndEvents) {
  PlayAll({.changes = 4 - kFewer, .ops = {kAdd, kModify, kRemove}});
}

TEST(FenceModelTest, DumpAndEventsWhereStatesComeBack) {
  PlayAll({.changes = 4 - kFewer, .ops = {kAdd, kModify, kRemove}, .recurring = true});
}

TEST(FenceModelTest, DumpFindsWhatNoEventTold) {
  PlayAll({.changes = 3 - kFewer, .ops = {kAdd, kModify, kRemove}, .starts = kUnannounced});
}

TEST(FenceModelTest, ChangesWithoutAnEvent) {
  PlayAll({.changes = 3 - kFewer, .ops = {kAdd, kModify, kRemove, kSilent}});
}

TEST(FenceModelTest, EventsThatFollowTheirChangeLate) {
  PlayAll({.changes = 3 - kFewer, .ops = {kAdd, kLate}});
}

TEST(FenceModelTest, InterruptedDumpsThatLeaveOutRows) {
  PlayAll({.changes = 3 - kFewer, .ops = {kAdd, kModify, kRemove}, .interrupts = true});
}

TEST(FenceModelTest, InterruptedDumpsThatFindWhatNoEventTold) {
  PlayAll({.changes = 2 - kFewer,
           .ops = {kAdd, kModify, kRemove},
           .starts = kUnannounced,
           .interrupts = true});
}

TEST(FenceModelTest, Overrun) {
  PlayAll({.changes = 2 - kFewer,
           .ops = {kAdd, kModify, kRemove},
           .overruns = true,
           .before_begin = true});
}

TEST(FenceModelTest, OverrunAmongManyChangesOfOneObject) {
  PlayAll({.changes = 4 - kFewer,
           .objects = 1,
           .ops = {kAdd, kModify, kRemove},
           .dumps = {{0}},
           .overruns = true,
           .before_begin = true});
}

TEST(FenceModelTest, RemovalsAnnouncedBeforeTheyTakePlace) {
  PlayAll({.changes = 2 - kFewer,
           .ops = {kAdd, kModify, kRemoveEarly},
           .before_begin = true,
           .grace = absl::Seconds(1)});
}

TEST(FenceModelTest, RemovalsAnnouncedBeforeTheyTakePlaceAmongManyChangesOfOneObject) {
  PlayAll({.changes = 3 - kFewer,
           .objects = 1,
           .ops = {kAdd, kModify, kRemoveEarly},
           .dumps = {{0}},
           .before_begin = true,
           .grace = absl::Seconds(1)});
}

TEST(FenceModelTest, DumpAndQuestionAtTheSameTime) {
  PlayAll({.changes = 2 - kFewer, .ops = {kAdd, kModify, kRemove}, .question = 0});
}

TEST(FenceModelTest, DumpAndQuestionAmongManyChangesOfOneObject) {
  PlayAll({.changes = 3 - kFewer,
           .objects = 1,
           .ops = {kAdd, kModify, kRemove},
           .dumps = {{0}},
           .question = 0});
}

TEST(FenceModelTest, DumpAndQuestionAmongChangesWithoutAnEvent) {
  PlayAll({.changes = 3 - kFewer,
           .objects = 1,
           .ops = {kModify, kRemove, kSilent},
           .starts = {{1, 1}},
           .dumps = {{0}},
           .question = 0,
           .recurring = true});
}

TEST(FenceModelTest, DumpAndQuestionAmongAnOverrun) {
  PlayAll({.changes = 1,
           .objects = 1,
           .ops = {kAdd, kModify, kRemove},
           .starts = {{1, 1}},
           .dumps = {{0}},
           .question = 0,
           .overruns = true});
}

TEST(FenceModelTest, TwoDumpsOfDifferentRowsAtTheSameTime) {
  PlayAll({.changes = 2 - kFewer, .ops = {kAdd, kModify, kRemove}, .dumps = {{0}, {1}}});
}

TEST(FenceModelTest, DumpsThatFail) {
  PlayAll({.changes = 3 - kFewer, .ops = {kAdd, kModify, kRemove}, .fails = true});
}

TEST(FenceModelTest, DumpAndQuestionOfWhichOneFails) {
  PlayAll({.changes = 2 - kFewer,
           .objects = 1,
           .ops = {kAdd, kModify, kRemove},
           .starts = {{1, 1}},
           .dumps = {{0}},
           .question = 0,
           .fails = true});
}

}  // namespace
}  // namespace linkvane::server
