#include "netlink/bridge_vlan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstring>
#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "netlink/fake_socket.h"
#include "netlink/link.h"
#include "netlink/recording.h"

namespace linkvane::netlink {

// "1 pvid untagged", "20-29".
std::ostream& operator<<(std::ostream& out, const BridgeVlan& vlan) {
  out << vlan.first;
  if (vlan.last != vlan.first) out << "-" << vlan.last;
  return out << (vlan.pvid ? " pvid" : "") << (vlan.untagged ? " untagged" : "");
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint16_t kPvid = BRIDGE_VLAN_INFO_PVID;
constexpr uint16_t kUntagged = BRIDGE_VLAN_INFO_UNTAGGED;
constexpr uint16_t kBegin = BRIDGE_VLAN_INFO_RANGE_BEGIN;
constexpr uint16_t kEnd = BRIDGE_VLAN_INFO_RANGE_END;
constexpr BridgeVlan kDefault{.first = 1, .last = 1, .pvid = true, .untagged = true};

// What a recorded dump says, by the names of links.
std::map<std::string, std::vector<BridgeVlan>> Recorded(const std::string& recording) {
  std::map<std::string, std::vector<BridgeVlan>> all;
  const auto datagrams = LoadRecording(recording);
  for (const Message& message : MessagesOf(datagrams)) {
    if (message.type != RTM_NEWLINK) continue;
    LinkView link;
    DecodeTally tally;
    int32_t index = 0;
    std::vector<BridgeVlan> vlans;
    EXPECT_TRUE(DecodeLink(message.payload, link, tally));
    EXPECT_TRUE(DecodeBridgeVlans(message.payload, index, vlans, tally));
    EXPECT_EQ(index, link.index);
    EXPECT_EQ(tally.malformed, 0);
    all[std::string(link.name.value_or(""))] = vlans;
  }
  return all;
}

std::vector<std::byte> MessageAbout(int32_t index, Bytes spec, uint8_t family = AF_BRIDGE) {
  ifinfomsg header{};
  header.ifi_family = family;
  header.ifi_index = index;
  const FakeAttributes attributes =
      FakeAttributes().Text(IFLA_IFNAME, "port0").Add(IFLA_AF_SPEC, spec);
  std::vector<std::byte> payload;
  AppendBytes(payload, &header, sizeof(header));
  AppendBytes(payload, attributes.bytes().data(), attributes.bytes().size());
  return payload;
}

std::vector<std::byte> MessageOf(const std::vector<std::pair<uint16_t, uint16_t>>& vlans) {
  FakeAttributes spec;
  for (const auto& [flags, id] : vlans) {
    spec.Number(IFLA_BRIDGE_VLAN_INFO, bridge_vlan_info{.flags = flags, .vid = id});
  }
  return MessageAbout(7, spec);
}

struct Read {
  bool about_bridge = false;
  std::vector<BridgeVlan> vlans;
  uint64_t malformed = 0;
};
Read ReadVlans(Bytes payload) {
  Read read;
  DecodeTally tally;
  int32_t index = 0;
  read.about_bridge = DecodeBridgeVlans(payload, index, read.vlans, tally);
  read.malformed = tally.malformed;
  return read;
}

TEST(BridgeVlanTest, TheRequestIsADumpOfTheBridgesFamilyWithRanges) {
  Request request = BridgeVlanDumpRequest();
  EXPECT_TRUE(request.is_dump());
  const Bytes bytes = request.Finish(1, 0).subspan(sizeof(nlmsghdr));
  EXPECT_EQ(LoadStruct<ifinfomsg>(bytes)->ifi_family, AF_BRIDGE);
  AttributeReader reader(bytes.subspan(sizeof(ifinfomsg)));
  Attribute mask;
  ASSERT_TRUE(reader.Next(mask));
  EXPECT_EQ(mask.type, IFLA_EXT_MASK);
  EXPECT_EQ(LoadNumber<uint32_t>(mask.payload), uint32_t{RTEXT_FILTER_BRVLAN_COMPRESSED});
}

TEST(BridgeVlanTest, ReadsTheBridgesAndPortsOfARecording) {
  auto all = Recorded("main/link-bridge-compressed");
  EXPECT_EQ(all.size(), 7);
  EXPECT_THAT(all["br0"], ElementsAre(kDefault, BridgeVlan{10, 10}, BridgeVlan{40, 44}));
  EXPECT_THAT(all["br1"], ElementsAre(kDefault));
  EXPECT_THAT(all["ve0"],
              ElementsAre(BridgeVlan{.first = 1, .last = 1, .untagged = true},
                          BridgeVlan{.first = 10, .last = 10, .pvid = true, .untagged = true},
                          BridgeVlan{20, 29}));
  // It maps VLANs to tunnels, which are other attributes among those of the VLANs.
  EXPECT_THAT(all["vxt"], ElementsAre(kDefault, BridgeVlan{1000, 1002}));
}

TEST(BridgeVlanTest, ListsWithAndWithoutRangesReadTheSame) {
  const auto compressed = Recorded("main/link-bridge-compressed");
  EXPECT_EQ(Recorded("main/link-bridge"), compressed);
  EXPECT_EQ(Recorded("main/link-bridge-mst"), compressed);
}

TEST(BridgeVlanTest, EventsEndInWhatADumpSays) {
  auto dump = Recorded("main/link-bridge-compressed");
  const auto datagrams = LoadRecording("events");
  std::map<std::string, std::vector<BridgeVlan>> last;
  for (const Message& message : MessagesOf(datagrams)) {
    if (message.type != RTM_NEWLINK) continue;
    LinkView link;
    DecodeTally tally;
    int32_t index = 0;
    std::vector<BridgeVlan> vlans;
    if (!DecodeBridgeVlans(message.payload, index, vlans, tally)) continue;
    DecodeLink(message.payload, link, tally);
    last[std::string(link.name.value_or(""))] = vlans;
  }
  // A bridge that has just the VLAN that it came with has made no event.
  dump.erase("br1");
  EXPECT_EQ(last, dump);
}

TEST(BridgeVlanTest, TheDefaultPvidIsAmongABridgesSettings) {
  const auto datagrams = LoadRecording("main/link");
  for (const Message& message : MessagesOf(datagrams)) {
    LinkView link;
    DecodeTally tally;
    if (message.type != RTM_NEWLINK || !DecodeLink(message.payload, link, tally)) continue;
    const auto expected = link.kind == "bridge" ? std::optional<uint16_t>(1) : std::nullopt;
    EXPECT_EQ(DefaultPvid(link.attributes), expected) << *link.name;
  }
}

TEST(BridgeVlanTest, OtherMessagesAreNotAboutVlans) {
  FakeAttributes spec;
  spec.Number(IFLA_BRIDGE_VLAN_INFO, bridge_vlan_info{.flags = 0, .vid = 5});
  EXPECT_TRUE(ReadVlans(MessageAbout(7, spec)).about_bridge);
  EXPECT_FALSE(ReadVlans(MessageAbout(7, spec, AF_UNSPEC)).about_bridge);
  EXPECT_FALSE(ReadVlans(MessageAbout(0, spec)).about_bridge);
  // About the switch in a network card, not about the bridge of which the card may be a port too.
  spec.Number(IFLA_BRIDGE_FLAGS, uint16_t{BRIDGE_FLAGS_SELF});
  EXPECT_FALSE(ReadVlans(MessageAbout(7, spec)).about_bridge);
}

TEST(BridgeVlanTest, APortWithoutVlansHasNone) {
  EXPECT_TRUE(ReadVlans(MessageOf({})).about_bridge);
  EXPECT_THAT(ReadVlans(MessageOf({})).vlans, IsEmpty());
}

TEST(BridgeVlanTest, NeighboursOfOneKindAreOneRange) {
  const Read read = ReadVlans(MessageOf({{kBegin, 2}, {kEnd, 4}, {0, 5}, {kUntagged, 6}, {0, 8}}));
  EXPECT_THAT(read.vlans,
              ElementsAre(BridgeVlan{2, 5}, BridgeVlan{.first = 6, .last = 6, .untagged = true},
                          BridgeVlan{8, 8}));
  EXPECT_EQ(read.malformed, 0);
}

TEST(BridgeVlanTest, HalvesOfRangesAreCountedAndStandForThemselves) {
  struct Case {
    const char* what;
    std::vector<std::pair<uint16_t, uint16_t>> said;
    std::vector<BridgeVlan> read;
    uint64_t malformed;
  };
  const Case cases[] = {
      {"a beginning at the end", {{kBegin, 5}}, {{5, 5}}, 1},
      {"a beginning before another VLAN", {{kBegin, 5}, {0, 9}}, {{5, 5}, {9, 9}}, 1},
      {"two beginnings", {{kBegin, 5}, {kBegin, 9}, {kEnd, 12}}, {{5, 5}, {9, 12}}, 1},
      {"an end at the beginning", {{kEnd, 5}}, {{5, 5}}, 1},
      {"an end before its beginning", {{kBegin, 9}, {kEnd, 5}}, {{9, 9}, {5, 5}}, 2},
      {"an end of another kind", {{kBegin, 5}, {kEnd | kPvid, 9}}, {{5, 5}, {9, 9, true}}, 2},
      {"ids that there are not", {{0, 0}, {0, 4094}, {0, 4095}, {0, 65535}}, {{4094, 4094}}, 3},
  };
  for (const Case& c : cases) {
    const Read read = ReadVlans(MessageOf(c.said));
    EXPECT_EQ(read.vlans, c.read) << c.what;
    EXPECT_EQ(read.malformed, c.malformed) << c.what;
  }
}

TEST(BridgeVlanTest, AnyBytesAreRead) {
  const auto datagrams = LoadRecording("main/link-bridge-compressed");
  for (const Message& message : MessagesOf(datagrams)) {
    std::vector<std::byte> payload(message.payload.begin(), message.payload.end());
    for (size_t size = 0; size <= payload.size(); ++size) {
      // A copy of its own, so that a read beyond it is seen.
      const Bytes start = Bytes(payload).first(size);
      const std::vector<std::byte> cut(start.begin(), start.end());
      ReadVlans(cut);
    }
    for (std::byte& byte : payload) {
      for (const std::byte bits : {std::byte{1}, std::byte{0x80}, std::byte{0xff}}) {
        byte ^= bits;
        for (const BridgeVlan& vlan : ReadVlans(payload).vlans) {
          EXPECT_GE(vlan.first, 1);
          EXPECT_LE(vlan.first, vlan.last);
          EXPECT_LE(vlan.last, 4094);
        }
        byte ^= bits;
      }
    }
  }
}

}  // namespace
}  // namespace linkvane::netlink
