// Protobuf's wire format, as far as it is needed to put encoded rows together, to cut them to a
// mask and to compare them field by field, without decoding them.
#ifndef LINKVANE_SERVER_STATE_WIRE_H_
#define LINKVANE_SERVER_STATE_WIRE_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace linkvane::server {

// Top-level field numbers of one of our messages, all below 256.
using FieldSet = std::bitset<256>;

// One field of an encoded message.
struct WireField {
  uint32_t number = 0;
  uint32_t type = 0;       // 0 varint, 1 fixed64, 2 length-delimited, 5 fixed32.
  std::string_view whole;  // Tag and value.
  std::string_view value;  // Of a length-delimited field: its content.
};

// Steps through an encoded message. What we encoded ourselves is well-formed; at anything else it
// ends early.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}
  bool Next(WireField& field);

 private:
  bool ReadVarint(uint64_t& value);
  std::string_view rest_;
};

void AppendVarint(uint64_t value, std::string& out);
size_t VarintSize(uint64_t value);
void AppendVarintField(uint32_t number, uint64_t value, std::string& out);
void AppendBytesField(uint32_t number, std::string_view value, std::string& out);
// The size that AppendBytesField adds.
size_t BytesFieldSize(uint32_t number, size_t value_size);

// Two encoded messages in one, their fields in ascending order, as they are in each of both.
std::string MergeFields(std::string_view a, std::string_view b);

// The field numbers whose values differ, in any of their occurrences. The fields of both messages
// are in ascending order.
FieldSet DifferentFields(std::string_view a, std::string_view b);

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_WIRE_H_
