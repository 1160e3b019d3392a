#include "server/state/wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "linkvane/v1/addr.pb.h"
#include "linkvane/v1/interface.pb.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;

TEST(WireTest, DifferentFieldsSeesAddedRemovedAndRepeatedOnes) {
  pb::Interface before;
  before.set_index(1);
  before.set_name("a");
  before.add_alt_names("x");
  before.add_alt_names("y");
  before.set_mtu(1500);
  pb::Interface after = before;
  EXPECT_TRUE(DifferentFields(before.SerializeAsString(), after.SerializeAsString()).none());
  after.mutable_alt_names()->SwapElements(0, 1);
  after.clear_mtu();
  after.set_group(0);
  const FieldSet different = DifferentFields(before.SerializeAsString(), after.SerializeAsString());
  EXPECT_EQ(different.count(), 3U);
  EXPECT_TRUE(different.test(pb::Interface::kAltNamesFieldNumber));
  EXPECT_TRUE(different.test(pb::Interface::kMtuFieldNumber));
  EXPECT_TRUE(different.test(pb::Interface::kGroupFieldNumber));
}

TEST(WireTest, AReaderEndsAtWhatIsNotWellFormed) {
  const std::string whole = [] {
    pb::Interface interface;
    interface.set_name("eth0");
    interface.set_mtu(300);
    return interface.SerializeAsString();
  }();
  for (size_t size = 0; size <= whole.size(); ++size) {
    const auto cut = std::make_unique<char[]>(size);  // Exactly sized, for the sanitizer to watch.
    std::copy_n(whole.data(), size, cut.get());
    WireReader reader(std::string_view(cut.get(), size));
    WireField field;
    size_t read = 0;
    while (reader.Next(field)) read += field.whole.size();
    EXPECT_LE(read, size);
  }
}

TEST(WireTest, WritesWhatProtobufReads) {
  std::string out;
  AppendBytesField(pb::Interface::kNameFieldNumber, "eth0", out);
  for (const uint64_t value : {0ULL, 1ULL, 127ULL, 128ULL, 300ULL, 0xffffffffULL}) {
    const size_t before = out.size();
    AppendVarintField(pb::Interface::kMtuFieldNumber, value, out);
    EXPECT_EQ(out.size() - before, 2 + VarintSize(value));  // The tag takes two bytes.
    pb::Interface interface;
    ASSERT_TRUE(interface.ParseFromString(out));
    EXPECT_EQ(interface.mtu(), value);
    EXPECT_EQ(interface.name(), "eth0");
  }
}

TEST(WireTest, KnowsTheSizeOfAFieldBeforehand) {
  for (const uint32_t number : {1U, 15U, 16U, 255U}) {
    for (const size_t size : {0, 1, 127, 128, 20'000}) {
      std::string out;
      AppendBytesField(number, std::string(size, 'x'), out);
      EXPECT_EQ(BytesFieldSize(number, size), out.size()) << number << " " << size;
    }
  }
}

TEST(WireTest, VarintsHaveUpToTenBytes) {
  std::string out;
  AppendVarint(UINT64_MAX, out);
  EXPECT_EQ(out.size(), 10);
  EXPECT_EQ(VarintSize(UINT64_MAX), 10);
  EXPECT_EQ(VarintSize(0), 1);
}

TEST(WireTest, StepsOverFieldsOfEveryType) {
  // A varint, eight bytes, a text, four bytes.
  const std::string message = std::string("\x08\x96\x01", 3) + "\x11" + std::string(8, 'a') +
                              "\x1a\x02hi" + "\x25" + std::string(4, 'b');
  WireReader reader(message);
  WireField field;
  std::string numbers;
  std::string whole;
  while (reader.Next(field)) {
    numbers += std::to_string(field.number) + ":" + std::to_string(field.type) + " ";
    whole += field.whole;
    if (field.number == 3) {
      EXPECT_EQ(field.value, "hi");
    }
  }
  EXPECT_EQ(numbers, "1:0 2:1 3:2 4:5 ");
  EXPECT_EQ(whole, message);
}

TEST(WireTest, ANumberThatIsCutOffIsNone) {
  for (const char* cut : {"\x11"
                          "1234567",
                          "\x25"
                          "123",
                          "\x0a\x05"
                          "1234",
                          "\x08\x80"}) {
    WireReader reader(cut);
    WireField field;
    EXPECT_FALSE(reader.Next(field)) << field.number;
  }
}

TEST(WireTest, AFieldThatChangedToTheDefaultDiffers) {
  pb::Addr before;
  before.set_prefix_length(24);
  const pb::Addr after;
  const FieldSet different = DifferentFields(before.SerializeAsString(), after.SerializeAsString());
  EXPECT_TRUE(different.test(pb::Addr::kPrefixLengthFieldNumber));
  EXPECT_EQ(different.count(), 1);
}

TEST(WireTest, MergedFieldsStandInTheOrderOfTheirNumbers) {
  std::string even;
  std::string odd;
  AppendVarintField(2, 1, even);
  AppendBytesField(4, "a", even);
  AppendBytesField(4, "b", even);
  AppendVarintField(1, 1, odd);
  AppendVarintField(5, 1, odd);
  AppendVarintField(7, 1, odd);
  for (const std::string& merged : {MergeFields(even, odd), MergeFields(odd, even)}) {
    std::string numbers;
    WireReader reader(merged);
    WireField field;
    while (reader.Next(field)) numbers += static_cast<char>('0' + field.number);
    EXPECT_EQ(numbers, "124457");
    EXPECT_EQ(merged.size(), even.size() + odd.size());
  }
  EXPECT_EQ(MergeFields(even, ""), even);
  EXPECT_EQ(MergeFields("", odd), odd);
  EXPECT_EQ(MergeFields("", ""), "");
}

}  // namespace
}  // namespace linkvane::server
