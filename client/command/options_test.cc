#include "client/command/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace linkvane::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

absl::StatusOr<Invocation> Parse(std::vector<std::string_view> words) {
  return Invocation::Parse(words);
}

TEST(OptionsTest, TakesValuesInAllForms) {
  const auto invocation =
      Parse({"--name=a=b", "--name", "-c", "interfaces", "-ojson", "--stats", "-o", "table"});
  ASSERT_TRUE(invocation.ok()) << invocation.status();
  EXPECT_THAT(invocation->words(), ElementsAre("interfaces"));
  EXPECT_THAT(invocation->Values("name"), ElementsAre("a=b", "-c"));
  EXPECT_EQ(invocation->Value("output"), "table");
  EXPECT_TRUE(invocation->Has("stats"));
  EXPECT_FALSE(invocation->Has("cached"));
}

TEST(OptionsTest, TakesOptionsBeforeAndAfterTheCommand) {
  const auto invocation = Parse({"--server=x", "addrs", "-4", "--", "--not-an-option", "-"});
  ASSERT_TRUE(invocation.ok()) << invocation.status();
  EXPECT_THAT(invocation->words(), ElementsAre("addrs", "--not-an-option", "-"));
  EXPECT_TRUE(invocation->Has("ipv4"));
}

TEST(OptionsTest, NamesWhatIsWrong) {
  EXPECT_EQ(Parse({"info", "--nope=3"}).status().message(), "unknown option --nope");
  EXPECT_EQ(Parse({"-x"}).status().message(), "unknown option -x");
  EXPECT_EQ(Parse({"-46"}).status().message(), "unknown option -46");
  EXPECT_EQ(Parse({"--stats=yes"}).status().message(), "--stats takes no value");
  EXPECT_EQ(Parse({"watch", "--type"}).status().message(), "--type needs a value: TYPE");
}

TEST(OptionsTest, RefusesOptionsOfOtherCommands) {
  const auto invocation = Parse({"interfaces", "--within=10.0.0.0/8", "-ojson"});
  ASSERT_TRUE(invocation.ok());
  EXPECT_TRUE(invocation->CheckOptions("addrs").ok());
  EXPECT_EQ(invocation->CheckOptions("interfaces").message(),
            "'interfaces' takes no option --within");
}

TEST(OptionsTest, SplitsListsAtCommas) {
  const auto invocation = Parse({"--kind=veth, bridge", "--kind=vlan", "--fields=a,,b"});
  ASSERT_TRUE(invocation.ok());
  const auto kinds = invocation->List("kind");
  ASSERT_TRUE(kinds.ok());
  EXPECT_THAT(*kinds, ElementsAre("veth", "bridge", "vlan"));
  EXPECT_THAT(std::string(invocation->List("fields").status().message()), HasSubstr("--fields"));
}

TEST(OptionsTest, ReadsNumbers) {
  const auto number = [](std::string_view text) {
    return Parse({"--page-size", text})->Number("page-size", 1);
  };
  EXPECT_EQ(number("5").value(), 5);
  EXPECT_EQ(Parse({})->Number("page-size", 1).value(), std::nullopt);
  for (const char* bad : {"0", "-1", "5x", "", "99999999999"}) {
    EXPECT_EQ(number(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(OptionsTest, ReadsDurations) {
  const auto duration = [](std::string_view text) {
    return Parse({"--timeout", text})->Duration("timeout");
  };
  EXPECT_EQ(duration("1m30s").value(), absl::Seconds(90));
  EXPECT_EQ(duration("2.5").value(), absl::Milliseconds(2500));
  EXPECT_EQ(Parse({})->Duration("timeout").value(), std::nullopt);
  for (const char* bad : {"0", "-3s", "soon", "", "10 s", "nan"}) {
    EXPECT_EQ(duration(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

}  // namespace
}  // namespace linkvane::command
