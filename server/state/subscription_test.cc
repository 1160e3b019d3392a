// What a watcher is told, from the state's changes to the encoded messages.

#include "server/state/subscription.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "linkvane/v1/watch.pb.h"
#include "server/state/testing/watched_state_test.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using SubscriptionTest = WatchedStateTest;

TEST_F(SubscriptionTest, SnapshotAndEventsJoinAtOneRevision) {
  Put(eth0_);
  Put(addr_);
  auto watcher = Watch();
  Put(eth1_);  // Before anything was read: live, not part of the snapshot.
  EXPECT_THAT(Told(*watcher), ElementsAre("created", "+eth0", "+192.0.2.1", "synced", "+eth1"));
  EXPECT_THAT(checkpoints_, ElementsAre(4, 5)) << "on synced and behind the live batch only";
  EXPECT_EQ(checkpoint_, state_.revision());
}

TEST_F(SubscriptionTest, SyncedIsACheckpointAtTheRevisionOfTheSnapshot) {
  Put(eth0_);
  Put(addr_);
  auto watcher = Watch();
  Told(*watcher);
  EXPECT_EQ(checkpoint_, state_.revision());
}

TEST_F(SubscriptionTest, WithoutSnapshotSyncedFollowsAtOnce) {
  Put(eth0_);
  auto watcher = Watch({.skip_snapshot = true});
  EXPECT_THAT(Told(*watcher), ElementsAre("created", "synced"));
}

TEST_F(SubscriptionTest, AResumeThatCannotContinueGetsTheSnapshotAllTheSame) {
  Put(eth0_);
  auto watcher =
      Watch({.skip_snapshot = true, .resync_reason = pb::RESYNC_REASON_REVISION_COMPACTED});
  EXPECT_THAT(Told(*watcher), ElementsAre("created", "resync", "+eth0", "synced"));
}

TEST_F(SubscriptionTest, AReaderThatKeepsUpGetsEveryStepWithWhatChanged) {
  Put(eth0_);
  auto watcher = Watch({.include_previous = true});
  Told(*watcher);
  Put({.index = 2, .name = "eth0", .mtu = 1400});
  Put({.index = 2, .name = "eth0", .mtu = 1300});
  Put({.index = 2, .name = "wan", .mtu = 1300});
  EXPECT_THAT(Told(*watcher), ElementsAre("~eth0 mtu", "~eth0 mtu", "~wan name"));
  EXPECT_EQ(last_event_.previous().interface().name(), "eth0");
}

TEST_F(SubscriptionTest, TheKernelRepeatsItselfAndNobodyIsTold) {
  Put(eth0_);
  auto watcher = Watch();
  Told(*watcher);
  Put(eth0_);
  EXPECT_THAT(Told(*watcher), IsEmpty());
}

TEST_F(SubscriptionTest, AChangeOutsideTheMaskIsNoEvent) {
  Put(eth0_);
  WatchOptions options;
  ASSERT_TRUE(options.interface_mask.Add("name"));
  auto watcher = Watch(std::move(options));
  Told(*watcher);
  Put({.index = 2, .name = "eth0", .mtu = 1400});
  EXPECT_THAT(Told(*watcher), IsEmpty());
  Put({.index = 2, .name = "wan", .mtu = 1300});
  EXPECT_THAT(Told(*watcher), ElementsAre("~wan name"));
  EXPECT_TRUE(last_event_.resource().interface().has_mtu() == false);
  EXPECT_FALSE(last_event_.resource().interface().uid().empty()) << "uid survives every mask";
}

TEST_F(SubscriptionTest, LeavingTheFilterIsARemovalAndEnteringItAnAddition) {
  Put(eth0_);
  pb::InterfaceFilter filter;
  filter.add_names("eth*");
  WatchOptions options;
  ASSERT_FALSE(InterfaceFilter::Compile(filter, "filter", options.interface_filter).has_value());
  auto watcher = Watch(std::move(options));
  EXPECT_THAT(Told(*watcher), ElementsAre("created", "+eth0", "synced"));
  Put({.index = 2, .name = "wan"});
  EXPECT_THAT(Told(*watcher), ElementsAre("-eth0 left"));
  Put({.index = 2, .name = "eth7"});
  EXPECT_THAT(Told(*watcher), ElementsAre("+eth7"));
  Remove({.index = 2, .name = "eth7"});
  EXPECT_THAT(Told(*watcher), ElementsAre("-eth7"));
}

TEST_F(SubscriptionTest, ALossIsToldBeforeWhatTheRepairFinds) {
  Put(eth0_);
  auto watcher = Watch();
  Told(*watcher);
  state_.NoteLoss(absl::Now());
  Put({.index = 2, .name = "eth0", .mtu = 1400});
  EXPECT_THAT(Told(*watcher), ElementsAre("gap", "~eth0 mtu"));
}

TEST_F(SubscriptionTest, OneChangeSeenByAHundredWatchersIsEncodedOnce) {
  Put(eth0_);
  std::vector<std::unique_ptr<Subscription>> watchers;
  watchers.reserve(100);
  for (int i = 0; i < 100; ++i) watchers.push_back(Watch());
  for (const auto& watcher : watchers) Told(*watcher);
  const uint64_t encoded = RowsEncoded();
  Put({.index = 2, .name = "eth0", .mtu = 1400});
  checkpoint_ = 0;
  for (const auto& watcher : watchers) EXPECT_THAT(Told(*watcher), ElementsAre("~eth0 mtu"));
  EXPECT_EQ(RowsEncoded(), encoded + 1);
}

TEST_F(SubscriptionTest, ASnapshotThatIsReadTooSlowlyIsGivenUp) {
  Put(eth0_);
  auto watcher = Watch();
  std::string created;
  ASSERT_TRUE(watcher->Next(created));
  for (uint32_t i = 0; i < 2 * SnapshotCache::kLive; ++i) {  // Everyone else wants newer ones.
    Put({.index = 2, .name = "eth0", .mtu = 1400 + i});
    held_.push_back(state_.Interfaces());
  }
  EXPECT_THAT(Told(*watcher), IsEmpty());
  ASSERT_TRUE(watcher->wants_snapshot());
  watcher->Begin(state_.Interfaces(), state_.Addrs(), state_.revision());
  EXPECT_THAT(Told(*watcher), ElementsAre("resync", "+eth0", "synced"));
}

TEST_F(SubscriptionTest, ABookmarkComesOnlyWhenEverythingWasTold) {
  Put(eth0_);
  auto watcher = Watch();
  std::string bytes;
  EXPECT_FALSE(watcher->Bookmark(bytes)) << "not before synced";
  Told(*watcher);
  Put({.index = 2, .name = "eth0", .mtu = 1400});
  EXPECT_FALSE(watcher->Bookmark(bytes));
  Told(*watcher);
  ASSERT_TRUE(watcher->Bookmark(bytes));
  pb::WatchResponse response;
  ASSERT_TRUE(response.ParseFromString(bytes));
  EXPECT_TRUE(response.has_bookmark());
  EXPECT_EQ(response.checkpoint().number(), state_.revision());
}

TEST_F(SubscriptionTest, ALongSnapshotComesInSeveralResponsesAndOneCheckpoint) {
  for (int32_t i = 1; i <= 3000; ++i) {
    Put(FakeLink{.index = i, .name = "if" + std::to_string(i)});
  }
  auto watcher = Watch();
  EXPECT_EQ(Told(*watcher).size(), 3000 + 2);
  EXPECT_GT(responses_, 3);
  EXPECT_THAT(checkpoints_, ElementsAre(3000 + 2));
}

TEST_F(SubscriptionTest, ALongBatchHasItsCheckpointOnTheLastResponse) {
  const std::string alias(1000, 'x');
  auto watcher = Watch();
  Told(*watcher);
  checkpoints_.clear();
  responses_ = 0;
  for (int32_t i = 1; i <= 1000; ++i) {
    Put(FakeLink{.index = i, .name = "if" + std::to_string(i), .alias = alias});
  }
  EXPECT_EQ(Told(*watcher).size(), 1000);
  EXPECT_GT(responses_, 4);
  EXPECT_THAT(checkpoints_, ElementsAre(1000));
  EXPECT_EQ(checkpoint_, state_.revision());
}

TEST_F(SubscriptionTest, OnlyTheTypesAskedForAreTold) {
  Put(eth0_);
  auto interfaces = Watch({.addrs = false});
  auto addrs = Watch({.interfaces = false});
  Told(*interfaces);
  checkpoint_ = 0;
  Told(*addrs);
  Put(addr_);
  EXPECT_THAT(Told(*interfaces), IsEmpty());
  EXPECT_THAT(Told(*addrs), ElementsAre("+192.0.2.1"));
}

TEST_F(SubscriptionTest, ARemovalCarriesTheLastStateThatMatched) {
  Put(eth0_);
  auto watcher = Watch(Named("eth*"));
  Told(*watcher);
  Put(FakeLink{.index = 2, .name = "eth1", .mtu = 1400});
  Put(FakeLink{.index = 2, .name = "wan", .mtu = 1300});
  EXPECT_THAT(Told(*watcher), ElementsAre("~eth1 name mtu", "-eth1 left"));
  EXPECT_EQ(last_event_.resource().interface().mtu(), 1400);
  Put(FakeLink{.index = 2, .name = "wan2"});
  EXPECT_THAT(Told(*watcher), IsEmpty());
}

TEST_F(SubscriptionTest, ABookmarkTellsOfWhatTheFilterHid) {
  auto watcher = Watch(Named("eth*"));
  Told(*watcher);
  Put(FakeLink{.index = 9, .name = "wan"});
  std::string bytes;
  ASSERT_TRUE(watcher->Bookmark(bytes));
  pb::WatchResponse response;
  ASSERT_TRUE(response.ParseFromString(bytes));
  EXPECT_EQ(response.checkpoint().number(), state_.revision());
  EXPECT_EQ(response.checkpoint().epoch(), "epoch");
}

TEST_F(SubscriptionTest, WithoutBeingAskedNoPreviousStateIsSent) {
  Put(eth0_);
  auto watcher = Watch();
  Told(*watcher);
  Put(FakeLink{.index = 2, .name = "wan"});
  Told(*watcher);
  EXPECT_FALSE(last_event_.has_previous());
}

TEST_F(SubscriptionTest, AnEventTellsRevisionAndTimeOfItsChange) {
  auto watcher = Watch();
  Told(*watcher);
  const absl::Time before = absl::Now();
  Put(eth0_);
  Told(*watcher);
  EXPECT_EQ(last_event_.revision().number(), 1);
  EXPECT_EQ(last_event_.coalesced(), 1);
  EXPECT_GE(last_event_.time().seconds(), absl::ToUnixSeconds(before));
}

TEST_F(SubscriptionTest, ThereAreNoMoreWatchersThanAllowed) {
  Subscriptions few(1);
  Subscription first({}, "epoch", "");
  Subscription second({}, "epoch", "");
  EXPECT_TRUE(few.Add(&first, {}));
  EXPECT_FALSE(few.Add(&second, {}));
  few.Remove(&first);
  EXPECT_TRUE(few.Add(&second, {}));
  EXPECT_EQ(few.size(), 1);
}

TEST_F(SubscriptionTest, AllWritersAreWokenThatStillExist) {
  class CountingWatcher : public Watcher {
   public:
    void Wake() override { ++wakes; }
    int wakes = 0;
  };
  Subscriptions all(2);
  Subscription first({}, "epoch", "");
  Subscription second({}, "epoch", "");
  const auto watcher = std::make_shared<CountingWatcher>();
  ASSERT_TRUE(all.Add(&first, watcher));
  ASSERT_TRUE(all.Add(&second, std::make_shared<CountingWatcher>()));  // Gone already.
  all.WakeAll();
  EXPECT_EQ(watcher->wakes, 1);
}

}  // namespace
}  // namespace linkvane::server
