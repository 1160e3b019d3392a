// The kernel's bytes as text.
#ifndef LINKVANE_SERVER_STATE_TEXT_H_
#define LINKVANE_SERVER_STATE_TEXT_H_

#include <string>
#include <string_view>

#include "absl/strings/string_view.h"
#include "netlink/attribute.h"

namespace linkvane::server {

// The distribution's absl::string_view is a type of its own. This is the one place to convert.
inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

bool IsUtf8(std::string_view bytes);

// The bytes with each one that is no part of valid UTF-8 replaced by U+FFFD.
std::string ToUtf8(std::string_view bytes);

// The characters of a text; U+FFFD for each byte that is no part of valid UTF-8.
std::u32string CodePoints(std::string_view bytes);

// "02:00:5e:10:00:01"; "" for none.
std::string ColonHex(netlink::Bytes address);

// "02005e100001"; "" for none.
std::string Hex(netlink::Bytes bytes);

// The bytes that ColonHex would print so, of either case; false if the text is not of that form.
bool ParseColonHex(std::string_view text, std::string& bytes);

// An IPv4 (4 bytes) or IPv6 (16 bytes) address in its usual text form; "" for another length.
std::string IpText(netlink::Bytes address);

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_TEXT_H_
