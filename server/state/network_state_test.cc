#include "server/state/network_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "server/state/testing/staged_state.h"

namespace linkvane::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Property;

namespace pb = ::linkvane::v1;

TEST(NetworkStateTest, AnAddressIsHiddenUntilItsInterfaceComes) {
  StagedState stage;
  stage.Event(FakeAddr{.index = 7, .address = "192.0.2.1"});
  EXPECT_THAT(stage.Addrs(), IsEmpty());
  EXPECT_THAT(stage.TakeWords(), IsEmpty());
  stage.Event(FakeLink{.index = 7, .name = "eth7"});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("+eth7", "+192.0.2.1/24 eth7"));
  EXPECT_EQ(stage.Addr().interface_name(), "eth7");
}

TEST(NetworkStateTest, AHiddenAddressThatGoesIsNeverTold) {
  StagedState stage;
  stage.Event(FakeAddr{.index = 7});
  stage.EventGone(FakeAddr{.index = 7});
  stage.Event(FakeLink{.index = 7, .name = "eth7"});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("+eth7"));
}

TEST(NetworkStateTest, AnInterfaceIsRemovedAfterItsAddresses) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "a"}, {.index = 2, .name = "b"}},
             {{.index = 2, .address = "10.0.0.1"},
              {.index = 1, .address = "10.0.0.2"},
              {.index = 2, .address = "fe80::1", .prefix_length = 64}});
  stage.TakeWords();
  stage.EventGone(FakeLink{.index = 2});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("-10.0.0.1/24 b", "-fe80::1/64 b", "-b"));
  stage.DumpLinks({});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("-10.0.0.2/24 a", "-a"));
  EXPECT_EQ(stage.state().addr_count(), 0);
}

TEST(NetworkStateTest, ADumpThatBeganBeforeAnInterfaceWentDoesNotBringBackItsAddresses) {
  StagedState stage;
  const FakeAddr addr{.index = 2, .address = "10.0.0.1"};
  stage.Sync({{.index = 2, .name = "b"}}, {addr});
  const RunningDump dump = stage.state().BeginDump(TableId::kAddrs4, stage.now().wall);
  stage.Say(dump, FakeMessage(RTM_NEWADDR, addr));
  stage.EventGone(FakeLink{.index = 2});
  EXPECT_TRUE(stage.state().FinishDump(dump, {}, stage.now().wall).conflict);
  EXPECT_EQ(stage.state().addr_count(), 0);
}

TEST(NetworkStateTest, ARenameChangesEveryRowThatShowsTheName) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "br0"},
              {.index = 2, .name = "port", .master = 1},
              {.index = 3, .name = "vlan", .link = 1}},
             {{.index = 1, .address = "10.0.0.1"}});
  const std::string addr_uid = stage.Addr().uid();
  const std::string port_uid = stage.Interface(2).uid();
  stage.TakeWords();
  stage.Event(FakeLink{.index = 1, .name = "bridge"});
  EXPECT_THAT(stage.TakeWords(),
              ElementsAre("~bridge: name", "~port: master_name", "~vlan: link_name",
                          "~10.0.0.1/24 bridge: interface_name"));
  EXPECT_EQ(stage.Interface(2).master_name(), "bridge");
  EXPECT_EQ(stage.Interface(3).link_name(), "bridge");
  EXPECT_EQ(stage.Interface(2).uid(), port_uid);
  EXPECT_EQ(stage.Addr().uid(), addr_uid);
}

TEST(NetworkStateTest, NamesOfLaterInterfacesAreFilledIn) {
  StagedState stage;
  stage.Event(FakeLink{.index = 1, .name = "port", .master = 9});
  EXPECT_FALSE(stage.Interface(1).has_master_name());
  stage.TakeWords();
  stage.Event(FakeLink{.index = 9, .name = "br0"});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("+br0", "~port: master_name"));
  stage.EventGone(FakeLink{.index = 9});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("-br0", "~port: master_name"));
  EXPECT_FALSE(stage.Interface(1).has_master_name());
  EXPECT_EQ(stage.Interface(1).master_index(), 9);
}

TEST(NetworkStateTest, ARowFollowsTheNameOfItsNewMasterOnly) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "old"},
              {.index = 2, .name = "new"},
              {.index = 3, .name = "port", .master = 1}});
  stage.Event(FakeLink{.index = 3, .name = "port", .master = 2});
  EXPECT_EQ(stage.Interface(3).master_name(), "new");
  stage.TakeWords();
  stage.Event(FakeLink{.index = 1, .name = "older"});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~older: name"));
}

TEST(NetworkStateTest, AnIndexInAnotherNamespaceIsNotResolvedInOurs) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "lo"}, {.index = 2, .link = 1, .link_netns_id = 0}});
  EXPECT_EQ(stage.Interface(2).link_index(), 1);
  EXPECT_EQ(stage.Interface(2).link_netns_id(), 0);
  EXPECT_FALSE(stage.Interface(2).has_link_name());
  stage.TakeWords();
  stage.Event(FakeLink{.index = 1, .name = "loop"});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~loop: name"));
}

TEST(NetworkStateTest, SwappedNamesAreFoundUnderTheirNewOwners) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "a"}, {.index = 2, .name = "b"}});
  stage.Event(FakeLink{.index = 1, .name = "tmp"});
  stage.Event(FakeLink{.index = 2, .name = "a"});
  stage.Event(FakeLink{.index = 1, .name = "b"});
  EXPECT_EQ(stage.state().FindInterface("a")->link.index, 2);
  EXPECT_EQ(stage.state().FindInterface("b")->link.index, 1);
  EXPECT_EQ(stage.state().FindInterface("tmp"), nullptr);
}

TEST(NetworkStateTest, NamesSwappedUnseenAreFoundUnderTheirNewOwners) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "a"}, {.index = 2, .name = "b"}});
  stage.DumpLinks({{.index = 1, .name = "b"}, {.index = 2, .name = "a"}});
  EXPECT_EQ(stage.state().FindInterface("a")->link.index, 2);
  EXPECT_EQ(stage.state().FindInterface("b")->link.index, 1);
}

TEST(NetworkStateTest, AnInterfaceIsFoundByItsAlternativeNames) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "eth0", .alt_names = {"uplink", "enp0s1"}}});
  EXPECT_EQ(stage.state().FindInterface("enp0s1")->link.index, 1);
  stage.Event(FakeLink{.index = 1, .name = "eth0", .alt_names = {"uplink"}});
  EXPECT_EQ(stage.state().FindInterface("enp0s1"), nullptr);
  EXPECT_EQ(stage.state().FindInterface("uplink")->link.index, 1);
}

TEST(NetworkStateTest, ARepeatedEventIsNoChange) {
  StagedState stage;
  stage.Event(FakeLink{});
  stage.Event(FakeAddr{});
  const uint64_t revision = stage.state().revision();
  stage.Event(FakeLink{});
  stage.Event(FakeAddr{});
  stage.EventGone(FakeLink{.index = 99});
  stage.EventGone(FakeAddr{.address = "192.0.2.99"});
  EXPECT_EQ(stage.state().revision(), revision);
}

TEST(NetworkStateTest, APortThatLeavesABridgeIsStillThere) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "eth0"}});
  stage.TakeWords();
  stage.EventGone(FakeLink{.index = 1, .name = "eth0", .family = AF_BRIDGE});
  stage.Event(FakeLink{.index = 1, .name = "eth0", .family = AF_BRIDGE, .mtu = 9000});
  EXPECT_THAT(stage.TakeWords(), IsEmpty());
  EXPECT_EQ(stage.Interface(1).mtu(), 1500);
}

TEST(NetworkStateTest, AMessageWithoutAnMtuSaysNothingOfTheLink) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "wlan0"}});
  stage.TakeWords();
  stage.Event(FakeLink{.index = 1, .name = "wlan0", .mtu = {}, .address = ""});
  stage.Event(FakeLink{.index = 2, .name = "wlan1", .mtu = {}});
  EXPECT_THAT(stage.TakeWords(), IsEmpty());
  EXPECT_EQ(stage.Interface(1).mtu(), 1500);
}

TEST(NetworkStateTest, ADumpOfOneFamilySaysNothingOfTheOther) {
  StagedState stage;
  stage.Sync({{.index = 1}}, {{.address = "10.0.0.1"}, {.address = "2001:db8::1"}});
  stage.TakeWords();
  const RunningDump dump = stage.state().BeginDump(TableId::kAddrs6, stage.now().wall);
  stage.state().FinishDump(dump, {}, stage.now().wall);
  EXPECT_THAT(stage.TakeWords(), ElementsAre("-2001:db8::1/24 eth0"));
}

TEST(NetworkStateTest, AnInterruptedDumpOfAddressesNamesTheInterfacesToAskAbout) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "a"}, {.index = 2, .name = "b"}, {.index = 3, .name = "c"}},
             {{.index = 1, .address = "10.0.0.1"},
              {.index = 1, .address = "10.0.0.2"},
              {.index = 2, .address = "10.0.0.3"},
              {.index = 3, .address = "10.0.0.4"},
              {.index = 3, .address = "fe80::1"}});
  const RunningDump dump = stage.state().BeginDump(TableId::kAddrs4, stage.now().wall);
  stage.Say(dump, FakeMessage(RTM_NEWADDR, FakeAddr{.index = 2, .address = "10.0.0.3"}));
  const Merge merge = stage.state().FinishDump(dump, {.interrupted = true}, stage.now().wall);
  EXPECT_THAT(merge.unnamed, ElementsAre(1, 3));
  EXPECT_EQ(stage.state().addr_count(), 5);
}

TEST(NetworkStateTest, AQuestionAboutOneInterfaceRemovesNothingOfOthers) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "a"}, {.index = 2, .name = "b"}},
             {{.index = 1, .address = "10.0.0.1"}, {.index = 2, .address = "10.0.0.2"}});
  stage.TakeWords();
  for (const TableId table : {TableId::kAddrs4, TableId::kLinks}) {
    const RunningDump question = stage.state().BeginQuestion(table, 1, stage.now().wall);
    stage.state().FinishDump(question, {}, stage.now().wall);
  }
  EXPECT_THAT(stage.TakeWords(), ElementsAre("-10.0.0.1/24 a", "-a"));
  // One by name does not know which it is about.
  const RunningDump question = stage.state().BeginQuestion(TableId::kLinks, {}, stage.now().wall);
  stage.state().FinishDump(question, {}, stage.now().wall);
  EXPECT_THAT(stage.TakeWords(), IsEmpty());
}

TEST(NetworkStateTest, ALossIsToldAsAChange) {
  StagedState stage;
  stage.Sync({{.index = 1}});
  const uint64_t revision = stage.state().revision();
  stage.TakeWords();
  stage.state().NoteLoss(stage.now().wall);
  EXPECT_EQ(stage.state().revision(), revision + 1);
  EXPECT_THAT(stage.TakeWords(), ElementsAre("gap"));
}

TEST(NetworkStateTest, AddressesStandInTheKernelsOrderAfterADump) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "a"}, {.index = 2, .name = "b"}},
             {{.index = 2, .address = "10.0.0.9"},
              {.index = 2, .address = "10.0.0.1"},
              {.index = 1, .address = "fe80::9"},
              {.index = 1, .address = "fe80::1"},
              {.index = 1, .address = "10.0.0.5"}});
  const auto addresses = [&stage] {
    std::vector<std::string> texts;
    for (const pb::Addr& addr : stage.Addrs()) texts.push_back(addr.address());
    return texts;
  };
  EXPECT_THAT(addresses(), ElementsAre("10.0.0.5", "fe80::9", "fe80::1", "10.0.0.9", "10.0.0.1"));

  // The first was deleted, and a third came in its place, of which no event told.
  stage.DumpAddrs({{.index = 2, .address = "10.0.0.3"}, {.index = 2, .address = "10.0.0.1"}});
  EXPECT_THAT(addresses(), ElementsAre("10.0.0.3", "10.0.0.1"));
}

TEST(NetworkStateTest, InterfacesAreSortedByIndexHoweverTheyCome) {
  StagedState stage;
  stage.Sync({{.index = 300, .name = "c"}, {.index = 2, .name = "b"}});
  stage.Event(FakeLink{.index = 1, .name = "a"});
  EXPECT_THAT(stage.Interfaces(),
              ElementsAre(Property(&pb::Interface::name, "a"), Property(&pb::Interface::name, "b"),
                          Property(&pb::Interface::name, "c")));
}

TEST(NetworkStateTest, SnapshotsAreSharedUntilTheTableChanges) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "a"}, {.index = 2, .name = "b"}});
  const SnapshotPtr before = stage.state().Interfaces();
  stage.DumpLinks({{.index = 1, .name = "a"}, {.index = 2, .name = "b"}});
  EXPECT_EQ(stage.state().Interfaces(), before);
  stage.Event(FakeLink{.index = 2, .name = "c"});
  const SnapshotPtr after = stage.state().Interfaces();
  EXPECT_NE(after, before);
  EXPECT_EQ(after->rows[0], before->rows[0]);
  EXPECT_EQ(AsInterface(*before->rows[1]).name(), "b");
}

TEST(NetworkStateTest, OfSnapshotsThatAreHeldTheEighthOldestExpires) {
  StagedState stage;
  std::vector<SnapshotPtr> held;
  for (uint32_t mtu = 1; mtu <= SnapshotCache::kLive + 1; ++mtu) {
    stage.Event(FakeLink{.index = 1, .mtu = mtu});
    held.push_back(stage.state().Interfaces());
  }
  EXPECT_TRUE(held[0]->expired);
  EXPECT_FALSE(held[1]->expired);
  EXPECT_EQ(AsInterface(*held[0]->rows[0]).mtu(), 1);
}

TEST(NetworkStateTest, SnapshotsThatNobodyHoldsMakeNoneExpire) {
  StagedState stage;
  stage.Event(FakeLink{.index = 1, .mtu = 1});
  const SnapshotPtr held = stage.state().Interfaces();
  for (uint32_t mtu = 2; mtu < 100; ++mtu) {
    stage.Event(FakeLink{.index = 1, .mtu = mtu});
    stage.state().Interfaces();
  }
  EXPECT_FALSE(held->expired);
}

TEST(NetworkStateTest, RevisionsGrowByOneWithEachChange) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "a"}}, {{.index = 1}});
  stage.Event(FakeLink{.index = 1, .name = "b"});
  uint64_t expected = 0;
  for (const ChangePtr& change : stage.TakeChanges()) {
    EXPECT_EQ(change->revision, ++expected);
    EXPECT_EQ(change->after->revision, expected);
  }
  EXPECT_EQ(stage.state().revision(), expected);
}

}  // namespace
}  // namespace linkvane::server
