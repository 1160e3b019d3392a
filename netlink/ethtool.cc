#include "netlink/ethtool.h"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "netlink/attribute.h"
#include "netlink/error.h"

namespace linkvane::netlink {
namespace {

constexpr uint16_t kHeader = ETHTOOL_A_LINKMODES_HEADER;
static_assert(kHeader == ETHTOOL_A_LINKINFO_HEADER);
constexpr auto kUnknownSpeed = static_cast<uint32_t>(SPEED_UNKNOWN);

Request GenericRequest(uint16_t family, uint8_t command, uint8_t version, uint16_t flags,
                       std::string_view operation) {
  genlmsghdr header{};
  header.cmd = command;
  header.version = version;
  Request request(family, flags, operation);
  request.Header(header);
  return request;
}

int32_t IndexIn(Bytes header) {
  AttributeReader reader(header);
  Attribute attribute;
  while (reader.Next(attribute)) {
    if (attribute.type == ETHTOOL_A_HEADER_DEV_INDEX) {
      return LoadNumber<int32_t>(attribute.payload).value_or(0);
    }
  }
  return 0;
}

}  // namespace

absl::StatusOr<uint16_t> GenericFamily(Connection& connection, std::string_view name,
                                       absl::Time deadline) {
  Request request =
      GenericRequest(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, 0, "generic netlink family");
  request.Text(CTRL_ATTR_FAMILY_NAME, name);
  std::optional<uint16_t> family;
  const absl::Status status = connection.Get(
      request,
      [&family](std::span<const Message> messages) {
        for (const Message& message : messages) {
          if (message.payload.size() < sizeof(genlmsghdr)) continue;
          AttributeReader reader(message.payload.subspan(sizeof(genlmsghdr)));
          Attribute attribute;
          while (reader.Next(attribute)) {
            if (attribute.type != CTRL_ATTR_FAMILY_ID) continue;
            family = LoadNumber<uint16_t>(attribute.payload);
          }
        }
      },
      deadline);
  if (!status.ok()) return status;
  if (!family.has_value()) return ProtocolError("generic netlink family", "it has no number");
  return *family;
}

Request EthtoolRequest(uint16_t family, EthtoolTopic topic, std::optional<int32_t> index) {
  const bool modes = topic == EthtoolTopic::kLinkModes;
  Request request = GenericRequest(
      family, modes ? ETHTOOL_MSG_LINKMODES_GET : ETHTOOL_MSG_LINKINFO_GET, ETHTOOL_GENL_VERSION,
      index.has_value() ? 0 : NLM_F_DUMP, modes ? "ethtool link modes" : "ethtool link info");
  const size_t header = request.BeginNested(kHeader | NLA_F_NESTED);
  if (index.has_value()) {
    request.Number(ETHTOOL_A_HEADER_DEV_INDEX, static_cast<uint32_t>(*index));
  }
  // The supported modes, which nobody looks at, take less room so.
  request.Number(ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_COMPACT_BITSETS);
  request.EndNested(header);
  return request;
}

bool DecodeEthtool(Bytes payload, EthtoolTopic topic, EthtoolView& view) {
  if (payload.size() < sizeof(genlmsghdr)) return false;
  AttributeReader reader(payload.subspan(sizeof(genlmsghdr)));
  Attribute attribute;
  while (reader.Next(attribute)) {
    if (attribute.type == kHeader) {
      view.index = IndexIn(attribute.payload);
    } else if (topic == EthtoolTopic::kLinkInfo) {
      if (attribute.type == ETHTOOL_A_LINKINFO_PORT) {
        view.port = LoadNumber<uint8_t>(attribute.payload);
      }
    } else if (attribute.type == ETHTOOL_A_LINKMODES_SPEED) {
      view.speed_mbps = LoadNumber<uint32_t>(attribute.payload);
      if (view.speed_mbps == kUnknownSpeed) view.speed_mbps.reset();
    } else if (attribute.type == ETHTOOL_A_LINKMODES_DUPLEX) {
      view.duplex = LoadNumber<uint8_t>(attribute.payload);
      if (view.duplex == DUPLEX_UNKNOWN) view.duplex.reset();
    } else if (attribute.type == ETHTOOL_A_LINKMODES_AUTONEG) {
      const std::optional<uint8_t> on = LoadNumber<uint8_t>(attribute.payload);
      if (on.has_value()) view.autonegotiation = *on != AUTONEG_DISABLE;
    }
  }
  return view.index > 0;
}

}  // namespace linkvane::netlink
