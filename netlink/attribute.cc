#include "netlink/attribute.h"

namespace linkvane::netlink {

std::string_view LoadText(Bytes payload) {
  const std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  return text.substr(0, text.find('\0'));
}

}  // namespace linkvane::netlink
