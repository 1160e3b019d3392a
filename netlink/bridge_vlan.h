// The VLANs of bridges and of their ports: rtnetlink's messages of family AF_BRIDGE.
//
// The kernel tells them in dumps of that family, and in events on the group of links, each time
// with the whole list. It does not tell all changes: a bridge comes with the VLAN that is its
// vlan_default_pvid, and when that setting changes, so do lists, without an event
// (br_vlan_set_default_pvid in net/bridge/br_vlan.c). See DefaultPvid().
#ifndef LINKVANE_NETLINK_BRIDGE_VLAN_H_
#define LINKVANE_NETLINK_BRIDGE_VLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "netlink/attribute.h"
#include "netlink/attribute_rules.h"
#include "netlink/message.h"

namespace linkvane::netlink {

// VLANs that follow one another and are the same but for their ids, 1 to 4094.
struct BridgeVlan {
  uint16_t first = 0;
  uint16_t last = 0;
  bool pvid = false;      // Of packets that come in without a tag; always alone.
  bool untagged = false;  // Packets leave without a tag.
  bool operator==(const BridgeVlan&) const = default;
};

// Asks for all bridges and their ports. Without any, the answer is empty. The kernel never flags it
// as interrupted, although a device that goes between two chunks makes it leave out another.
Request BridgeVlanDumpRequest();

// Reads which VLANs the bridge or port `index` has, into `vlans`: as few ranges as they make, in
// the kernel's order. Messages with and without ranges read the same. False if the message is not
// about the VLANs of a bridge: of another family, or about the switch that is built into a device.
//
// `type` says nothing: besides RTM_NEWLINK, there are events of type RTM_SETLINK after RTM_NEWVLAN,
// and of type RTM_DELLINK after RTM_DELVLAN and right before a port leaves. All of them hold the
// list as it is at that moment. Halves of ranges count as malformed, and as a VLAN each.
bool DecodeBridgeVlans(Bytes payload, int32_t& index, std::vector<BridgeVlan>& vlans,
                       DecodeTally& tally);

// The vlan_default_pvid of a bridge, of whose message `attributes` are all; unset where the kernel
// has no VLAN filtering.
std::optional<uint16_t> DefaultPvid(Bytes attributes);

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_BRIDGE_VLAN_H_
