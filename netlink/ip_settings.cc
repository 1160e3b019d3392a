// What the address families have set for a link.
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "netlink/kind_rules.h"

namespace linkvane::netlink {
namespace {

// The kernel's arrays of settings, 32 bits each, which grow at their end. Their fields are numbered
// from 1: as IPV4_DEVCONF_ is, and one more than DEVCONF_.
constexpr StructField Entry(uint16_t position, const ValueFormat& format) {
  return {.offset = static_cast<uint16_t>(4 * position),
          .number = static_cast<uint16_t>(position + 1),
          .format = format};
}
constexpr StructField Ipv4Entry(uint16_t devconf, const ValueFormat& format = kS32) {
  return Entry(static_cast<uint16_t>(devconf - 1), format);
}
constexpr StructField Ipv6Entry(uint16_t devconf, const ValueFormat& format = kS32) {
  return Entry(devconf, format);
}

constexpr StructField kIpv4ConfFields[] = {
    Ipv4Entry(IPV4_DEVCONF_FORWARDING),
    Ipv4Entry(IPV4_DEVCONF_MC_FORWARDING),
    Ipv4Entry(IPV4_DEVCONF_PROXY_ARP),
    Ipv4Entry(IPV4_DEVCONF_ACCEPT_REDIRECTS),
    Ipv4Entry(IPV4_DEVCONF_SECURE_REDIRECTS),
    Ipv4Entry(IPV4_DEVCONF_SEND_REDIRECTS),
    Ipv4Entry(IPV4_DEVCONF_SHARED_MEDIA),
    Ipv4Entry(IPV4_DEVCONF_RP_FILTER),
    Ipv4Entry(IPV4_DEVCONF_ACCEPT_SOURCE_ROUTE),
    Ipv4Entry(IPV4_DEVCONF_BOOTP_RELAY),
    Ipv4Entry(IPV4_DEVCONF_LOG_MARTIANS),
    Ipv4Entry(IPV4_DEVCONF_TAG),
    Ipv4Entry(IPV4_DEVCONF_ARPFILTER),
    Ipv4Entry(IPV4_DEVCONF_MEDIUM_ID),
    Ipv4Entry(IPV4_DEVCONF_NOXFRM),
    Ipv4Entry(IPV4_DEVCONF_NOPOLICY),
    Ipv4Entry(IPV4_DEVCONF_FORCE_IGMP_VERSION),
    Ipv4Entry(IPV4_DEVCONF_ARP_ANNOUNCE),
    Ipv4Entry(IPV4_DEVCONF_ARP_IGNORE),
    Ipv4Entry(IPV4_DEVCONF_PROMOTE_SECONDARIES),
    Ipv4Entry(IPV4_DEVCONF_ARP_ACCEPT),
    Ipv4Entry(IPV4_DEVCONF_ARP_NOTIFY),
    Ipv4Entry(IPV4_DEVCONF_ACCEPT_LOCAL),
    Ipv4Entry(IPV4_DEVCONF_SRC_VMARK),
    Ipv4Entry(IPV4_DEVCONF_PROXY_ARP_PVLAN),
    Ipv4Entry(IPV4_DEVCONF_ROUTE_LOCALNET),
    Ipv4Entry(IPV4_DEVCONF_IGMPV2_UNSOLICITED_REPORT_INTERVAL, kMilliseconds32),
    Ipv4Entry(IPV4_DEVCONF_IGMPV3_UNSOLICITED_REPORT_INTERVAL, kMilliseconds32),
    Ipv4Entry(IPV4_DEVCONF_IGNORE_ROUTES_WITH_LINKDOWN),
    Ipv4Entry(IPV4_DEVCONF_DROP_UNICAST_IN_L2_MULTICAST),
    Ipv4Entry(IPV4_DEVCONF_DROP_GRATUITOUS_ARP),
    Ipv4Entry(IPV4_DEVCONF_BC_FORWARDING),
    Ipv4Entry(IPV4_DEVCONF_ARP_EVICT_NOCARRIER),
};

constexpr LinkRule kIpv4List[] = {
    LINKVANE_RUNNING(IFLA_INET_CONF, GrowingStruct(kIpv4ConfFields)),
};

// The kernel tells nothing of DEVCONF_STABLE_SECRET.
constexpr StructField kIpv6ConfFields[] = {
    Ipv6Entry(DEVCONF_FORWARDING),
    Ipv6Entry(DEVCONF_HOPLIMIT),
    Ipv6Entry(DEVCONF_MTU6),
    Ipv6Entry(DEVCONF_ACCEPT_RA),
    Ipv6Entry(DEVCONF_ACCEPT_REDIRECTS),
    Ipv6Entry(DEVCONF_AUTOCONF),
    Ipv6Entry(DEVCONF_DAD_TRANSMITS),
    Ipv6Entry(DEVCONF_RTR_SOLICITS),
    Ipv6Entry(DEVCONF_RTR_SOLICIT_INTERVAL, kMilliseconds32),
    Ipv6Entry(DEVCONF_RTR_SOLICIT_DELAY, kMilliseconds32),
    Ipv6Entry(DEVCONF_USE_TEMPADDR),
    Ipv6Entry(DEVCONF_TEMP_VALID_LFT, kSeconds32),
    Ipv6Entry(DEVCONF_TEMP_PREFERED_LFT, kSeconds32),
    Ipv6Entry(DEVCONF_REGEN_MAX_RETRY),
    Ipv6Entry(DEVCONF_MAX_DESYNC_FACTOR, kSeconds32),
    Ipv6Entry(DEVCONF_MAX_ADDRESSES),
    Ipv6Entry(DEVCONF_FORCE_MLD_VERSION),
    Ipv6Entry(DEVCONF_ACCEPT_RA_DEFRTR),
    Ipv6Entry(DEVCONF_ACCEPT_RA_PINFO),
    Ipv6Entry(DEVCONF_ACCEPT_RA_RTR_PREF),
    Ipv6Entry(DEVCONF_RTR_PROBE_INTERVAL, kMilliseconds32),
    Ipv6Entry(DEVCONF_ACCEPT_RA_RT_INFO_MAX_PLEN),
    Ipv6Entry(DEVCONF_PROXY_NDP),
    Ipv6Entry(DEVCONF_OPTIMISTIC_DAD),
    Ipv6Entry(DEVCONF_ACCEPT_SOURCE_ROUTE),
    Ipv6Entry(DEVCONF_MC_FORWARDING),
    Ipv6Entry(DEVCONF_DISABLE_IPV6),
    Ipv6Entry(DEVCONF_ACCEPT_DAD),
    Ipv6Entry(DEVCONF_FORCE_TLLAO),
    Ipv6Entry(DEVCONF_NDISC_NOTIFY),
    Ipv6Entry(DEVCONF_MLDV1_UNSOLICITED_REPORT_INTERVAL, kMilliseconds32),
    Ipv6Entry(DEVCONF_MLDV2_UNSOLICITED_REPORT_INTERVAL, kMilliseconds32),
    Ipv6Entry(DEVCONF_SUPPRESS_FRAG_NDISC),
    Ipv6Entry(DEVCONF_ACCEPT_RA_FROM_LOCAL),
    Ipv6Entry(DEVCONF_USE_OPTIMISTIC),
    Ipv6Entry(DEVCONF_ACCEPT_RA_MTU),
    Ipv6Entry(DEVCONF_USE_OIF_ADDRS_ONLY),
    Ipv6Entry(DEVCONF_ACCEPT_RA_MIN_HOP_LIMIT),
    Ipv6Entry(DEVCONF_IGNORE_ROUTES_WITH_LINKDOWN),
    Ipv6Entry(DEVCONF_DROP_UNICAST_IN_L2_MULTICAST),
    Ipv6Entry(DEVCONF_DROP_UNSOLICITED_NA),
    Ipv6Entry(DEVCONF_KEEP_ADDR_ON_DOWN),
    Ipv6Entry(DEVCONF_RTR_SOLICIT_MAX_INTERVAL, kMilliseconds32),
    Ipv6Entry(DEVCONF_SEG6_ENABLED),
    Ipv6Entry(DEVCONF_SEG6_REQUIRE_HMAC),
    Ipv6Entry(DEVCONF_ENHANCED_DAD),
    Ipv6Entry(DEVCONF_ADDR_GEN_MODE),
    Ipv6Entry(DEVCONF_DISABLE_POLICY),
    Ipv6Entry(DEVCONF_ACCEPT_RA_RT_INFO_MIN_PLEN),
    Ipv6Entry(DEVCONF_NDISC_TCLASS),
    Ipv6Entry(DEVCONF_RPL_SEG_ENABLED),
    Ipv6Entry(DEVCONF_RA_DEFRTR_METRIC, kU32),
    Ipv6Entry(DEVCONF_IOAM6_ENABLED),
    Ipv6Entry(DEVCONF_IOAM6_ID, kU32),
    Ipv6Entry(DEVCONF_IOAM6_ID_WIDE, kU32),
    Ipv6Entry(DEVCONF_NDISC_EVICT_NOCARRIER),
    Ipv6Entry(DEVCONF_ACCEPT_UNTRACKED_NA),
    Ipv6Entry(58 /*DEVCONF_ACCEPT_RA_MIN_LFT*/, kSeconds32),
    Ipv6Entry(59 /*DEVCONF_FORCE_FORWARDING*/),
};

// struct ifla_cacheinfo.
constexpr StructField kCacheInfoFields[] = {
    {.offset = 0, .number = 1, .format = kU32},
    {.offset = 4, .number = 2, .format = kTicks32},
    {.offset = 8, .number = 3, .format = kMilliseconds32},
    {.offset = 12, .number = 4, .format = kMilliseconds32},
};

// Events bring the counters, dumps leave them out.
constexpr LinkRule kIpv6List[] = {
    // No link event tells when these change, and the MTU among them follows the link's only after
    // that was told.
    LINKVANE_RUNNING(IFLA_INET6_FLAGS, kU32),
    LINKVANE_RUNNING(IFLA_INET6_CONF, GrowingStruct(kIpv6ConfFields)),
    LINKVANE_SKIP(IFLA_INET6_STATS),
    LINKVANE_RUNNING(IFLA_INET6_CACHEINFO, Struct(kCacheInfoFields)),
    LINKVANE_SKIP(IFLA_INET6_ICMP6STATS),
    LinkRule{IFLA_INET6_TOKEN, "IFLA_INET6_TOKEN", Volatility::kSteady,
             ReadInto<&LinkView::ipv6_token>},
    LinkRule{IFLA_INET6_ADDR_GEN_MODE, "IFLA_INET6_ADDR_GEN_MODE", Volatility::kSteady,
             ReadInto<&LinkView::ipv6_addr_gen_mode>},
    LINKVANE_VALUE(IFLA_INET6_RA_MTU, kU32),
};

}  // namespace

constinit const LinkRuleSet kIpv4Rules(kIpv4List);
constinit const LinkRuleSet kIpv6Rules(kIpv6List);

const LinkRuleSet& Ipv4Rules() { return kIpv4Rules; }
const LinkRuleSet& Ipv6Rules() { return kIpv6Rules; }

}  // namespace linkvane::netlink
