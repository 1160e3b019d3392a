#include "server/state/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace linkvane::server {
namespace {

TEST(GlobTest, MatchesAsAShellDoes) {
  const struct {
    const char* pattern;
    const char* text;
    bool matches;
  } kCases[] = {
      {"", "", true},        {"", "a", false},         {"*", "", true},
      {"a*", "a", true},     {"*a*b*", "xaxbx", true}, {"*a*b", "xaxbx", false},
      {"a**b", "ab", true},  {"[a-c]", "b", true},     {"[a-c]", "d", false},
      {"[!a-c]", "d", true}, {"[!a-c]", "b", false},   {"[]]", "]", true},
      {"[]", "[]", true},    {"[a", "[a", true},       {"[a-]", "-", true},
      {"[!]", "[!]", true},  {"?", "", false},         {"v*.1[0-9]", "vlan.17", true},
      {"*?", "", false},     {"\\*", "\\x", true},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Glob(c.pattern).Match(c.text), c.matches) << c.pattern << " " << c.text;
  }
}

TEST(GlobTest, ManyStarsTakeNoTimeToSpeakOf) {
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*a";
  EXPECT_FALSE(Glob(pattern + "b").Match(std::string(127, 'a')));
}

}  // namespace
}  // namespace linkvane::server
