#include "client/command/text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace linkvane::command {
namespace {

// "OperState" is "OPER_STATE_".
std::string EnumPrefix(std::string_view enum_name) {
  std::string prefix;
  for (const char c : enum_name) {
    if (absl::ascii_isupper(c) && !prefix.empty()) prefix += '_';
    prefix += absl::ascii_toupper(c);
  }
  return prefix + '_';
}

}  // namespace

uint32_t TakeCodePoint(std::string_view* text, std::string_view* bytes) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>((*text)[i]); };
  size_t length = 1;
  uint32_t code = byte(0);
  uint32_t least = 0;
  if (code >= 0xf0 && code < 0xf8) {
    length = 4;
    code &= 0x07;
    least = 0x10000;
  } else if (code >= 0xe0 && code < 0xf0) {
    length = 3;
    code &= 0x0f;
    least = 0x800;
  } else if (code >= 0xc0 && code < 0xe0) {
    length = 2;
    code &= 0x1f;
    least = 0x80;
  } else if (code >= 0x80) {
    code = kNotUtf8;
  }
  for (size_t i = 1; i < length && code != kNotUtf8; ++i) {
    const bool continues = i < text->size() && (byte(i) & 0xc0) == 0x80;
    code = continues ? code << 6 | (byte(i) & 0x3f) : kNotUtf8;
  }
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = kNotUtf8;
  if (code == kNotUtf8) length = 1;
  *bytes = text->substr(0, length);
  text->remove_prefix(length);
  return code;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    std::string_view bytes;
    if (TakeCodePoint(&text, &bytes) == kNotUtf8) return false;
  }
  return true;
}

bool ChangesWriting(uint32_t code) {
  return (code >= 0x200b && code <= 0x200f) ||  // zero width, direction marks
         (code >= 0x2028 && code <= 0x202e) ||  // separators, direction
         (code >= 0x2060 && code <= 0x206f) || code == 0x061c || code == 0xfeff;
}

std::string Escape(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::string_view bytes;
    const uint32_t code = TakeCodePoint(&text, &bytes);
    if (code == kNotUtf8) {
      absl::StrAppendFormat(&result, "\\x%02x", static_cast<unsigned char>(bytes[0]));
    } else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
      absl::StrAppendFormat(&result, "\\x%02x", code);
    } else if (ChangesWriting(code)) {
      absl::StrAppendFormat(&result, "\\u%04x", code);
    } else if (code == '\\') {
      result += "\\\\";
    } else {
      result += bytes;
    }
  }
  return result;
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string EnumText(std::string_view enum_name, std::string_view value_name) {
  const std::string prefix = EnumPrefix(enum_name);
  if (value_name.starts_with(prefix)) value_name.remove_prefix(prefix.size());
  return absl::StrReplaceAll(absl::AsciiStrToLower(ToAbsl(value_name)), {{"_", "-"}});
}

std::string EnumValueName(std::string_view enum_name, std::string_view text) {
  return EnumPrefix(enum_name) +
         absl::StrReplaceAll(absl::AsciiStrToUpper(ToAbsl(text)), {{"-", "_"}});
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%E3S", time, absl::LocalTimeZone());
}

std::string LifetimeText(absl::Duration left) {
  constexpr absl::Duration kDay = absl::Hours(24);
  left = std::max(absl::Trunc(left, absl::Seconds(1)), absl::ZeroDuration());
  if (left == absl::ZeroDuration()) return "0s";
  const int64_t days = absl::IDivDuration(left, kDay, &left);
  if (days == 0) return absl::FormatDuration(left);
  return absl::StrCat(days, "d", left == absl::ZeroDuration() ? "" : absl::FormatDuration(left));
}

}  // namespace linkvane::command
