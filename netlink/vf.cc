#include "netlink/vf.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "netlink/kind_rules.h"

namespace linkvane::netlink {
namespace {

// All structs of a virtual function begin with its number, which is told once: with its address.
constexpr StructField kMacFields[] = {
    {.offset = 0, .number = 20, .format = kU32},
    {.offset = 4, .number = IFLA_VF_MAC, .format = kEthernetAddress},
};
constexpr StructField kVlanFields[] = {
    {.offset = 4, .number = IFLA_VF_VLAN, .format = kU32},
    {.offset = 8, .number = 22, .format = kU32},
};
constexpr StructField kTxRateFields[] = {
    {.offset = 4, .number = IFLA_VF_TX_RATE, .format = kU32},
};
constexpr StructField kSpoofCheckFields[] = {
    {.offset = 4, .number = IFLA_VF_SPOOFCHK, .format = kBoolOrUnknown32},
};
constexpr StructField kLinkStateFields[] = {
    {.offset = 4, .number = IFLA_VF_LINK_STATE, .format = Enum(4, 3)},
};
constexpr StructField kRateFields[] = {
    {.offset = 4, .number = IFLA_VF_RATE, .format = kU32},
    {.offset = 8, .number = 26, .format = kU32},
};
constexpr StructField kRssQueryFields[] = {
    {.offset = 4, .number = IFLA_VF_RSS_QUERY_EN, .format = kBoolOrUnknown32},
};
constexpr StructField kTrustFields[] = {
    {.offset = 4, .number = IFLA_VF_TRUST, .format = kBoolOrUnknown32},
};
constexpr StructField kNodeGuidFields[] = {
    {.offset = 8, .number = IFLA_VF_IB_NODE_GUID, .format = kU64},
};
constexpr StructField kPortGuidFields[] = {
    {.offset = 8, .number = IFLA_VF_IB_PORT_GUID, .format = kU64},
};
constexpr StructField kVlanInfoFields[] = {
    {.offset = 4, .number = 1, .format = kU32},
    {.offset = 8, .number = 2, .format = kU32},
    {.offset = 12, .number = 3, .format = kBe16},
};
constexpr ValueFormat kVlanInfo = Struct(kVlanInfoFields);

constexpr LinkRule kVfList[] = {
    LINKVANE_VALUE(IFLA_VF_MAC, Inline(kMacFields)),
    LINKVANE_VALUE(IFLA_VF_VLAN, Inline(kVlanFields)),
    LINKVANE_VALUE(IFLA_VF_TX_RATE, Inline(kTxRateFields)),
    LINKVANE_VALUE(IFLA_VF_SPOOFCHK, Inline(kSpoofCheckFields)),
    LINKVANE_VALUE(IFLA_VF_LINK_STATE, Inline(kLinkStateFields)),
    LINKVANE_VALUE(IFLA_VF_RATE, Inline(kRateFields)),
    LINKVANE_VALUE(IFLA_VF_RSS_QUERY_EN, Inline(kRssQueryFields)),
    LINKVANE_SKIP(IFLA_VF_STATS),
    LINKVANE_VALUE(IFLA_VF_TRUST, Inline(kTrustFields)),
    LINKVANE_VALUE(IFLA_VF_IB_NODE_GUID, Inline(kNodeGuidFields)),
    LINKVANE_VALUE(IFLA_VF_IB_PORT_GUID, Inline(kPortGuidFields)),
    LINKVANE_VALUE(IFLA_VF_VLAN_LIST, List(kVlanInfo)),
    LINKVANE_VALUE(IFLA_VF_BROADCAST, kEthernetAddress),
};
constexpr LinkRuleSet kVfRules(kVfList);

// The number of the function that an IFLA_VF_INFO is about; unset if it has no address.
std::optional<uint32_t> NumberOf(Bytes function) {
  AttributeReader reader(function);
  Attribute attribute;
  while (reader.Next(attribute)) {
    if (attribute.type == IFLA_VF_MAC) return LoadStruct<uint32_t>(attribute.payload);
  }
  return std::nullopt;
}

// The functions that stand in a row in `run`, numbered from 0 on, at most `most`.
std::vector<Bytes> InARow(Bytes run, size_t most) {
  std::vector<Bytes> functions;
  AttributeReader reader(run);
  Attribute attribute;
  while (functions.size() < most && reader.Next(attribute) && attribute.type == IFLA_VF_INFO &&
         NumberOf(attribute.payload) == functions.size()) {
    functions.push_back(attribute.payload);
  }
  return functions;
}

}  // namespace

Request LinkVfRequest(int32_t index) {
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = index;
  Request request(RTM_GETLINK, 0);
  request.Header(header).Number(IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
  return request;
}

VfList ReadVfs(const LinkView& link) {
  VfList list;
  const size_t expected = link.num_vf.value_or(0);
  if (expected == 0 || !link.vf_list.has_value()) {
    list.unread = expected;
    return list;
  }
  list.functions = InARow(*link.vf_list, expected);
  if (list.functions.size() < expected) {
    // The list's length may be wrong: what follows its header is looked at, up to the message's
    // end.
    const auto start = static_cast<size_t>(link.vf_list->data() - link.attributes.data());
    std::vector<Bytes> all = InARow(link.attributes.subspan(start), expected);
    if (all.size() == expected) list.functions = std::move(all);
  }
  list.unread = expected - list.functions.size();
  return list;
}

const LinkRuleSet& VfRules() { return kVfRules; }

}  // namespace linkvane::netlink
