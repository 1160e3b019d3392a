#include "netlink/bridge_vlan.h"

#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "netlink/link_kind.h"

namespace linkvane::netlink {
namespace {

constexpr uint16_t kMostVlanId = 4094;

// Puts VLANs together, one attribute at a time.
class VlanList {
 public:
  VlanList(std::vector<BridgeVlan>& vlans, DecodeTally& tally) : vlans_(vlans), tally_(tally) {}

  void Take(Bytes payload) {
    const auto said = LoadStruct<bridge_vlan_info>(payload);
    if (!said.has_value() || said->vid == 0 || said->vid > kMostVlanId) {
      ++tally_.malformed;
      return;
    }
    const BridgeVlan vlan{.first = said->vid,
                          .last = said->vid,
                          .pvid = (said->flags & BRIDGE_VLAN_INFO_PVID) != 0,
                          .untagged = (said->flags & BRIDGE_VLAN_INFO_UNTAGGED) != 0};
    if ((said->flags & BRIDGE_VLAN_INFO_RANGE_END) != 0) {
      if (begun_.has_value() && Goes(*begun_, vlan) && begun_->last < vlan.first) {
        begun_->last = vlan.last;
        return End();
      }
      ++tally_.malformed;
    }
    EndHalf();
    if ((said->flags & BRIDGE_VLAN_INFO_RANGE_BEGIN) != 0) {
      begun_ = vlan;
    } else {
      Append(vlan);
    }
  }

  // A beginning that no end follows.
  void EndHalf() {
    if (!begun_.has_value()) return;
    ++tally_.malformed;
    End();
  }

 private:
  static bool Goes(const BridgeVlan& a, const BridgeVlan& b) {
    return a.pvid == b.pvid && a.untagged == b.untagged;
  }
  void End() {
    Append(*begun_);
    begun_.reset();
  }
  void Append(const BridgeVlan& vlan) {
    if (!vlans_.empty() && Goes(vlans_.back(), vlan) && vlans_.back().last + 1 == vlan.first) {
      vlans_.back().last = vlan.last;
    } else {
      vlans_.push_back(vlan);
    }
  }

  std::vector<BridgeVlan>& vlans_;
  DecodeTally& tally_;
  std::optional<BridgeVlan> begun_;
};

// Reads IFLA_AF_SPEC, which in this family holds the bridge's attributes directly. False if it is
// that of a built-in switch.
bool ReadSpec(Bytes spec, VlanList& list, DecodeTally& tally) {
  AttributeReader reader(spec);
  Attribute attribute;
  while (reader.Next(attribute)) {
    if (attribute.type == IFLA_BRIDGE_VLAN_INFO) {
      list.Take(attribute.payload);
    } else if (attribute.type == IFLA_BRIDGE_FLAGS) {
      // ndo_dflt_bridge_getlink in net/core/rtnetlink.c; bridges tell no flags.
      const auto flags = LoadNumber<uint16_t>(attribute.payload);
      if ((flags.value_or(0) & BRIDGE_FLAGS_SELF) != 0) return false;
    }
  }
  if (reader.malformed()) ++tally.malformed;
  return true;
}

}  // namespace

Request BridgeVlanDumpRequest() {
  ifinfomsg header{};
  header.ifi_family = AF_BRIDGE;
  Request request(RTM_GETLINK, NLM_F_DUMP);
  request.Header(header).Number(IFLA_EXT_MASK, RTEXT_FILTER_BRVLAN_COMPRESSED);
  return request;
}

bool DecodeBridgeVlans(Bytes payload, int32_t& index, std::vector<BridgeVlan>& vlans,
                       DecodeTally& tally) {
  vlans.clear();
  const std::optional<ifinfomsg> header = LoadStruct<ifinfomsg>(payload);
  if (!header.has_value() || header->ifi_family != AF_BRIDGE || header->ifi_index <= 0) {
    return false;
  }
  index = header->ifi_index;
  VlanList list(vlans, tally);
  AttributeReader reader(payload.subspan(sizeof(*header)));
  Attribute attribute;
  while (reader.Next(attribute)) {
    if (attribute.type == IFLA_AF_SPEC && !ReadSpec(attribute.payload, list, tally)) return false;
  }
  list.EndHalf();
  if (reader.malformed()) ++tally.malformed;
  return true;
}

std::optional<uint16_t> DefaultPvid(Bytes attributes) {
  std::optional<uint16_t> pvid;
  ForEachKindSettings(attributes, [&pvid](Bytes settings) {
    AttributeReader reader(settings);
    Attribute attribute;
    while (reader.Next(attribute)) {
      if (attribute.type == IFLA_BR_VLAN_DEFAULT_PVID) {
        pvid = LoadNumber<uint16_t>(attribute.payload);
      }
    }
  });
  return pvid;
}

}  // namespace linkvane::netlink
