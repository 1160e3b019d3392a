#include "client/command/yaml.h"

#include <gtest/gtest.h>

#include "client/command/json.h"
#include "linkvane/v1/interface.pb.h"

namespace linkvane::command {
namespace {

std::string Yaml(std::string_view json) { return YamlFromJson(json).value_or("no YAML"); }

TEST(YamlTest, IsInBlockStyle) {
  EXPECT_EQ(Yaml(R"({"a": 1, "b": {"c": [true, "x"], "d": {}}, "e": []})"),
            "a: 1\n"
            "b:\n"
            "  c:\n"
            "    - true\n"
            "    - x\n"
            "  d: {}\n"
            "e: []\n");
  EXPECT_EQ(Yaml("[\n{\"a\":1,\"b\":[{\"c\":null}]},\n{\"a\":2}\n]\n"),
            "- a: 1\n"
            "  b:\n"
            "    - c: null\n"
            "- a: 2\n");
  EXPECT_EQ(Yaml("[[1, 2], []]"), "- - 1\n  - 2\n- []\n");
  EXPECT_EQ(Yaml("{}"), "{}\n");
  EXPECT_EQ(Yaml("[]"), "[]\n");
}

TEST(YamlTest, LeavesPlainOnlyWhatNobodyTakesForSomethingElse) {
  for (const char* text : {"lo", "eth0.5", "OPER_STATE_UP", "fq_codel", "/run/x", "uplink-of-it"}) {
    EXPECT_EQ(YamlString(text), text);
  }
  for (const char* text : {"",          " ",          " a",
                           "a ",        "true",       "False",
                           "YES",       "no",         "On",
                           "off",       "y",          "N",
                           "null",      "~",          "NaN",
                           ".inf",      "1",          "-1",
                           "+1",        "0x1f",       "0o7",
                           "1_000",     "1e3",        ".5",
                           "1:20",      "2026-12-01", "a: b",
                           "a:b",       "a #b",       "#a",
                           "- a",       "-",          "---",
                           "...",       "? a",        "*a",
                           "&a",        "!a",         "|",
                           ">",         "%a",         "@a",
                           "`a",        "{a}",        "[a]",
                           "a, b",      "'a'",        "=",
                           "<<",        "fe80::1",    "02:00:00:00:00:01",
                           "br\xc3\xa4"}) {
    EXPECT_EQ(YamlString(text), "\"" + std::string(text) + "\"");
  }
}

TEST(YamlTest, EscapesWhatATerminalOrAReaderActsOn) {
  EXPECT_EQ(YamlString("\x1b[31m"), "\"\\x1b[31m\"");
  EXPECT_EQ(YamlString("a\tb\nc\rd"), "\"a\\tb\\nc\\x0dd\"");
  EXPECT_EQ(YamlString(std::string_view("\0\x7f", 2)), "\"\\x00\\x7f\"");
  EXPECT_EQ(YamlString("\"\\"), "\"\\\"\\\\\"");
  EXPECT_EQ(YamlString("\xc2\x85"), "\"\\x85\"");                           // next line
  EXPECT_EQ(YamlString("\xe2\x80\xa8\xe2\x80\x8f"), "\"\\u2028\\u200f\"");  // separator, direction
  EXPECT_EQ(YamlString("\xef\xbb\xbf\xef\xbf\xbf"), "\"\\ufeff\\uffff\"");
  EXPECT_EQ(YamlString("\xf0\x9f\x8c\x89"), "\"\xf0\x9f\x8c\x89\"");
  EXPECT_EQ(YamlString("\xff"), "\"\\ufffd\"");
}

TEST(YamlTest, ReadsTheEscapesOfJson) {
  EXPECT_EQ(Yaml(R"("\"\\\/\b\f\n\r\t\u001b\u00e4\ud83c\udf09\u003c")"),
            "\"\\\"\\\\/\\x08\\x0c\\n\\x0d\\t\\x1b\xc3\xa4\xf0\x9f\x8c\x89<\"\n");
  EXPECT_EQ(Yaml(R"("\ud83c")"), "\"\xef\xbf\xbd\"\n");
}

TEST(YamlTest, QuotesKeysToo) {
  EXPECT_EQ(Yaml(R"({"no": 1, "on": 2})"), "\"no\": 1\n\"on\": 2\n");
}

TEST(YamlTest, WritesNumbersAsYaml11ReadsThem) {
  EXPECT_EQ(Yaml("[1e6, 1.5e-7, -2, true, false]"), "- 1.0e+6\n- 1.5e-7\n- -2\n- true\n- false\n");
}

TEST(YamlTest, RefusesWhatIsNotJson) {
  for (const char* json : {"", "{", "[", "[1", "{\"a\"}", "{\"a\":}", "\"a", "\"\\x\"", "\"\\u12",
                           "1 2", "[1,]", "{\"a\":1,}", "]"}) {
    EXPECT_FALSE(YamlFromJson(json).ok()) << json;
  }
}

TEST(YamlTest, KeepsNastyNamesOfInterfaces) {
  v1::Interface interface;
  interface.set_name("no");
  interface.set_alias("a: b # \x1b]0;x\x07");
  interface.mutable_stats()->set_rx_bytes(12345678901234567890U);
  EXPECT_EQ(Yaml(*ToJson(interface, JsonStyle::kOneLine)),
            "name: \"no\"\n"
            "alias: \"a: b # \\x1b]0;x\\x07\"\n"
            "stats:\n"
            "  rx_bytes: \"12345678901234567890\"\n");
}

}  // namespace
}  // namespace linkvane::command
