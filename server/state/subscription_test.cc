// What a watcher is told, from the state's changes to the encoded messages.

#include "server/state/subscription.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "linkvane/v1/interface.pb.h"
#include "linkvane/v1/watch.pb.h"
#include "server/state/network_state.h"
#include "server/state/subscriptions.h"
#include "server/state/testing/fake_messages.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Describe(const pb::Event& event) {
  std::string text = event.type() == pb::EVENT_TYPE_ADDED     ? "+"
                     : event.type() == pb::EVENT_TYPE_REMOVED ? "-"
                                                              : "~";
  text += event.resource().has_interface() ? event.resource().interface().name()
                                           : event.resource().addr().address();
  if (event.coalesced() != 1) text += " x" + std::to_string(event.coalesced());
  if (event.left_filter()) text += " left";
  for (const std::string& path : event.changed().paths()) text += " " + path;
  return text;
}

class SubscriptionTest : public ::testing::Test {
 protected:
  SubscriptionTest() : state_("epoch", subscriptions_) {}

  void Put(const FakeLink& link) { Apply(FakeMessage(RTM_NEWLINK, link)); }
  void Remove(const FakeLink& link) { Apply(FakeMessage(RTM_DELLINK, link)); }
  void Put(const FakeAddr& addr) { Apply(FakeMessage(RTM_NEWADDR, addr)); }
  void Remove(const FakeAddr& addr) { Apply(FakeMessage(RTM_DELADDR, addr)); }

  void Apply(const FakeMessage& message) { state_.ApplyEvent(message.message(), ReadTime::Now()); }

  std::unique_ptr<Subscription> Watch(WatchOptions options = {}) {
    auto subscription = std::make_unique<Subscription>(std::move(options), "epoch", "");
    subscription->Begin(state_.Interfaces(), state_.Addrs(), state_.revision());
    EXPECT_TRUE(subscriptions_.Add(subscription.get(), {}));
    return subscription;
  }

  // All that is to be told now: events in words, other messages by their names.
  std::vector<std::string> Told(Subscription& subscription) {
    std::vector<std::string> told;
    while (true) {
      std::string bytes;
      if (!subscription.Next(bytes)) return told;
      pb::WatchResponse response;
      EXPECT_TRUE(response.ParseFromString(bytes));
      if (response.has_events()) {
        EXPECT_LT(bytes.size(), 2 * Subscription::kBatchBytes);
        for (const pb::Event& event : response.events().events()) {
          told.push_back(Describe(event));
          last_event_ = event;
        }
      } else {
        told.emplace_back(response.has_created()  ? "created"
                          : response.has_synced() ? "synced"
                          : response.has_resync() ? "resync"
                          : response.has_gap()    ? "gap"
                                                  : "bookmark");
      }
      if (response.has_checkpoint()) {
        EXPECT_GE(response.checkpoint().number(), checkpoint_);
        checkpoint_ = response.checkpoint().number();
        checkpoints_.push_back(told.size());
      }
    }
  }

  Subscriptions subscriptions_{1000};
  NetworkState state_;
  pb::Event last_event_;
  uint64_t checkpoint_ = 0;
  std::vector<size_t> checkpoints_;  // Behind which of the things told.

  const FakeLink eth0_{.index = 2, .name = "eth0"};
  const FakeLink eth1_{.index = 3, .name = "eth1"};
  const FakeAddr addr_{.index = 2, .address = "192.0.2.1"};
  std::vector<SnapshotPtr> held_;
};

TEST_F(SubscriptionTest, SnapshotAndEventsJoinAtOneRevision) {
  Put(eth0_);
  Put(addr_);
  auto watcher = Watch();
  Put(eth1_);  // Before anything was read: live, not part of the snapshot.
  EXPECT_THAT(Told(*watcher), ElementsAre("created", "+eth0", "+192.0.2.1", "synced", "+eth1"));
  EXPECT_THAT(checkpoints_, ElementsAre(4, 5)) << "on synced and behind the live batch only";
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

// Brings a reader so far behind that steps are folded.
class SlowReaderTest : public SubscriptionTest {
 protected:
  // Changes eth0's MTU more often than steps are kept. The last one is `mtu`.
  void Flood(uint32_t mtu = 9000) {
    for (size_t i = 0; i <= Subscription::kMostSteps; ++i) {
      Put({.index = 2, .name = "eth0", .mtu = i % 2 == 0 ? 1400U : 1401U});
    }
    Put({.index = 2, .name = "eth0", .mtu = mtu});
  }
};

TEST_F(SlowReaderTest, GetsOneEventForAllStepsOfAnObject) {
  Put(eth0_);
  auto watcher = Watch({.include_previous = true});
  Told(*watcher);
  Flood();
  EXPECT_THAT(Told(*watcher), ElementsAre("~eth0 x1026 mtu"));
  EXPECT_EQ(last_event_.resource().interface().mtu(), 9000U);
  EXPECT_FALSE(last_event_.has_previous());
  EXPECT_EQ(checkpoint_, state_.revision());
  Put({.index = 2, .name = "eth0", .mtu = 1280});
  EXPECT_THAT(Told(*watcher), ElementsAre("~eth0 mtu")) << "it keeps up again";
}

TEST_F(SlowReaderTest, HearsNothingOfWhatCameAndWent) {
  Put(eth0_);
  auto watcher = Watch();
  Told(*watcher);
  Put(eth1_);
  Remove(eth1_);
  Flood();
  EXPECT_THAT(Told(*watcher), ElementsAre("~eth0 x1026 mtu"));
}

TEST_F(SlowReaderTest, HearsOfARemovalAndAnAdditionWhereAnIndexWasUsedAgain) {
  Put(eth0_);
  Put(eth1_);
  auto watcher = Watch();
  Told(*watcher);
  Remove(eth1_);
  Put({.index = 3, .name = "other"});
  Flood();
  EXPECT_THAT(Told(*watcher), ElementsAre("-eth1 x2", "~eth0 x1026 mtu", "+other x2"));
}

TEST_F(SlowReaderTest, GetsRemovalsFirstAndInterfacesBeforeTheirAddresses) {
  const FakeAddr on_eth1{.index = 3, .address = "192.0.2.2"};
  const FakeLink eth2{.index = 4, .name = "eth2"};
  Put(eth0_);
  Put(eth1_);
  Put(on_eth1);
  auto watcher = Watch();
  Told(*watcher);
  Put(addr_);
  Put(eth2);
  Put(FakeAddr{.index = 4, .address = "192.0.2.3"});
  Remove(eth1_);  // Takes its address along.
  Flood();
  EXPECT_THAT(Told(*watcher), ElementsAre("-192.0.2.2", "-eth1", "~eth0 x1026 mtu", "+eth2",
                                          "+192.0.2.1", "+192.0.2.3"));
}

TEST_F(SlowReaderTest, IsToldOfALossBeforeTheRest) {
  Put(eth0_);
  auto watcher = Watch();
  Told(*watcher);
  Flood();
  state_.NoteLoss(absl::Now());
  EXPECT_THAT(Told(*watcher), ElementsAre("gap", "~eth0 x1026 mtu"));
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

}  // namespace
}  // namespace linkvane::server
