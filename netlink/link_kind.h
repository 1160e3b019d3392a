// The settings of each kind of link (IFLA_INFO_DATA) and of each kind of port
// (IFLA_INFO_SLAVE_DATA), as tables. Each kind has one, in one of the files kinds_*.cc.
//
// To add an attribute: a line in its kind's table, and a field in the kind's message, whose number
// is the attribute's. To add a kind: a table, a line in link_kind.cc, and a message.
#ifndef LINKVANE_NETLINK_LINK_KIND_H_
#define LINKVANE_NETLINK_LINK_KIND_H_

#include <span>
#include <string_view>

#include "netlink/attribute_rules.h"
#include "netlink/link.h"

namespace linkvane::netlink {

using LinkRule = AttributeRule<LinkView>;
using LinkRuleSet = AttributeRules<LinkView>;

struct LinkKind {
  std::string_view name;  // "vxlan".
  const LinkRuleSet* rules;
};

// All that this version knows, sorted by name.
std::span<const LinkKind> LinkKinds();
std::span<const LinkKind> PortKinds();

// Null for one that it does not know.
const LinkRuleSet* LinkKindRules(std::string_view kind);
const LinkRuleSet* PortKindRules(std::string_view slave_kind);

// The rules of what IFLA_XDP holds.
const LinkRuleSet& XdpRules();
// The rules of what IFLA_AF_SPEC holds for AF_INET and for AF_INET6 (see ip_settings.cc).
const LinkRuleSet& Ipv4Rules();
const LinkRuleSet& Ipv6Rules();

// Calls `visit(Bytes)` for each run of attributes in which a message (of which `attributes` are
// all) has its link's settings; in the form in which messages are kept there are up to two.
template <typename Visit>
void ForEachKindSettings(Bytes attributes, Visit&& visit);
// The same for its settings as a port.
template <typename Visit>
void ForEachPortSettings(Bytes attributes, Visit&& visit);
// The same for what an address family (AF_) has set for it.
template <typename Visit>
void ForEachFamilySettings(Bytes attributes, uint16_t family, Visit&& visit);

// Implementation.

namespace internal {
// Calls `visit` for each attribute `wanted` in one of type `outer`.
template <typename Visit>
void ForEachInside(Bytes attributes, uint16_t outer, uint16_t wanted, Visit&& visit) {
  AttributeReader reader(attributes);
  Attribute attribute;
  while (reader.Next(attribute)) {
    if (attribute.type != outer) continue;
    AttributeReader inner(attribute.payload);
    Attribute member;
    while (inner.Next(member)) {
      if (member.type == wanted) visit(member.payload);
    }
  }
}
template <typename Visit>
void ForEachInLinkInfo(Bytes attributes, uint16_t wanted, Visit&& visit) {
  ForEachInside(attributes, /*IFLA_LINKINFO*/ 18, wanted, visit);
}
}  // namespace internal

template <typename Visit>
void ForEachKindSettings(Bytes attributes, Visit&& visit) {
  internal::ForEachInLinkInfo(attributes, /*IFLA_INFO_DATA*/ 2, visit);
}

template <typename Visit>
void ForEachPortSettings(Bytes attributes, Visit&& visit) {
  internal::ForEachInLinkInfo(attributes, /*IFLA_INFO_SLAVE_DATA*/ 5, visit);
}

template <typename Visit>
void ForEachFamilySettings(Bytes attributes, uint16_t family, Visit&& visit) {
  internal::ForEachInside(attributes, /*IFLA_AF_SPEC*/ 26, family, visit);
}

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_LINK_KIND_H_
