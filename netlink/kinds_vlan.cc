// VLAN devices and virtual routing domains: links on top of others.
#include <linux/if_link.h>

#include "netlink/kind_rules.h"

namespace linkvane::netlink {
namespace {

// struct ifla_vlan_flags. Its mask says nothing in an answer.
constexpr StructField kVlanFlagsFields[] = {
    {.offset = 0, .number = IFLA_VLAN_FLAGS, .format = Bits(4, 5)},
};

// struct ifla_vlan_qos_mapping.
constexpr StructField kQosFields[] = {
    {.offset = 0, .number = 1, .format = kU32},
    {.offset = 4, .number = 2, .format = kU32},
};
constexpr ValueFormat kQosMapping = Struct(kQosFields);

constexpr LinkRule kVlanList[] = {
    LINKVANE_VALUE(IFLA_VLAN_ID, kU16),
    LINKVANE_VALUE(IFLA_VLAN_FLAGS, Inline(kVlanFlagsFields)),
    LINKVANE_VALUE(IFLA_VLAN_EGRESS_QOS, List(kQosMapping)),
    LINKVANE_VALUE(IFLA_VLAN_INGRESS_QOS, List(kQosMapping)),
    LINKVANE_VALUE(IFLA_VLAN_PROTOCOL, kBe16),
};

constexpr LinkRule kVrfList[] = {
    LINKVANE_VALUE(IFLA_VRF_TABLE, kU32),
};

constexpr LinkRule kVrfPortList[] = {
    LINKVANE_VALUE(IFLA_VRF_PORT_TABLE, kU32),
};

}  // namespace

constinit const LinkRuleSet kNoRules;
constinit const LinkRuleSet kVlanRules(kVlanList);
constinit const LinkRuleSet kVrfRules(kVrfList);
constinit const LinkRuleSet kVrfPortRules(kVrfPortList);

}  // namespace linkvane::netlink
