#include "client/command/text.h"

#include <gtest/gtest.h>

namespace linkvane::command {
namespace {

TEST(TextTest, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(Escape("eth0"), "eth0");
  EXPECT_EQ(Escape("a\x1b[2Jb\n\x7f"), "a\\x1b[2Jb\\x0a\\x7f");
  EXPECT_EQ(Escape("caf\xc3\xa9 \xf0\x9f\x98\x80"), "caf\xc3\xa9 \xf0\x9f\x98\x80");
  EXPECT_EQ(Escape("\xc2\x9b"), "\\x9b");  // C1: a control sequence
  // Turns the direction, which is the point.
  EXPECT_EQ(Escape("a\xe2\x80\xaex"), "a\\u202ex");  // NOLINT(misc-misleading-bidirectional)
  EXPECT_EQ(Escape("\\x1b"), "\\\\x1b");             // not to be taken for an escaped one
  EXPECT_EQ(Escape(std::string_view("\0", 1)), "\\x00");
}

TEST(TextTest, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(Escape("a\xff\x62"), "a\\xffb");
  EXPECT_EQ(Escape("\xc3"), "\\xc3");                             // cut short
  EXPECT_EQ(Escape("\xc0\x80"), "\\xc0\\x80");                    // overlong
  EXPECT_EQ(Escape("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(Escape("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // too large
}

TEST(TextTest, CountsCodePoints) {
  EXPECT_EQ(DisplayWidth(""), 0U);
  EXPECT_EQ(DisplayWidth("br\xc3\xa4"), 3U);
  EXPECT_EQ(DisplayWidth("\xf0\x9f\x98\x80"), 1U);
}

TEST(TextTest, WritesEnumsWithoutTheirPrefix) {
  EXPECT_EQ(EnumText("OperState", "OPER_STATE_LOWER_LAYER_DOWN"), "lower-layer-down");
  EXPECT_EQ(EnumText("OperState", "SOMETHING_ELSE"), "something-else");
  EXPECT_EQ(EnumValueName("OperState", "lower-layer-down"), "OPER_STATE_LOWER_LAYER_DOWN");
}

TEST(TextTest, WritesLifetimesInWholeSeconds) {
  EXPECT_EQ(LifetimeText(absl::Milliseconds(59999)), "59s");
  EXPECT_EQ(LifetimeText(absl::Hours(24) - absl::Seconds(1)), "23h59m59s");
  EXPECT_EQ(LifetimeText(absl::Hours(24)), "1d");
  EXPECT_EQ(LifetimeText(absl::Hours(721) + absl::Seconds(5)), "30d1h5s");
  EXPECT_EQ(LifetimeText(-absl::Seconds(5)), "0s");
  EXPECT_EQ(LifetimeText(absl::Milliseconds(5)), "0s");
}

}  // namespace
}  // namespace linkvane::command
