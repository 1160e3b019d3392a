// The VLANs of bridges and their ports in the rows of interfaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_bridge.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/state/testing/fake_kernel_test.h"
#include "server/state/testing/staged_state.h"

namespace linkvane::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint16_t kDefault = BRIDGE_VLAN_INFO_PVID | BRIDGE_VLAN_INFO_UNTAGGED;

// In words: "1 pvid untagged, 20-29".
template <typename Message>
std::string Vlans(const Message& message) {
  std::string words;
  for (const linkvane::v1::BridgeVlan& vlan : message.vlans()) {
    absl::StrAppend(&words, words.empty() ? "" : ", ", vlan.first());
    if (vlan.last() != vlan.first()) absl::StrAppend(&words, "-", vlan.last());
    absl::StrAppend(&words, vlan.pvid() ? " pvid" : "", vlan.untagged() ? " untagged" : "");
  }
  return words;
}

FakeLink Bridge() { return {.index = 2, .name = "br0", .kind = "bridge", .default_pvid = 1}; }
FakeLink Port(std::vector<FakeVlan> vlans = {{kDefault, 1}}) {
  return {
      .index = 3, .name = "port0", .master = 2, .slave_kind = "bridge", .vlans = std::move(vlans)};
}
FakeLink NoPort() { return {.index = 3, .name = "port0"}; }

class BridgeVlansTest : public ::testing::Test {
 protected:
  BridgeVlansTest() {
    bridge_.vlans = {{kDefault, 1}};
    stage_.Sync({bridge_, Port()});
    stage_.TakeChanges();
  }
  std::string OfBridge() { return Vlans(stage_.Interface(2).bridge()); }
  std::string OfPort() { return Vlans(stage_.Interface(3).bridge_port()); }

  FakeLink bridge_ = Bridge();
  StagedState stage_;
};

TEST_F(BridgeVlansTest, AreInTheRowsAfterADump) {
  EXPECT_EQ(OfBridge(), "1 pvid untagged");
  EXPECT_EQ(OfPort(), "1 pvid untagged");
}

TEST_F(BridgeVlansTest, AnEventChangesJustThatRow) {
  stage_.EventVlans(
      Port({{kDefault, 1}, {BRIDGE_VLAN_INFO_RANGE_BEGIN, 20}, {BRIDGE_VLAN_INFO_RANGE_END, 29}}));
  EXPECT_THAT(stage_.TakeWords(), ElementsAre("~port0: bridge_port"));
  EXPECT_EQ(OfPort(), "1 pvid untagged, 20-29");
  bridge_.vlans.emplace_back(0, 10);
  stage_.EventVlans(bridge_);
  EXPECT_THAT(stage_.TakeWords(), ElementsAre("~br0: bridge"));
  EXPECT_EQ(OfBridge(), "1 pvid untagged, 10");
}

TEST_F(BridgeVlansTest, TheSameListAgainTellsNothing) {
  stage_.EventVlans(Port());
  stage_.EventVlans(Port(), RTM_DELLINK);
  stage_.DumpVlans({bridge_, Port()});
  stage_.Event(Port());
  EXPECT_THAT(stage_.TakeWords(), IsEmpty());
}

// After RTM_NEWVLAN and RTM_DELVLAN, the kernel announces the port with these types.
TEST_F(BridgeVlansTest, AnEventOfAnyTypeHasTheWholeList) {
  stage_.EventVlans(Port({{kDefault, 1}, {0, 7}}), RTM_SETLINK);
  EXPECT_EQ(OfPort(), "1 pvid untagged, 7");
  stage_.EventVlans(Port({{kDefault, 1}}), RTM_DELLINK);
  EXPECT_EQ(OfPort(), "1 pvid untagged");
  EXPECT_THAT(stage_.TakeWords(), ElementsAre("~port0: bridge_port", "~port0: bridge_port"));
}

TEST_F(BridgeVlansTest, StayWhenAnythingElseChanges) {
  FakeLink port = Port();
  port.mtu = 9000;
  stage_.Event(port);
  FakeLink bridge = bridge_;
  bridge.name = "br1";
  stage_.Event(bridge);  // The port shows its name.
  EXPECT_THAT(stage_.TakeWords(), ElementsAre("~port0: mtu", "~br1: name", "~port0: master_name"));
  EXPECT_EQ(OfPort(), "1 pvid untagged");
  EXPECT_EQ(OfBridge(), "1 pvid untagged");
}

TEST_F(BridgeVlansTest, APortThatLeavesTheBridgeHasNone) {
  stage_.EventVlans(Port(), RTM_DELLINK);  // Announced before it leaves.
  stage_.Event(NoPort());
  EXPECT_THAT(stage_.TakeWords(),
              ElementsAre("~port0: slave_kind master_index master_name bridge_port"));
  EXPECT_FALSE(stage_.Interface(3).has_bridge_port());
  // When it comes back, its VLANs of old times do not.
  stage_.Event(Port());
  EXPECT_EQ(OfPort(), "");
  stage_.EventVlans(Port({{kDefault, 9}}));
  EXPECT_EQ(OfPort(), "9 pvid untagged");
}

TEST_F(BridgeVlansTest, GoWithTheInterface) {
  stage_.EventGone(Port());
  stage_.Event(Port());  // Another one with the same index.
  EXPECT_EQ(OfPort(), "");
}

TEST_F(BridgeVlansTest, ADumpRemovesWhatItDoesNotName) {
  FakeLink without = Port({});
  EXPECT_EQ(stage_.DumpVlans({bridge_, without}).changes, 1);
  EXPECT_THAT(stage_.TakeWords(), ElementsAre("~port0: bridge_port"));
  EXPECT_EQ(OfPort(), "");
  EXPECT_EQ(stage_.DumpVlans({Port()}).changes, 2);
  EXPECT_EQ(OfBridge(), "");
}

TEST_F(BridgeVlansTest, AnInterruptedDumpRemovesNothing) {
  const Merge merge = stage_.DumpVlans({bridge_}, /*interrupted=*/true);
  EXPECT_TRUE(merge.interrupted);
  EXPECT_EQ(OfPort(), "1 pvid untagged");
  EXPECT_THAT(stage_.TakeWords(), IsEmpty());
}

TEST_F(BridgeVlansTest, ADumpIsInterruptedByARemovalThatMayHaveHiddenAPort) {
  const FakeLink other{.index = 4, .name = "eth0"};
  stage_.Event(other);
  stage_.TakeChanges();
  for (const bool hidden : {true, false}) {
    const RunningDump dump = stage_.state().BeginDump(TableId::kBridgeVlans, stage_.now().wall);
    stage_.Say(dump, StagedState::VlanMessage(bridge_));
    stage_.EventGone(other);
    if (!hidden) stage_.Say(dump, StagedState::VlanMessage(Port()));
    const Merge merge = stage_.state().FinishDump(dump, {}, stage_.now().wall);
    EXPECT_EQ(merge.interrupted, hidden);
    EXPECT_EQ(OfPort(), "1 pvid untagged");
  }
}

TEST_F(BridgeVlansTest, AnEventDuringADumpWins) {
  const RunningDump dump = stage_.state().BeginDump(TableId::kBridgeVlans, stage_.now().wall);
  stage_.Say(dump, StagedState::VlanMessage(bridge_));
  stage_.Say(dump, StagedState::VlanMessage(Port()));
  stage_.EventVlans(Port({{0, 7}}));
  EXPECT_TRUE(stage_.state().FinishDump(dump, {}, stage_.now().wall).conflict);
  EXPECT_EQ(OfPort(), "7");
}

TEST_F(BridgeVlansTest, AreInDoubtWhenABridgeComesOrItsDefaultChanges) {
  const uint64_t doubts = stage_.state().vlan_doubts();
  stage_.Event(bridge_);
  stage_.Event(Port());
  EXPECT_EQ(stage_.state().vlan_doubts(), doubts);
  FakeLink bridge = bridge_;
  bridge.default_pvid = 5;
  stage_.Event(bridge);
  EXPECT_EQ(stage_.state().vlan_doubts(), doubts + 1);
  bridge.index = 9;
  bridge.name = "br9";
  stage_.Event(bridge);
  EXPECT_EQ(stage_.state().vlan_doubts(), doubts + 2);
  // A kernel without VLAN filtering.
  stage_.Event(FakeLink{.index = 10, .name = "br10", .kind = "bridge"});
  EXPECT_EQ(stage_.state().vlan_doubts(), doubts + 2);
}

// With the Observer and the Refresher, on the fake kernel.
class BridgeVlansDumpTest : public FakeKernelTest {
 protected:
  void StartWithABridge() {
    FakeLink bridge = Bridge();
    bridge.vlans = {{kDefault, 1}};
    kernel_.Put(bridge);
    kernel_.Put(Port());
    Start();
    ASSERT_TRUE(WaitForSync().ok());
    diary_.Clear();
  }
  std::string VlansOf(int32_t index) {
    return observer_->Read([index](NetworkState& state) {
      const linkvane::v1::Interface interface = AsInterface(*state.FindInterface(index));
      return Vlans(interface.bridge()) + Vlans(interface.bridge_port());
    });
  }
};

TEST_F(BridgeVlansDumpTest, AreThereOnceAnswersCountAsRight) {
  StartWithABridge();
  EXPECT_EQ(VlansOf(2), "1 pvid untagged");
  EXPECT_EQ(VlansOf(3), "1 pvid untagged");
  EXPECT_EQ(observer_->counts().audit_differences, 0);
}

TEST_F(BridgeVlansDumpTest, AFreshAnswerHasThemWithoutADumpOfTheirOwn) {
  StartWithABridge();
  const int dumps = kernel_.asked(Asked::kBridgeVlans);
  kernel_.PutVlans(3, {{kDefault, 7}});
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(VlansOf(3), "7 pvid untagged");
  EXPECT_EQ(kernel_.asked(Asked::kBridgeVlans), dumps);
}

TEST_F(BridgeVlansDumpTest, LostEventsAreRepaired) {
  StartWithABridge();
  kernel_.PutVlans(3, {{kDefault, 7}}, /*announce=*/false);
  kernel_.Overrun();
  ASSERT_TRUE(Eventually([this] { return observer_->counts().overruns == 1; }));
  ASSERT_TRUE(WaitForSync().ok());
  EXPECT_EQ(VlansOf(3), "7 pvid untagged");
  EXPECT_THAT(diary_.lines(), ElementsAre("lost", "port0"));
}

TEST_F(BridgeVlansDumpTest, AFreshAnswerAfterANewBridgeHasTheVlanThatItCameWith) {
  StartWithABridge();
  kernel_.Put(FakeLink{
      .index = 8, .name = "br8", .kind = "bridge", .default_pvid = 1, .vlans = {{kDefault, 1}}});
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(VlansOf(8), "1 pvid untagged");
  EXPECT_THAT(diary_.lines(), ElementsAre("+br8", "br8"));
}

TEST_F(BridgeVlansDumpTest, ADumpThatMayHaveLeftOutAPortIsFollowedByAnother) {
  StartWithABridge();
  kernel_.Put(FakeLink{.index = 9, .name = "eth9"});
  const int dumps = kernel_.asked(Asked::kBridgeVlans);
  kernel_.AfterAnswer([this](Asked what) {
    if (what != Asked::kBridgeVlans || happened_.exchange(true)) return;
    kernel_.Remove(9);
  });
  kernel_.PutVlans(3, {{kDefault, 7}}, /*announce=*/false);
  kernel_.HideVlansOnce(3);
  kernel_.Overrun();
  ASSERT_TRUE(Eventually([this] { return observer_->counts().overruns == 1; }));
  ASSERT_TRUE(WaitForSync().ok());
  EXPECT_EQ(VlansOf(3), "7 pvid untagged");
  EXPECT_GE(kernel_.asked(Asked::kBridgeVlans), dumps + 2);
}

}  // namespace
}  // namespace linkvane::server
