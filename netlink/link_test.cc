#include "netlink/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <string>

#include "netlink/fake_socket.h"
#include "netlink/link_kind.h"

namespace linkvane::netlink {
namespace {

using ::testing::ElementsAre;

ifinfomsg Header() {
  ifinfomsg header{};
  header.ifi_type = ARPHRD_ETHER;
  header.ifi_index = 7;
  header.ifi_flags = 0x1003;
  return header;
}

std::vector<std::byte> Payload(const FakeAttributes& attributes, ifinfomsg header = Header()) {
  std::vector<std::byte> payload;
  AppendBytes(payload, &header, sizeof(header));
  AppendBytes(payload, attributes.bytes().data(), attributes.bytes().size());
  return payload;
}

LinkView Decode(const std::vector<std::byte>& payload, uint64_t malformed = 0) {
  LinkView view;
  DecodeTally tally;
  EXPECT_TRUE(DecodeLink(payload, view, tally));
  EXPECT_EQ(tally.malformed, malformed);
  return view;
}

// The two parts of the normal form.
struct Normal {
  std::vector<std::byte> compared;
  std::vector<std::byte> rest;
};
Normal NormalForm(const std::vector<std::byte>& payload) {
  std::vector<std::byte> out(3);  // It appends.
  const size_t compared = AppendNormalLink(payload, out);
  const auto split = out.begin() + 3 + static_cast<ptrdiff_t>(compared);
  return {{out.begin() + 3, split}, {split, out.end()}};
}

TEST(DecodeLinkTest, ReadsTheHeader) {
  const std::vector<std::byte> payload = Payload({});
  const LinkView view = Decode(payload);
  EXPECT_EQ(view.family, AF_UNSPEC);
  EXPECT_EQ(view.hardware_type, ARPHRD_ETHER);
  EXPECT_EQ(view.index, 7);
  EXPECT_EQ(view.flags, 0x1003);
  EXPECT_EQ(view.mtu, std::nullopt) << "what the kernel did not say is unset";
}

TEST(DecodeLinkTest, FailsOnlyWithoutAWholeHeader) {
  const std::vector<std::byte> payload = Payload({});
  LinkView view;
  DecodeTally tally;
  for (size_t size = 0; size < sizeof(ifinfomsg); ++size) {
    EXPECT_FALSE(DecodeLink(Bytes(payload).first(size), view, tally)) << size;
  }
}

TEST(DecodeLinkTest, ForgetsWhatTheViewHeldBefore) {
  const std::vector<std::byte> first = Payload(FakeAttributes().Number<uint32_t>(IFLA_MTU, 1500));
  const std::vector<std::byte> second = Payload({});
  LinkView view = Decode(first);
  ASSERT_EQ(view.mtu, 1500);
  DecodeTally tally;
  ASSERT_TRUE(DecodeLink(second, view, tally));
  EXPECT_EQ(view.mtu, std::nullopt);
}

TEST(DecodeLinkTest, StrayAttributesUnderTheNumberOfAnAddressAreNone) {
  // As where the length of the list of virtual functions does not fit: its members follow.
  const std::vector<std::byte> longer(33);
  const std::vector<std::byte> address(32, std::byte{1});
  const std::vector<std::byte> payload = Payload(
      FakeAttributes().Add(IFLA_ADDRESS, longer).Add(IFLA_ADDRESS, address).Add(IFLA_ADDRESS, {}));
  const LinkView view = Decode(payload, 1);
  ASSERT_TRUE(view.address.has_value());
  EXPECT_EQ(view.address->size(), 32);
}

TEST(DecodeLinkTest, AddressMayHaveNoBytes) {
  const std::vector<std::byte> payload = Payload(FakeAttributes().Add(IFLA_ADDRESS, {}));
  ASSERT_TRUE(Decode(payload).address.has_value());
}

TEST(DecodeLinkTest, ReadsKindsFromTheNestedRun) {
  const std::vector<std::byte> payload = Payload(FakeAttributes().Add(
      IFLA_LINKINFO,
      FakeAttributes().Text(IFLA_INFO_KIND, "veth").Text(IFLA_INFO_SLAVE_KIND, "bridge")));
  const LinkView view = Decode(payload);
  EXPECT_EQ(view.kind, "veth");
  EXPECT_EQ(view.slave_kind, "bridge");
}

TEST(DecodeLinkTest, AlternativeNamesComeInOrder) {
  const std::vector<std::byte> payload = Payload(FakeAttributes().Add(
      IFLA_PROP_LIST | NLA_F_NESTED,
      FakeAttributes().Text(IFLA_ALT_IFNAME, "b").Text(99, "none").Text(IFLA_ALT_IFNAME, "a")));
  std::vector<std::string> names;
  const LinkView view = Decode(payload);
  ForEachAltName(view, [&](std::string_view name) { names.emplace_back(name); });
  EXPECT_THAT(names, ElementsAre("b", "a"));
  const LinkView none;
  ForEachAltName(none, [](std::string_view) { ADD_FAILURE(); });
}

TEST(DecodeLinkTest, TellsMessagesAboutLinksFromOthers) {
  const FakeAttributes whole =
      FakeAttributes().Text(IFLA_IFNAME, "eth0").Number<uint32_t>(IFLA_MTU, 1500);
  const std::vector<std::byte> link = Payload(whole);
  EXPECT_TRUE(TellsWholeLink(Decode(link)));

  ifinfomsg bridge_header = Header();
  bridge_header.ifi_family = AF_BRIDGE;
  const std::vector<std::byte> port = Payload(whole, bridge_header);
  EXPECT_FALSE(IsAboutLink(Decode(port)));
  EXPECT_FALSE(TellsWholeLink(Decode(port)));

  const std::vector<std::byte> wireless =
      Payload(FakeAttributes().Text(IFLA_IFNAME, "wlan0").Add(IFLA_WIRELESS, {}));
  EXPECT_TRUE(IsAboutLink(Decode(wireless)));
  EXPECT_FALSE(TellsWholeLink(Decode(wireless)));
}

TEST(LinkStatsTest, ReadsAsFarAsTheKernelGoes) {
  std::vector<uint64_t> counters(30);
  for (size_t i = 0; i < counters.size(); ++i) counters[i] = i + 1;
  const Bytes bytes = std::as_bytes(std::span(counters));
  EXPECT_EQ(LoadLinkStats({}).count, 0);
  EXPECT_EQ(LoadLinkStats(bytes.first(7)).count, 0);
  const LinkStats older = LoadLinkStats(bytes.first(24 * 8 + 5));
  EXPECT_EQ(older.count, 24);
  EXPECT_EQ(older.values[23], 24);
  EXPECT_EQ(older.values[24], 0);
  EXPECT_EQ(LoadLinkStats(bytes).count, LinkStats::kMax);
}

TEST(LinkStatsTest, NeedsNoAlignment) {
  std::vector<std::byte> bytes(4 + 16);
  bytes[4] = std::byte{1};
  bytes[12] = std::byte{2};
  const LinkStats stats = LoadLinkStats(Bytes(bytes).subspan(4));
  EXPECT_EQ(stats.values[0], 1);
  EXPECT_EQ(stats.values[1], 2);
}

// One that this version does not know.
constexpr uint16_t kYoungerAttribute = 120;

FakeAttributes Link(uint32_t mtu, uint64_t bytes, uint32_t event, const char* unknown) {
  const FakeAttributes inet6 = FakeAttributes()
                                   .Number<uint32_t>(IFLA_INET6_FLAGS, 0x80000000)
                                   .Number<uint32_t>(kYoungerAttribute, 1)
                                   .Number<uint64_t>(IFLA_INET6_STATS, bytes)
                                   .Number<uint64_t>(IFLA_INET6_ICMP6STATS, bytes);
  const std::vector<uint64_t> stats64(25, bytes);
  const std::vector<uint32_t> stats(24, static_cast<uint32_t>(bytes));
  return FakeAttributes()
      .Text(IFLA_IFNAME, "eth0")
      .Number<uint32_t>(IFLA_MTU, mtu)
      .Add(IFLA_STATS64, std::as_bytes(std::span(stats64)))
      .Add(IFLA_STATS, std::as_bytes(std::span(stats)))
      .Number<uint32_t>(IFLA_EVENT, event)
      .Number<uint32_t>(IFLA_EXT_MASK, event)
      .Number<int32_t>(IFLA_NEW_NETNSID, static_cast<int32_t>(event))
      .Number<int32_t>(IFLA_NEW_IFINDEX, static_cast<int32_t>(event))
      .Add(IFLA_LINKINFO,
           FakeAttributes().Text(IFLA_INFO_KIND, "new-kind").Text(IFLA_INFO_DATA, unknown))
      .Text(kYoungerAttribute, unknown)
      .Add(IFLA_AF_SPEC, FakeAttributes().Add(AF_INET6, inet6));
}

TEST(NormalLinkTest, IsEqualWhereOnlyCountersAndWhatBelongsToAnEventDiffer) {
  ifinfomsg changed = Header();
  changed.ifi_change = 0xffffffff;
  const Normal one = NormalForm(Payload(Link(1500, 1, 2, "u")));
  const Normal other = NormalForm(Payload(Link(1500, 99, 4, "u"), changed));
  EXPECT_EQ(one.compared, other.compared);
  EXPECT_EQ(one.rest, other.rest);
}

TEST(NormalLinkTest, WhatIsVolatileDiffersInTheSecondPartOnly) {
  const Normal one = NormalForm(Payload(Link(1500, 1, 2, "u")));
  const Normal other = NormalForm(Payload(Link(1500, 1, 2, "v")));
  EXPECT_EQ(one.compared, other.compared);
  EXPECT_NE(one.rest, other.rest);
}

FakeAttributes Bridge(uint32_t max_age, uint64_t timer) {
  const FakeAttributes settings = FakeAttributes()
                                      .Number<uint64_t>(IFLA_BR_HELLO_TIMER, timer)
                                      .Number<uint32_t>(IFLA_BR_MAX_AGE, max_age);
  return FakeAttributes().Add(
      IFLA_LINKINFO, FakeAttributes().Text(IFLA_INFO_KIND, "bridge").Add(IFLA_INFO_DATA, settings));
}

TEST(NormalLinkTest, TheRulesOfItsKindSayWhatRunsByItself) {
  const std::vector<std::byte> payload = Payload(Bridge(2000, 7));
  const Normal one = NormalForm(payload);
  EXPECT_EQ(one.compared, NormalForm(Payload(Bridge(2000, 8))).compared);
  EXPECT_NE(one.rest, NormalForm(Payload(Bridge(2000, 8))).rest);
  EXPECT_NE(one.compared, NormalForm(Payload(Bridge(1000, 7))).compared);
  std::vector<std::byte> normal;
  const size_t compared = AppendNormalLink(payload, normal);
  EXPECT_TRUE(IsNormalLink(payload, normal, compared));
  EXPECT_FALSE(IsNormalLink(Payload(Bridge(2000, 8)), normal, compared));
  // Both parts are found again.
  std::vector<int> settings;
  ForEachKindSettings(Decode(normal).attributes, [&](Bytes run) {
    AttributeReader reader(run);
    Attribute attribute;
    while (reader.Next(attribute)) settings.push_back(attribute.type);
  });
  EXPECT_THAT(settings, ElementsAre(IFLA_BR_MAX_AGE, IFLA_BR_HELLO_TIMER));
}

TEST(NormalLinkTest, AChangeDiffersInTheFirstPart) {
  const Normal one = NormalForm(Payload(Link(1500, 1, 2, "u")));
  const Normal mtu = NormalForm(Payload(Link(1400, 1, 2, "u")));
  EXPECT_NE(one.compared, mtu.compared);
  EXPECT_EQ(one.rest, mtu.rest);
  ifinfomsg down = Header();
  down.ifi_flags = 0x1002;
  EXPECT_NE(one.compared, NormalForm(Payload(Link(1500, 1, 2, "u"), down)).compared);
}

TEST(NormalLinkTest, EachCounterOfChangesIsSteady) {
  for (const uint16_t type :
       {IFLA_CARRIER_CHANGES, IFLA_CARRIER_UP_COUNT, IFLA_CARRIER_DOWN_COUNT}) {
    EXPECT_NE(NormalForm(Payload(FakeAttributes().Number<uint32_t>(type, 1))).compared,
              NormalForm(Payload(FakeAttributes().Number<uint32_t>(type, 2))).compared)
        << type;
  }
}

TEST(NormalLinkTest, IsAPayloadAgainWithAllThatIsKept) {
  std::vector<std::byte> normal;
  AppendNormalLink(Payload(Link(1500, 1, 2, "u")), normal);
  const LinkView view = Decode(normal);
  EXPECT_EQ(view.index, 7);
  EXPECT_EQ(view.name, "eth0");
  EXPECT_EQ(view.mtu, 1500);
  EXPECT_EQ(view.kind, "new-kind");
  EXPECT_EQ(view.stats64, std::nullopt);
  EXPECT_EQ(view.new_index, std::nullopt);
  std::vector<std::pair<size_t, int>> unknown;
  ForEachUnknown(view.attributes, LinkRules(),
                 [&](std::span<const uint16_t> parents, const Attribute& attribute) {
                   unknown.emplace_back(parents.size(), attribute.type);
                 });
  EXPECT_THAT(unknown, ElementsAre(std::pair(1, IFLA_INFO_DATA), std::pair(0, kYoungerAttribute),
                                   std::pair(2, kYoungerAttribute)));

  std::vector<std::byte> again;
  AppendNormalLink(normal, again);
  EXPECT_EQ(normal, again);
}

TEST(NormalLinkTest, IsComparedWithoutMakingIt) {
  const std::vector<std::byte> payload = Payload(Link(1500, 1, 2, "u"));
  std::vector<std::byte> normal;
  const size_t compared = AppendNormalLink(payload, normal);
  ifinfomsg changed = Header();
  changed.ifi_change = 0xffffffff;
  EXPECT_TRUE(IsNormalLink(payload, normal, compared));
  EXPECT_TRUE(IsNormalLink(normal, normal, compared));
  EXPECT_TRUE(IsNormalLink(Payload(Link(1500, 99, 4, "u"), changed), normal, compared));
  EXPECT_FALSE(IsNormalLink(Payload(Link(1400, 1, 2, "u")), normal, compared));
  EXPECT_FALSE(IsNormalLink(Payload(Link(1500, 1, 2, "v")), normal, compared));
  changed.ifi_flags = 0;
  EXPECT_FALSE(IsNormalLink(Payload(Link(1500, 1, 2, "u"), changed), normal, compared));
  EXPECT_FALSE(IsNormalLink({}, normal, compared));
  EXPECT_FALSE(IsNormalLink(payload, {}, 0));
  EXPECT_FALSE(IsNormalLink(payload, normal, compared - 4)) << "the parts end elsewhere";
}

TEST(NormalLinkTest, OfLessThanAHeaderIsNothing) {
  std::vector<std::byte> out;
  EXPECT_EQ(AppendNormalLink(Bytes(Payload({})).first(15), out), 0);
  EXPECT_TRUE(out.empty());
}

// The attributes of a request, by number.
std::vector<std::pair<int, std::vector<std::byte>>> AttributesOf(Request request) {
  std::vector<std::pair<int, std::vector<std::byte>>> attributes;
  AttributeReader reader(request.Finish(1, 1).subspan(sizeof(nlmsghdr) + sizeof(ifinfomsg)));
  Attribute attribute;
  while (reader.Next(attribute)) {
    attributes.emplace_back(
        attribute.type, std::vector<std::byte>(attribute.payload.begin(), attribute.payload.end()));
  }
  EXPECT_FALSE(reader.malformed());
  return attributes;
}

TEST(LinkRequestTest, EachCarriesAMask) {
  for (const Request& request :
       {LinkDumpRequest(), LinkDumpRequest({.master = 3}), LinkDumpRequest({.kind = "veth"}),
        LinkGetRequest(1), LinkGetRequest("eth0")}) {
    const auto attributes = AttributesOf(request);
    ASSERT_FALSE(attributes.empty());
    EXPECT_EQ(attributes[0].first, IFLA_EXT_MASK);
    EXPECT_EQ(LoadNumber<uint32_t>(attributes[0].second), RTEXT_FILTER_SKIP_STATS);
  }
}

TEST(LinkRequestTest, NamesGoIntoTheAttributeThatIsLongEnough) {
  EXPECT_EQ(AttributesOf(LinkGetRequest(std::string(15, 'x')))[1].first, IFLA_IFNAME);
  EXPECT_EQ(AttributesOf(LinkGetRequest(std::string(16, 'x')))[1].first, IFLA_ALT_IFNAME);
  EXPECT_EQ(AttributesOf(LinkGetRequest(std::string(127, 'x')))[1].second.size(), 128);
}

TEST(LinkRequestTest, NamesOfAnyLengthFit) {
  const std::string name(100000, 'x');
  EXPECT_EQ(AttributesOf(LinkGetRequest(name))[1].second.size(), 129);
  EXPECT_EQ(AttributesOf(LinkDumpRequest({.kind = name})).size(), 1) << "no link is of that kind";
  EXPECT_EQ(AttributesOf(LinkDumpRequest({.kind = name.substr(0, 55)})).size(), 2);
}

TEST(HardwareTypeNameTest, IsWhatIproute2Prints) {
  EXPECT_EQ(HardwareTypeName(ARPHRD_ETHER), "ether");
  EXPECT_EQ(HardwareTypeName(ARPHRD_LOOPBACK), "loopback");
  EXPECT_EQ(HardwareTypeName(ARPHRD_TUNNEL), "ipip");
  EXPECT_EQ(HardwareTypeName(ARPHRD_IP6GRE), "gre6");
  EXPECT_EQ(HardwareTypeName(ARPHRD_NONE), "none");
  EXPECT_EQ(HardwareTypeName(ARPHRD_NETROM), "generic");
  EXPECT_EQ(HardwareTypeName(ARPHRD_VOID), "void");
  EXPECT_EQ(HardwareTypeName(9999), "");
}

}  // namespace
}  // namespace linkvane::netlink
