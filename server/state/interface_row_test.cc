#include "server/state/interface_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/if_bridge.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "netlink/fake_socket.h"
#include "server/state/row.h"
#include "server/state/stats_block.h"
#include "server/state/testing/staged_state.h"
#include "server/state/wire.h"

namespace linkvane::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace pb = ::linkvane::v1;

std::string AsText(netlink::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
template <typename T>
RawAttribute Raw(uint16_t type, const T& value) {
  return {type, AsText(std::as_bytes(std::span(&value, 1)))};
}

pb::Interface RowOf(const FakeLink& link) {
  StagedState stage;
  stage.Event(link);
  return stage.Interface(link.index);
}

TEST(InterfaceRowTest, TellsAllThatTheKernelTells) {
  const pb::Interface row = RowOf({.index = 7,
                                   .name = "eth0",
                                   .flags = IFF_UP | IFF_LOWER_UP | 0x80000000,
                                   .alias = "uplink",
                                   .alt_names = {"a1", "a2"},
                                   .kind = "veth",
                                   .oper_state = 6});
  EXPECT_EQ(row.index(), 7);
  EXPECT_EQ(row.alias(), "uplink");
  EXPECT_THAT(row.alt_names(), ElementsAre("a1", "a2"));
  EXPECT_EQ(row.kind(), "veth");
  EXPECT_EQ(row.hardware_type_name(), "ether");
  EXPECT_EQ(row.hardware_address(), "02:00:00:00:00:01");
  EXPECT_EQ(row.oper_state(), pb::OPER_STATE_UP);
  EXPECT_EQ(row.oper_state_raw(), 6);
  EXPECT_THAT(row.flags(), ElementsAre(pb::INTERFACE_FLAG_UP, pb::INTERFACE_FLAG_LOWER_UP));
  EXPECT_EQ(row.flags_raw(), IFF_UP | IFF_LOWER_UP | 0x80000000);
  EXPECT_TRUE(row.admin_up());
  EXPECT_EQ(row.carrier_changes(), 2);
}

TEST(InterfaceRowTest, WhatTheKernelDoesNotSayIsUnset) {
  const pb::Interface row = RowOf({.name = "tun0", .address = ""});
  EXPECT_EQ(row.hardware_address(), "");
  EXPECT_FALSE(row.has_alias());
  EXPECT_FALSE(row.has_kind());
  EXPECT_FALSE(row.has_master_index());
  EXPECT_FALSE(row.has_oper_state());
  EXPECT_FALSE(row.has_carrier());
  EXPECT_FALSE(row.has_stats());
}

TEST(InterfaceRowTest, ANumberWithoutANameIsToldRaw) {
  const pb::Interface row = RowOf({.oper_state = 200});
  EXPECT_TRUE(row.has_oper_state());
  EXPECT_EQ(row.oper_state(), pb::OPER_STATE_UNSPECIFIED);
  EXPECT_EQ(row.oper_state_raw(), 200);
}

TEST(InterfaceRowTest, TextsThatAreNotUtf8AlsoComeRaw) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "br\x80"},
              {.index = 2,
               .name = "\xc3\xa9t\xe9",
               .alias = "\xff",
               .alt_names = {"ok", "a\xf5"},
               .master = 1,
               .link = 1}});
  const pb::Interface row = stage.Interface(2);
  EXPECT_EQ(row.name(), "\u00E9t\uFFFD");
  EXPECT_EQ(row.raw_name(), "\xc3\xa9t\xe9");
  EXPECT_EQ(row.alias(), "\uFFFD");
  EXPECT_EQ(row.raw_alias(), "\xff");
  EXPECT_THAT(row.alt_names(), ElementsAre("ok", "a\uFFFD"));
  EXPECT_THAT(row.raw_alt_names(), ElementsAre("ok", "a\xf5"));
  EXPECT_EQ(row.master_name(), "br\uFFFD");
  EXPECT_EQ(row.raw_master_name(), "br\x80");
  EXPECT_EQ(row.raw_link_name(), "br\x80");
}

TEST(InterfaceRowTest, TextsThatAreUtf8DoNotComeRaw) {
  const pb::Interface row = RowOf({.name = "a.b-c_d@#\u00E9", .alias = "x", .alt_names = {"y"}});
  EXPECT_EQ(row.name(), "a.b-c_d@#\u00E9");
  EXPECT_EQ(row.raw_name(), "");
  EXPECT_EQ(row.raw_alias(), "");
  EXPECT_THAT(row.raw_alt_names(), IsEmpty());
}

TEST(InterfaceRowTest, CountersAndTheReasonOfAnEventMakeNoChange) {
  StagedState stage;
  stage.Sync({{.index = 1, .rx_packets = 1}});
  const uint64_t encoded = RowsEncoded();
  stage.TakeWords();
  stage.Event(FakeLink{
      .index = 1, .rx_packets = 2, .others = {{IFLA_EVENT, std::string("\x05\0\0\0", 4)}}});
  stage.DumpLinks({{.index = 1, .rx_packets = 3}});
  EXPECT_THAT(stage.TakeWords(), IsEmpty());
  EXPECT_EQ(RowsEncoded(), encoded);
}

TEST(InterfaceRowTest, CarrierChangesMakeAChange) {
  StagedState stage;
  stage.Sync({{.index = 1}});
  stage.TakeWords();
  stage.Event(FakeLink{.index = 1, .carrier_changes = 3});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~eth0: carrier_changes"));
}

TEST(InterfaceRowTest, UnknownAttributesAreRefreshedWithoutAChange) {
  StagedState stage;
  stage.Sync({{.index = 1, .others = {{120, "before"}}}});
  const std::string uid = stage.Interface(1).uid();
  const uint64_t revision = stage.state().FindInterface(1)->revision;
  const uint64_t encoded = RowsEncoded();
  stage.TakeWords();
  stage.Event(FakeLink{.index = 1, .others = {{120, "after"}}});
  EXPECT_THAT(stage.TakeWords(), IsEmpty());
  EXPECT_EQ(RowsEncoded(), encoded + 1);
  const pb::Interface row = stage.Interface(1);
  ASSERT_EQ(row.unknown_attributes_size(), 1);
  EXPECT_EQ(row.unknown_attributes(0).type(), 120);
  EXPECT_EQ(row.unknown_attributes(0).data(), "after");
  EXPECT_EQ(row.uid(), uid);
  EXPECT_EQ(stage.state().FindInterface(1)->revision, revision);
}

TEST(InterfaceRowTest, UnknownAttributesAreNotAmongWhatChanged) {
  StagedState stage;
  stage.Sync({{.index = 1, .others = {{120, "before"}}}});
  stage.TakeWords();
  stage.Event(FakeLink{.index = 1, .mtu = 9000, .others = {{120, "after"}}});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~eth0: mtu"));
}

TEST(InterfaceRowTest, AThousandUnchangedRowsAreNotEncodedAgain) {
  std::vector<FakeLink> links;
  std::vector<FakeAddr> addrs;
  for (int32_t i = 1; i <= 1000; ++i) {
    links.push_back({.index = i, .name = absl::StrCat("eth", i), .rx_packets = 1});
    addrs.push_back({.index = i, .address = absl::StrCat("10.0.", i / 256, ".", i % 256)});
  }
  StagedState stage;
  stage.Sync(links, addrs);
  const uint64_t encoded = RowsEncoded();
  const uint64_t revision = stage.state().revision();
  for (FakeLink& link : links) link.rx_packets = 2;
  stage.Sync(links, addrs);
  EXPECT_EQ(RowsEncoded(), encoded);
  EXPECT_EQ(stage.state().revision(), revision);
}

// IFLA_AF_SPEC with the IPv6 settings.
RawAttribute Ipv6(uint32_t flags, uint32_t reachable_time) {
  const uint32_t cacheinfo[] = {65535, 100, reachable_time, 1000};
  const int32_t conf[] = {1, 64, 1500};
  netlink::FakeAttributes settings;
  settings.Number(IFLA_INET6_FLAGS, flags)
      .Add(IFLA_INET6_CACHEINFO, std::as_bytes(std::span(cacheinfo)))
      .Add(IFLA_INET6_CONF, std::as_bytes(std::span(conf)));
  const auto families = netlink::FakeAttributes().Add(AF_INET6, settings);
  return {IFLA_AF_SPEC, AsText(families)};
}

TEST(InterfaceRowTest, TellsTheSettingsOfAddressFamilies) {
  const int32_t conf[] = {1, 0, 1};
  const auto settings =
      netlink::FakeAttributes().Add(IFLA_INET_CONF, std::as_bytes(std::span(conf)));
  const auto families = netlink::FakeAttributes().Add(AF_INET, settings);
  const pb::Interface row =
      RowOf({.others = {{IFLA_AF_SPEC, AsText(families)}, Ipv6(0x80000000, 15'500)}});
  EXPECT_EQ(row.ipv4().conf().forwarding(), 1);
  EXPECT_EQ(row.ipv4().conf().proxy_arp(), 1);
  EXPECT_FALSE(row.ipv4().conf().has_accept_redirects());
  EXPECT_EQ(row.ipv6().flags(), 0x80000000);
  EXPECT_EQ(row.ipv6().conf().mtu(), 1500);
  EXPECT_EQ(row.ipv6().cacheinfo().reachable_time().seconds(), 15);
  EXPECT_EQ(row.ipv6().cacheinfo().tstamp().seconds(), 1);
  EXPECT_THAT(row.unknown_attributes(), IsEmpty());
  EXPECT_FALSE(RowOf({}).has_ipv4());
  EXPECT_FALSE(RowOf({}).has_ipv6());
}

TEST(InterfaceRowTest, SettingsThatRunByThemselvesAreRefreshedWithoutAChange) {
  StagedState stage;
  stage.Sync({{.index = 1, .others = {Ipv6(0, 15'000)}}});
  stage.TakeWords();
  stage.Event(FakeLink{.index = 1, .others = {Ipv6(0, 16'000)}});
  EXPECT_THAT(stage.TakeWords(), IsEmpty());
  EXPECT_EQ(stage.Interface(1).ipv6().cacheinfo().reachable_time().seconds(), 16);
  stage.Event(FakeLink{.index = 1, .others = {Ipv6(0x10, 16'000)}});
  EXPECT_THAT(stage.TakeWords(), IsEmpty());
  EXPECT_EQ(stage.Interface(1).ipv6().flags(), 0x10);
}

TEST(InterfaceRowTest, SettingsThatRunByThemselvesAreNotAmongWhatChanged) {
  StagedState stage;
  stage.Sync({{.index = 1, .others = {Ipv6(0, 15'000)}}});
  stage.TakeWords();
  stage.Event(FakeLink{.index = 1, .mtu = 9000, .others = {Ipv6(0, 16'000)}});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~eth0: mtu"));
}

// The fields of the settings stand among the others, whatever their numbers.
TEST(InterfaceRowTest, SettingsThatComeOrGoAloneAreWhatChanged) {
  const auto port = netlink::FakeAttributes()
                        .Text(IFLA_INFO_SLAVE_KIND, "vrf")
                        .Add(IFLA_INFO_SLAVE_DATA,
                             netlink::FakeAttributes().Number<uint32_t>(IFLA_VRF_PORT_TABLE, 10));
  const auto xdp = netlink::FakeAttributes().Number<uint8_t>(IFLA_XDP_ATTACHED, 0);
  const RawAttribute always[] = {Ipv6(0, 15'000), {IFLA_XDP, AsText(xdp)}};
  StagedState stage;
  stage.Sync({{.index = 1, .others = {always[0], always[1]}}});
  stage.TakeWords();
  stage.Event(
      FakeLink{.index = 1, .others = {always[0], always[1], {IFLA_LINKINFO, AsText(port)}}});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~eth0: slave_kind vrf_port"));
  stage.Event(FakeLink{.index = 1, .others = {always[1]}});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~eth0: slave_kind vrf_port"));
}

// How often each field stands in an encoded message.
std::map<uint32_t, int> Occurrences(std::string_view wire) {
  std::map<uint32_t, int> occurrences;
  WireReader reader(wire);
  WireField field;
  while (reader.Next(field)) ++occurrences[field.number];
  return occurrences;
}

// Not every decoder puts the pieces of a message together.
TEST(InterfaceRowTest, AMessageStandsInOnePieceWhateverRunsInIt) {
  using netlink::FakeAttributes;
  const auto querier = FakeAttributes()
                           .Number<uint64_t>(BRIDGE_QUERIER_IP_OTHER_TIMER, 500)
                           .Number<uint32_t>(BRIDGE_QUERIER_IP_PORT, 3);
  const auto settings = FakeAttributes()
                            .Number<uint64_t>(IFLA_BR_HELLO_TIMER, 700)
                            .Number<uint32_t>(IFLA_BR_MAX_AGE, 2000)
                            .Add(IFLA_BR_MCAST_QUERIER_STATE, querier);
  const auto info = FakeAttributes().Text(IFLA_INFO_KIND, "bridge").Add(IFLA_INFO_DATA, settings);
  StagedState stage;
  stage.Event(FakeLink{.index = 1, .others = {{IFLA_LINKINFO, AsText(info)}, Ipv6(1, 15'000)}});
  const std::string& wire = stage.state().FindInterface(1)->wire;
  const std::map<uint32_t, int> outer = Occurrences(wire);
  EXPECT_EQ(outer.at(pb::Interface::kBridgeFieldNumber), 1);
  EXPECT_EQ(outer.at(pb::Interface::kIpv6FieldNumber), 1);
  WireReader reader(wire);
  WireField field;
  while (reader.Next(field)) {
    if (field.number != pb::Interface::kBridgeFieldNumber) continue;
    for (const auto& [number, times] : Occurrences(field.value)) EXPECT_EQ(times, 1) << number;
  }
  const pb::Bridge bridge = stage.Interface(1).bridge();
  EXPECT_EQ(bridge.hello_timer().seconds(), 7);
  EXPECT_EQ(bridge.max_age().seconds(), 20);
  EXPECT_EQ(bridge.mcast_querier_state().ip_port(), 3);
  EXPECT_EQ(bridge.mcast_querier_state().ip_other_timer().seconds(), 5);
}

TEST(InterfaceRowTest, AMapOfZerosIsNone) {
  rtnl_link_ifmap map{};
  EXPECT_FALSE(RowOf({.others = {Raw(IFLA_MAP, map)}}).has_map());
  map.irq = 11;
  map.port = 3;
  const pb::Interface row = RowOf({.others = {Raw(IFLA_MAP, map)}});
  EXPECT_EQ(row.map().irq(), 11);
  EXPECT_EQ(row.map().port(), 3);
  EXPECT_EQ(row.map().mem_start(), 0);
  EXPECT_THAT(row.unknown_attributes(), IsEmpty());
}

TEST(InterfaceRowTest, TellsWhatYoungKernelsTell) {
  constexpr uint16_t kHorizon = 66;    // IFLA_MAX_PACING_OFFLOAD_HORIZON, of either width.
  constexpr uint16_t kImmutable = 67;  // IFLA_NETNS_IMMUTABLE.
  constexpr uint16_t kHeadroom = 68;   // IFLA_HEADROOM.
  constexpr uint16_t kTailroom = 69;   // IFLA_TAILROOM.
  const pb::Interface row =
      RowOf({.others = {Raw<uint32_t>(kHorizon, 2'000'000'001), Raw<uint8_t>(kImmutable, 1),
                        Raw<uint16_t>(kHeadroom, 64), Raw<uint16_t>(kTailroom, 0)}});
  EXPECT_EQ(row.max_pacing_offload_horizon().seconds(), 2);
  EXPECT_EQ(row.max_pacing_offload_horizon().nanos(), 1);
  EXPECT_TRUE(row.netns_immutable());
  EXPECT_EQ(row.headroom(), 64);
  EXPECT_TRUE(row.has_tailroom());
  const pb::Interface wide = RowOf({.others = {Raw<uint64_t>(kHorizon, 5'000'000'000)}});
  EXPECT_EQ(wide.max_pacing_offload_horizon().seconds(), 5);
  EXPECT_THAT(row.unknown_attributes(), IsEmpty());
}

TEST(InterfaceRowTest, WhatADevlinkPortHoldsIsUnknownAndAnEmptyOneIsNothing) {
  constexpr uint16_t kDevlinkPort = 62;  // IFLA_DEVLINK_PORT.
  constexpr uint16_t kDpllPin = 65;      // IFLA_DPLL_PIN.
  EXPECT_THAT(RowOf({.others = {{kDevlinkPort, ""}, {kDpllPin, ""}}}).unknown_attributes(),
              IsEmpty());
  const auto port = netlink::FakeAttributes().Number<uint32_t>(3, 7);
  const pb::Interface row = RowOf({.others = {{kDevlinkPort, AsText(port)}}});
  ASSERT_EQ(row.unknown_attributes_size(), 1);
  EXPECT_EQ(row.unknown_attributes(0).type(), 3);
  EXPECT_THAT(row.unknown_attributes(0).parents(), ElementsAre(kDevlinkPort));
}

TEST(InterfaceRowTest, KindsWithoutSettingsHaveTheirMessage) {
  for (const char* kind : {"dummy", "wireguard", "vxcan"}) {
    const pb::Interface row = RowOf({.kind = kind});
    EXPECT_EQ(row.GetDescriptor()->FindFieldByNumber(row.details_case())->name(), kind);
  }
  EXPECT_EQ(RowOf({.kind = "new-kind"}).details_case(), pb::Interface::DETAILS_NOT_SET);
}

TEST(StatsBlockTest, TellsTheCountersOfEachLinkOfADump) {
  const FakeMessage first(RTM_NEWLINK, FakeLink{.index = 300, .rx_packets = 3});
  const FakeMessage second(RTM_NEWLINK, FakeLink{.index = 2, .rx_packets = 2});
  const FakeMessage none(RTM_NEWLINK, FakeLink{.index = 4});
  const FakeMessage port(RTM_NEWLINK, FakeLink{.index = 5, .family = AF_BRIDGE, .rx_packets = 9});
  StatsBlock block;
  block.Add(std::vector<netlink::Message>{first.message(), none.message()});
  block.Add(std::vector<netlink::Message>{second.message(), port.message()});
  block.Sort();
  for (const auto& [index, packets] : {std::pair{300, 3}, std::pair{2, 2}}) {
    pb::Interface interface;
    ASSERT_TRUE(interface.ParseFromString(std::string(block.Find(index))));
    EXPECT_EQ(interface.stats().rx_packets(), packets);
    EXPECT_TRUE(interface.stats().has_tx_bytes());
  }
  for (const int32_t absent : {1, 3, 4, 5, 301}) EXPECT_EQ(block.Find(absent), "");
}

TEST(StatsBlockTest, OfALinkThatWasSaidTwiceTheLaterWordCounts) {
  const FakeMessage first(RTM_NEWLINK, FakeLink{.index = 1, .rx_packets = 1});
  const FakeMessage second(RTM_NEWLINK, FakeLink{.index = 1, .rx_packets = 2});
  StatsBlock block;
  block.Add(std::vector<netlink::Message>{first.message(), second.message()});
  block.Sort();
  pb::Interface interface;
  ASSERT_TRUE(interface.ParseFromString(std::string(block.Find(1))));
  EXPECT_EQ(interface.stats().rx_packets(), 2);
}

}  // namespace
}  // namespace linkvane::server
