// What we read of recorded messages against what iproute2 printed of the same kernel at the same
// moment: a second opinion on the same bytes.
#include "netlink/recording.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "netlink/addr.h"
#include "netlink/link.h"

namespace linkvane::netlink {
namespace {

using ::google::protobuf::ListValue;
using ::google::protobuf::Struct;
using ::google::protobuf::Value;
using ::testing::ElementsAre;
using Fields = std::map<std::string, std::string>;

ListValue LoadJson(const std::string& name) {
  ListValue list;
  const auto status = google::protobuf::util::JsonStringToMessage(LoadRecordingFile(name), &list);
  EXPECT_TRUE(status.ok()) << name << ": " << status.ToString();
  return list;
}

std::string Text(const Value& value) {
  switch (value.kind_case()) {
    case Value::kStringValue:
      return value.string_value();
    case Value::kNumberValue:
      return std::to_string(static_cast<int64_t>(value.number_value()));
    case Value::kBoolValue:
      return value.bool_value() ? "true" : "false";
    default:
      return "none";
  }
}

// The values of these keys, where there are any.
Fields Pick(const Struct& object, std::initializer_list<const char*> keys) {
  Fields fields;
  for (const char* key : keys) {
    const auto found = object.fields().find(key);
    if (found != object.fields().end()) fields[key] = Text(found->second);
  }
  return fields;
}

const Struct* Member(const Struct& object, const char* key) {
  const auto found = object.fields().find(key);
  return found == object.fields().end() ? nullptr : &found->second.struct_value();
}

std::string Joined(const Struct& object, const char* key) {
  std::string joined;
  const auto found = object.fields().find(key);
  if (found == object.fields().end()) return joined;
  for (const Value& value : found->second.list_value().values()) joined += Text(value) + " ";
  return joined;
}

// As iproute2 does: the link-layer addresses of tunnels are IP addresses.
std::string AddressText(Bytes address, uint16_t hardware_type = ARPHRD_NONE) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool ipv4 = hardware_type == ARPHRD_TUNNEL || hardware_type == ARPHRD_SIT ||
                    hardware_type == ARPHRD_IPGRE || hardware_type == AF_INET;
  const bool ipv6 = hardware_type == ARPHRD_TUNNEL6 || hardware_type == ARPHRD_IP6GRE;
  if (ipv4 && address.size() == 4) {
    return inet_ntop(AF_INET, address.data(), text.data(), text.size());
  }
  if (ipv6 && address.size() == 16) {
    return inet_ntop(AF_INET6, address.data(), text.data(), text.size());
  }
  std::string hex;
  for (const std::byte byte : address) {
    std::snprintf(text.data(), text.size(), "%02x", static_cast<unsigned>(byte));
    if (!hex.empty()) hex += ":";
    hex += text.data();
  }
  return hex;
}

std::string FlagsText(uint32_t flags) {
  constexpr std::pair<uint32_t, const char*> kNames[] = {{IFF_LOOPBACK, "LOOPBACK"},
                                                         {IFF_BROADCAST, "BROADCAST"},
                                                         {IFF_POINTOPOINT, "POINTOPOINT"},
                                                         {IFF_MULTICAST, "MULTICAST"},
                                                         {IFF_NOARP, "NOARP"},
                                                         {IFF_ALLMULTI, "ALLMULTI"},
                                                         {IFF_PROMISC, "PROMISC"},
                                                         {IFF_MASTER, "MASTER"},
                                                         {IFF_SLAVE, "SLAVE"},
                                                         {IFF_DEBUG, "DEBUG"},
                                                         {IFF_DYNAMIC, "DYNAMIC"},
                                                         {IFF_AUTOMEDIA, "AUTOMEDIA"},
                                                         {IFF_PORTSEL, "PORTSEL"},
                                                         {IFF_NOTRAILERS, "NOTRAILERS"},
                                                         {IFF_UP, "UP"},
                                                         {IFF_LOWER_UP, "LOWER_UP"},
                                                         {IFF_DORMANT, "DORMANT"},
                                                         {IFF_ECHO, "ECHO"}};
  std::string text;
  if ((flags & IFF_UP) != 0 && (flags & IFF_RUNNING) == 0) text += "NO-CARRIER ";
  for (const auto& [bit, name] : kNames) {
    if ((flags & bit) != 0) text.append(name) += " ";
  }
  return text;
}

// The links of a recording, by index.
class Links {
 public:
  explicit Links(const std::string& name) : datagrams_(LoadRecording(name)) {
    DecodeTally tally;
    for (const Message& message : MessagesOf(datagrams_)) {
      if (message.type != RTM_NEWLINK) continue;
      LinkView view;
      EXPECT_TRUE(DecodeLink(message.payload, view, tally));
      EXPECT_TRUE(TellsWholeLink(view));
      EXPECT_TRUE(views_.emplace(view.index, view).second) << view.index << " is there twice";
    }
    EXPECT_EQ(tally.malformed, 0);
  }

  const std::map<int32_t, LinkView>& views() const { return views_; }
  std::string NameOf(int32_t index) const {
    const auto found = views_.find(index);
    return found == views_.end() ? "?" : std::string(found->second.name.value_or("?"));
  }

 private:
  std::vector<std::vector<std::byte>> datagrams_;
  std::map<int32_t, LinkView> views_;
};

Fields ExpectedLink(const Struct& json) {
  Fields fields =
      Pick(json, {"ifindex",       "ifname",        "mtu",          "qdisc",        "operstate",
                  "linkmode",      "group",         "txqlen",       "link_type",    "address",
                  "broadcast",     "promiscuity",   "allmulti",     "min_mtu",      "max_mtu",
                  "num_tx_queues", "num_rx_queues", "gso_max_size", "gso_max_segs", "tso_max_size",
                  "tso_max_segs",  "gro_max_size",  "ifalias",      "master",       "link",
                  "link_index",    "link_netnsid"});
  fields["flags"] = Joined(json, "flags");
  // iproute2 derives it, from the mode of whatever the link stands on.
  const size_t lower_down = fields["flags"].find("M-DOWN ");
  if (lower_down != std::string::npos) fields["flags"].erase(lower_down, 7);
  if (json.fields().contains("altnames")) fields["altnames"] = Joined(json, "altnames");
  if (const Struct* info = Member(json, "linkinfo")) {
    fields.merge(Pick(*info, {"info_kind", "info_slave_kind"}));
  }
  return fields;
}

template <typename T>
void Put(Fields& fields, const char* key, const std::optional<T>& value) {
  if (!value.has_value()) return;
  if constexpr (std::is_arithmetic_v<T>) {
    fields[key] = std::to_string(*value);
  } else {
    fields[key] = std::string(*value);
  }
}

// The name that iproute2 has for a number: by position.
template <size_t N>
std::optional<std::string_view> Named(const std::optional<uint8_t>& number,
                                      const std::array<std::string_view, N>& names) {
  if (!number.has_value() || *number >= N) return std::nullopt;
  return names[*number];
}

Fields ActualLink(const Links& links, const LinkView& view) {
  constexpr std::array<std::string_view, 7> kOperStates = {
      "UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN", "TESTING", "DORMANT", "UP"};
  constexpr std::array<std::string_view, 2> kLinkModes = {"DEFAULT", "DORMANT"};
  Fields fields;
  fields["ifindex"] = std::to_string(view.index);
  fields["link_type"] = HardwareTypeName(view.hardware_type);
  fields["flags"] = FlagsText(view.flags);
  Put(fields, "ifname", view.name);
  Put(fields, "mtu", view.mtu);
  Put(fields, "qdisc", view.qdisc);
  Put(fields, "operstate", Named(view.oper_state, kOperStates));
  Put(fields, "linkmode", Named(view.link_mode, kLinkModes));
  Put(fields, "group", view.group);
  if (view.group == 0) fields["group"] = "default";
  if (view.tx_queue_len.value_or(0) != 0) Put(fields, "txqlen", view.tx_queue_len);
  if (view.address.has_value()) {
    fields["address"] = AddressText(*view.address, view.hardware_type);
  }
  if (view.broadcast.has_value()) {
    fields["broadcast"] = AddressText(*view.broadcast, view.hardware_type);
  }
  Put(fields, "promiscuity", view.promiscuity);
  Put(fields, "allmulti", view.allmulticast);
  Put(fields, "min_mtu", view.min_mtu);
  Put(fields, "max_mtu", view.max_mtu);
  Put(fields, "num_tx_queues", view.num_tx_queues);
  Put(fields, "num_rx_queues", view.num_rx_queues);
  Put(fields, "gso_max_size", view.gso_max_size);
  Put(fields, "gso_max_segs", view.gso_max_segs);
  Put(fields, "tso_max_size", view.tso_max_size);
  Put(fields, "tso_max_segs", view.tso_max_segs);
  Put(fields, "gro_max_size", view.gro_max_size);
  Put(fields, "ifalias", view.alias);
  Put(fields, "info_kind", view.kind);
  Put(fields, "info_slave_kind", view.slave_kind);
  if (view.master.has_value()) fields["master"] = links.NameOf(*view.master);
  if (view.link_netns_id.has_value()) {
    Put(fields, "link_netnsid", view.link_netns_id);
    Put(fields, "link_index", view.link);
  } else if (view.link.has_value()) {
    fields["link"] = *view.link == 0 ? "none" : links.NameOf(*view.link);
  }
  std::string alternative_names;
  ForEachAltName(view, [&](std::string_view name) { alternative_names.append(name) += " "; });
  if (!alternative_names.empty()) fields["altnames"] = alternative_names;
  return fields;
}

class NamespaceTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::string File(const char* name) const { return std::string(GetParam()) + "/" + name; }
};

TEST_P(NamespaceTest, LinksAreWhatIproute2Reads) {
  const ListValue json = LoadJson(File("link.json"));
  ASSERT_GT(json.values_size(), 10);
  for (const char* recording : {"link", "link-skipstats"}) {
    const Links links(File(recording));
    ASSERT_EQ(links.views().size(), json.values_size());
    for (const Value& value : json.values()) {
      const Fields expected = ExpectedLink(value.struct_value());
      const int32_t index = std::stoi(expected.at("ifindex"));
      ASSERT_TRUE(links.views().contains(index)) << index;
      EXPECT_EQ(ActualLink(links, links.views().at(index)), expected);
    }
  }
}

// But for the devlink ports of some, which are not read.
TEST_P(NamespaceTest, EveryAttributeOfALinkHasARule) {
  constexpr uint16_t kDevlinkPort = 62;  // IFLA_DEVLINK_PORT.
  const Links links(File("link"));
  for (const auto& entry : links.views()) {
    ForEachUnknown(entry.second.attributes, LinkRules(),
                   [&](std::span<const uint16_t> parents, const Attribute& attribute) {
                     EXPECT_THAT(parents, ElementsAre(kDevlinkPort))
                         << entry.first << ": " << attribute.type;
                   });
  }
}

// A dump with counters and one without them tell of the same state.
TEST_P(NamespaceTest, NormalFormsOfTwoDumpsAreEqual) {
  const Links with(File("link"));
  const Links without(File("link-skipstats"));
  for (const auto& [index, view] : with.views()) {
    const auto compared = [](const LinkView& link) {
      const Bytes payload(link.attributes.data() - sizeof(ifinfomsg),
                          link.attributes.size() + sizeof(ifinfomsg));
      std::vector<std::byte> normal;
      normal.resize(AppendNormalLink(payload, normal));
      return normal;
    };
    EXPECT_EQ(compared(view), compared(without.views().at(index))) << index;
  }
}

struct AddrFields {
  Fields fields;
  uint32_t valid = 0;
  uint32_t preferred = 0;
};

AddrFields ExpectedAddr(const Struct& json) {
  AddrFields expected;
  expected.fields = Pick(json, {"family", "local", "address", "prefixlen", "scope", "label",
                                "broadcast", "anycast", "metric"});
  std::string flags;
  for (const char* flag : {"secondary", "nodad", "optimistic", "dadfailed", "home", "deprecated",
                           "tentative", "mngtmpaddr", "noprefixroute", "autojoin"}) {
    if (json.fields().contains(flag)) flags.append(flag) += " ";
  }
  // iproute2 shows the absence of IFA_F_PERMANENT.
  if (json.fields().contains("dynamic")) flags += "dynamic ";
  expected.fields["flags"] = flags;
  expected.valid = static_cast<uint32_t>(json.fields().at("valid_life_time").number_value());
  expected.preferred =
      static_cast<uint32_t>(json.fields().at("preferred_life_time").number_value());
  return expected;
}

AddrFields ActualAddr(const AddrView& view) {
  const bool ipv4 = view.family == AF_INET;
  const auto text = [&](Bytes address) {
    return AddressText(address, ipv4 ? ARPHRD_TUNNEL : ARPHRD_TUNNEL6);
  };
  const std::map<int, const char*> kScopes = {
      {RT_SCOPE_UNIVERSE, "global"}, {RT_SCOPE_HOST, "host"}, {RT_SCOPE_LINK, "link"}};
  constexpr std::pair<uint32_t, const char*> kFlags[] = {{IFA_F_SECONDARY, "secondary"},
                                                         {IFA_F_NODAD, "nodad"},
                                                         {IFA_F_OPTIMISTIC, "optimistic"},
                                                         {IFA_F_DADFAILED, "dadfailed"},
                                                         {IFA_F_HOMEADDRESS, "home"},
                                                         {IFA_F_DEPRECATED, "deprecated"},
                                                         {IFA_F_TENTATIVE, "tentative"},
                                                         {IFA_F_MANAGETEMPADDR, "mngtmpaddr"},
                                                         {IFA_F_NOPREFIXROUTE, "noprefixroute"},
                                                         {IFA_F_MCAUTOJOIN, "autojoin"}};
  AddrFields actual;
  Fields& fields = actual.fields;
  fields["family"] = ipv4 ? "inet" : "inet6";
  fields["local"] = text(view.local());
  if (!view.peer().empty()) fields["address"] = text(view.peer());
  fields["prefixlen"] = std::to_string(view.prefix_length);
  fields["scope"] = kScopes.at(view.scope);
  Put(fields, "label", view.label);
  if (view.broadcast.has_value()) fields["broadcast"] = text(*view.broadcast);
  if (view.anycast.has_value()) fields["anycast"] = text(*view.anycast);
  Put(fields, "metric", view.route_metric);
  std::string& flags = fields["flags"];
  for (const auto& [bit, name] : kFlags) {
    if ((view.flags() & bit) != 0) flags.append(name) += " ";
  }
  if ((view.flags() & IFA_F_PERMANENT) == 0) flags += "dynamic ";
  EXPECT_TRUE(view.lifetime.has_value());
  if (view.lifetime.has_value()) {
    actual.valid = view.lifetime->ifa_valid;
    actual.preferred = view.lifetime->ifa_prefered;
  }
  return actual;
}

TEST_P(NamespaceTest, AddressesAreWhatIproute2Reads) {
  DecodeTally tally;
  std::map<int32_t, std::vector<AddrFields>> actual;
  for (const char* recording : {"addr4", "addr6"}) {
    const std::vector<std::vector<std::byte>> datagrams = LoadRecording(File(recording));
    for (const Message& message : MessagesOf(datagrams)) {
      if (message.type != RTM_NEWADDR) continue;
      AddrView view;
      EXPECT_TRUE(DecodeAddr(message.payload, view, tally));
      actual[view.index].push_back(ActualAddr(view));
    }
  }
  EXPECT_EQ(tally.malformed, 0);

  const ListValue json = LoadJson(File("addr.json"));
  for (const Value& link : json.values()) {
    const Struct& object = link.struct_value();
    const auto index = static_cast<int32_t>(object.fields().at("ifindex").number_value());
    const ListValue& expected = object.fields().at("addr_info").list_value();
    const std::vector<AddrFields>& found = actual[index];
    ASSERT_EQ(found.size(), expected.values_size()) << index;
    for (int i = 0; i < expected.values_size(); ++i) {
      const AddrFields wanted = ExpectedAddr(expected.values(i).struct_value());
      EXPECT_EQ(found[i].fields, wanted.fields) << index;
      // They ran on between the two.
      EXPECT_NEAR(found[i].valid, wanted.valid, 5) << index;
      EXPECT_NEAR(found[i].preferred, wanted.preferred, 5) << index;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NamespaceTest, ::testing::Values("main", "ns1", "ns2"),
                         [](const auto& test) { return std::string(test.param); });

TEST(RecordingTest, LinkWithManyFunctionsIsReadWhereItsMessageIsBroken) {
  // From 222 functions on, the length of their list does not fit its 16 bits, and parts of the list
  // stray among the link's attributes.
  const auto datagrams = LoadRecording("vf500-get");
  const std::vector<Message> messages = MessagesOf(datagrams);
  ASSERT_EQ(messages.size(), 1);
  LinkView view;
  DecodeTally tally;
  ASSERT_TRUE(DecodeLink(messages[0].payload, view, tally));
  EXPECT_GT(tally.malformed, 0);
  EXPECT_TRUE(TellsWholeLink(view));
  ASSERT_TRUE(view.address.has_value());
  EXPECT_EQ(view.address->size(), 6);
}

TEST(RecordingTest, EventsAreWhole) {
  const auto datagrams = LoadRecording("events");
  DecodeTally tally;
  std::map<uint16_t, int> counts;
  for (const Message& message : MessagesOf(datagrams)) {
    ++counts[message.type];
    LinkView link;
    AddrView addr;
    if (message.type == RTM_NEWLINK || message.type == RTM_DELLINK) {
      EXPECT_TRUE(DecodeLink(message.payload, link, tally));
      EXPECT_TRUE(link.name.has_value());
    } else if (message.type == RTM_NEWADDR || message.type == RTM_DELADDR) {
      EXPECT_TRUE(DecodeAddr(message.payload, addr, tally));
    }
  }
  EXPECT_EQ(tally.malformed, 0);
  EXPECT_EQ(counts[RTM_NEWLINK], 295);
  EXPECT_EQ(counts[RTM_DELLINK], 2);
  EXPECT_EQ(counts[RTM_NEWADDR], 57);
}

}  // namespace
}  // namespace linkvane::netlink
