// What a watcher is told that was away for long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "server/state/subscription.h"
#include "server/state/testing/watched_state_test.h"

namespace linkvane::server {
namespace {

using ::testing::ElementsAre;

// Brings a reader so far behind that steps are folded.
class SlowReaderTest : public WatchedStateTest {
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

TEST_F(SlowReaderTest, IsToldOfAllThatChangedMeanwhile) {
  Put(eth0_);
  auto watcher = Watch();
  Told(*watcher);
  Put(FakeLink{.index = 2, .name = "wan"});
  Put(FakeLink{.index = 2, .name = "eth0", .alias = "a"});
  Flood();
  EXPECT_THAT(Told(*watcher), ElementsAre("~eth0 x1028 name alias mtu"));
}

TEST_F(SlowReaderTest, IsNotToldOfChangesOutsideItsMask) {
  Put(eth0_);
  Put(eth1_);
  WatchOptions options;
  ASSERT_TRUE(options.interface_mask.Add("alias"));
  ASSERT_TRUE(options.interface_mask.Add("name"));
  auto watcher = Watch(std::move(options));
  Told(*watcher);
  Put(FakeLink{.index = 3, .name = "eth1", .alias = "a"});
  Flood();
  EXPECT_THAT(Told(*watcher), ElementsAre("~eth1 alias"));
  EXPECT_EQ(checkpoint_, state_.revision());
}

TEST_F(SlowReaderTest, HearsThatAnObjectLeftItsFilterWithTheLastStateThatMatched) {
  Put(eth0_);
  Put(eth1_);
  auto watcher = Watch(Named("eth*"));
  Told(*watcher);
  Put(FakeLink{.index = 3, .name = "eth3", .mtu = 1280});
  Put(FakeLink{.index = 3, .name = "wan", .mtu = 1290});
  Flood();
  EXPECT_THAT(Told(*watcher), ElementsAre("-eth3 x2 left", "~eth0 x1026 mtu"));
  Put(FakeLink{.index = 3, .name = "eth3"});
  Flood();
  Put(FakeLink{.index = 3, .name = "eth4"});
  EXPECT_THAT(Told(*watcher), ElementsAre("~eth0 x1026 mtu", "+eth4 x2"));
}

TEST_F(SlowReaderTest, HearsNothingOfAnObjectThatOnlyPassedThroughItsFilter) {
  Put(eth0_);
  Put(FakeLink{.index = 3, .name = "wan"});
  auto watcher = Watch(Named("eth*"));
  Told(*watcher);
  Put(eth1_);
  Put(FakeLink{.index = 3, .name = "wan"});
  Flood();
  EXPECT_THAT(Told(*watcher), ElementsAre("~eth0 x1026 mtu"));
}

TEST_F(SlowReaderTest, AnObjectThatLeftItsFilterAndCameBackHasChanged) {
  Put(eth0_);
  Put(eth1_);
  auto watcher = Watch(Named("eth*"));
  Told(*watcher);
  Put(FakeLink{.index = 3, .name = "wan"});
  Put(FakeLink{.index = 3, .name = "eth5"});
  Flood();
  EXPECT_THAT(Told(*watcher), ElementsAre("~eth0 x1026 mtu", "~eth5 x2 name"));
}

TEST_F(SlowReaderTest, ARemovalThatTheFilterWouldHideIsNotSaidToLeaveIt) {
  Put(eth0_);
  Put(eth1_);
  auto watcher = Watch(Named("eth*"));
  Told(*watcher);
  Remove(eth1_);
  Put(FakeLink{.index = 3, .name = "wan"});
  Flood();
  EXPECT_THAT(Told(*watcher), ElementsAre("-eth1 x2", "~eth0 x1026 mtu"));
}

TEST_F(SlowReaderTest, HearsOfSeveralLossesAsOneGap) {
  Put(eth0_);
  auto watcher = Watch();
  Told(*watcher);
  Flood();
  const uint64_t before = state_.revision();
  state_.NoteLoss(absl::Now());
  Put(eth1_);
  state_.NoteLoss(absl::Now());
  EXPECT_THAT(Told(*watcher), ElementsAre("gap", "~eth0 x1026 mtu", "+eth1"));
  EXPECT_EQ(last_gap_.from().number(), before);
  EXPECT_EQ(last_gap_.to().number(), before + 3);
}

TEST_F(SlowReaderTest, StaysSlowOnlyUntilItHasReadWhatItMissed) {
  Put(eth0_);
  auto watcher = Watch();
  Told(*watcher);
  Flood();
  std::string bytes;
  ASSERT_TRUE(watcher->Next(bytes));
  Put(FakeLink{.index = 2, .name = "eth0", .mtu = 1280});
  Put(FakeLink{.index = 2, .name = "eth0", .mtu = 1290});
  EXPECT_THAT(Told(*watcher), ElementsAre("~eth0 mtu", "~eth0 mtu"));
}

TEST_F(SlowReaderTest, KeepsNoStatesThatItWillNotBeTold) {
  Put(eth0_);
  auto watcher = Watch();
  Told(*watcher);
  Flood(1280);
  const std::weak_ptr<const InterfaceRow> passing = state_.FindInterface(2);
  EXPECT_FALSE(passing.expired());
  Put(FakeLink{.index = 2, .name = "eth0", .mtu = 1290});
  EXPECT_TRUE(passing.expired());
  EXPECT_THAT(Told(*watcher), ElementsAre("~eth0 x1027 mtu"));
}

TEST_F(SlowReaderTest, IsToldWhatChangedWhileItReadTheSnapshot) {
  Put(eth0_);
  Put(eth1_);
  auto watcher = Watch();
  std::string created;
  ASSERT_TRUE(watcher->Next(created));
  Remove(eth1_);
  Flood();
  EXPECT_THAT(Told(*watcher), ElementsAre("+eth0", "+eth1", "synced", "-eth1", "~eth0 x1026 mtu"));
}

}  // namespace
}  // namespace linkvane::server
