#include "netlink/attribute.h"

#include <linux/netlink.h>

#include <algorithm>

namespace linkvane::netlink {

bool AttributeReader::Next(Attribute& attribute) {
  // Less than a header is padding, as long as it is less than the kernel's alignment.
  if (rest_.size() < sizeof(nlattr)) return false;
  nlattr header;
  std::memcpy(&header, rest_.data(), sizeof(header));
  if (header.nla_len < sizeof(header) || header.nla_len > rest_.size()) {
    malformed_ = true;
    rest_ = Bytes();
    return false;
  }
  attribute.type = header.nla_type & NLA_TYPE_MASK;
  attribute.whole = rest_.first(header.nla_len);
  attribute.payload = attribute.whole.subspan(sizeof(header));
  // The last attribute may lack its padding.
  rest_ = rest_.subspan(std::min<size_t>(NLA_ALIGN(header.nla_len), rest_.size()));
  return true;
}

std::string_view LoadText(Bytes payload) {
  const std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  return text.substr(0, text.find('\0'));
}

}  // namespace linkvane::netlink
