#include "server/state/interface_row.h"

#include <google/protobuf/descriptor.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "linkvane/v1/interface.pb.h"
#include "linkvane/v1/kind.pb.h"
#include "linkvane/v1/port.pb.h"
#include "server/state/text.h"
#include "server/state/values.h"
#include "server/state/wire.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;

struct FlagName {
  uint32_t bit;
  pb::InterfaceFlag flag;
};
constexpr FlagName kFlags[] = {
    {IFF_UP, pb::INTERFACE_FLAG_UP},
    {IFF_BROADCAST, pb::INTERFACE_FLAG_BROADCAST},
    {IFF_DEBUG, pb::INTERFACE_FLAG_DEBUG},
    {IFF_LOOPBACK, pb::INTERFACE_FLAG_LOOPBACK},
    {IFF_POINTOPOINT, pb::INTERFACE_FLAG_POINT_TO_POINT},
    {IFF_NOTRAILERS, pb::INTERFACE_FLAG_NO_TRAILERS},
    {IFF_RUNNING, pb::INTERFACE_FLAG_RUNNING},
    {IFF_NOARP, pb::INTERFACE_FLAG_NO_ARP},
    {IFF_PROMISC, pb::INTERFACE_FLAG_PROMISCUOUS},
    {IFF_ALLMULTI, pb::INTERFACE_FLAG_ALL_MULTICAST},
    {IFF_MASTER, pb::INTERFACE_FLAG_MASTER},
    {IFF_SLAVE, pb::INTERFACE_FLAG_SLAVE},
    {IFF_MULTICAST, pb::INTERFACE_FLAG_MULTICAST},
    {IFF_PORTSEL, pb::INTERFACE_FLAG_PORT_SELECT},
    {IFF_AUTOMEDIA, pb::INTERFACE_FLAG_AUTO_MEDIA},
    {IFF_DYNAMIC, pb::INTERFACE_FLAG_DYNAMIC},
    {IFF_LOWER_UP, pb::INTERFACE_FLAG_LOWER_UP},
    {IFF_DORMANT, pb::INTERFACE_FLAG_DORMANT},
    {IFF_ECHO, pb::INTERFACE_FLAG_ECHO},
};

// The contract's numbers are the kernel's plus one, as 0 is taken.
pb::OperState OperStateOf(uint8_t kernel) {
  return pb::OperState_IsValid(kernel + 1) ? static_cast<pb::OperState>(kernel + 1)
                                           : pb::OPER_STATE_UNSPECIFIED;
}
pb::LinkMode LinkModeOf(uint8_t kernel) {
  return pb::LinkMode_IsValid(kernel + 1) ? static_cast<pb::LinkMode>(kernel + 1)
                                          : pb::LINK_MODE_UNSPECIFIED;
}

pb::Ipv6AddrGenMode Ipv6AddrGenModeOf(uint8_t kernel) {
  return pb::Ipv6AddrGenMode_IsValid(kernel + 1) ? static_cast<pb::Ipv6AddrGenMode>(kernel + 1)
                                                 : pb::IPV6_ADDR_GEN_MODE_UNSPECIFIED;
}

// Puts bytes of the kernel's into a text field, and into its raw companion where they are no text.
template <typename Text, typename Raw>
void SetText(std::string_view bytes, Text&& set_text, Raw&& set_raw) {
  if (IsUtf8(bytes)) return set_text(std::string(bytes));
  set_text(ToUtf8(bytes));
  set_raw(std::string(bytes));
}

void FillAltNames(const netlink::LinkView& link, pb::Interface& out) {
  bool all_text = true;
  netlink::ForEachAltName(link, [&](std::string_view name) {
    out.add_alt_names(ToUtf8(name));
    all_text = all_text && IsUtf8(name);
  });
  if (all_text) return;
  netlink::ForEachAltName(link,
                          [&](std::string_view name) { out.add_raw_alt_names(std::string(name)); });
}

void FillHeader(const netlink::LinkView& link, pb::Interface& out) {
  out.set_index(link.index);
  out.set_hardware_type(link.hardware_type);
  out.set_hardware_type_name(std::string(netlink::HardwareTypeName(link.hardware_type)));
  for (const FlagName& name : kFlags) {
    if ((link.flags & name.bit) != 0) out.add_flags(name.flag);
  }
  out.set_flags_raw(link.flags);
  out.set_admin_up((link.flags & IFF_UP) != 0);
}

void FillTexts(const InterfaceRow& row, pb::Interface& out) {
  const netlink::LinkView& link = row.link;
  SetText(
      row.name(), [&](std::string t) { out.set_name(std::move(t)); },
      [&](std::string r) { out.set_raw_name(std::move(r)); });
  FillAltNames(link, out);
  if (link.alias.has_value()) {
    SetText(
        *link.alias, [&](std::string t) { out.set_alias(std::move(t)); },
        [&](std::string r) { out.set_raw_alias(std::move(r)); });
  }
  if (row.names.master.has_value()) {
    SetText(
        *row.names.master, [&](std::string t) { out.set_master_name(std::move(t)); },
        [&](std::string r) { out.set_raw_master_name(std::move(r)); });
  }
  if (row.names.link.has_value()) {
    SetText(
        *row.names.link, [&](std::string t) { out.set_link_name(std::move(t)); },
        [&](std::string r) { out.set_raw_link_name(std::move(r)); });
  }
  if (link.kind.has_value()) out.set_kind(ToUtf8(*link.kind));
  if (link.slave_kind.has_value()) out.set_slave_kind(ToUtf8(*link.slave_kind));
  if (link.qdisc.has_value()) out.set_qdisc(ToUtf8(*link.qdisc));
  out.set_hardware_address(ColonHex(link.address.value_or(netlink::Bytes())));
  out.set_broadcast_address(ColonHex(link.broadcast.value_or(netlink::Bytes())));
}

void FillNumbers(const netlink::LinkView& link, pb::Interface& out) {
  if (link.oper_state.has_value()) {
    out.set_oper_state(OperStateOf(*link.oper_state));
    out.set_oper_state_raw(*link.oper_state);
  }
  if (link.link_mode.has_value()) {
    out.set_link_mode(LinkModeOf(*link.link_mode));
    out.set_link_mode_raw(*link.link_mode);
  }
  if (link.carrier.has_value()) out.set_carrier(*link.carrier != 0);
  if (link.carrier_changes.has_value()) out.set_carrier_changes(*link.carrier_changes);
  if (link.carrier_up_count.has_value()) out.set_carrier_up_count(*link.carrier_up_count);
  if (link.carrier_down_count.has_value()) out.set_carrier_down_count(*link.carrier_down_count);
  if (link.mtu.has_value()) out.set_mtu(*link.mtu);
  if (link.min_mtu.has_value()) out.set_min_mtu(*link.min_mtu);
  if (link.max_mtu.has_value()) out.set_max_mtu(*link.max_mtu);
  if (link.tx_queue_len.has_value()) out.set_tx_queue_len(*link.tx_queue_len);
  if (link.group.has_value()) out.set_group(*link.group);
  if (link.master.has_value()) out.set_master_index(*link.master);
  if (link.link.has_value()) out.set_link_index(*link.link);
  if (link.link_netns_id.has_value()) out.set_link_netns_id(*link.link_netns_id);
  if (link.num_tx_queues.has_value()) out.set_num_tx_queues(*link.num_tx_queues);
  if (link.num_rx_queues.has_value()) out.set_num_rx_queues(*link.num_rx_queues);
  if (link.gso_max_size.has_value()) out.set_gso_max_size(*link.gso_max_size);
  if (link.gso_max_segs.has_value()) out.set_gso_max_segs(*link.gso_max_segs);
  if (link.gro_max_size.has_value()) out.set_gro_max_size(*link.gro_max_size);
  if (link.tso_max_size.has_value()) out.set_tso_max_size(*link.tso_max_size);
  if (link.tso_max_segs.has_value()) out.set_tso_max_segs(*link.tso_max_segs);
  if (link.promiscuity.has_value()) out.set_promiscuity(*link.promiscuity);
  if (link.allmulticast.has_value()) out.set_allmulticast(*link.allmulticast);
}

void FillMap(const netlink::LinkMap& map, pb::InterfaceMap& out) {
  out.set_mem_start(map.mem_start);
  out.set_mem_end(map.mem_end);
  out.set_base_addr(map.base_addr);
  out.set_irq(map.irq);
  out.set_dma(map.dma);
  out.set_port(map.port);
}

// What a device needs, and where it is.
void FillHardware(const netlink::LinkView& link, pb::Interface& out) {
  if (link.map.has_value()) {
    const netlink::LinkMap& map = *link.map;
    const bool found = map.mem_start != 0 || map.mem_end != 0 || map.base_addr != 0 ||
                       map.irq != 0 || map.dma != 0 || map.port != 0;
    if (found) FillMap(map, *out.mutable_map());
  }
  if (link.max_pacing_offload_horizon.has_value()) {
    constexpr uint64_t kNanos = 1'000'000'000;
    google::protobuf::Duration& horizon = *out.mutable_max_pacing_offload_horizon();
    horizon.set_seconds(static_cast<int64_t>(*link.max_pacing_offload_horizon / kNanos));
    horizon.set_nanos(static_cast<int32_t>(*link.max_pacing_offload_horizon % kNanos));
  }
  if (link.netns_immutable.has_value()) out.set_netns_immutable(*link.netns_immutable != 0);
  if (link.headroom.has_value()) out.set_headroom(*link.headroom);
  if (link.tailroom.has_value()) out.set_tailroom(*link.tailroom);
}

void FillDevice(const netlink::LinkView& link, pb::Interface& out) {
  if (link.permanent_address.has_value()) {
    out.set_permanent_address(ColonHex(*link.permanent_address));
  }
  if (link.proto_down.has_value()) out.set_proto_down(*link.proto_down != 0);
  if (link.proto_down_reason.has_value()) out.set_proto_down_reason(*link.proto_down_reason);
  if (link.phys_port_id.has_value()) out.set_phys_port_id(Hex(*link.phys_port_id));
  if (link.phys_port_name.has_value()) out.set_phys_port_name(ToUtf8(*link.phys_port_name));
  if (link.phys_switch_id.has_value()) out.set_phys_switch_id(Hex(*link.phys_switch_id));
  if (link.parent_bus.has_value()) out.set_parent_bus(ToUtf8(*link.parent_bus));
  if (link.parent_device.has_value()) out.set_parent_device(ToUtf8(*link.parent_device));
  if (link.ipv6_addr_gen_mode.has_value()) {
    out.set_ipv6_addr_gen_mode(Ipv6AddrGenModeOf(*link.ipv6_addr_gen_mode));
    out.set_ipv6_addr_gen_mode_raw(*link.ipv6_addr_gen_mode);
  }
  if (link.ipv6_token.has_value()) {
    // The kernel's word for "none" is all zeros.
    const std::string token = IpText(*link.ipv6_token);
    if (token != "::") out.set_ipv6_token(token);
  }
  if (link.gso_ipv4_max_size.has_value()) out.set_gso_ipv4_max_size(*link.gso_ipv4_max_size);
  if (link.gro_ipv4_max_size.has_value()) out.set_gro_ipv4_max_size(*link.gro_ipv4_max_size);
}

// The field of an Interface for the settings of a kind; 0 if there is none.
uint32_t FieldOf(const char* oneof, const std::string& name) {
  const auto* field = pb::Interface::descriptor()->FindFieldByName(name);
  if (field == nullptr || field->containing_oneof() == nullptr) return 0;
  if (field->containing_oneof()->name() != oneof) return 0;
  return static_cast<uint32_t>(field->number());
}

constexpr std::string_view kBridge = "bridge";

// The field `vlans` of a Bridge and of a BridgePort.
constexpr uint32_t kVlansField = pb::Bridge::kVlansFieldNumber;
static_assert(kVlansField == uint32_t{pb::BridgePort::kVlansFieldNumber});

std::string EncodeVlans(const BridgeVlans& vlans) {
  std::string fields;
  if (vlans == nullptr) return fields;
  std::string one;
  for (const netlink::BridgeVlan& vlan : *vlans) {
    one.clear();
    AppendVarintField(pb::BridgeVlan::kFirstFieldNumber, vlan.first, one);
    AppendVarintField(pb::BridgeVlan::kLastFieldNumber, vlan.last, one);
    if (vlan.pvid) AppendVarintField(pb::BridgeVlan::kPvidFieldNumber, 1, one);
    if (vlan.untagged) AppendVarintField(pb::BridgeVlan::kUntaggedFieldNumber, 1, one);
    AppendBytesField(kVlansField, one, fields);
  }
  return fields;
}

// The settings in all runs that `for_each` visits, as the message in the field `number`. No field
// if there is no run, unless `always`. `more` are fields of the message that are not of the link's
// own attributes.
template <typename ForEach>
void AppendRuns(uint32_t number, const netlink::LinkRuleSet& rules, bool always,
                netlink::DecodeTally& tally, std::string& wire, ForEach&& for_each,
                std::string_view more = {}) {
  std::string message;
  SeenAttributes seen;
  bool found = always;
  for_each([&](netlink::Bytes run) {
    found = true;
    AppendValues(run, rules, seen, tally, message);
  });
  message += more;
  if (found) AppendBytesField(number, message, wire);
}

// The settings in `attributes` that the kernel layer only describes, in the order of their fields:
// of XDP, of the address families, of the link's kind, of its port.
std::string EncodeSettings(const netlink::LinkView& link, const BridgeVlans& vlans,
                           netlink::Bytes attributes, netlink::DecodeTally& tally) {
  std::string wire;
  if (link.xdp.has_value()) {
    AppendRuns(pb::Interface::kXdpFieldNumber, netlink::XdpRules(), /*always=*/true, tally, wire,
               [&](auto&& visit) { visit(*link.xdp); });
  }
  AppendRuns(pb::Interface::kIpv4FieldNumber, netlink::Ipv4Rules(), /*always=*/false, tally, wire,
             [&](auto&& visit) { netlink::ForEachFamilySettings(attributes, AF_INET, visit); });
  AppendRuns(pb::Interface::kIpv6FieldNumber, netlink::Ipv6Rules(), /*always=*/false, tally, wire,
             [&](auto&& visit) { netlink::ForEachFamilySettings(attributes, AF_INET6, visit); });
  // A kind without settings has its message, too.
  const std::string kind(link.kind.value_or(""));
  const netlink::LinkRuleSet* rules = netlink::LinkKindRules(kind);
  const uint32_t details = FieldOf("details", kind);
  if (rules != nullptr && details != 0) {
    AppendRuns(
        details, *rules, /*always=*/true, tally, wire,
        [&](auto&& visit) { netlink::ForEachKindSettings(attributes, visit); },
        kind == kBridge ? EncodeVlans(vlans) : "");
  }
  const std::string slave_kind(link.slave_kind.value_or(""));
  rules = netlink::PortKindRules(slave_kind);
  const uint32_t port = FieldOf("port", slave_kind + "_port");
  if (rules != nullptr && port != 0) {
    AppendRuns(
        port, *rules, /*always=*/true, tally, wire,
        [&](auto&& visit) { netlink::ForEachPortSettings(attributes, visit); },
        slave_kind == kBridge ? EncodeVlans(vlans) : "");
  }
  return wire;
}

void FillUnknown(const netlink::LinkView& link, pb::Interface& out) {
  netlink::ForEachUnknown(
      link.attributes, netlink::LinkRules(),
      [&out](std::span<const uint16_t> parents, const netlink::Attribute& attribute) {
        pb::UnknownAttribute& unknown = *out.add_unknown_attributes();
        unknown.set_type(attribute.type);
        unknown.set_data(attribute.payload.data(), attribute.payload.size());
        unknown.mutable_parents()->Add(parents.begin(), parents.end());
      });
}

bool CounterFell(std::optional<uint32_t> before, std::optional<uint32_t> after) {
  return before.has_value() && after.has_value() && *after < *before;
}

std::string_view BytesText(std::optional<netlink::Bytes> bytes) {
  if (!bytes.has_value()) return {};
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

}  // namespace

std::atomic<uint64_t>& RowsEncoded() {
  static std::atomic<uint64_t> count = 0;
  return count;
}

std::string InterfaceKey(int32_t index) {
  // Big-endian, so that keys sort as indexes do.
  std::string key = "i";
  for (int shift = 24; shift >= 0; shift -= 8) {
    key += static_cast<char>(static_cast<uint32_t>(index) >> shift);
  }
  return key;
}

InterfaceRowPtr MakeInterfaceRow(const LinkStatement& statement, LinkNames names,
                                 RowIdentity identity, BridgeVlans vlans) {
  auto row = std::make_shared<InterfaceRow>(statement);
  netlink::DecodeTally tally;
  netlink::DecodeLink(row->message.statement().message, row->link, tally);
  row->kind = ResourceKind::kInterface;
  row->names = std::move(names);
  row->vlans = std::move(vlans);
  row->key = InterfaceKey(row->link.index);
  row->uid = std::move(identity.uid);
  row->revision = identity.revision;
  row->changed_at = identity.changed_at;

  thread_local pb::Interface out;  // Keeps its memory from one row to the next.
  out.Clear();
  out.set_uid(row->uid);
  FillHeader(row->link, out);
  FillTexts(*row, out);
  FillNumbers(row->link, out);
  FillDevice(row->link, out);
  FillHardware(row->link, out);
  const netlink::Bytes attributes = row->link.attributes;
  const netlink::Bytes steady =
      attributes.first(row->message.statement().steady_size - sizeof(ifinfomsg));
  row->steady =
      MergeFields(out.SerializeAsString(), EncodeSettings(row->link, row->vlans, steady, tally));
  FillUnknown(row->link, out);
  row->wire = MergeFields(out.SerializeAsString(),
                          EncodeSettings(row->link, row->vlans, attributes, tally));
  RowsEncoded().fetch_add(1, std::memory_order_relaxed);
  return row;
}

bool IsBridgeOrPort(const netlink::LinkView& link) {
  return link.kind == kBridge || link.slave_kind == kBridge;
}

Comparison CompareLink(const InterfaceRow& row, const LinkStatement& statement) {
  const LinkStatement old = row.message.statement();
  if (old.steady_size != statement.steady_size ||
      std::memcmp(old.message.data(), statement.message.data(), old.steady_size) != 0) {
    return Comparison::kDiffers;
  }
  if (old.message.size() != statement.message.size() ||
      std::memcmp(old.message.data(), statement.message.data(), old.message.size()) != 0) {
    return Comparison::kOnlyVolatile;
  }
  return Comparison::kSame;
}

bool IsOtherIncarnation(const InterfaceRow& row, const LinkStatement& statement) {
  netlink::LinkView now;
  netlink::DecodeTally tally;
  if (!netlink::DecodeLink(statement.message, now, tally)) return false;
  const netlink::LinkView& then = row.link;
  return then.kind != now.kind || then.hardware_type != now.hardware_type ||
         CounterFell(then.carrier_changes, now.carrier_changes) ||
         CounterFell(then.carrier_up_count, now.carrier_up_count) ||
         CounterFell(then.carrier_down_count, now.carrier_down_count) ||
         (then.name != now.name && BytesText(then.address) != BytesText(now.address));
}

void AppendStatsField(const netlink::LinkStats& stats, std::string& out) {
  // The fields of InterfaceStats are numbered in the order of struct rtnl_link_stats64.
  std::string message;
  for (size_t i = 0; i < stats.count; ++i) {
    AppendVarintField(static_cast<uint32_t>(i + 1), stats.values[i], message);
  }
  AppendBytesField(pb::Interface::kStatsFieldNumber, message, out);
}

}  // namespace linkvane::server
