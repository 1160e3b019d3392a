// Values that the kernel layer only describes (netlink::ValueFormat), as fields of encoded
// messages.
#ifndef LINKVANE_SERVER_STATE_VALUES_H_
#define LINKVANE_SERVER_STATE_VALUES_H_

#include <bitset>
#include <string>

#include "netlink/link_kind.h"

namespace linkvane::server {

// A field that goes with another one has this much added to its number: the number of an enum or of
// flags, beside the names.
inline constexpr uint32_t kRawFieldOffset = 200;

// Which attributes a message has already: the first one of a kind wins.
using SeenAttributes = std::bitset<netlink::LinkRuleSet::kTypes>;

// Appends the attributes of `run` as fields of a message. A field has its attribute's number and
// the type that goes with the format:
//   a number         an integer             a duration        google.protobuf.Duration
//   an enum, choice  the kernel's number + 1 (position of the bit + 1), as far as it has a name;
//                    the number itself at kRawFieldOffset
//   bits             repeated: the position + 1 of each bit that is set and has a name; the number
//                    itself at kRawFieldOffset
//   hex              its digits
//   addresses        their text             attributes in it, a struct   a message
//   a list           repeated elements
// What is too short is left out and counted.
void AppendValues(netlink::Bytes run, const netlink::LinkRuleSet& rules, SeenAttributes& seen,
                  netlink::DecodeTally& tally, std::string& out);

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_VALUES_H_
