// What a device has besides its kind: XDP programs and virtual functions.
#include <linux/if_link.h>

#include "netlink/kind_rules.h"

namespace linkvane::netlink {
namespace {

constexpr LinkRule kXdpList[] = {
    LINKVANE_VALUE(IFLA_XDP_ATTACHED, Enum(1, 5)), LINKVANE_VALUE(IFLA_XDP_FLAGS, kU32),
    LINKVANE_VALUE(IFLA_XDP_PROG_ID, kU32),        LINKVANE_VALUE(IFLA_XDP_DRV_PROG_ID, kU32),
    LINKVANE_VALUE(IFLA_XDP_SKB_PROG_ID, kU32),    LINKVANE_VALUE(IFLA_XDP_HW_PROG_ID, kU32),
};
}  // namespace

constinit const LinkRuleSet kXdpRules(kXdpList);

const LinkRuleSet& XdpRules() { return kXdpRules; }

}  // namespace linkvane::netlink
