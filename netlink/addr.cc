#include "netlink/addr.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>

namespace linkvane::netlink {
namespace {

size_t AddressSize(uint8_t family) {
  switch (family) {
    case AF_INET:
      return 4;
    case AF_INET6:
      return 16;
    default:
      return 0;
  }
}

// An address of the message's family, which the header has told.
template <auto kMember>
bool ReadAddress(AddrView& view, Bytes payload) {
  return payload.size() == AddressSize(view.family) && ReadInto<kMember>(view, payload);
}

using Rule = AttributeRule<AddrView>;

// Attribute, and the member that it goes to.
#define LINKVANE_RULE(type, member) \
  Rule { type, #type, Volatility::kSteady, ReadInto<&AddrView::member> }
#define LINKVANE_ADDRESS(type, member) \
  Rule { type, #type, Volatility::kSteady, ReadAddress<&AddrView::member> }
#define LINKVANE_VOLATILE_RULE(type, member) \
  Rule { type, #type, Volatility::kVolatile, ReadInto<&AddrView::member> }

constexpr Rule kAddrRuleList[] = {
    LINKVANE_ADDRESS(IFA_ADDRESS, ifa_address),
    LINKVANE_ADDRESS(IFA_LOCAL, ifa_local),
    LINKVANE_RULE(IFA_LABEL, label),
    LINKVANE_ADDRESS(IFA_BROADCAST, broadcast),
    LINKVANE_ADDRESS(IFA_ANYCAST, anycast),
    LINKVANE_VOLATILE_RULE(IFA_CACHEINFO, lifetime),
    LINKVANE_RULE(IFA_FLAGS, ifa_flags),
    LINKVANE_RULE(IFA_RT_PRIORITY, route_metric),
    LINKVANE_RULE(IFA_PROTO, protocol),
};
constexpr AttributeRules<AddrView> kAddrRules(kAddrRuleList);

#undef LINKVANE_RULE
#undef LINKVANE_ADDRESS
#undef LINKVANE_VOLATILE_RULE

}  // namespace

Bytes AddrView::local() const {
  if (ifa_local.has_value()) return *ifa_local;
  return ifa_address.value_or(Bytes());
}

Bytes AddrView::peer() const {
  if (!ifa_local.has_value() || !ifa_address.has_value()) return {};
  return std::ranges::equal(*ifa_local, *ifa_address) ? Bytes() : *ifa_address;
}

const AttributeRules<AddrView>& AddrRules() { return kAddrRules; }

bool DecodeAddr(Bytes payload, AddrView& view, DecodeTally& tally) {
  view = AddrView();
  const std::optional<ifaddrmsg> header = LoadStruct<ifaddrmsg>(payload);
  if (!header.has_value() || AddressSize(header->ifa_family) == 0) return false;
  view.family = header->ifa_family;
  view.prefix_length = header->ifa_prefixlen;
  view.header_flags = header->ifa_flags;
  view.scope = header->ifa_scope;
  view.index = static_cast<int32_t>(header->ifa_index);
  view.attributes = payload.subspan(sizeof(*header));
  DecodeAttributes(view.attributes, kAddrRules, view, tally);
  return !view.local().empty();
}

size_t AppendNormalAddr(Bytes payload, std::vector<std::byte>& out) {
  if (payload.size() < sizeof(ifaddrmsg)) return 0;
  const size_t start = out.size();
  const Bytes header = payload.first(sizeof(ifaddrmsg));
  out.insert(out.end(), header.begin(), header.end());
  const Bytes attributes = payload.subspan(sizeof(ifaddrmsg));
  AppendSelected(attributes, kAddrRules, Volatility::kSteady, out);
  const size_t compared = out.size() - start;
  AppendSelected(attributes, kAddrRules, Volatility::kVolatile, out);
  return compared;
}

bool IsNormalAddr(Bytes payload, Bytes normal, size_t compared) {
  constexpr size_t kHeader = sizeof(ifaddrmsg);
  return payload.size() >= kHeader && compared >= kHeader && normal.size() >= compared &&
         std::memcmp(normal.data(), payload.data(), kHeader) == 0 &&
         SelectedAre(payload.subspan(kHeader), kAddrRules, normal.first(compared).subspan(kHeader),
                     normal.subspan(compared));
}

Request AddrDumpRequest(uint8_t family, int32_t index) {
  ifaddrmsg header{};
  header.ifa_family = family;
  header.ifa_index = static_cast<uint32_t>(index);
  Request request(RTM_GETADDR, NLM_F_DUMP);
  request.Header(header);
  return request;
}

}  // namespace linkvane::netlink
