#include "server/state/wire.h"

#include <algorithm>

namespace linkvane::server {
namespace {

constexpr uint32_t kVarint = 0;
constexpr uint32_t kFixed64 = 1;
constexpr uint32_t kBytes = 2;
constexpr uint32_t kFixed32 = 5;

// Steps over the run of fields with the next number (an encoder writes them together, in ascending
// order) and returns the run's bytes.
std::string_view NextRun(WireReader& reader, WireField& field, bool& more) {
  const uint32_t number = field.number;
  const char* begin = field.whole.data();
  const char* end = begin;
  while (more && field.number == number) {
    end = field.whole.data() + field.whole.size();
    more = reader.Next(field);
  }
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

bool WireReader::ReadVarint(uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < rest_.size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>(rest_[i]);
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) {
      rest_.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool WireReader::Next(WireField& field) {
  if (rest_.empty()) return false;
  const char* const begin = rest_.data();
  uint64_t tag = 0;
  uint64_t number = 0;
  if (!ReadVarint(tag)) return false;
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<uint32_t>(tag & 7);
  field.value = {};
  size_t size = 0;
  switch (field.type) {
    case kVarint:
      if (!ReadVarint(number)) return false;
      break;
    case kFixed64:
      size = 8;
      break;
    case kFixed32:
      size = 4;
      break;
    case kBytes:
      if (!ReadVarint(number) || number > rest_.size()) return false;
      size = number;
      field.value = rest_.substr(0, size);
      break;
    default:
      return false;
  }
  if (size > rest_.size()) return false;
  rest_.remove_prefix(size);
  field.whole = {begin, static_cast<size_t>(rest_.data() - begin)};
  return true;
}

void AppendVarint(uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

void AppendVarintField(uint32_t number, uint64_t value, std::string& out) {
  AppendVarint((number << 3) | kVarint, out);
  AppendVarint(value, out);
}

void AppendBytesField(uint32_t number, std::string_view value, std::string& out) {
  AppendVarint((number << 3) | kBytes, out);
  AppendVarint(value.size(), out);
  out += value;
}

size_t BytesFieldSize(uint32_t number, size_t value_size) {
  return VarintSize((number << 3) | kBytes) + VarintSize(value_size) + value_size;
}

std::string MergeFields(std::string_view a, std::string_view b) {
  std::string merged;
  merged.reserve(a.size() + b.size());
  WireReader reader_a(a);
  WireReader reader_b(b);
  WireField field_a;
  WireField field_b;
  bool more_a = reader_a.Next(field_a);
  bool more_b = reader_b.Next(field_b);
  while (more_a || more_b) {
    const bool from_a = more_a && (!more_b || field_a.number <= field_b.number);
    merged += from_a ? NextRun(reader_a, field_a, more_a) : NextRun(reader_b, field_b, more_b);
  }
  return merged;
}

FieldSet DifferentFields(std::string_view a, std::string_view b) {
  FieldSet different;
  WireReader reader_a(a);
  WireReader reader_b(b);
  WireField field_a;
  WireField field_b;
  bool more_a = reader_a.Next(field_a);
  bool more_b = reader_b.Next(field_b);
  while (more_a || more_b) {
    const uint32_t number = !more_a   ? field_b.number
                            : !more_b ? field_a.number
                                      : std::min(field_a.number, field_b.number);
    std::string_view run_a;
    std::string_view run_b;
    if (more_a && field_a.number == number) run_a = NextRun(reader_a, field_a, more_a);
    if (more_b && field_b.number == number) run_b = NextRun(reader_b, field_b, more_b);
    if (run_a != run_b && number < different.size()) different.set(number);
  }
  return different;
}

}  // namespace linkvane::server
