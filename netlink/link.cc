#include "netlink/link.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>

#include "netlink/kind_rules.h"

namespace linkvane::netlink {
namespace {

// No device's address is longer (MAX_ADDR_LEN in linux/netdevice.h).
constexpr size_t kMaxHardwareAddress = 32;
// The longest name that IFLA_IFNAME takes; longer ones are alternative names.
constexpr size_t kMaxName = 15;
constexpr size_t kMaxAltName = 127;
// No kind is longer (MODULE_NAME_LEN in linux/module.h, less its NUL).
constexpr size_t kMaxKind = 55;

// A link-layer address. Where a message with many virtual functions is broken, entries of their
// list stray among the link's own attributes, under the numbers of these; they are longer.
template <auto kMember>
bool ReadHardwareAddress(LinkView& view, Bytes payload) {
  return payload.size() <= kMaxHardwareAddress && ReadInto<kMember>(view, payload);
}

// An nla_put_uint() of the kernel's: 4 or 8 bytes, as the number needs.
template <auto kMember>
bool ReadUint(LinkView& view, Bytes payload) {
  const std::optional<uint64_t> value = LoadNumber(payload, kUint);
  if (!value.has_value()) return false;
  if (!(view.*kMember).has_value()) view.*kMember = value;
  return true;
}

using Rule = AttributeRule<LinkView>;

// Attribute, and the member that it goes to.
#define LINKVANE_RULE(type, member) \
  Rule { type, #type, Volatility::kSteady, ReadInto<&LinkView::member> }
#define LINKVANE_ADDRESS(type, member) \
  Rule { type, #type, Volatility::kSteady, ReadHardwareAddress<&LinkView::member> }
// Belongs to one message only: counters, which are read but not kept, ...
#define LINKVANE_TRANSIENT_RULE(type, member) \
  Rule { type, #type, Volatility::kTransient, ReadInto<&LinkView::member> }
// ... and what says nothing of the link.
#define LINKVANE_TRANSIENT(type) \
  Rule { type, #type, Volatility::kTransient }
#define LINKVANE_NESTED(type, rules) \
  Rule { type, #type, Volatility::kSteady, nullptr, &(rules) }
// Holds attributes whose rules depend on the rest of the message.
#define LINKVANE_SELECTED(type, select) \
  Rule { type, #type, Volatility::kSteady, nullptr, nullptr, select }

// The text of an attribute in IFLA_LINKINFO; the kernel's comes before what it is the kind of.
std::string_view LinkInfoText(Bytes message, uint16_t wanted) {
  std::string_view text;
  internal::ForEachInLinkInfo(message, wanted, [&text](Bytes payload) {
    if (text.empty()) text = LoadText(payload);
  });
  return text;
}
const LinkRuleSet* KindRulesFor(Bytes message) {
  return LinkKindRules(LinkInfoText(message, IFLA_INFO_KIND));
}
const LinkRuleSet* PortRulesFor(Bytes message) {
  return PortKindRules(LinkInfoText(message, IFLA_INFO_SLAVE_KIND));
}

constexpr Rule kLinkInfoRuleList[] = {
    LINKVANE_RULE(IFLA_INFO_KIND, kind),
    LINKVANE_SELECTED(IFLA_INFO_DATA, KindRulesFor),
    LINKVANE_RULE(IFLA_INFO_SLAVE_KIND, slave_kind),
    LINKVANE_SELECTED(IFLA_INFO_SLAVE_DATA, PortRulesFor),
};
constexpr AttributeRules<LinkView> kLinkInfoRules(kLinkInfoRuleList);

constexpr Rule kProtoDownReasonRuleList[] = {
    LINKVANE_TRANSIENT(IFLA_PROTO_DOWN_REASON_MASK),
    LINKVANE_RULE(IFLA_PROTO_DOWN_REASON_VALUE, proto_down_reason),
};
constexpr AttributeRules<LinkView> kProtoDownReasonRules(kProtoDownReasonRuleList);

// By address family. In messages of family AF_BRIDGE, 2 is a bridge's VLAN and not AF_INET, so that
// nothing looks into it that was not told what it is.
constexpr Rule kFamilyRuleList[] = {
    LINKVANE_HOLDS(AF_INET, kIpv4Rules),
    LINKVANE_NESTED(AF_INET6, kIpv6Rules),
};
constexpr AttributeRules<LinkView> kFamilyRules(kFamilyRuleList);

constexpr Rule kLinkRuleList[] = {
    LINKVANE_ADDRESS(IFLA_ADDRESS, address),
    LINKVANE_ADDRESS(IFLA_BROADCAST, broadcast),
    LINKVANE_RULE(IFLA_IFNAME, name),
    LINKVANE_RULE(IFLA_MTU, mtu),
    LINKVANE_RULE(IFLA_LINK, link),
    LINKVANE_RULE(IFLA_QDISC, qdisc),
    LINKVANE_TRANSIENT(IFLA_STATS),
    LINKVANE_RULE(IFLA_MASTER, master),
    LINKVANE_TRANSIENT(IFLA_WIRELESS),
    LINKVANE_RULE(IFLA_TXQLEN, tx_queue_len),
    LINKVANE_RULE(IFLA_MAP, map),
    LINKVANE_RULE(IFLA_OPERSTATE, oper_state),
    LINKVANE_RULE(IFLA_LINKMODE, link_mode),
    LINKVANE_NESTED(IFLA_LINKINFO, kLinkInfoRules),
    LINKVANE_RULE(IFLA_IFALIAS, alias),
    LINKVANE_TRANSIENT_RULE(IFLA_STATS64, stats64),
    LINKVANE_NESTED(IFLA_AF_SPEC, kFamilyRules),
    LINKVANE_TRANSIENT_RULE(IFLA_NUM_VF, num_vf),
    LINKVANE_TRANSIENT_RULE(IFLA_VFINFO_LIST, vf_list),
    LINKVANE_RULE(IFLA_GROUP, group),
    LINKVANE_TRANSIENT(IFLA_EXT_MASK),
    LINKVANE_RULE(IFLA_PROMISCUITY, promiscuity),
    LINKVANE_RULE(IFLA_NUM_TX_QUEUES, num_tx_queues),
    LINKVANE_RULE(IFLA_NUM_RX_QUEUES, num_rx_queues),
    LINKVANE_RULE(IFLA_CARRIER, carrier),
    LINKVANE_RULE(IFLA_PHYS_PORT_ID, phys_port_id),
    LINKVANE_RULE(IFLA_CARRIER_CHANGES, carrier_changes),
    LINKVANE_RULE(IFLA_PHYS_SWITCH_ID, phys_switch_id),
    LINKVANE_RULE(IFLA_LINK_NETNSID, link_netns_id),
    LINKVANE_RULE(IFLA_PHYS_PORT_NAME, phys_port_name),
    LINKVANE_RULE(IFLA_PROTO_DOWN, proto_down),
    LINKVANE_RULE(IFLA_GSO_MAX_SEGS, gso_max_segs),
    LINKVANE_RULE(IFLA_GSO_MAX_SIZE, gso_max_size),
    LINKVANE_TRANSIENT(IFLA_PAD),
    Rule{IFLA_XDP, "IFLA_XDP", Volatility::kSteady, ReadInto<&LinkView::xdp>, &kXdpRules, nullptr,
         kMessage},
    LINKVANE_TRANSIENT(IFLA_EVENT),
    LINKVANE_TRANSIENT_RULE(IFLA_NEW_NETNSID, new_netns_id),
    LINKVANE_RULE(IFLA_CARRIER_UP_COUNT, carrier_up_count),
    LINKVANE_RULE(IFLA_CARRIER_DOWN_COUNT, carrier_down_count),
    LINKVANE_TRANSIENT_RULE(IFLA_NEW_IFINDEX, new_index),
    LINKVANE_RULE(IFLA_MIN_MTU, min_mtu),
    LINKVANE_RULE(IFLA_MAX_MTU, max_mtu),
    LINKVANE_RULE(IFLA_PROP_LIST, properties),
    LINKVANE_ADDRESS(IFLA_PERM_ADDRESS, permanent_address),
    LINKVANE_NESTED(IFLA_PROTO_DOWN_REASON, kProtoDownReasonRules),
    LINKVANE_RULE(IFLA_PARENT_DEV_NAME, parent_device),
    LINKVANE_RULE(IFLA_PARENT_DEV_BUS_NAME, parent_bus),
    LINKVANE_RULE(IFLA_GRO_MAX_SIZE, gro_max_size),
    LINKVANE_RULE(IFLA_TSO_MAX_SIZE, tso_max_size),
    LINKVANE_RULE(IFLA_TSO_MAX_SEGS, tso_max_segs),
    LINKVANE_RULE(IFLA_ALLMULTI, allmulticast),
    // Younger than the headers that we build with.
    Rule{63, "IFLA_GSO_IPV4_MAX_SIZE", Volatility::kSteady, ReadInto<&LinkView::gso_ipv4_max_size>},
    Rule{64, "IFLA_GRO_IPV4_MAX_SIZE", Volatility::kSteady, ReadInto<&LinkView::gro_ipv4_max_size>},
    // Empty for devices without; what they hold is not read.
    Rule{62, "IFLA_DEVLINK_PORT", Volatility::kSteady, nullptr, &kNoRules},
    Rule{65, "IFLA_DPLL_PIN", Volatility::kSteady, nullptr, &kNoRules},
    Rule{66, "IFLA_MAX_PACING_OFFLOAD_HORIZON", Volatility::kSteady,
         ReadUint<&LinkView::max_pacing_offload_horizon>},
    Rule{67, "IFLA_NETNS_IMMUTABLE", Volatility::kSteady, ReadInto<&LinkView::netns_immutable>},
    Rule{68, "IFLA_HEADROOM", Volatility::kSteady, ReadInto<&LinkView::headroom>},
    Rule{69, "IFLA_TAILROOM", Volatility::kSteady, ReadInto<&LinkView::tailroom>},
};
constexpr AttributeRules<LinkView> kLinkRules(kLinkRuleList);

#undef LINKVANE_RULE
#undef LINKVANE_ADDRESS
#undef LINKVANE_TRANSIENT_RULE
#undef LINKVANE_TRANSIENT
#undef LINKVANE_NESTED
#undef LINKVANE_SELECTED

// A request's header and the mask that every request needs.
Request MaskedRequest(uint16_t flags, int32_t index) {
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = index;
  Request request(RTM_GETLINK, flags);
  request.Header(header).Number(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  return request;
}

}  // namespace

const AttributeRules<LinkView>& LinkRules() { return kLinkRules; }

bool DecodeLink(Bytes payload, LinkView& view, DecodeTally& tally) {
  view = LinkView();
  const std::optional<ifinfomsg> header = LoadStruct<ifinfomsg>(payload);
  if (!header.has_value()) return false;
  view.family = header->ifi_family;
  view.hardware_type = header->ifi_type;
  view.index = header->ifi_index;
  view.flags = header->ifi_flags;
  view.attributes = payload.subspan(sizeof(*header));
  DecodeAttributes(view.attributes, kLinkRules, view, tally);
  return true;
}

LinkStats LoadLinkStats(Bytes stats64) {
  LinkStats stats;
  stats.count = std::min(stats64.size() / sizeof(uint64_t), LinkStats::kMax);
  // In one go, for the kernel does not align them.
  if (stats.count != 0) {
    std::memcpy(stats.values.data(), stats64.data(), stats.count * sizeof(uint64_t));
  }
  return stats;
}

size_t AppendNormalLink(Bytes payload, std::vector<std::byte>& out) {
  std::optional<ifinfomsg> header = LoadStruct<ifinfomsg>(payload);
  if (!header.has_value()) return 0;
  header->ifi_change = 0;
  const size_t start = out.size();
  const Bytes header_bytes = std::as_bytes(std::span(&*header, 1));
  out.insert(out.end(), header_bytes.begin(), header_bytes.end());
  const Bytes attributes = payload.subspan(sizeof(*header));
  AppendSelected(attributes, kLinkRules, Volatility::kSteady, out);
  const size_t compared = out.size() - start;
  AppendSelected(attributes, kLinkRules, Volatility::kVolatile, out);
  return compared;
}

bool IsNormalLink(Bytes payload, Bytes normal, size_t compared) {
  std::optional<ifinfomsg> header = LoadStruct<ifinfomsg>(payload);
  if (!header.has_value() || compared < sizeof(*header) || normal.size() < compared) return false;
  header->ifi_change = 0;
  return std::memcmp(normal.data(), &*header, sizeof(*header)) == 0 &&
         SelectedAre(payload.subspan(sizeof(*header)), kLinkRules,
                     normal.first(compared).subspan(sizeof(*header)), normal.subspan(compared));
}

Request LinkDumpRequest(const LinkDumpFilter& filter) {
  Request request = MaskedRequest(NLM_F_DUMP, 0);
  if (filter.master.has_value()) {
    request.Number(IFLA_MASTER, static_cast<uint32_t>(*filter.master));
  }
  // Names come from callers of any kind, and must fit whatever they are.
  if (filter.kind.has_value() && filter.kind->size() <= kMaxKind) {
    const size_t info = request.BeginNested(IFLA_LINKINFO);
    request.Text(IFLA_INFO_KIND, *filter.kind);
    request.EndNested(info);
  }
  return request;
}

Request LinkGetRequest(int32_t index) { return MaskedRequest(0, index); }

Request LinkGetRequest(std::string_view name) {
  Request request = MaskedRequest(0, 0);
  // Either finds both kinds of names, but Linux before 5.5 knows only the first.
  // What is too long for both is cut to a length that the kernel refuses.
  request.Text(name.size() <= kMaxName ? IFLA_IFNAME : IFLA_ALT_IFNAME,
               name.substr(0, kMaxAltName + 1));
  return request;
}

}  // namespace linkvane::netlink
