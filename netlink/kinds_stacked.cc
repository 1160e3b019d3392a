// Links that share, protect or double the device below.
#include <linux/if_link.h>

#include "netlink/kind_rules.h"

namespace linkvane::netlink {
namespace {

constexpr LinkRule kHsrList[] = {
    LINKVANE_VALUE(IFLA_HSR_SLAVE1, kS32),
    LINKVANE_VALUE(IFLA_HSR_SLAVE2, kS32),
    LINKVANE_VALUE(IFLA_HSR_SUPERVISION_ADDR, kHardwareAddress),
    LINKVANE_RUNNING(IFLA_HSR_SEQ_NR, kU16),
    LINKVANE_VALUE(IFLA_HSR_PROTOCOL, Enum(1, 2)),
    LINKVANE_NEWER(8, "IFLA_HSR_INTERLINK", kS32),
};

constexpr LinkRule kIpvlanList[] = {
    LINKVANE_VALUE(IFLA_IPVLAN_MODE, Enum(2, 3)),
    LINKVANE_VALUE(IFLA_IPVLAN_FLAGS, Bits(2, 2)),
};

constexpr LinkRule kMacsecList[] = {
    LINKVANE_VALUE(IFLA_MACSEC_SCI, kHex64),
    LINKVANE_VALUE(IFLA_MACSEC_ICV_LEN, kU8),
    LINKVANE_VALUE(IFLA_MACSEC_CIPHER_SUITE, kU64),
    LINKVANE_VALUE(IFLA_MACSEC_WINDOW, kU32),
    LINKVANE_VALUE(IFLA_MACSEC_ENCODING_SA, kU8),
    LINKVANE_VALUE(IFLA_MACSEC_ENCRYPT, kBool8),
    LINKVANE_VALUE(IFLA_MACSEC_PROTECT, kBool8),
    LINKVANE_VALUE(IFLA_MACSEC_INC_SCI, kBool8),
    LINKVANE_VALUE(IFLA_MACSEC_ES, kBool8),
    LINKVANE_VALUE(IFLA_MACSEC_SCB, kBool8),
    LINKVANE_VALUE(IFLA_MACSEC_REPLAY_PROTECT, kBool8),
    LINKVANE_VALUE(IFLA_MACSEC_VALIDATION, Enum(1, 3)),
    LINKVANE_SKIP(IFLA_MACSEC_PAD),
    LINKVANE_VALUE(IFLA_MACSEC_OFFLOAD, Enum(1, 3)),
};

constexpr LinkRule kMacvlanList[] = {
    LINKVANE_VALUE(IFLA_MACVLAN_MODE, Choice(4, 5)),
    LINKVANE_VALUE(IFLA_MACVLAN_FLAGS, Bits(2, 2)),
    LINKVANE_VALUE(IFLA_MACVLAN_MACADDR_DATA, List(kHardwareAddress)),
    LINKVANE_VALUE(IFLA_MACVLAN_MACADDR_COUNT, kU32),
    LINKVANE_VALUE(IFLA_MACVLAN_BC_QUEUE_LEN, kU32),
    LINKVANE_VALUE(IFLA_MACVLAN_BC_QUEUE_LEN_USED, kU32),
    LINKVANE_NEWER(9, "IFLA_MACVLAN_BC_CUTOFF", kS32),
};

}  // namespace

constinit const LinkRuleSet kHsrRules(kHsrList);
constinit const LinkRuleSet kIpvlanRules(kIpvlanList);
constinit const LinkRuleSet kMacsecRules(kMacsecList);
constinit const LinkRuleSet kMacvlanRules(kMacvlanList);

}  // namespace linkvane::netlink
