#include "server/state/text.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace linkvane::server {
namespace {

TEST(TextTest, WhatIsNoUtf8IsReplacedByteByByte) {
  const struct {
    const char* bytes;
    const char* text;
  } kCases[] = {
      {"eth0", "eth0"},
      {"\xc3\xa4", "\xc3\xa4"},
      {"\xff", "\xef\xbf\xbd"},
      {"a\x80z", "a\xef\xbf\xbdz"},
      {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                  // Overlong.
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // A surrogate.
      {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xf0\x80\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xed\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // The last surrogate.
      {"\xed\x9f\xbf", "\xed\x9f\xbf"},                          // What stands before them,
      {"\xee\x80\x80", "\xee\x80\x80"},                          // and behind.
      {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},                  // The last of all.
      {"\xf5\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},  // Cut off.
      {"\xe2\x82z", "\xef\xbf\xbd\xef\xbf\xbdz"},
      {"\xf0\x9f\x98z", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz"},
      {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ToUtf8(c.bytes), c.text);
    EXPECT_EQ(IsUtf8(c.bytes), std::string(c.bytes) == c.text);
    EXPECT_TRUE(IsUtf8(ToUtf8(c.bytes)));
  }
}

TEST(TextTest, CodePointsAreCharacters) {
  EXPECT_EQ(CodePoints(""), U"");
  EXPECT_EQ(CodePoints("aé€😀"), U"aé€😀");
  EXPECT_EQ(CodePoints("\xff"
                       "a\xe2\x82"),
            U"\uFFFDa\uFFFD\uFFFD");
}

std::string Hex(const std::string& raw) { return ColonHex(std::as_bytes(std::span(raw))); }

TEST(TextTest, ALinkLayerAddressHasAnyLength) {
  EXPECT_EQ(Hex(""), "");
  EXPECT_EQ(Hex("\x0a"), "0a");
  EXPECT_EQ(Hex(std::string("\x02\x00\x5e\xff\x00\x01", 6)), "02:00:5e:ff:00:01");
  EXPECT_EQ(Hex(std::string(32, '\x11')).size(), 32 * 3 - 1);
}

TEST(TextTest, ALinkLayerAddressIsReadInEitherCase) {
  std::string bytes;
  EXPECT_TRUE(ParseColonHex("02:5E:fF", bytes));
  EXPECT_EQ(bytes, "\x02\x5e\xff");
  EXPECT_TRUE(ParseColonHex(Hex(std::string(20, '\xab')), bytes));
  EXPECT_EQ(bytes, std::string(20, '\xab'));
}

TEST(TextTest, WhatIsNoLinkLayerAddressIsRefused) {
  for (const char* text : {"", "0", "02:", ":02", "02:0", "02-03", "0x:02", "02:03:", "02 03",
                           "02::03", "025e", "g0"}) {
    std::string bytes;
    EXPECT_FALSE(ParseColonHex(text, bytes)) << text;
  }
}

TEST(TextTest, IpAddressesHaveTheirUsualForm) {
  const auto text = [](const std::string& raw) { return IpText(std::as_bytes(std::span(raw))); };
  EXPECT_EQ(text(std::string("\x0a\x00\x00\xff", 4)), "10.0.0.255");
  EXPECT_EQ(text(std::string(15, '\0') + "\x01"), "::1");
  EXPECT_EQ(text("\xfe\x80" + std::string(13, '\0') + "\x01"), "fe80::1");
  EXPECT_EQ(text(std::string(5, '\0')), "");
}

}  // namespace
}  // namespace linkvane::server
