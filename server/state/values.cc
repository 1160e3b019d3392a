#include "server/state/values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <optional>

#include "server/state/text.h"
#include "server/state/wire.h"

namespace linkvane::server {
namespace {

using netlink::Bytes;
using netlink::ValueFormat;
using Shape = ValueFormat::Shape;

// google.protobuf.Duration: its fields, and the longest that is one (10000 years).
constexpr uint32_t kSecondsField = 1;
constexpr uint32_t kNanosField = 2;
constexpr uint64_t kMostSeconds = 315'576'000'000;
constexpr uint64_t kMicros = 1'000'000;

std::string DurationMessage(uint64_t count, uint32_t unit) {
  // Seconds and the rest apart, so that nothing overflows.
  uint64_t seconds = 0;
  uint64_t micros = 0;
  if (unit >= kMicros) {
    const uint64_t factor = unit / kMicros;
    seconds = count > kMostSeconds / factor ? kMostSeconds : count * factor;
  } else {
    const uint64_t per_second = kMicros / unit;
    seconds = count / per_second;
    micros = count % per_second * unit;
  }
  if (seconds >= kMostSeconds) {
    seconds = kMostSeconds;
    micros = 0;
  }
  std::string message;
  if (seconds != 0) AppendVarintField(kSecondsField, seconds, message);
  if (micros != 0) AppendVarintField(kNanosField, micros * 1000, message);
  return message;
}

// "8000.02:00:5e:10:00:01", as bridge(8) and the standard write it.
std::string BridgeIdText(Bytes id) {
  std::array<char, 8> priority{};
  std::snprintf(priority.data(), priority.size(), "%02x%02x.", static_cast<unsigned>(id[0]),
                static_cast<unsigned>(id[1]));
  return priority.data() + ColonHex(id.subspan(2, 6));
}

void AppendBits(uint32_t number, uint64_t bits, uint8_t named, std::string& out) {
  for (uint32_t bit = 0; bit < named; ++bit) {
    if ((bits >> bit & 1) != 0) AppendVarintField(number, bit + 1, out);
  }
  AppendVarintField(number + kRawFieldOffset, bits, out);
}

bool AppendNumber(uint32_t number, Bytes payload, const ValueFormat& format, std::string& out) {
  const std::optional<uint64_t> value = netlink::LoadNumber(payload, format);
  if (!value.has_value()) return false;
  switch (format.shape) {
    case Shape::kBool:
      AppendVarintField(number, *value != 0 ? 1 : 0, out);
      break;
    case Shape::kBoolOrUnknown:
      // All ones, of any width, are one less than nothing.
      if (*value + 1 != uint64_t{1} << (format.width * 8)) {
        AppendVarintField(number, *value != 0 ? 1 : 0, out);
      }
      break;
    case Shape::kDuration:
      AppendBytesField(number, DurationMessage(*value, format.unit), out);
      break;
    case Shape::kEnum:
      if (*value < format.named) AppendVarintField(number, *value + 1, out);
      AppendVarintField(number + kRawFieldOffset, *value, out);
      break;
    case Shape::kChoice: {
      const auto bit = static_cast<uint64_t>(std::countr_zero(*value));
      if (std::has_single_bit(*value) && bit < format.named) {
        AppendVarintField(number, bit + 1, out);
      }
      AppendVarintField(number + kRawFieldOffset, *value, out);
      break;
    }
    case Shape::kBits:
      AppendBits(number, *value, format.named, out);
      break;
    default:
      AppendVarintField(number, *value, out);
  }
  return true;
}

// Adds `more` to the field `number`, a message, or appends it if there is none. In one piece: not
// every decoder puts pieces together.
void AddToMessage(uint32_t number, std::string_view more, std::string& out) {
  std::string joined(more);
  WireReader reader(out);
  WireField field;
  while (reader.Next(field)) {
    if (field.number != number) continue;
    joined.insert(0, field.value);
    const auto start = static_cast<size_t>(field.whole.data() - out.data());
    out.erase(start, field.whole.size());
    break;
  }
  AppendBytesField(number, joined, out);
}

bool AppendValue(uint32_t number, Bytes payload, const ValueFormat& format,
                 const netlink::LinkRuleSet* nested, netlink::DecodeTally& tally, std::string& out);

bool AppendFields(Bytes payload, const ValueFormat& format, netlink::DecodeTally& tally,
                  std::string& out) {
  bool whole = true;
  for (const netlink::StructField& field : format.fields) {
    if (format.grows && field.offset + size_t{field.format.width} > payload.size()) continue;
    if (field.offset > payload.size()) return false;
    whole = AppendValue(field.number, payload.subspan(field.offset), field.format, nullptr, tally,
                        out) &&
            whole;
  }
  return whole;
}

void AppendElements(uint32_t number, Bytes payload, const ValueFormat& element,
                    netlink::DecodeTally& tally, std::string& out) {
  netlink::AttributeReader reader(payload);
  netlink::Attribute attribute;
  while (reader.Next(attribute)) {
    if (!AppendValue(number, attribute.payload, element, nullptr, tally, out)) ++tally.malformed;
  }
  if (reader.malformed()) ++tally.malformed;
}

// False if the payload is too short for its format; then nothing was appended.
bool AppendValue(uint32_t number, Bytes payload, const ValueFormat& format,
                 const netlink::LinkRuleSet* nested, netlink::DecodeTally& tally,
                 std::string& out) {
  switch (format.shape) {
    case Shape::kNone:
      return true;
    case Shape::kFlag:
      AppendVarintField(number, 1, out);
      return true;
    case Shape::kIp: {
      const std::string text = IpText(payload);
      if (!text.empty()) AppendBytesField(number, text, out);
      return !text.empty();
    }
    case Shape::kHardwareAddress:
      if (payload.size() < format.width) return false;
      AppendBytesField(number, ColonHex(format.width == 0 ? payload : payload.first(format.width)),
                       out);
      return true;
    case Shape::kBridgeId:
      if (payload.size() < format.width) return false;
      AppendBytesField(number, BridgeIdText(payload), out);
      return true;
    case Shape::kHex:
      if (payload.size() < format.width) return false;
      AppendBytesField(number, Hex(payload.first(format.width)), out);
      return true;
    case Shape::kText:
      AppendBytesField(number, ToUtf8(netlink::LoadText(payload)), out);
      return true;
    case Shape::kBytes:
      AppendBytesField(number, {reinterpret_cast<const char*>(payload.data()), payload.size()},
                       out);
      return true;
    case Shape::kMessage: {
      std::string message;
      SeenAttributes seen;
      if (nested != nullptr) AppendValues(payload, *nested, seen, tally, message);
      AddToMessage(number, message, out);
      return true;
    }
    case Shape::kList:
      AppendElements(number, payload, *format.element, tally, out);
      return true;
    case Shape::kStruct: {
      std::string message;
      if (!AppendFields(payload, format, tally, message)) return false;
      AppendBytesField(number, message, out);
      return true;
    }
    case Shape::kInline: {
      std::string fields;
      if (!AppendFields(payload, format, tally, fields)) return false;
      out += fields;
      return true;
    }
    default:
      return AppendNumber(number, payload, format, out);
  }
}

}  // namespace

void AppendValues(Bytes run, const netlink::LinkRuleSet& rules, SeenAttributes& seen,
                  netlink::DecodeTally& tally, std::string& out) {
  netlink::AttributeReader reader(run);
  netlink::Attribute attribute;
  while (reader.Next(attribute)) {
    const netlink::LinkRule* rule = rules.Find(attribute.type);
    // Parts of a message add up: those that run by themselves stand in another run.
    if (rule == nullptr || (seen.test(attribute.type) && rule->format.shape != Shape::kMessage)) {
      continue;
    }
    if (AppendValue(attribute.type, attribute.payload, rule->format, rule->nested, tally, out)) {
      seen.set(attribute.type);
    } else {
      ++tally.malformed;
    }
  }
  if (reader.malformed()) ++tally.malformed;
}

}  // namespace linkvane::server
