#include "server/state/text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace linkvane::server {
namespace {

// The length of the valid UTF-8 sequence at the start of `bytes`, 0 if there is none (RFC 3629: no
// overlong forms, no surrogates, nothing above U+10FFFF).
size_t Utf8SequenceLength(std::string_view bytes) {
  const auto at = [bytes](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const uint8_t first = at(0);
  if (first < 0x80) return 1;
  size_t length = 0;
  uint8_t low = 0x80;
  uint8_t high = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  }
  if (length == 0 || bytes.size() < length || at(1) < low || at(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

constexpr char kDigits[] = "0123456789abcdef";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t length = Utf8SequenceLength(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string ToUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = Utf8SequenceLength(bytes);
    text += length == 0 ? std::string_view("\xef\xbf\xbd") : bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

std::u32string CodePoints(std::string_view bytes) {
  std::u32string characters;
  characters.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = Utf8SequenceLength(bytes);
    // How many bits of the first byte belong to the character, by the sequence's length.
    static constexpr std::array<uint8_t, 5> kFirstBits = {0, 0x7f, 0x1f, 0x0f, 0x07};
    char32_t character =
        length == 0 ? U'\ufffd' : static_cast<uint8_t>(bytes[0]) & kFirstBits[length];
    for (size_t i = 1; i < length; ++i) {
      character = (character << 6) | (static_cast<uint8_t>(bytes[i]) & 0x3f);
    }
    characters += character;
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return characters;
}

std::string Hex(netlink::Bytes bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

std::string ColonHex(netlink::Bytes address) {
  std::string text;
  text.reserve(address.size() * 3);
  for (const std::byte byte : address) {
    if (!text.empty()) text += ':';
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

bool ParseColonHex(std::string_view text, std::string& bytes) {
  bytes.clear();
  if (text.size() % 3 != 2) return false;
  for (size_t i = 0; i < text.size(); i += 3) {
    const int high = HexDigit(text[i]);
    const int low = HexDigit(text[i + 1]);
    if (high < 0 || low < 0 || (i + 2 < text.size() && text[i + 2] != ':')) return false;
    bytes += static_cast<char>(high * 16 + low);
  }
  return true;
}

std::string IpText(netlink::Bytes address) {
  if (address.size() != sizeof(in_addr) && address.size() != sizeof(in6_addr)) return "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(address.size() == sizeof(in_addr) ? AF_INET : AF_INET6, address.data(), text.data(),
            text.size());
  return text.data();
}

}  // namespace linkvane::server
