#include "netlink/attribute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>

#include <utility>
#include <vector>

#include "netlink/fake_socket.h"

namespace linkvane::netlink {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Bytes BytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

// Types and payload sizes of a run, and whether it ended too early.
struct Walked {
  std::vector<std::pair<int, size_t>> attributes;
  bool malformed = false;
};

Walked Walk(Bytes bytes) {
  Walked run;
  AttributeReader reader(bytes);
  Attribute attribute;
  while (reader.Next(attribute)) {
    run.attributes.emplace_back(attribute.type, attribute.payload.size());
    EXPECT_EQ(attribute.whole.size(), attribute.payload.size() + sizeof(nlattr));
  }
  EXPECT_FALSE(reader.Next(attribute)) << "the end stays the end";
  run.malformed = reader.malformed();
  return run;
}

TEST(AttributeReaderTest, StepsOverPadding) {
  const FakeAttributes run =
      FakeAttributes().Text(1, "ab").Number<uint8_t>(2, 7).Add(3, {}).Number<uint32_t>(4, 9);
  EXPECT_THAT(Walk(run).attributes, ElementsAre(Pair(1, 3), Pair(2, 1), Pair(3, 0), Pair(4, 4)));
  EXPECT_FALSE(Walk(run).malformed);
}

TEST(AttributeReaderTest, NothingIsAnEmptyRun) {
  EXPECT_THAT(Walk({}).attributes, IsEmpty());
  EXPECT_FALSE(Walk({}).malformed);
}

TEST(AttributeReaderTest, TypeIsWithoutItsFlags) {
  const FakeAttributes run = FakeAttributes()
                                 .Number<uint32_t>(5 | NLA_F_NESTED, 0)
                                 .Number<uint32_t>(6 | NLA_F_NET_BYTEORDER, 0);
  EXPECT_THAT(Walk(run).attributes, ElementsAre(Pair(5, 4), Pair(6, 4)));
}

TEST(AttributeReaderTest, LastPaddingMayBeMissingOrLeftOver) {
  const FakeAttributes run = FakeAttributes().Number<uint32_t>(1, 0).Text(2, "");  // 8 + 5 + 3.
  for (size_t size = 13; size <= 16; ++size) {
    const Walked read = Walk(Bytes(run).first(size));
    EXPECT_THAT(read.attributes, ElementsAre(Pair(1, 4), Pair(2, 1))) << size;
    EXPECT_FALSE(read.malformed) << size;
  }
}

TEST(AttributeReaderTest, StopsAtAHeaderThatIsNotSound) {
  for (const uint16_t length : {0, 1, 3, 9, 100, 65535}) {
    std::vector<std::byte> run =
        FakeAttributes().Number<uint32_t>(1, 0).Number<uint32_t>(2, 0).bytes();
    std::memcpy(run.data() + 8, &length, sizeof(length));
    const Walked read = Walk(run);
    EXPECT_THAT(read.attributes, ElementsAre(Pair(1, 4))) << length;
    EXPECT_TRUE(read.malformed) << length;
  }
}

TEST(LoadNumberTest, TakesItsExactSizeOnly) {
  const uint64_t value = 0x0102030405060708;
  const Bytes bytes = std::as_bytes(std::span(&value, 1));
  EXPECT_EQ(LoadNumber<uint64_t>(bytes), value);
  EXPECT_EQ(LoadNumber<uint32_t>(bytes.first(4)), 0x05060708);
  EXPECT_EQ(LoadNumber<uint16_t>(bytes.first(2)), 0x0708);
  EXPECT_EQ(LoadNumber<int8_t>(bytes.first(1)), 0x08);
  EXPECT_EQ(LoadNumber<uint32_t>(bytes), std::nullopt);
  EXPECT_EQ(LoadNumber<uint32_t>(bytes.first(3)), std::nullopt);
  EXPECT_EQ(LoadNumber<uint8_t>({}), std::nullopt);
}

TEST(LoadNumberTest, NeedsNoAlignment) {
  std::vector<std::byte> bytes(9);
  const uint64_t value = 42;
  std::memcpy(bytes.data() + 1, &value, sizeof(value));
  EXPECT_EQ(LoadNumber<uint64_t>(Bytes(bytes).subspan(1)), 42);
}

struct Pair32 {
  uint32_t first;
  uint32_t second;
};

TEST(LoadStructTest, TakesWhatHasGrownAndUnderstandsWhatIsOlder) {
  const uint32_t words[3] = {1, 2, 3};
  const Bytes bytes = std::as_bytes(std::span(words));
  EXPECT_EQ(LoadStruct<Pair32>(bytes)->second, 2);
  EXPECT_EQ(LoadStruct<Pair32>(bytes.first(8))->second, 2);
  EXPECT_FALSE(LoadStruct<Pair32>(bytes.first(7)).has_value());
  EXPECT_EQ(LoadStruct<Pair32>(bytes.first(4), 4)->first, 1);
  EXPECT_EQ(LoadStruct<Pair32>(bytes.first(4), 4)->second, 0);
  EXPECT_FALSE(LoadStruct<Pair32>(bytes.first(3), 4).has_value());
}

TEST(LoadTextTest, EndsAtItsNulOrAtTheEnd) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(LoadText(BytesOf("eth0\0"sv)), "eth0");
  EXPECT_EQ(LoadText(BytesOf("eth0\0junk"sv)), "eth0");
  EXPECT_EQ(LoadText(BytesOf("eth0"sv)), "eth0");
  EXPECT_EQ(LoadText(BytesOf("\0"sv)), "");
  EXPECT_EQ(LoadText({}), "");
}

}  // namespace
}  // namespace linkvane::netlink
