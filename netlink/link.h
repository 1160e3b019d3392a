// Links: rtnetlink's RTM_NEWLINK, RTM_DELLINK and RTM_GETLINK.
#ifndef LINKVANE_NETLINK_LINK_H_
#define LINKVANE_NETLINK_LINK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "netlink/attribute.h"
#include "netlink/attribute_rules.h"
#include "netlink/message.h"

namespace linkvane::netlink {

// struct rtnl_link_ifmap: where old hardware is found.
struct LinkMap {
  uint64_t mem_start;
  uint64_t mem_end;
  uint64_t base_addr;
  uint16_t irq;
  uint8_t dma;
  uint8_t port;
};

// What a message says of a link. Points into the message's buffer. What it does not say is unset.
struct LinkView {
  // struct ifinfomsg.
  uint8_t family = 0;  // AF_UNSPEC: about the link itself. AF_BRIDGE: about a bridge's port.
  uint16_t hardware_type = 0;  // ARPHRD_.
  int32_t index = 0;
  uint32_t flags = 0;  // IFF_.

  std::optional<std::string_view> name;  // Any bytes but NUL.
  std::optional<std::string_view> alias;
  std::optional<std::string_view> qdisc;
  std::optional<std::string_view> kind;
  std::optional<std::string_view> slave_kind;
  std::optional<Bytes> address;  // Link-layer, 0 to 32 bytes.
  std::optional<Bytes> broadcast;
  std::optional<Bytes> properties;  // IFLA_PROP_LIST, see ForEachAltName().
  std::optional<Bytes> stats64;     // See LoadLinkStats().
  std::optional<uint32_t> mtu;
  std::optional<uint32_t> min_mtu;
  std::optional<uint32_t> max_mtu;
  std::optional<int32_t> link;  // IFLA_LINK: an index in link_netns_id's namespace if set.
  std::optional<int32_t> link_netns_id;
  std::optional<int32_t> master;
  std::optional<uint32_t> tx_queue_len;
  std::optional<uint32_t> group;
  std::optional<uint32_t> promiscuity;
  std::optional<uint32_t> allmulticast;
  std::optional<uint32_t> num_tx_queues;
  std::optional<uint32_t> num_rx_queues;
  std::optional<uint32_t> gso_max_size;
  std::optional<uint32_t> gso_max_segs;
  std::optional<uint32_t> gro_max_size;
  std::optional<uint32_t> tso_max_size;
  std::optional<uint32_t> tso_max_segs;
  std::optional<uint32_t> carrier_changes;
  std::optional<uint32_t> carrier_up_count;
  std::optional<uint32_t> carrier_down_count;
  std::optional<uint8_t> carrier;
  std::optional<uint8_t> oper_state;  // IF_OPER_.
  std::optional<uint8_t> link_mode;   // IF_LINK_MODE_.
  std::optional<Bytes> permanent_address;
  std::optional<Bytes> phys_port_id;
  std::optional<std::string_view> phys_port_name;
  std::optional<Bytes> phys_switch_id;
  std::optional<std::string_view> parent_bus;
  std::optional<std::string_view> parent_device;
  std::optional<uint8_t> proto_down;
  std::optional<uint32_t> proto_down_reason;
  std::optional<uint8_t> ipv6_addr_gen_mode;  // IN6_ADDR_GEN_MODE_.
  std::optional<Bytes> ipv6_token;            // 16 bytes.
  std::optional<Bytes> xdp;                   // IFLA_XDP, see XdpRules().
  std::optional<uint32_t> num_vf;  // Number of virtual functions, only if they were asked for.
  std::optional<Bytes> vf_list;    // IFLA_VFINFO_LIST, only if asked for; see VfRules().
  std::optional<uint32_t> gso_ipv4_max_size;
  std::optional<uint32_t> gro_ipv4_max_size;
  std::optional<LinkMap> map;
  std::optional<uint64_t> max_pacing_offload_horizon;  // In nanoseconds.
  std::optional<uint8_t> netns_immutable;
  std::optional<uint16_t> headroom;
  std::optional<uint16_t> tailroom;
  std::optional<int32_t> new_netns_id;  // In RTM_DELLINK: the link moved to that namespace.
  std::optional<int32_t> new_index;

  Bytes attributes;  // All of them, raw.
};

// The rules by which links are decoded. IFLA_LINKINFO is nested, with what it holds of settings of
// the link's kind (see link_kind.h).
const AttributeRules<LinkView>& LinkRules();

// Decodes the payload of an RTM_NEWLINK or RTM_DELLINK. False only if it is shorter than struct
// ifinfomsg.
bool DecodeLink(Bytes payload, LinkView& view, DecodeTally& tally);

// Whether the message tells the state of a link. Messages of another family are about a bridge's
// port (of RTM_DELLINK: it left the bridge, the link is still there), and those without an MTU come
// from the wireless extensions.
inline bool IsAboutLink(const LinkView& view) { return view.family == 0 && view.index > 0; }
inline bool TellsWholeLink(const LinkView& view) {
  return IsAboutLink(view) && view.mtu.has_value() && view.name.has_value();
}

// Calls `visit(std::string_view)` for each alternative name, in the kernel's order.
template <typename Visit>
void ForEachAltName(const LinkView& view, Visit&& visit);

// struct rtnl_link_stats64, as far as the kernel has it: `values` in the struct's order, the first
// `count` of them set.
struct LinkStats {
  static constexpr size_t kMax = 25;
  std::array<uint64_t, kMax> values{};
  size_t count = 0;
};
LinkStats LoadLinkStats(Bytes stats64);

// Brings a link message into the form in which it is kept and compared, appended to `out`: its
// header (without the change mask), its steady attributes, then its volatile ones; counters and
// what belongs to an event only are left out. The whole is again a payload for DecodeLink().
// Returns the size of the first two parts: two messages whose first parts are equal tell of the
// same state.
size_t AppendNormalLink(Bytes payload, std::vector<std::byte>& out);

// Whether the normal form of `payload` is just `normal`, of which the first `compared` bytes are
// what AppendNormalLink() returned. Much cheaper than to make it and compare.
bool IsNormalLink(Bytes payload, Bytes normal, size_t compared);

// Which links a dump asks for; the kernel filters (Linux 4.20 and newer with strict checks). It
// does so where it can: for a kind that it does not know (yet), and for master 0, the answer is all
// links. So callers look at what they get.
struct LinkDumpFilter {
  std::optional<int32_t> master;
  std::optional<std::string_view> kind;
};

// All requests carry an IFLA_EXT_MASK: without one, a link that is larger than a chunk ends the
// dump early, without an error. The one used also leaves out the IPv6 counters. A link's own
// counters (IFLA_STATS64) are in every answer.
Request LinkDumpRequest(const LinkDumpFilter& filter = {});
Request LinkGetRequest(int32_t index);
// By name or alternative name, 1 to 127 bytes; the kernel refuses others (INVALID_ARGUMENT).
Request LinkGetRequest(std::string_view name);

// What iproute2 calls an ARPHRD_ number ("ether"); empty if it has no name.
std::string_view HardwareTypeName(uint16_t hardware_type);

// Implementation.

template <typename Visit>
void ForEachAltName(const LinkView& view, Visit&& visit) {
  constexpr uint16_t kAltIfName = 53;  // IFLA_ALT_IFNAME.
  AttributeReader reader(view.properties.value_or(Bytes()));
  Attribute attribute;
  while (reader.Next(attribute)) {
    if (attribute.type == kAltIfName) visit(LoadText(attribute.payload));
  }
}

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_LINK_H_
