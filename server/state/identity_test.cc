// What makes an interface, or an address, another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>

#include <string>
#include <vector>

#include "server/state/testing/staged_state.h"

namespace linkvane::server {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

const FakeLink kVeth{.index = 5, .name = "veth0", .kind = "veth"};

TEST(IdentityTest, AnIndexUsedAgainIsRemovedThenAddedWithANewUid) {
  StagedState stage;
  stage.Sync({kVeth});
  const std::string uid = stage.Interface(5).uid();
  stage.TakeWords();
  stage.EventGone(kVeth);
  stage.Event(kVeth);
  EXPECT_THAT(stage.TakeWords(), ElementsAre("-veth0", "+veth0"));
  EXPECT_NE(stage.Interface(5).uid(), uid);
}

TEST(IdentityTest, UidsAreUniqueAndTellTheEpoch) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "a"}, {.index = 2, .name = "b"}}, {{.index = 1}});
  EXPECT_NE(stage.Interface(1).uid(), stage.Interface(2).uid());
  EXPECT_NE(stage.Interface(1).uid(), stage.Addr().uid());
  EXPECT_THAT(stage.Interface(1).uid(), StartsWith("epoch-"));
}

// The ways in which, after a loss of events, a link is another one than before with the same index.
struct Other {
  const char* what;
  FakeLink link;
};
std::vector<Other> Others() {
  std::vector<Other> others;
  const auto add = [&others](const char* what, auto&& change) {
    others.push_back({what, kVeth});
    change(others.back().link);
  };
  add("kind", [](FakeLink& link) { link.kind = "dummy"; });
  add("hardware type", [](FakeLink& link) { link.hardware_type = ARPHRD_NONE; });
  add("carrier changes", [](FakeLink& link) { link.carrier_changes = 1; });
  add("carrier up count", [](FakeLink& link) { link.carrier_up_count = 0; });
  add("carrier down count", [](FakeLink& link) { link.carrier_down_count = 0; });
  add("name and address", [](FakeLink& link) {
    link.name = "veth1";
    link.address = std::string("\x02\x00\x00\x00\x00\x99", 6);
  });
  return others;
}

TEST(IdentityTest, AfterALossAnEventMayTellOfAnotherInterface) {
  for (const Other& other : Others()) {
    StagedState stage;
    stage.Sync({kVeth}, {{.index = 5, .address = "10.0.0.1"}});
    const std::string uid = stage.Interface(5).uid();
    stage.state().NoteLoss(stage.now().wall);
    stage.TakeWords();
    stage.Event(other.link);
    EXPECT_THAT(stage.TakeWords(),
                ElementsAre("-10.0.0.1/24 veth0", "-veth0", "+" + other.link.name,
                            "+10.0.0.1/24 " + other.link.name))
        << other.what;
    EXPECT_NE(stage.Interface(5).uid(), uid) << other.what;
  }
}

TEST(IdentityTest, ADumpMayTellOfAnotherInterface) {
  for (const Other& other : Others()) {
    StagedState stage;
    stage.Sync({kVeth});
    stage.state().NoteLoss(stage.now().wall);
    stage.TakeWords();
    stage.DumpLinks({other.link});
    EXPECT_THAT(stage.TakeWords(), ElementsAre("-veth0", "+" + other.link.name)) << other.what;
  }
}

TEST(IdentityTest, WithoutALossAnEventTellsOfTheSameInterface) {
  for (const Other& other : Others()) {
    StagedState stage;
    stage.Sync({kVeth});
    const std::string uid = stage.Interface(5).uid();
    stage.TakeWords();
    stage.Event(other.link);
    EXPECT_THAT(stage.TakeWords(), ElementsAre(StartsWith("~"))) << other.what;
    EXPECT_EQ(stage.Interface(5).uid(), uid) << other.what;
  }
}

TEST(IdentityTest, AfterTheRepairEventsAreTrustedAgain) {
  StagedState stage;
  stage.Sync({kVeth});
  stage.state().NoteLoss(stage.now().wall);
  stage.Sync({kVeth});
  stage.TakeWords();
  FakeLink link = kVeth;
  link.carrier_changes = 0;
  stage.Event(link);
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~veth0: carrier_changes"));
}

TEST(IdentityTest, AfterALossWhatChangesInOneLifeIsTheSameInterface) {
  std::vector<FakeLink> sames(4, kVeth);
  sames[0].name = "renamed";
  sames[1].address = std::string("\x02\x00\x00\x00\x00\x99", 6);
  sames[2].carrier_changes = 9;
  sames[3].master = 1;
  for (const FakeLink& same : sames) {
    StagedState stage;
    stage.Sync({kVeth});
    const std::string uid = stage.Interface(5).uid();
    stage.state().NoteLoss(stage.now().wall);
    stage.TakeWords();
    stage.DumpLinks({same});
    EXPECT_THAT(stage.TakeWords(), ElementsAre(StartsWith("~")));
    EXPECT_EQ(stage.Interface(5).uid(), uid);
  }
}

TEST(IdentityTest, AnotherInterfacesAddressesAreOthers) {
  StagedState stage;
  stage.Sync({kVeth}, {{.index = 5, .address = "10.0.0.1"}});
  const std::string uid = stage.Addr().uid();
  stage.state().NoteLoss(stage.now().wall);
  FakeLink other = kVeth;
  other.kind = "dummy";
  stage.DumpLinks({other});
  EXPECT_NE(stage.Addr().uid(), uid);
  EXPECT_THAT(stage.Addr().uid(), StartsWith("epoch-"));
}

TEST(IdentityTest, DependantsOfAnotherInterfaceFollowItsName) {
  StagedState stage;
  stage.Sync(
      {{.index = 1, .name = "br0", .kind = "bridge"}, {.index = 2, .name = "port", .master = 1}});
  const std::string uid = stage.Interface(2).uid();
  stage.state().NoteLoss(stage.now().wall);
  stage.TakeWords();
  stage.DumpLinks(
      {{.index = 1, .name = "vrf0", .kind = "vrf"}, {.index = 2, .name = "port", .master = 1}});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("-br0", "+vrf0", "~port: master_name"));
  EXPECT_EQ(stage.Interface(2).uid(), uid);
}

TEST(IdentityTest, TwoPeersOfOneIpv4AddressAreTwoAddresses) {
  StagedState stage;
  const FakeAddr first{.address = "10.0.0.1", .prefix_length = 32, .peer = "10.0.0.2"};
  FakeAddr second = first;
  second.peer = "10.0.0.3";
  stage.Sync({{.index = 1}}, {first, second});
  const std::vector<linkvane::v1::Addr> addrs = stage.Addrs();
  ASSERT_EQ(addrs.size(), 2);
  EXPECT_EQ(addrs[0].peer_address(), "10.0.0.2");
  EXPECT_EQ(addrs[1].peer_address(), "10.0.0.3");
  EXPECT_NE(addrs[0].uid(), addrs[1].uid());
  stage.EventGone(first);
  EXPECT_EQ(stage.Addr().peer_address(), "10.0.0.3");
}

TEST(IdentityTest, AnIpv4AddressWithAnotherPrefixLengthIsAnother) {
  StagedState stage;
  stage.Sync({{.index = 1}}, {{.address = "10.0.0.1", .prefix_length = 24},
                              {.address = "10.0.0.1", .prefix_length = 32}});
  EXPECT_EQ(stage.Addrs().size(), 2);
}

TEST(IdentityTest, AnIpv6AddressIsKnownByInterfaceAndAddress) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "a"}, {.index = 2, .name = "b"}},
             {{.index = 1, .address = "2001:db8::1", .prefix_length = 64}});
  const std::string uid = stage.Addr().uid();
  stage.TakeWords();
  stage.Event(FakeAddr{.index = 1, .address = "2001:db8::1", .prefix_length = 128});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~2001:db8::1/128 a: prefix_length"));
  stage.Event(
      FakeAddr{.index = 1, .address = "2001:db8::1", .prefix_length = 128, .peer = "2001:db8::2"});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~2001:db8::1/128 a: peer_address"));
  EXPECT_EQ(stage.Addr().uid(), uid);
  stage.Event(FakeAddr{.index = 2, .address = "2001:db8::1", .prefix_length = 64});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("+2001:db8::1/64 b"));
}

TEST(IdentityTest, AnAddressMadeAgainUnseenIsAnother) {
  StagedState stage;
  FakeAddr addr{.lifetime = ifa_cacheinfo{
                    .ifa_prefered = ~0U, .ifa_valid = ~0U, .cstamp = 100, .tstamp = 100}};
  stage.Sync({{.index = 1}}, {addr});
  const std::string uid = stage.Addr().uid();
  stage.TakeWords();
  addr.lifetime->cstamp = addr.lifetime->tstamp = 200;
  stage.DumpAddrs({addr});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("-192.0.2.1/24 eth0", "+192.0.2.1/24 eth0"));
  EXPECT_NE(stage.Addr().uid(), uid);
}

}  // namespace
}  // namespace linkvane::server
