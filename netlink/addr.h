// Addresses: rtnetlink's RTM_NEWADDR, RTM_DELADDR and RTM_GETADDR.
#ifndef LINKVANE_NETLINK_ADDR_H_
#define LINKVANE_NETLINK_ADDR_H_

#include <linux/if_addr.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "netlink/attribute.h"
#include "netlink/attribute_rules.h"
#include "netlink/message.h"

namespace linkvane::netlink {

// What a message says of an address. Points into the message's buffer.
struct AddrView {
  // struct ifaddrmsg.
  uint8_t family = 0;  // AF_INET or AF_INET6.
  uint8_t prefix_length = 0;
  uint8_t header_flags = 0;
  uint8_t scope = 0;  // RT_SCOPE_.
  int32_t index = 0;  // The interface.

  std::optional<Bytes>
      ifa_address;  // IFA_ADDRESS: the address, or the peer's if IFA_LOCAL is there.
  std::optional<Bytes> ifa_local;
  std::optional<Bytes> broadcast;
  std::optional<Bytes> anycast;
  std::optional<std::string_view> label;
  std::optional<uint32_t> ifa_flags;
  std::optional<uint32_t> route_metric;
  std::optional<uint8_t> protocol;
  std::optional<ifa_cacheinfo> lifetime;

  Bytes attributes;  // All of them, raw.

  // The address itself: IFA_LOCAL, else IFA_ADDRESS. Empty if the message has none of the family's
  // length.
  Bytes local() const;
  // The other end of a point-to-point link: IFA_ADDRESS where it differs from IFA_LOCAL; else
  // empty.
  Bytes peer() const;
  // IFA_FLAGS, else the header's 8 bits.
  uint32_t flags() const { return ifa_flags.value_or(header_flags); }
};

const AttributeRules<AddrView>& AddrRules();

// Decodes the payload of an RTM_NEWADDR or RTM_DELADDR. False if it is shorter than struct
// ifaddrmsg, of another family than AF_INET and AF_INET6, or has no address of that family's
// length.
bool DecodeAddr(Bytes payload, AddrView& view, DecodeTally& tally);

// As AppendNormalLink(). IFA_CACHEINFO is in the volatile part: its lifetimes run down.
size_t AppendNormalAddr(Bytes payload, std::vector<std::byte>& out);

// As IsNormalLink().
bool IsNormalAddr(Bytes payload, Bytes normal, size_t compared);

// All addresses of one family, AF_INET or AF_INET6 (a dump of AF_UNSPEC takes the RTNL lock); of
// one interface if `index` is not 0 (the kernel filters).
Request AddrDumpRequest(uint8_t family, int32_t index = 0);

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_ADDR_H_
