#include "netlink/vf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <cstring>
#include <string>

#include "netlink/fake_socket.h"
#include "netlink/recording.h"

namespace linkvane::netlink {
namespace {

// The answer to a get of a link with so many virtual functions.
std::vector<std::vector<std::byte>> RecordedAnswer(int count) {
  return LoadRecording("vf" + std::to_string(count) + "-get");
}

// What each function of the recorded machine has of its own: its number.
uint32_t NumberOf(Bytes function) {
  AttributeReader reader(function);
  Attribute attribute;
  while (reader.Next(attribute)) {
    if (attribute.type == IFLA_VF_TRUST) return LoadStruct<uint32_t>(attribute.payload).value_or(0);
  }
  return UINT32_MAX;
}

class RecordedVfTest : public ::testing::TestWithParam<int> {};

TEST_P(RecordedVfTest, AllAreReadAlsoWhereTheKernelsMessageIsBroken) {
  const std::vector<std::vector<std::byte>> answer = RecordedAnswer(GetParam());
  for (const Message& message : MessagesOf(answer)) {
    if (message.type != RTM_NEWLINK) continue;
    LinkView link;
    DecodeTally tally;
    ASSERT_TRUE(DecodeLink(message.payload, link, tally));
    EXPECT_EQ(link.num_vf, static_cast<uint32_t>(GetParam()));
    EXPECT_EQ(link.address.value_or(Bytes()).size(), 6U) << "none of a function's";
    const VfList list = ReadVfs(link);
    EXPECT_EQ(list.unread, 0);
    ASSERT_EQ(list.functions.size(), static_cast<size_t>(GetParam()));
    for (size_t i = 0; i < list.functions.size(); ++i) {
      // Not by the attribute that they were found by.
      ASSERT_EQ(NumberOf(list.functions[i]), i);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, RecordedVfTest, ::testing::Values(2, 106, 200, 220, 222, 500));

TEST(VfTest, WhatIsCutOffIsCountedAndNotInvented) {
  const std::vector<std::vector<std::byte>> answer = RecordedAnswer(222);
  const std::vector<Message> messages = MessagesOf(answer);
  const Bytes payload = messages.front().payload;
  for (const size_t missing : {size_t{2000}, size_t{20'000}, payload.size() / 2}) {
    LinkView link;
    DecodeTally tally;
    ASSERT_TRUE(DecodeLink(payload.first(payload.size() - missing), link, tally));
    const VfList list = ReadVfs(link);
    // The list says that it is as long as one function is short of; nothing says how far the rest
    // of it goes.
    EXPECT_EQ(list.functions.size() + list.unread, 222U) << missing;
    EXPECT_EQ(list.functions.size(), 0U) << missing;
  }
}

TEST(VfTest, AFunctionOutOfTurnEndsTheList) {
  const auto function = [](uint32_t number) {
    std::vector<std::byte> mac(36);
    std::memcpy(mac.data(), &number, sizeof(number));
    return FakeAttributes().Add(IFLA_VF_MAC, mac);
  };
  const FakeAttributes list = FakeAttributes()
                                  .Add(IFLA_VF_INFO, function(0))
                                  .Add(IFLA_VF_INFO, function(1))
                                  .Add(IFLA_VF_INFO, function(1));
  const FakeAttributes attributes =
      FakeAttributes().Number<uint32_t>(IFLA_NUM_VF, 3).Add(IFLA_VFINFO_LIST, list);
  LinkView link;
  link.attributes = attributes;
  DecodeTally tally;
  DecodeAttributes(link.attributes, LinkRules(), link, tally);
  const VfList read = ReadVfs(link);
  EXPECT_EQ(read.functions.size(), 2);
  EXPECT_EQ(read.unread, 1);
}

TEST(VfTest, WithoutAListAllAreUnread) {
  LinkView link;
  EXPECT_EQ(ReadVfs(link).unread, 0);
  link.num_vf = 7;
  EXPECT_EQ(ReadVfs(link).unread, 7);
}

}  // namespace
}  // namespace linkvane::netlink
