// What the tables of the kinds are written with, for the files kinds_*.cc only.
#ifndef LINKVANE_NETLINK_KIND_RULES_H_
#define LINKVANE_NETLINK_KIND_RULES_H_

#include "netlink/attribute_rules.h"
#include "netlink/link_kind.h"
#include "netlink/value_format.h"

// An attribute and how to understand it. One that runs by itself (a timer, an age, a counter) is
// RUNNING. Attributes that are younger than the headers which we build with are given by number and
// name: NEWER(48, "IFLA_BR_FDB_N_LEARNED", kU32).
#define LINKVANE_VALUE(attribute, how)                                                          \
  ::linkvane::netlink::LinkRule {                                                               \
    attribute, #attribute, ::linkvane::netlink::Volatility::kSteady, nullptr, nullptr, nullptr, \
        how                                                                                     \
  }
#define LINKVANE_RUNNING(attribute, how)                                                          \
  ::linkvane::netlink::LinkRule {                                                                 \
    attribute, #attribute, ::linkvane::netlink::Volatility::kVolatile, nullptr, nullptr, nullptr, \
        how                                                                                       \
  }
#define LINKVANE_NEWER(number, name, how)                                                  \
  ::linkvane::netlink::LinkRule {                                                          \
    number, name, ::linkvane::netlink::Volatility::kSteady, nullptr, nullptr, nullptr, how \
  }
#define LINKVANE_NEWER_RUNNING(number, name, how)                                            \
  ::linkvane::netlink::LinkRule {                                                            \
    number, name, ::linkvane::netlink::Volatility::kVolatile, nullptr, nullptr, nullptr, how \
  }
// One that holds attributes, with their rules.
#define LINKVANE_HOLDS(attribute, rules)                                                         \
  ::linkvane::netlink::LinkRule {                                                                \
    attribute, #attribute, ::linkvane::netlink::Volatility::kSteady, nullptr, &(rules), nullptr, \
        ::linkvane::netlink::kMessage                                                            \
  }
// Known, but nothing to tell: padding, and what is of no use outside of the kernel.
#define LINKVANE_SKIP(attribute)                                       \
  ::linkvane::netlink::LinkRule {                                      \
    attribute, #attribute, ::linkvane::netlink::Volatility::kTransient \
  }

namespace linkvane::netlink {

extern const LinkRuleSet kAmtRules;
extern const LinkRuleSet kBareudpRules;
extern const LinkRuleSet kBondPortRules;
extern const LinkRuleSet kBondRules;
extern const LinkRuleSet kBridgePortRules;
extern const LinkRuleSet kBridgeRules;
extern const LinkRuleSet kGeneveRules;
extern const LinkRuleSet kGreRules;
extern const LinkRuleSet kGtpRules;
extern const LinkRuleSet kHsrRules;
extern const LinkRuleSet kIpTunnelRules;
extern const LinkRuleSet kIpvlanRules;
extern const LinkRuleSet kMacsecRules;
extern const LinkRuleSet kMacvlanRules;
extern const LinkRuleSet kNetkitRules;
extern const LinkRuleSet kTunRules;
extern const LinkRuleSet kVlanRules;
extern const LinkRuleSet kVrfPortRules;
extern const LinkRuleSet kVrfRules;
extern const LinkRuleSet kVtiRules;
extern const LinkRuleSet kVxlanRules;
extern const LinkRuleSet kXfrmRules;
extern const LinkRuleSet kIpv4Rules;
extern const LinkRuleSet kIpv6Rules;
extern const LinkRuleSet kXdpRules;
extern const LinkRuleSet kNoRules;  // Of kinds without settings.

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_KIND_RULES_H_
