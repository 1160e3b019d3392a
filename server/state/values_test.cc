#include "server/state/values.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cctype>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "linkvane/v1/interface.pb.h"
#include "netlink/fake_socket.h"
#include "netlink/link.h"
#include "netlink/recording.h"

namespace linkvane::server {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using netlink::Bytes;
using netlink::FakeAttributes;
using netlink::LinkRuleSet;
using netlink::ValueFormat;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using Shape = ValueFormat::Shape;

namespace pb = ::linkvane::v1;

// Compares tables of rules with the messages that their values go to.
class Contract {
 public:
  void Compare(const LinkRuleSet& rules, const Descriptor& message) {
    covered_[&message];
    for (const netlink::LinkRule& rule : rules.all()) {
      if (rule.format.shape == Shape::kNone) continue;
      Compare(rule.type, rule.format, rule.nested, message);
      const FieldDescriptor* field = message.FindFieldByNumber(rule.type);
      if (field == nullptr) continue;
      EXPECT_TRUE(IsNameOf(field->name(), rule.name)) << rule.name;
    }
  }

  // Once all tables were compared: no message has more than its tables.
  void ExpectNothingElse() const {
    for (const auto& [message, numbers] : covered_) {
      for (int i = 0; i < message->field_count(); ++i) {
        // VLANs of bridges come from a source of their own.
        if (message->field(i)->number() == pb::Bridge::kVlansFieldNumber) continue;
        EXPECT_TRUE(numbers.contains(message->field(i)->number()))
            << message->field(i)->full_name();
      }
    }
  }

 private:
  // The kernel's name ends with the field's ("IFLA_BR_MAX_AGE", "max_age").
  static bool IsNameOf(std::string field, std::string_view attribute) {
    // A name cannot start with a digit.
    if (field.starts_with("sixrd_")) field.replace(0, 3, "6");
    for (char& c : field) c = static_cast<char>(std::toupper(c));
    return attribute.ends_with("_" + field);
  }

  const FieldDescriptor* Field(uint32_t number, const Descriptor& message) {
    const FieldDescriptor* field = message.FindFieldByNumber(static_cast<int>(number));
    EXPECT_NE(field, nullptr) << message.full_name() << " " << number;
    covered_[&message].insert(static_cast<int>(number));
    return field;
  }

  static FieldDescriptor::Type NumberType(const ValueFormat& format) {
    if (format.width == 8) {
      return format.is_signed ? FieldDescriptor::TYPE_INT64 : FieldDescriptor::TYPE_UINT64;
    }
    return format.is_signed ? FieldDescriptor::TYPE_INT32 : FieldDescriptor::TYPE_UINT32;
  }

  void CompareNames(const FieldDescriptor& field, const ValueFormat& format) {
    ASSERT_EQ(field.type(), FieldDescriptor::TYPE_ENUM) << field.full_name();
    const auto& names = *field.enum_type();
    EXPECT_EQ(names.value_count(), format.named + 1) << names.full_name();
    for (int i = 0; i < names.value_count(); ++i) EXPECT_EQ(names.value(i)->number(), i);
    const FieldDescriptor* raw = Field(field.number() + kRawFieldOffset, *field.containing_type());
    ASSERT_NE(raw, nullptr);
    EXPECT_EQ(raw->name(), field.name() + "_raw");
    EXPECT_EQ(raw->type(), NumberType({.width = format.width})) << raw->full_name();
  }

  void Compare(uint32_t number, const ValueFormat& format, const LinkRuleSet* nested,
               const Descriptor& message) {
    if (format.shape == Shape::kInline) {
      for (const netlink::StructField& part : format.fields) {
        Compare(part.number, part.format, nullptr, message);
      }
      return;
    }
    const FieldDescriptor* field = Field(number, message);
    if (field == nullptr) return;
    if (format.shape == Shape::kList) {
      EXPECT_TRUE(field->is_repeated()) << field->full_name();
      CompareOne(*field, *format.element, nullptr);
      return;
    }
    EXPECT_EQ(field->is_repeated(), format.shape == Shape::kBits) << field->full_name();
    EXPECT_TRUE(field->is_repeated() || field->has_presence()) << field->full_name();
    CompareOne(*field, format, nested);
  }

  void CompareOne(const FieldDescriptor& field, const ValueFormat& format,
                  const LinkRuleSet* nested) {
    const std::string& name = field.full_name();
    switch (format.shape) {
      case Shape::kNumber:
        EXPECT_EQ(field.type(), NumberType(format)) << name;
        break;
      case Shape::kBool:
      case Shape::kFlag:
        EXPECT_EQ(field.type(), FieldDescriptor::TYPE_BOOL) << name;
        break;
      case Shape::kDuration:
        ASSERT_EQ(field.type(), FieldDescriptor::TYPE_MESSAGE) << name;
        EXPECT_EQ(field.message_type()->full_name(), "google.protobuf.Duration") << name;
        break;
      case Shape::kEnum:
      case Shape::kBits:
      case Shape::kChoice:
        CompareNames(field, format);
        break;
      case Shape::kIp:
      case Shape::kHardwareAddress:
      case Shape::kBridgeId:
      case Shape::kHex:
      case Shape::kText:
        EXPECT_EQ(field.type(), FieldDescriptor::TYPE_STRING) << name;
        break;
      case Shape::kBytes:
        EXPECT_EQ(field.type(), FieldDescriptor::TYPE_BYTES) << name;
        break;
      case Shape::kMessage:
        ASSERT_EQ(field.type(), FieldDescriptor::TYPE_MESSAGE) << name;
        ASSERT_NE(nested, nullptr) << name;
        Compare(*nested, *field.message_type());
        break;
      case Shape::kStruct:
        ASSERT_EQ(field.type(), FieldDescriptor::TYPE_MESSAGE) << name;
        for (const netlink::StructField& part : format.fields) {
          Compare(part.number, part.format, nullptr, *field.message_type());
        }
        break;
      default:
        ADD_FAILURE() << name;
    }
  }

  std::map<const Descriptor*, std::set<int>> covered_;
};

std::vector<std::string> FieldsOf(const char* oneof) {
  std::vector<std::string> names;
  const auto* group = pb::Interface::descriptor()->FindOneofByName(oneof);
  names.reserve(static_cast<size_t>(group->field_count()));
  for (int i = 0; i < group->field_count(); ++i) names.push_back(group->field(i)->name());
  return names;
}

std::vector<std::string> NamesOf(std::span<const netlink::LinkKind> kinds,
                                 const std::string& suffix = "") {
  std::vector<std::string> names;
  for (const netlink::LinkKind& kind : kinds) names.push_back(std::string(kind.name) + suffix);
  return names;
}

const Descriptor& MessageOf(const std::string& field) {
  return *pb::Interface::descriptor()->FindFieldByName(field)->message_type();
}

TEST(ContractTest, EachKindHasAMessageAndEachMessageAKind) {
  EXPECT_THAT(FieldsOf("details"), ElementsAreArray(NamesOf(netlink::LinkKinds())));
  EXPECT_THAT(FieldsOf("port"),
              ::testing::UnorderedElementsAreArray(NamesOf(netlink::PortKinds(), "_port")));
}

TEST(ContractTest, EachRuleHasAFieldThatFitsAndEachFieldARule) {
  Contract contract;
  for (const netlink::LinkKind& kind : netlink::LinkKinds()) {
    contract.Compare(*kind.rules, MessageOf(std::string(kind.name)));
  }
  for (const netlink::LinkKind& kind : netlink::PortKinds()) {
    contract.Compare(*kind.rules, MessageOf(std::string(kind.name) + "_port"));
  }
  contract.Compare(netlink::XdpRules(), *pb::Xdp::descriptor());
  contract.Compare(netlink::Ipv4Rules(), *pb::Ipv4Settings::descriptor());
  contract.Compare(netlink::Ipv6Rules(), *pb::Ipv6Settings::descriptor());
  contract.ExpectNothingElse();
}

// The message that the attributes of a kind become. They are all sound but for `malformed`.
template <typename Message>
Message Read(const LinkRuleSet& rules, Bytes run, uint64_t malformed = 0) {
  std::string wire;
  SeenAttributes seen;
  netlink::DecodeTally tally;
  AppendValues(run, rules, seen, tally, wire);
  EXPECT_EQ(tally.malformed, malformed);
  Message message;
  EXPECT_TRUE(message.ParseFromString(wire));
  EXPECT_TRUE(message.GetReflection()->GetUnknownFields(message).empty());
  return message;
}
template <typename Message>
Message Read(const char* kind, const FakeAttributes& run, uint64_t malformed = 0) {
  return Read<Message>(*netlink::LinkKindRules(kind), run, malformed);
}

Bytes AsBytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(ValuesTest, DurationsOfEachUnitAreExact) {
  const auto bond = Read<pb::Bond>("bond", FakeAttributes()
                                               .Number<uint32_t>(IFLA_BOND_MIIMON, 1'100)
                                               .Number<uint32_t>(IFLA_BOND_UPDELAY, 0)
                                               .Number(IFLA_BOND_LP_INTERVAL, UINT32_MAX));
  EXPECT_EQ(bond.miimon().seconds(), 1);
  EXPECT_EQ(bond.miimon().nanos(), 100'000'000);
  EXPECT_TRUE(bond.has_updelay());
  EXPECT_EQ(bond.updelay().seconds(), 0);
  EXPECT_EQ(bond.lp_interval().seconds(), UINT32_MAX);
  const auto bridge = Read<pb::Bridge>("bridge", FakeAttributes()
                                                     .Number<uint32_t>(IFLA_BR_MAX_AGE, 2'001)
                                                     .Number(IFLA_BR_HELLO_TIME, UINT32_MAX));
  EXPECT_EQ(bridge.max_age().seconds(), 20);
  EXPECT_EQ(bridge.max_age().nanos(), 10'000'000);
  EXPECT_EQ(bridge.hello_time().seconds(), 42'949'672);
  EXPECT_EQ(bridge.hello_time().nanos(), 950'000'000);
}

TEST(ValuesTest, DurationsEndWhereTheContractsDo) {
  constexpr int64_t kMost = 315'576'000'000;
  const auto bridge =
      Read<pb::Bridge>("bridge", FakeAttributes()
                                     .Number(IFLA_BR_GC_TIMER, UINT64_MAX)
                                     .Number<uint64_t>(IFLA_BR_TCN_TIMER, kMost * 100 + 1)
                                     .Number<uint64_t>(IFLA_BR_HELLO_TIMER, kMost * 100 - 1));
  EXPECT_EQ(bridge.gc_timer().seconds(), kMost);
  EXPECT_EQ(bridge.gc_timer().nanos(), 0);
  EXPECT_EQ(bridge.tcn_timer().seconds(), kMost);
  EXPECT_EQ(bridge.tcn_timer().nanos(), 0);
  EXPECT_EQ(bridge.hello_timer().seconds(), kMost - 1);
  EXPECT_EQ(bridge.hello_timer().nanos(), 990'000'000);
}

TEST(ValuesTest, AnEnumIsOneMoreThanTheKernelsNumberAsFarAsItHasNames) {
  const auto mode = [](uint8_t number) {
    return Read<pb::Bond>("bond", FakeAttributes().Number(IFLA_BOND_MODE, number));
  };
  EXPECT_EQ(mode(0).mode(), pb::BOND_MODE_BALANCE_RR);
  EXPECT_TRUE(mode(0).has_mode_raw());
  EXPECT_EQ(mode(6).mode(), pb::BOND_MODE_BALANCE_ALB);
  EXPECT_EQ(mode(6).mode_raw(), 6);
  for (const uint8_t number : {7, 255}) {
    EXPECT_FALSE(mode(number).has_mode());
    EXPECT_EQ(mode(number).mode_raw(), number);
  }
}

TEST(ValuesTest, BitsWithNamesAreListedAndAllAreToldRaw) {
  const auto flags = [](uint16_t bits) {
    return Read<pb::Ipvlan>("ipvlan", FakeAttributes().Number(IFLA_IPVLAN_FLAGS, bits));
  };
  EXPECT_THAT(flags(0).flags(), IsEmpty());
  EXPECT_TRUE(flags(0).has_flags_raw());
  EXPECT_THAT(flags(3).flags(), ElementsAre(pb::IPVLAN_FLAG_PRIVATE, pb::IPVLAN_FLAG_VEPA));
  EXPECT_THAT(flags(0x8002).flags(), ElementsAre(pb::IPVLAN_FLAG_VEPA));
  EXPECT_EQ(flags(0x8002).flags_raw(), 0x8002);
}

TEST(ValuesTest, AChoiceIsOneBit) {
  const auto mode = [](uint32_t bits) {
    return Read<pb::Macvlan>("macvlan", FakeAttributes().Number(IFLA_MACVLAN_MODE, bits));
  };
  EXPECT_EQ(mode(1).mode(), pb::MACVLAN_MODE_PRIVATE);
  EXPECT_EQ(mode(4).mode(), pb::MACVLAN_MODE_BRIDGE);
  EXPECT_EQ(mode(16).mode(), pb::MACVLAN_MODE_SOURCE);
  for (const uint32_t bits : {0U, 3U, 32U, UINT32_MAX}) {
    EXPECT_FALSE(mode(bits).has_mode()) << bits;
    EXPECT_EQ(mode(bits).mode_raw(), bits);
  }
}

TEST(ValuesTest, WhatIsTooShortIsCountedAndLeftOut) {
  const auto vxlan = Read<pb::Vxlan>("vxlan",
                                     FakeAttributes()
                                         .Number<uint16_t>(IFLA_VXLAN_ID, 1)          // Of 4.
                                         .Add(IFLA_VXLAN_TTL, {})                     // Of 1.
                                         .Number<uint16_t>(IFLA_VXLAN_PORT_RANGE, 1)  // Of 4.
                                         .Add(IFLA_VXLAN_GROUP, AsBytes("12345"))     // Of 4 or 16.
                                         .Add(33, AsBytes("1234567"))                 // Of 8.
                                         .Number<uint8_t>(IFLA_VXLAN_TOS, 4),
                                     /*malformed=*/5);
  pb::Vxlan expected;
  expected.set_tos(4);
  EXPECT_EQ(vxlan.SerializeAsString(), expected.SerializeAsString());
}

TEST(ValuesTest, ABrokenRunIsReadAsFarAsItGoesAndCounted) {
  std::vector<std::byte> run = FakeAttributes()
                                   .Number<uint32_t>(IFLA_VRF_TABLE, 10)
                                   .Number<uint32_t>(IFLA_VRF_TABLE, 11)
                                   .bytes();
  run.resize(run.size() - 1);
  EXPECT_EQ(Read<pb::Vrf>(*netlink::LinkKindRules("vrf"), run, /*malformed=*/1).table(), 10);
}

TEST(ValuesTest, StructsMayBeLongerThanWeKnow) {
  const auto vxlan = Read<pb::Vxlan>(
      "vxlan", FakeAttributes().Add(IFLA_VXLAN_PORT_RANGE, AsBytes(std::string_view("\x80\x00"
                                                                                    "\xff\xfe"
                                                                                    "\1\2\3\4",
                                                                                    8))));
  EXPECT_EQ(vxlan.port_range().low(), 0x8000);
  EXPECT_EQ(vxlan.port_range().high(), 0xfffe);
}

TEST(ValuesTest, ArraysOfSettingsMayBeShorterAndLonger) {
  const auto conf = [](size_t count) {
    std::vector<int32_t> entries(count);
    for (size_t i = 0; i < count; ++i) entries[i] = -static_cast<int32_t>(i + 1);
    return Read<pb::Ipv6Settings>(
               netlink::Ipv6Rules(),
               FakeAttributes().Add(IFLA_INET6_CONF, std::as_bytes(std::span(entries))))
        .conf();
  };
  EXPECT_EQ(conf(3).forwarding(), -1);
  EXPECT_EQ(conf(3).mtu(), -3);
  EXPECT_FALSE(conf(3).has_accept_ra());
  EXPECT_EQ(conf(100).force_forwarding(), -60);
  EXPECT_EQ(conf(100).ra_defrtr_metric(), static_cast<uint32_t>(-53));
  EXPECT_EQ(conf(0).ByteSizeLong(), 0);
}

TEST(ValuesTest, TheFirstSoundOneOfARepeatedAttributeWins) {
  const auto vrf = Read<pb::Vrf>("vrf",
                                 FakeAttributes()
                                     .Number<uint8_t>(IFLA_VRF_TABLE, 9)
                                     .Number<uint32_t>(IFLA_VRF_TABLE, 10)
                                     .Number<uint32_t>(IFLA_VRF_TABLE, 11),
                                 /*malformed=*/1);
  EXPECT_EQ(vrf.table(), 10);
}

TEST(ValuesTest, ListsHaveTheirElementsInOrderWithoutThoseThatAreTooShort) {
  const auto bond = Read<pb::Bond>(
      "bond",
      FakeAttributes()
          .Add(IFLA_BOND_ARP_IP_TARGET, FakeAttributes()
                                            .Add(0, AsBytes(std::string_view("\xc0\0\2\2", 4)))
                                            .Add(1, AsBytes("1"))
                                            .Add(7, AsBytes(std::string_view("\xc0\0\2\1", 4))))
          .Add(IFLA_BOND_NS_IP6_TARGET, {}),
      /*malformed=*/1);
  EXPECT_THAT(bond.arp_ip_target(), ElementsAre("192.0.2.2", "192.0.2.1"));
  EXPECT_THAT(bond.ns_ip6_target(), IsEmpty());
  const auto macvlan = Read<pb::Macvlan>(
      "macvlan", FakeAttributes().Add(
                     IFLA_MACVLAN_MACADDR_DATA,
                     FakeAttributes()
                         .Add(IFLA_MACVLAN_MACADDR, AsBytes("abcdef"))
                         .Add(IFLA_MACVLAN_MACADDR, AsBytes(std::string_view("\2\0\0\0\0\1", 6)))));
  EXPECT_THAT(macvlan.macaddr_data(), ElementsAre("61:62:63:64:65:66", "02:00:00:00:00:01"));
  struct Mapping {
    uint32_t from, to;
  };
  const auto vlan = Read<pb::Vlan>(
      "vlan", FakeAttributes().Add(IFLA_VLAN_EGRESS_QOS,
                                   FakeAttributes()
                                       .Number(IFLA_VLAN_QOS_MAPPING, Mapping{5, 6})
                                       .Number(IFLA_VLAN_QOS_MAPPING, Mapping{0, 1})));
  ASSERT_EQ(vlan.egress_qos_size(), 2);
  EXPECT_EQ(vlan.egress_qos(0).from(), 5);
  EXPECT_EQ(vlan.egress_qos(1).to(), 1);
}

TEST(ValuesTest, IdentifiersAreWrittenAsTheirStandardsDo) {
  const auto bridge = Read<pb::Bridge>(
      "bridge", FakeAttributes().Add(IFLA_BR_ROOT_ID,
                                     AsBytes(std::string_view("\x80\1\2\0\x5e\x10\0\1", 8))));
  EXPECT_EQ(bridge.root_id(), "8001.02:00:5e:10:00:01");
  const auto macsec = Read<pb::Macsec>(
      "macsec",
      FakeAttributes().Add(IFLA_MACSEC_SCI, AsBytes(std::string_view("\2\0\0\0\0\xff\0\1", 8))));
  EXPECT_EQ(macsec.sci(), "0200000000ff0001");
}

TEST(ValuesTest, NumbersHaveTheirOrderOfBytesSignAndWidth) {
  const auto gre = Read<pb::Gre>(
      "gre", FakeAttributes()
                 .Add(IFLA_GRE_IKEY, AsBytes(std::string_view("\0\0\1\2", 4)))
                 .Add(IFLA_GRE_ENCAP_DPORT, AsBytes(std::string_view("\x15\xb3", 2))));
  EXPECT_EQ(gre.ikey(), 0x102);
  EXPECT_EQ(gre.encap_dport(), 5555);
  EXPECT_EQ(Read<pb::Macvlan>("macvlan", FakeAttributes().Number<int32_t>(9, -1)).bc_cutoff(), -1);
  // Of 16 bits in kind sit, of 32 in ip6tnl.
  const uint16_t isatap = 1;
  const uint32_t flags = 0x10001;
  EXPECT_EQ(Read<pb::IpTunnel>("sit", FakeAttributes().Number(IFLA_IPTUN_FLAGS, isatap)).flags(),
            1);
  EXPECT_EQ(Read<pb::IpTunnel>("ip6tnl", FakeAttributes().Number(IFLA_IPTUN_FLAGS, flags)).flags(),
            flags);
  Read<pb::IpTunnel>("sit", FakeAttributes().Add(IFLA_IPTUN_FLAGS, AsBytes("123456789")), 1);
  Read<pb::IpTunnel>("sit", FakeAttributes().Add(IFLA_IPTUN_FLAGS, {}), 1);
}

TEST(ValuesTest, PartsOfAMessageInSeveralRunsAddUp) {
  std::string wire;
  SeenAttributes seen;
  netlink::DecodeTally tally;
  const FakeAttributes steady = FakeAttributes().Add(
      IFLA_BR_MCAST_QUERIER_STATE, FakeAttributes().Number<uint32_t>(BRIDGE_QUERIER_IP_PORT, 3));
  const FakeAttributes running =
      FakeAttributes().Add(IFLA_BR_MCAST_QUERIER_STATE,
                           FakeAttributes().Number<uint64_t>(BRIDGE_QUERIER_IP_OTHER_TIMER, 100));
  for (const FakeAttributes& run : {steady, running}) {
    AppendValues(run, *netlink::LinkKindRules("bridge"), seen, tally, wire);
  }
  pb::Bridge bridge;
  ASSERT_TRUE(bridge.ParseFromString(wire));
  EXPECT_EQ(bridge.mcast_querier_state().ip_port(), 3);
  EXPECT_EQ(bridge.mcast_querier_state().ip_other_timer().seconds(), 1);
}

// Each number in the run has just the width of its rule.
void ExpectWidths(const LinkRuleSet& rules, Bytes run) {
  netlink::AttributeReader reader(run);
  netlink::Attribute attribute;
  while (reader.Next(attribute)) {
    const netlink::LinkRule* rule = rules.Find(attribute.type);
    ASSERT_NE(rule, nullptr) << attribute.type;
    if (rule->format.shape == Shape::kMessage) ExpectWidths(*rule->nested, attribute.payload);
    if (rule->format.width == 0) continue;
    EXPECT_EQ(attribute.payload.size(), rule->format.width) << rule->name;
  }
}

TEST(ValuesTest, AllThatARecordedKernelToldIsSound) {
  std::set<std::string> kinds;
  for (const char* name : {"main/link", "ns1/link", "ns2/link"}) {
    const auto datagrams = netlink::LoadRecording(name);
    for (const netlink::Message& message : netlink::MessagesOf(datagrams)) {
      netlink::LinkView link;
      netlink::DecodeTally tally;
      if (message.type != RTM_NEWLINK || !netlink::DecodeLink(message.payload, link, tally)) {
        continue;
      }
      std::string wire;
      const auto append = [&](const LinkRuleSet* rules, Bytes run) {
        ASSERT_NE(rules, nullptr);
        SeenAttributes seen;
        AppendValues(run, *rules, seen, tally, wire);
        ExpectWidths(*rules, run);
      };
      netlink::ForEachKindSettings(
          link.attributes, [&](Bytes run) { append(netlink::LinkKindRules(*link.kind), run); });
      netlink::ForEachPortSettings(link.attributes, [&](Bytes run) {
        append(netlink::PortKindRules(*link.slave_kind), run);
      });
      netlink::ForEachFamilySettings(link.attributes, AF_INET,
                                     [&](Bytes run) { append(&netlink::Ipv4Rules(), run); });
      netlink::ForEachFamilySettings(link.attributes, AF_INET6,
                                     [&](Bytes run) { append(&netlink::Ipv6Rules(), run); });
      EXPECT_EQ(tally.malformed, 0) << *link.name;
      if (link.kind.has_value()) kinds.emplace(*link.kind);
    }
  }
  EXPECT_THAT(kinds, ElementsAreArray(NamesOf(netlink::LinkKinds())));
}

}  // namespace
}  // namespace linkvane::server
