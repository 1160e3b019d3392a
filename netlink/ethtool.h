// What drivers tell of the physical link, over generic netlink (family "ethtool", Linux 5.6).
#ifndef LINKVANE_NETLINK_ETHTOOL_H_
#define LINKVANE_NETLINK_ETHTOOL_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "netlink/connection.h"
#include "netlink/message.h"

namespace linkvane::netlink {

// The number that the kernel has given to a generic netlink family; NOT_FOUND if there is none of
// that name. `connection` is one of protocol NETLINK_GENERIC, here as below.
absl::StatusOr<uint16_t> GenericFamily(Connection& connection, std::string_view name,
                                       absl::Time deadline);

// Answers come in two messages, for two requests.
enum class EthtoolTopic : uint8_t { kLinkModes, kLinkInfo };

// What an answer says. What it does not say, or says to be unknown, is unset.
struct EthtoolView {
  int32_t index = 0;
  std::optional<uint32_t> speed_mbps;
  std::optional<uint8_t> duplex;  // DUPLEX_.
  std::optional<bool> autonegotiation;
  std::optional<uint8_t> port;  // PORT_.
};

// For one interface, or for all that tell anything.
Request EthtoolRequest(uint16_t family, EthtoolTopic topic, std::optional<int32_t> index);

// Adds what a message says to `view`. False if it does not name an interface.
bool DecodeEthtool(Bytes payload, EthtoolTopic topic, EthtoolView& view);

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_ETHTOOL_H_
