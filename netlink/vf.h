// Virtual functions, as link messages tell of them when they are asked for (IFLA_VFINFO_LIST).
#ifndef LINKVANE_NETLINK_VF_H_
#define LINKVANE_NETLINK_VF_H_

#include <cstddef>
#include <vector>

#include "netlink/link.h"
#include "netlink/link_kind.h"

namespace linkvane::netlink {

// Asks for one link with its virtual functions, without their counters. The answer can have
// hundreds of kilobytes.
Request LinkVfRequest(int32_t index);

struct VfList {
  std::vector<Bytes> functions;  // What IFLA_VF_INFO holds of each, by number. See VfRules().
  size_t unread = 0;             // How many of IFLA_NUM_VF are missing.
};

// The virtual functions in the answer to such a request; points into its buffer.
//
// The length of an attribute has 16 bits, and the list of more than 221 functions is longer than
// they can say: then the kernel's message is broken, for everything behind the list's header looks
// like something else. But the functions themselves stand there one after the other all the same,
// and are taken if each one is where it has to be and has the number that it has to have.
VfList ReadVfs(const LinkView& link);

// The rules of what IFLA_VF_INFO holds.
const LinkRuleSet& VfRules();

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_VF_H_
