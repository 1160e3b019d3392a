// How the value of an attribute is to be understood, as data: for the many attributes (settings of
// a kind of link, of a port, of a virtual function) that are only passed on, and that no code of
// ours looks at.
#ifndef LINKVANE_NETLINK_VALUE_FORMAT_H_
#define LINKVANE_NETLINK_VALUE_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "netlink/attribute.h"

namespace linkvane::netlink {

struct StructField;

struct ValueFormat {
  enum class Shape : uint8_t {
    kNone,             // Not described.
    kNumber,           // Of `width` bytes, or of all that there are (0).
    kBool,             // A number that is 0 or not.
    kBoolOrUnknown,    // The same, or all ones where the driver does not tell.
    kFlag,             // There or not, without a payload.
    kDuration,         // A number of `unit`s.
    kEnum,             // A number; those below `named` have names.
    kBits,             // A number whose `named` lowest bits have names.
    kChoice,           // A number of which just one of the `named` lowest bits is set.
    kIp,               // An IPv4 or IPv6 address.
    kHardwareAddress,  // A link-layer address of `width` bytes, or of all that there are (0).
    kBridgeId,         // A priority of 16 bits, big-endian, and an Ethernet address.
    kHex,              // Bytes as hex digits, the first `width` of them.
    kText,
    kBytes,
    kMessage,  // Attributes, by the rule's nested rules.
    kList,     // Attributes whose numbers do not count: each one is an element.
    kStruct,   // A struct of the kernel's.
    kInline    // The same, whose fields stand among the attribute's neighbours.
  };

  Shape shape = Shape::kNone;
  uint8_t width = 0;  // Of a number: 1, 2, 4, 8 or 0.
  bool big_endian = false;
  bool is_signed = false;
  uint8_t named = 0;
  uint32_t unit = 0;   // In microseconds.
  bool grows = false;  // Of a struct: fields that an older kernel does not have are left out.
  const ValueFormat* element = nullptr;
  std::span<const StructField> fields;
};

// A field of a struct. `number` tells the fields apart, as an attribute's type does.
struct StructField {
  uint16_t offset;
  uint16_t number;
  ValueFormat format;
};

// The formats that need no more than a name.
inline constexpr ValueFormat kU8{.shape = ValueFormat::Shape::kNumber, .width = 1};
inline constexpr ValueFormat kU16{.shape = ValueFormat::Shape::kNumber, .width = 2};
inline constexpr ValueFormat kU32{.shape = ValueFormat::Shape::kNumber, .width = 4};
inline constexpr ValueFormat kU64{.shape = ValueFormat::Shape::kNumber, .width = 8};
// An nla_put_uint() of the kernel's, or a number whose width is not the same in all kinds.
inline constexpr ValueFormat kUint{.shape = ValueFormat::Shape::kNumber};
inline constexpr ValueFormat kS32{
    .shape = ValueFormat::Shape::kNumber, .width = 4, .is_signed = true};
inline constexpr ValueFormat kBe16{
    .shape = ValueFormat::Shape::kNumber, .width = 2, .big_endian = true};
inline constexpr ValueFormat kBe32{
    .shape = ValueFormat::Shape::kNumber, .width = 4, .big_endian = true};
inline constexpr ValueFormat kBe64{
    .shape = ValueFormat::Shape::kNumber, .width = 8, .big_endian = true};
inline constexpr ValueFormat kBool8{.shape = ValueFormat::Shape::kBool, .width = 1};
inline constexpr ValueFormat kBool32{.shape = ValueFormat::Shape::kBool, .width = 4};
inline constexpr ValueFormat kBoolOrUnknown32{.shape = ValueFormat::Shape::kBoolOrUnknown,
                                              .width = 4};
inline constexpr ValueFormat kFlag{.shape = ValueFormat::Shape::kFlag};
inline constexpr ValueFormat kIp{.shape = ValueFormat::Shape::kIp};
inline constexpr ValueFormat kHardwareAddress{.shape = ValueFormat::Shape::kHardwareAddress};
inline constexpr ValueFormat kEthernetAddress{.shape = ValueFormat::Shape::kHardwareAddress,
                                              .width = 6};
inline constexpr ValueFormat kBridgeId{.shape = ValueFormat::Shape::kBridgeId, .width = 8};
inline constexpr ValueFormat kHex64{.shape = ValueFormat::Shape::kHex, .width = 8};
inline constexpr ValueFormat kText{.shape = ValueFormat::Shape::kText};
inline constexpr ValueFormat kBytes{.shape = ValueFormat::Shape::kBytes};
inline constexpr ValueFormat kMessage{.shape = ValueFormat::Shape::kMessage};

constexpr ValueFormat Duration(uint8_t width, uint32_t unit) {
  return {.shape = ValueFormat::Shape::kDuration, .width = width, .unit = unit};
}
// Hundredths of a second (USER_HZ) on all machines.
inline constexpr ValueFormat kTicks32 = Duration(4, 10'000);
inline constexpr ValueFormat kTicks64 = Duration(8, 10'000);
inline constexpr ValueFormat kMilliseconds32 = Duration(4, 1'000);
inline constexpr ValueFormat kSeconds32 = Duration(4, 1'000'000);

constexpr ValueFormat Enum(uint8_t width, uint8_t named) {
  return {.shape = ValueFormat::Shape::kEnum, .width = width, .named = named};
}
constexpr ValueFormat Bits(uint8_t width, uint8_t named) {
  return {.shape = ValueFormat::Shape::kBits, .width = width, .named = named};
}
constexpr ValueFormat Choice(uint8_t width, uint8_t named) {
  return {.shape = ValueFormat::Shape::kChoice, .width = width, .named = named};
}
// `element` has to live as long as the format.
constexpr ValueFormat List(const ValueFormat& element) {
  return {.shape = ValueFormat::Shape::kList, .element = &element};
}
template <size_t N>
constexpr ValueFormat Struct(const StructField (&fields)[N]) {
  return {.shape = ValueFormat::Shape::kStruct, .fields = fields};
}
// An array or struct to which new kernels add at the end.
template <size_t N>
constexpr ValueFormat GrowingStruct(const StructField (&fields)[N]) {
  return {.shape = ValueFormat::Shape::kStruct, .grows = true, .fields = fields};
}
template <size_t N>
constexpr ValueFormat Inline(const StructField (&fields)[N]) {
  return {.shape = ValueFormat::Shape::kInline, .fields = fields};
}

// The number that a payload begins with; unset where the payload is shorter than `width`, or has no
// width that a number can have. A signed one is extended to 64 bits.
std::optional<uint64_t> LoadNumber(Bytes payload, const ValueFormat& format);

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_VALUE_FORMAT_H_
