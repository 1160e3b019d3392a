#include "netlink/value_format.h"

#include <bit>

namespace linkvane::netlink {

std::optional<uint64_t> LoadNumber(Bytes payload, const ValueFormat& format) {
  static_assert(std::endian::native == std::endian::little ||
                std::endian::native == std::endian::big);
  const size_t width = format.width != 0 ? format.width : payload.size();
  if (width == 0 || width > sizeof(uint64_t) || payload.size() < width) return std::nullopt;
  const bool big = format.big_endian || std::endian::native == std::endian::big;
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) {
    const size_t at = big ? i : width - 1 - i;
    value = value << 8 | static_cast<uint64_t>(payload[at]);
  }
  if (format.is_signed && width < sizeof(value)) {
    const uint64_t sign = uint64_t{1} << (width * 8 - 1);
    value = (value ^ sign) - sign;
  }
  return value;
}

}  // namespace linkvane::netlink
