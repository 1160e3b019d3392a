#include "server/state/testing/fake_messages.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <span>

#include "netlink/fake_socket.h"

namespace linkvane::server {
namespace {

netlink::Bytes BytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string RawAddress(uint8_t family, const std::string& text) {
  std::array<char, 16> raw{};
  inet_pton(family, text.c_str(), raw.data());
  return {raw.data(), family == AF_INET ? size_t{4} : size_t{16}};
}

template <typename Header>
std::vector<std::byte> Payload(const Header& header, const netlink::FakeAttributes& attributes) {
  std::vector<std::byte> payload;
  netlink::AppendBytes(payload, &header, sizeof(header));
  netlink::AppendBytes(payload, attributes.bytes().data(), attributes.bytes().size());
  return payload;
}

template <typename T>
void AddIfSet(uint16_t type, const std::optional<T>& value, netlink::FakeAttributes& attributes) {
  if (value.has_value()) attributes.Number(type, *value);
}

void AddLinkInfo(const FakeLink& link, netlink::FakeAttributes& attributes) {
  netlink::FakeAttributes info;
  if (!link.kind.empty()) info.Text(IFLA_INFO_KIND, link.kind);
  if (link.default_pvid.has_value()) {
    info.Add(IFLA_INFO_DATA,
             netlink::FakeAttributes().Number(IFLA_BR_VLAN_DEFAULT_PVID, *link.default_pvid));
  }
  if (!link.slave_kind.empty()) info.Text(IFLA_INFO_SLAVE_KIND, link.slave_kind);
  if (!info.bytes().empty()) attributes.Add(IFLA_LINKINFO, info);
}

// IFLA_BRIDGE_VLAN_INFO, whose payload is struct bridge_vlan_info. Their header, linux/if_bridge.h,
// does not go together with arpa/inet.h.
constexpr uint16_t kVlanInfo = 2;

void AddVlans(const std::vector<FakeVlan>& vlans, netlink::FakeAttributes& attributes) {
  if (vlans.empty()) return;
  netlink::FakeAttributes spec;
  for (const auto& [flags, id] : vlans) {
    spec.Number(kVlanInfo, std::array{flags, id});
  }
  attributes.Add(IFLA_AF_SPEC, spec);
}

}  // namespace

uint8_t FakeAddr::family() const {
  return address.find(':') == std::string::npos ? AF_INET : AF_INET6;
}

FakeMessage::FakeMessage(uint16_t type, const FakeLink& link) : type_(type) {
  ifinfomsg header{};
  header.ifi_family = link.family;
  header.ifi_type = link.hardware_type;
  header.ifi_index = link.index;
  header.ifi_flags = link.flags;
  header.ifi_change = 0xffffffff;
  netlink::FakeAttributes attributes;
  attributes.Text(IFLA_IFNAME, link.name);
  AddIfSet(IFLA_MTU, link.mtu, attributes);
  attributes.Add(IFLA_ADDRESS, BytesOf(link.address));
  if (!link.alias.empty()) attributes.Text(IFLA_IFALIAS, link.alias);
  AddIfSet(IFLA_MASTER, link.master, attributes);
  AddIfSet(IFLA_LINK, link.link, attributes);
  AddIfSet(IFLA_LINK_NETNSID, link.link_netns_id, attributes);
  AddIfSet(IFLA_OPERSTATE, link.oper_state, attributes);
  attributes.Number(IFLA_CARRIER_CHANGES, link.carrier_changes);
  attributes.Number(IFLA_CARRIER_UP_COUNT, link.carrier_up_count);
  attributes.Number(IFLA_CARRIER_DOWN_COUNT, link.carrier_down_count);
  if (link.rx_packets.has_value()) {
    rtnl_link_stats64 stats{};
    stats.rx_packets = *link.rx_packets;
    attributes.Number(IFLA_STATS64, stats);
  }
  if (link.family == AF_BRIDGE) {
    AddVlans(link.vlans, attributes);
  } else {
    AddLinkInfo(link, attributes);
  }
  if (!link.alt_names.empty()) {
    netlink::FakeAttributes names;
    for (const std::string& name : link.alt_names) names.Text(IFLA_ALT_IFNAME, name);
    attributes.Add(IFLA_PROP_LIST | NLA_F_NESTED, names);
  }
  for (const auto& [number, payload] : link.others) attributes.Add(number, BytesOf(payload));
  payload_ = Payload(header, attributes);
}

FakeMessage::FakeMessage(uint16_t type, const FakeAddr& addr) : type_(type) {
  const uint8_t family = addr.family();
  ifaddrmsg header{};
  header.ifa_family = family;
  header.ifa_prefixlen = addr.prefix_length;
  header.ifa_flags = static_cast<uint8_t>(addr.flags);
  header.ifa_scope = addr.scope;
  header.ifa_index = static_cast<uint32_t>(addr.index);
  const std::string local = RawAddress(family, addr.address);
  netlink::FakeAttributes attributes;
  if (!addr.peer.empty()) {
    attributes.Add(IFA_ADDRESS, BytesOf(RawAddress(family, addr.peer)));
    attributes.Add(IFA_LOCAL, BytesOf(local));
  } else {
    attributes.Add(IFA_ADDRESS, BytesOf(local));
    if (family == AF_INET) attributes.Add(IFA_LOCAL, BytesOf(local));
  }
  if (!addr.label.empty()) attributes.Text(IFA_LABEL, addr.label);
  attributes.Number(IFA_FLAGS, addr.flags);
  AddIfSet(IFA_CACHEINFO, addr.lifetime, attributes);
  for (const auto& [number, payload] : addr.others) attributes.Add(number, BytesOf(payload));
  payload_ = Payload(header, attributes);
}

std::vector<std::byte> FakeMessage::ToBytes(uint16_t flags) const {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<uint32_t>(sizeof(header) + payload_.size());
  header.nlmsg_type = type_;
  header.nlmsg_flags = flags;
  std::vector<std::byte> bytes;
  netlink::AppendBytes(bytes, &header, sizeof(header));
  netlink::AppendBytes(bytes, payload_.data(), payload_.size());
  return bytes;
}

}  // namespace linkvane::server
