#include "netlink/link_kind.h"

#include <algorithm>

#include "netlink/kind_rules.h"

namespace linkvane::netlink {
namespace {

constexpr LinkKind kLinkKinds[] = {
    {"amt", &kAmtRules},         {"bareudp", &kBareudpRules}, {"batadv", &kNoRules},
    {"bond", &kBondRules},       {"bridge", &kBridgeRules},   {"dummy", &kNoRules},
    {"erspan", &kGreRules},      {"geneve", &kGeneveRules},   {"gre", &kGreRules},
    {"gretap", &kGreRules},      {"gtp", &kGtpRules},         {"hsr", &kHsrRules},
    {"ifb", &kNoRules},          {"ip6erspan", &kGreRules},   {"ip6gre", &kGreRules},
    {"ip6gretap", &kGreRules},   {"ip6tnl", &kIpTunnelRules}, {"ipip", &kIpTunnelRules},
    {"ipvlan", &kIpvlanRules},   {"ipvtap", &kIpvlanRules},   {"macsec", &kMacsecRules},
    {"macvlan", &kMacvlanRules}, {"macvtap", &kMacvlanRules}, {"netkit", &kNetkitRules},
    {"nlmon", &kNoRules},        {"sit", &kIpTunnelRules},    {"team", &kNoRules},
    {"tun", &kTunRules},         {"vcan", &kNoRules},         {"veth", &kNoRules},
    {"vlan", &kVlanRules},       {"vrf", &kVrfRules},         {"vti", &kVtiRules},
    {"vti6", &kVtiRules},        {"vxcan", &kNoRules},        {"vxlan", &kVxlanRules},
    {"wireguard", &kNoRules},    {"xfrm", &kXfrmRules},
};

constexpr LinkKind kPortKinds[] = {
    {"bond", &kBondPortRules},
    {"bridge", &kBridgePortRules},
    {"team", &kNoRules},
    {"vrf", &kVrfPortRules},
};

static_assert(std::ranges::is_sorted(kLinkKinds, {}, &LinkKind::name));
static_assert(std::ranges::is_sorted(kPortKinds, {}, &LinkKind::name));

const LinkRuleSet* Find(std::span<const LinkKind> kinds, std::string_view name) {
  const auto found = std::ranges::lower_bound(kinds, name, {}, &LinkKind::name);
  return found != kinds.end() && found->name == name ? found->rules : nullptr;
}

}  // namespace

std::span<const LinkKind> LinkKinds() { return kLinkKinds; }
std::span<const LinkKind> PortKinds() { return kPortKinds; }

const LinkRuleSet* LinkKindRules(std::string_view kind) { return Find(kLinkKinds, kind); }
const LinkRuleSet* PortKindRules(std::string_view slave_kind) {
  return Find(kPortKinds, slave_kind);
}

}  // namespace linkvane::netlink
