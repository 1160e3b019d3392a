// Links and addresses as plain descriptions, and the kernel's messages of them.
#ifndef LINKVANE_SERVER_STATE_TESTING_FAKE_MESSAGES_H_
#define LINKVANE_SERVER_STATE_TESTING_FAKE_MESSAGES_H_

#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netlink/message.h"

namespace linkvane::server {

// An attribute that has no member of its own: number and payload.
using RawAttribute = std::pair<uint16_t, std::string>;

// A VLAN of a bridge or a port: BRIDGE_VLAN_INFO_ flags and id.
using FakeVlan = std::pair<uint16_t, uint16_t>;

struct FakeLink {
  int32_t index = 1;
  std::string name = "eth0";
  uint32_t flags = 0;
  uint8_t family = 0;
  uint16_t hardware_type = ARPHRD_ETHER;
  std::optional<uint32_t> mtu = 1500;
  std::string address = std::string("\x02\x00\x00\x00\x00\x01", 6);  // Raw.
  std::string alias{};
  std::vector<std::string> alt_names{};
  std::string kind{};
  std::optional<int32_t> master{};
  std::optional<int32_t> link{};
  std::optional<int32_t> link_netns_id{};
  std::optional<uint8_t> oper_state{};
  uint32_t carrier_changes = 2;
  uint32_t carrier_up_count = 1;
  uint32_t carrier_down_count = 1;
  std::optional<uint64_t> rx_packets{};  // Of IFLA_STATS64.
  std::string slave_kind{};
  std::optional<uint16_t> default_pvid{};  // Of a bridge.
  std::vector<FakeVlan> vlans{};           // Told in messages of family AF_BRIDGE only.
  std::vector<RawAttribute> others{};
};

struct FakeAddr {
  int32_t index = 1;
  std::string address = "192.0.2.1";
  uint8_t prefix_length = 24;
  std::string peer{};
  std::string label{};
  uint8_t scope = RT_SCOPE_UNIVERSE;
  uint32_t flags = IFA_F_PERMANENT;
  // With the times of its making and its last change in hundredths of a second since boot.
  std::optional<ifa_cacheinfo> lifetime{};
  std::vector<RawAttribute> others{};

  uint8_t family() const;
};

// A message and the bytes that it points into.
class FakeMessage {
 public:
  FakeMessage(uint16_t type, const FakeLink& link);  // RTM_NEWLINK, RTM_DELLINK.
  FakeMessage(uint16_t type, const FakeAddr& addr);  // RTM_NEWADDR, RTM_DELADDR.

  uint16_t type() const { return type_; }
  const std::vector<std::byte>& payload() const { return payload_; }
  netlink::Message message() const { return {.type = type_, .payload = payload_}; }
  // With its header, as it goes over a socket.
  std::vector<std::byte> ToBytes(uint16_t flags = 0) const;

 private:
  uint16_t type_;
  std::vector<std::byte> payload_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_TESTING_FAKE_MESSAGES_H_
