// Reading netlink attributes (struct nlattr): bounds-checked, without copies, never failing.
#ifndef LINKVANE_NETLINK_ATTRIBUTE_H_
#define LINKVANE_NETLINK_ATTRIBUTE_H_

#include <linux/netlink.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace linkvane::netlink {

using Bytes = std::span<const std::byte>;

// One attribute. Valid as long as the bytes it was read from.
struct Attribute {
  uint16_t type = 0;  // Without NLA_F_NESTED and NLA_F_NET_BYTEORDER.
  Bytes payload;      // Without header and padding.
  Bytes whole;        // Header and payload, without padding.
};

// Steps through a run of attributes.
class AttributeReader {
 public:
  explicit AttributeReader(Bytes bytes) : rest_(bytes) {}

  // False at the end, and where the next header is not sound (shorter than itself, or longer than
  // what is left): nothing behind such a header can be read.
  bool Next(Attribute& attribute);

  // True once Next() has stopped before the end. Up to three bytes of padding are no fault.
  bool malformed() const { return malformed_; }

 private:
  Bytes rest_;
  bool malformed_ = false;
};

inline bool AttributeReader::Next(Attribute& attribute) {
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

// A number of exactly this size, in host byte order; unset where the payload's length differs.
template <typename T>
std::optional<T> LoadNumber(Bytes payload) {
  static_assert(std::is_integral_v<T>);
  if (payload.size() != sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, payload.data(), sizeof(T));
  return value;
}

// The kernel's struct T, which may have grown since (the rest is ignored); unset where the payload
// is shorter than `min_size`, and zero beyond what a shorter one has.
template <typename T>
std::optional<T> LoadStruct(Bytes payload, size_t min_size = sizeof(T)) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (payload.size() < min_size) return std::nullopt;
  T value{};
  std::memcpy(&value, payload.data(), payload.size() < sizeof(T) ? payload.size() : sizeof(T));
  return value;
}

// A text up to its NUL, or all of it where there is none. Any bytes are possible.
std::string_view LoadText(Bytes payload);

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_ATTRIBUTE_H_
