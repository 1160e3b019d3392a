// Links whose other end is a program: in user space (tun) or BPF (netkit).
#include <linux/if_link.h>

#include "netlink/kind_rules.h"

namespace linkvane::netlink {
namespace {

constexpr LinkRule kNetkitList[] = {
    LINKVANE_NEWER(2, "IFLA_NETKIT_PRIMARY", kBool8),
    LINKVANE_NEWER(3, "IFLA_NETKIT_POLICY", kU32),
    LINKVANE_NEWER(4, "IFLA_NETKIT_PEER_POLICY", kU32),
    LINKVANE_NEWER(5, "IFLA_NETKIT_MODE", Enum(4, 2)),
    LINKVANE_NEWER(6, "IFLA_NETKIT_SCRUB", Enum(4, 2)),
    LINKVANE_NEWER(7, "IFLA_NETKIT_PEER_SCRUB", Enum(4, 2)),
    LINKVANE_NEWER(8, "IFLA_NETKIT_HEADROOM", kU16),
    LINKVANE_NEWER(9, "IFLA_NETKIT_TAILROOM", kU16),
    LINKVANE_NEWER(10, "IFLA_NETKIT_PAIRING", Enum(4, 2)),
};

constexpr LinkRule kTunList[] = {
    LINKVANE_VALUE(IFLA_TUN_OWNER, kU32),
    LINKVANE_VALUE(IFLA_TUN_GROUP, kU32),
    LINKVANE_VALUE(IFLA_TUN_TYPE, Choice(1, 2)),
    LINKVANE_VALUE(IFLA_TUN_PI, kBool8),
    LINKVANE_VALUE(IFLA_TUN_VNET_HDR, kBool8),
    LINKVANE_VALUE(IFLA_TUN_PERSIST, kBool8),
    LINKVANE_VALUE(IFLA_TUN_MULTI_QUEUE, kBool8),
    LINKVANE_VALUE(IFLA_TUN_NUM_QUEUES, kU32),
    LINKVANE_VALUE(IFLA_TUN_NUM_DISABLED_QUEUES, kU32),
};

}  // namespace

constinit const LinkRuleSet kNetkitRules(kNetkitList);
constinit const LinkRuleSet kTunRules(kTunList);

}  // namespace linkvane::netlink
