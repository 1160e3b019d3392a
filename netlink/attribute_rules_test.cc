#include "netlink/attribute_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>

#include "netlink/fake_socket.h"

namespace linkvane::netlink {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct View {
  std::optional<uint32_t> number;
  std::optional<std::string_view> text;
  std::optional<Bytes> bytes;
  std::optional<uint16_t> inner;
  std::optional<uint16_t> innermost;
};

enum : uint16_t { kNumber = 1, kText, kBytes, kAge, kCounter, kNest, kSilent, kUnknown = 99 };
enum : uint16_t { kInner = 1, kInnerAge, kInnerNest };

constexpr AttributeRule<View> kInnermostList[] = {
    {1, "INNERMOST", Volatility::kSteady, ReadInto<&View::innermost>},
};
constexpr AttributeRules<View> kInnermost(kInnermostList);
constexpr AttributeRule<View> kInnerList[] = {
    {kInner, "INNER", Volatility::kSteady, ReadInto<&View::inner>},
    {kInnerAge, "INNER_AGE", Volatility::kVolatile},
    {kInnerNest, "INNER_NEST", Volatility::kSteady, nullptr, &kInnermost},
};
constexpr AttributeRules<View> kInnerRules(kInnerList);
constexpr AttributeRule<View> kList[] = {
    {kNumber, "NUMBER", Volatility::kSteady, ReadInto<&View::number>},
    {kText, "TEXT", Volatility::kSteady, ReadInto<&View::text>},
    {kBytes, "BYTES", Volatility::kSteady, ReadInto<&View::bytes>},
    {kAge, "AGE", Volatility::kVolatile},
    {kCounter, "COUNTER", Volatility::kTransient},
    {kNest, "NEST", Volatility::kSteady, nullptr, &kInnerRules},
    {kSilent, "SILENT", Volatility::kSteady},
};
constinit const AttributeRules<View> kRules(kList);

View Decode(Bytes attributes, uint64_t malformed = 0) {
  View view;
  DecodeTally tally;
  DecodeAttributes(attributes, kRules, view, tally);
  EXPECT_EQ(tally.malformed, malformed);
  return view;
}

std::vector<std::byte> Select(Bytes attributes, Volatility wanted) {
  std::vector<std::byte> out;
  AppendSelected(attributes, kRules, wanted, out);
  return out;
}

TEST(AttributeRulesTest, AreFoundByNumber) {
  ASSERT_NE(kRules.Find(kText), nullptr);
  EXPECT_EQ(kRules.Find(kText)->name, "TEXT");
  EXPECT_EQ(kRules.Find(0), nullptr);
  EXPECT_EQ(kRules.Find(kUnknown), nullptr);
  EXPECT_EQ(kRules.Find(AttributeRules<View>::kTypes), nullptr);
  EXPECT_EQ(kRules.Find(0x3fff), nullptr);
}

TEST(DecodeTest, FirstOfARepeatedAttributeWins) {
  const FakeAttributes run = FakeAttributes()
                                 .Number<uint32_t>(kNumber, 1)
                                 .Text(kText, "first")
                                 .Number<uint32_t>(kNumber, 2)
                                 .Text(kText, "second");
  const View view = Decode(run);
  EXPECT_EQ(view.number, 1);
  EXPECT_EQ(view.text, "first");
}

TEST(DecodeTest, FirstSoundOneWins) {
  const FakeAttributes run = FakeAttributes()
                                 .Number<uint64_t>(kNumber, 1)
                                 .Number<uint32_t>(kNumber, 2)
                                 .Number<uint8_t>(kNumber, 3);
  EXPECT_EQ(Decode(run, 2).number, 2);
}

TEST(DecodeTest, WrongLengthsAreLeftUnsetAndCounted) {
  const View view =
      Decode(FakeAttributes().Number<uint16_t>(kNumber, 1).Add(kText, {}).Add(kBytes, {}), 2);
  EXPECT_EQ(view.number, std::nullopt);
  EXPECT_EQ(view.text, std::nullopt);
  EXPECT_TRUE(view.bytes.has_value()) << "bytes may be none";
}

TEST(DecodeTest, UnknownOnesChangeNothing) {
  EXPECT_EQ(Decode(FakeAttributes().Text(kUnknown, "x").Number<uint32_t>(kNumber, 1)).number, 1);
}

TEST(DecodeTest, WhatStandsBeforeAnUnsoundHeaderIsRead) {
  std::vector<std::byte> run =
      FakeAttributes().Number<uint32_t>(kNumber, 1).Text(kText, "x").bytes();
  run[8] = std::byte{200};
  const View view = Decode(run, 1);
  EXPECT_EQ(view.number, 1);
  EXPECT_EQ(view.text, std::nullopt);
}

TEST(DecodeTest, FollowsNestedRules) {
  const FakeAttributes innermost = FakeAttributes().Number<uint16_t>(1, 8);
  const FakeAttributes inner =
      FakeAttributes().Number<uint16_t>(kInner, 7).Add(kInnerNest, innermost);
  const View view = Decode(FakeAttributes().Add(kNest, inner));
  EXPECT_EQ(view.inner, 7);
  EXPECT_EQ(view.innermost, 8);
}

TEST(DecodeTest, UnsoundNestedRunIsCountedAndEndsThere) {
  std::vector<std::byte> inner = FakeAttributes().Number<uint16_t>(kInner, 7).bytes();
  inner[0] = std::byte{3};
  const View view = Decode(FakeAttributes().Add(kNest, inner).Number<uint32_t>(kNumber, 1), 1);
  EXPECT_EQ(view.inner, std::nullopt);
  EXPECT_EQ(view.number, 1);
}

TEST(ForEachUnknownTest, FindsThemAtAnyDepthWithTheirParents) {
  const FakeAttributes innermost = FakeAttributes().Number<uint16_t>(1, 8).Text(77, "c");
  const FakeAttributes inner = FakeAttributes().Text(66, "b").Number<uint16_t>(kInner, 7).Add(
      kInnerNest | NLA_F_NESTED, innermost);
  const FakeAttributes run = FakeAttributes()
                                 .Number<uint32_t>(kNumber, 1)
                                 .Text(kUnknown, "a")
                                 .Number<uint32_t>(kSilent, 1)
                                 .Add(kNest, inner)
                                 .Text(300, "d");
  std::vector<std::string> found;
  ForEachUnknown(run, kRules, [&](std::span<const uint16_t> parents, const Attribute& attribute) {
    std::string path;
    for (const uint16_t parent : parents) path += std::to_string(parent) + ".";
    path += std::to_string(attribute.type) + "=";
    found.push_back(path.append(LoadText(attribute.payload)));
  });
  EXPECT_THAT(found, ElementsAre("99=a", "6.66=b", "6.3.77=c", "300=d"));
}

TEST(AppendSelectedTest, PartsSteadyFromVolatileAndLeavesOutTransient) {
  const FakeAttributes run = FakeAttributes()
                                 .Text(kText, "ab")
                                 .Number<uint8_t>(kAge, 1)
                                 .Number<uint64_t>(kCounter, 5)
                                 .Text(kUnknown, "u")
                                 .Number<uint32_t>(kSilent, 3);
  EXPECT_EQ(Select(run, Volatility::kSteady),
            FakeAttributes().Text(kText, "ab").Number<uint32_t>(kSilent, 3).bytes());
  EXPECT_EQ(Select(run, Volatility::kVolatile),
            FakeAttributes().Number<uint8_t>(kAge, 1).Text(kUnknown, "u").bytes());
}

TEST(AppendSelectedTest, PartsTheMembersOfANestedAttribute) {
  const FakeAttributes inner = FakeAttributes()
                                   .Number<uint16_t>(kInner, 7)
                                   .Number<uint8_t>(kInnerAge, 1)
                                   .Text(66, "unknown");
  const FakeAttributes run = FakeAttributes().Add(kNest | NLA_F_NESTED, inner);
  const FakeAttributes steady = FakeAttributes().Number<uint16_t>(kInner, 7);
  EXPECT_EQ(Select(run, Volatility::kSteady),
            FakeAttributes().Add(kNest | NLA_F_NESTED, steady).bytes());
  const FakeAttributes rest = FakeAttributes().Number<uint8_t>(kInnerAge, 1).Text(66, "unknown");
  EXPECT_EQ(Select(run, Volatility::kVolatile),
            FakeAttributes().Add(kNest | NLA_F_NESTED, rest).bytes());
}

TEST(AppendSelectedTest, NestedAttributeWithoutWantedMembersIsLeftOut) {
  const FakeAttributes run =
      FakeAttributes().Add(kNest, FakeAttributes().Number<uint16_t>(kInner, 7)).Add(kNest, {});
  EXPECT_THAT(Select(run, Volatility::kVolatile), IsEmpty());
  EXPECT_EQ(Select(run, Volatility::kSteady),
            FakeAttributes().Add(kNest, FakeAttributes().Number<uint16_t>(kInner, 7)).bytes());
}

TEST(AppendSelectedTest, AppendsAndPads) {
  std::vector<std::byte> out(4, std::byte{1});
  const FakeAttributes run = FakeAttributes().Text(kText, "");
  AppendSelected(Bytes(run).first(5), kRules, Volatility::kSteady, out);
  EXPECT_EQ(out.size(), 12);
  EXPECT_EQ(out[3], std::byte{1});
}

TEST(AppendSelectedTest, NestedAttributeOfTheGreatestLengthStaysReadable) {
  // 65535 bytes whose last member lacks its padding, which is added.
  const std::vector<std::byte> filler(65535 - 4 - 4);
  const FakeAttributes member = FakeAttributes().Add(kInner, filler);
  const FakeAttributes run = FakeAttributes().Add(kNest, Bytes(member).first(65531));
  const std::vector<std::byte> steady = Select(run, Volatility::kSteady);
  AttributeReader reader(steady);
  Attribute attribute;
  ASSERT_TRUE(reader.Next(attribute));
  EXPECT_EQ(attribute.payload.size(), 65531);
  EXPECT_FALSE(reader.Next(attribute));
  EXPECT_FALSE(reader.malformed());
}

// A run with all that can be in one, nested too.
FakeAttributes Everything(uint32_t number, uint8_t age, uint64_t counter, uint8_t inner_age) {
  const FakeAttributes innermost = FakeAttributes().Number<uint16_t>(1, 8).Text(77, "c");
  const FakeAttributes inner = FakeAttributes()
                                   .Number<uint16_t>(kInner, 7)
                                   .Number<uint8_t>(kInnerAge, inner_age)
                                   .Add(kInnerNest, innermost);
  return FakeAttributes()
      .Number<uint32_t>(kNumber, number)
      .Number<uint8_t>(kAge, age)
      .Number<uint64_t>(kCounter, counter)
      .Add(kNest, inner)
      .Text(kUnknown, "u")
      .Text(kText, "text");
}

bool SelectedOfOther(const FakeAttributes& run, const FakeAttributes& other) {
  return SelectedAre(run, kRules, Select(other, Volatility::kSteady),
                     Select(other, Volatility::kVolatile));
}

TEST(SelectedAreTest, HoldsForWhatAppendSelectedGives) {
  const FakeAttributes run = Everything(1, 2, 3, 4);
  EXPECT_TRUE(SelectedOfOther(run, run));
  EXPECT_TRUE(SelectedOfOther(run, Everything(1, 2, 99, 4))) << "a counter is not kept";
  EXPECT_TRUE(SelectedOfOther({}, {}));
}

TEST(SelectedAreTest, SeesADifferenceInEitherPartAndAtAnyDepth) {
  const FakeAttributes run = Everything(1, 2, 3, 4);
  EXPECT_FALSE(SelectedOfOther(run, Everything(9, 2, 3, 4)));
  EXPECT_FALSE(SelectedOfOther(run, Everything(1, 9, 3, 4)));
  EXPECT_FALSE(SelectedOfOther(run, Everything(1, 2, 3, 9)));
}

TEST(SelectedAreTest, SeesWhatCameAndWhatWent) {
  const FakeAttributes run = Everything(1, 2, 3, 4);
  const FakeAttributes more = Everything(1, 2, 3, 4).Number<uint32_t>(kSilent, 1);
  const FakeAttributes more_unknown = Everything(1, 2, 3, 4).Number<uint32_t>(98, 1);
  for (const FakeAttributes& other : {more, more_unknown, FakeAttributes()}) {
    EXPECT_FALSE(SelectedOfOther(run, other));
    EXPECT_FALSE(SelectedOfOther(other, run));
  }
}

TEST(SelectedAreTest, SeesWhereANestedRunEnds) {
  // The same bytes, the last member inside or behind.
  const FakeAttributes one = FakeAttributes().Number<uint16_t>(kInner, 7);
  const FakeAttributes two =
      FakeAttributes().Number<uint16_t>(kInner, 7).Number<uint16_t>(kInner, 8);
  const FakeAttributes inside = FakeAttributes().Add(kNest, two);
  const FakeAttributes behind = FakeAttributes().Add(kNest, one).Number<uint16_t>(kInner, 8);
  EXPECT_FALSE(SelectedOfOther(inside, behind));
  EXPECT_FALSE(SelectedOfOther(behind, inside));
}

}  // namespace
}  // namespace linkvane::netlink
