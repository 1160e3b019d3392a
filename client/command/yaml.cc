#include "client/command/yaml.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

// Words that YAML 1.1 or 1.2 reads as something else than a string, of any case.
constexpr auto kReserved = std::to_array<std::string_view>(
    {"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"});

unsigned char Byte(char c) { return static_cast<unsigned char>(c); }

// Fewer than YAML allows: what is left cannot be a number, a time, a mark or a comment.
bool IsPlain(std::string_view text) {
  const auto plain = [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '/' || c == '-' || c == '@';
  };
  if (text.empty() || !(absl::ascii_isalpha(Byte(text[0])) || text[0] == '_' || text[0] == '/')) {
    return false;
  }
  return std::ranges::all_of(text, plain) &&
         std::ranges::find(kReserved, absl::AsciiStrToLower(ToAbsl(text))) == kReserved.end();
}

void AppendUtf8(std::string* text, uint32_t code) {
  const auto add = [text](uint32_t byte) { *text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xe0 | code >> 12);
    } else {
      add(0xf0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3f));
    }
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

// A number, true, false or null. YAML 1.1 wants a point and a sign in a number with an exponent:
// "1e6" would be a string.
std::string Literal(std::string_view json) {
  std::string number(json);
  const size_t exponent = number.find_first_of("eE");
  if (exponent == std::string::npos || absl::ascii_isalpha(Byte(number[0]))) return number;
  if (exponent + 1 < number.size() && absl::ascii_isdigit(Byte(number[exponent + 1]))) {
    number.insert(exponent + 1, "+");
  }
  if (number.find('.') == std::string::npos) number.insert(exponent, ".0");
  return number;
}

// Where a value begins: on a line of its own, behind "key:" or behind "- ".
enum class Place { kLine, kKey, kDash };

class Converter {
 public:
  explicit Converter(std::string_view json) : rest_(json) {}

  // Adds the value at the front, and the lines that belong to it, at `indent`.
  bool Value(size_t indent, Place place) {
    SkipSpace();
    if (rest_.starts_with('{') || rest_.starts_with('[')) return Container(indent, place);
    if (rest_.starts_with('"')) {
      std::string text;
      return String(&text) && Scalar(YamlString(text), place);
    }
    const size_t length = std::min(rest_.find_first_of(",]} \t\r\n"), rest_.size());
    const std::string_view literal = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return !literal.empty() && Scalar(Literal(literal), place);
  }

  bool AtEnd() {
    SkipSpace();
    return rest_.empty();
  }

  std::string Take() { return std::move(yaml_); }

 private:
  bool Scalar(std::string_view text, Place place) {
    absl::StrAppend(&yaml_, place == Place::kKey ? " " : "", ToAbsl(text), "\n");
    return true;
  }

  bool Container(size_t indent, Place place) {
    const bool object = rest_[0] == '{';
    const char end = object ? '}' : ']';
    rest_.remove_prefix(1);
    if (Skip(end)) return Scalar(object ? "{}" : "[]", place);
    if (place == Place::kKey) yaml_ += '\n';
    bool on_line = place == Place::kDash;
    do {
      if (!on_line) yaml_.append(indent, ' ');
      on_line = false;
      if (object) {
        std::string key;
        if (!String(&key) || !Skip(':')) return false;
        absl::StrAppend(&yaml_, YamlString(key), ":");
      } else {
        yaml_ += "- ";
      }
      if (!Value(indent + 2, object ? Place::kKey : Place::kDash)) return false;
    } while (Skip(','));
    return Skip(end);
  }

  bool String(std::string* text) {
    if (!Skip('"')) return false;
    while (!rest_.empty() && rest_[0] != '"') {
      const char c = rest_[0];
      rest_.remove_prefix(1);
      if (c != '\\') {
        *text += c;
      } else if (!Escaped(text)) {
        return false;
      }
    }
    return Skip('"');
  }

  bool Escaped(std::string* text) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (rest_.empty()) return false;
    const char letter = rest_[0];
    rest_.remove_prefix(1);
    if (const size_t at = kLetters.find(letter); at != std::string_view::npos) {
      *text += kMeanings[at];
      return true;
    }
    uint32_t code = 0;
    if (letter != 'u' || !Hex(&code)) return false;
    if (code >= 0xd800 && code < 0xdc00 && rest_.starts_with("\\u")) {
      rest_.remove_prefix(2);
      uint32_t low = 0;
      if (!Hex(&low)) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + ((low - 0xdc00) & 0x3ff);
    }
    AppendUtf8(text, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    return true;
  }

  bool Hex(uint32_t* code) {
    const std::string_view digits = rest_.substr(0, 4);
    if (digits.size() < 4 || !absl::SimpleHexAtoi(ToAbsl(digits), code)) return false;
    rest_.remove_prefix(4);
    return true;
  }

  // Skips spaces, and `c` where it follows them.
  bool Skip(char c) {
    SkipSpace();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void SkipSpace() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  std::string_view rest_;
  std::string yaml_;
};

}  // namespace

std::string YamlString(std::string_view text) {
  if (IsPlain(text)) return std::string(text);
  std::string result = "\"";
  while (!text.empty()) {
    std::string_view bytes;
    const uint32_t code = TakeCodePoint(&text, &bytes);
    if (code == '"' || code == '\\') {
      absl::StrAppend(&result, "\\", ToAbsl(bytes));
    } else if (code == '\n') {
      result += "\\n";
    } else if (code == '\t') {
      result += "\\t";
    } else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
      absl::StrAppendFormat(&result, "\\x%02x", code);
    } else if (code == kNotUtf8) {
      result += "\\ufffd";
    } else if (ChangesWriting(code) || code == 0xfffe || code == 0xffff) {
      absl::StrAppendFormat(&result, "\\u%04x", code);
    } else {
      result += bytes;
    }
  }
  return result + "\"";
}

absl::StatusOr<std::string> YamlFromJson(std::string_view json) {
  Converter converter(json);
  if (!converter.Value(0, Place::kLine) || !converter.AtEnd()) {
    return absl::InternalError("the answer's JSON form cannot be read");
  }
  return converter.Take();
}

}  // namespace linkvane::command
