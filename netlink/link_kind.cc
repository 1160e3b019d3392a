#include "netlink/link_kind.h"

#include <algorithm>

#include "netlink/kind_rules.h"

namespace linkvane::netlink {
namespace {

constexpr LinkKind kLinkKinds[] = {
    {"bridge", &kBridgeRules}, {"dummy", &kNoRules}, {"veth", &kNoRules},
    {"vlan", &kVlanRules},     {"vrf", &kVrfRules},
};

constexpr LinkKind kPortKinds[] = {
    {"bridge", &kBridgePortRules},
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
