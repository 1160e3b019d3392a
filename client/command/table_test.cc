#include "client/command/table.h"

#include <gtest/gtest.h>

namespace linkvane::command {
namespace {

TEST(TableTest, AlignsColumnsWithoutSpacesAtTheEnd) {
  Table table({{.title = "N", .right = true}, {.title = "NAME"}, {.title = "LAST"}});
  table.AddRow({"1", "lo", "x"});
  table.AddRow({"100", "br\xc3\xa4", ""});
  table.AddRow({"7", "ethernet0", "long value"});
  EXPECT_EQ(table.Format(),
            "  N  NAME       LAST\n"
            "  1  lo         x\n"
            "100  br\xc3\xa4        -\n"
            "  7  ethernet0  long value\n");
}

TEST(TableTest, LeavesOutOptionalColumnsThatAreEmpty) {
  Table table({{.title = "A"}, {.title = "B", .only_if_filled = true}, {.title = "C"}});
  table.AddRow({"1", "", "2"});
  EXPECT_EQ(table.Format(), "A  C\n1  2\n");
  table.AddRow({"1", "b", "2"});
  EXPECT_EQ(table.Format(), "A  B  C\n1  -  2\n1  b  2\n");
}

TEST(TableTest, ColorsTakeNoColumns) {
  Table table({{.title = "STATE", .ink = StateInk}, {.title = "N", .right = true}});
  table.AddRow({"up", "1"});
  table.AddRow({"down", "10"});
  table.AddRow({"dormant", ""});
  table.AddRow({"", ""});
  EXPECT_EQ(table.Format(true),
            "\x1b[1mSTATE\x1b[0m     \x1b[1mN\x1b[0m\n"
            "\x1b[32mup\x1b[0m        1\n"
            "\x1b[31mdown\x1b[0m     10\n"
            "\x1b[33mdormant\x1b[0m   -\n"
            "-         -\n");
  EXPECT_EQ(table.Format(), "STATE     N\nup        1\ndown     10\ndormant   -\n-         -\n");
}

TEST(TableTest, ShowsTitlesAloneWithoutRows) {
  EXPECT_EQ(Table({{.title = "A"}, {.title = "B", .right = true}}).Format(), "A  B\n");
}

}  // namespace
}  // namespace linkvane::command
