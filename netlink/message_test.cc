#include "netlink/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <string>
#include <vector>

#include "netlink/fake_socket.h"

namespace linkvane::netlink {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One message of `size` bytes, header included; the rest of `room` is padding.
void AppendMessage(std::vector<std::byte>& out, uint16_t type, uint32_t size, size_t room) {
  nlmsghdr header{};
  header.nlmsg_len = size;
  header.nlmsg_type = type;
  header.nlmsg_flags = NLM_F_MULTI;
  header.nlmsg_seq = 5;
  header.nlmsg_pid = 6;
  AppendBytes(out, &header, sizeof(header));
  out.insert(out.end(), room - sizeof(header), std::byte{0});
}

struct Read {
  std::vector<int> types;
  bool malformed = false;
};
Read ReadAll(Bytes datagram) {
  Read read;
  MessageReader reader(datagram);
  Message message;
  while (reader.Next(message)) read.types.push_back(message.type);
  EXPECT_FALSE(reader.Next(message)) << "the end stays the end";
  read.malformed = reader.malformed();
  return read;
}

TEST(MessageReaderTest, ReadsHeaderAndPayload) {
  std::vector<std::byte> datagram;
  AppendMessage(datagram, RTM_NEWLINK, 21, 24);
  MessageReader reader(datagram);
  Message message;
  ASSERT_TRUE(reader.Next(message));
  EXPECT_EQ(message.type, RTM_NEWLINK);
  EXPECT_EQ(message.flags, NLM_F_MULTI);
  EXPECT_EQ(message.sequence, 5);
  EXPECT_EQ(message.port_id, 6);
  EXPECT_EQ(message.payload.data(), datagram.data() + 16);
  EXPECT_EQ(message.payload.size(), 5);
  EXPECT_FALSE(reader.Next(message));
  EXPECT_FALSE(reader.malformed());
}

TEST(MessageReaderTest, StepsOverPaddingThatTheLastMessageMayLack) {
  std::vector<std::byte> datagram;
  AppendMessage(datagram, 16, 17, 20);
  AppendMessage(datagram, 17, 16, 16);
  AppendMessage(datagram, 18, 18, 18);
  EXPECT_THAT(ReadAll(datagram).types, ElementsAre(16, 17, 18));
  EXPECT_FALSE(ReadAll(datagram).malformed);
}

TEST(MessageReaderTest, NothingIsAnEmptyDatagram) {
  EXPECT_THAT(ReadAll({}).types, IsEmpty());
  EXPECT_FALSE(ReadAll({}).malformed);
}

TEST(MessageReaderTest, StopsAtALengthThatIsNotSound) {
  for (const uint32_t length : {0U, 15U, 21U, 0x7fffffffU, 0xffffffffU}) {
    std::vector<std::byte> datagram;
    AppendMessage(datagram, 16, 16, 16);
    AppendMessage(datagram, 17, length, 20);
    EXPECT_THAT(ReadAll(datagram).types, ElementsAre(16)) << length;
    EXPECT_TRUE(ReadAll(datagram).malformed) << length;
  }
}

TEST(MessageReaderTest, StopsAtATornHeader) {
  std::vector<std::byte> datagram;
  AppendMessage(datagram, 16, 16, 16);
  AppendMessage(datagram, 17, 16, 16);
  for (size_t size = 17; size < 32; ++size) {
    EXPECT_THAT(ReadAll(Bytes(datagram).first(size)).types, ElementsAre(16)) << size;
    EXPECT_TRUE(ReadAll(Bytes(datagram).first(size)).malformed) << size;
  }
}

TEST(RequestTest, WritesWhatTheReadersRead) {
  Request request(RTM_GETLINK, NLM_F_DUMP);
  request.Header(ifinfomsg{.ifi_family = 7, .ifi_index = 9}).Number(1, 0xabcdef).Text(2, "veth");
  const size_t outer = request.BeginNested(3);
  const size_t inner = request.BeginNested(4);
  request.Text(5, "");
  request.EndNested(inner);
  request.EndNested(outer);
  const Bytes bytes = request.Finish(11, 12);

  MessageReader messages(bytes);
  Message message;
  ASSERT_TRUE(messages.Next(message));
  EXPECT_EQ(message.type, RTM_GETLINK);
  EXPECT_EQ(message.flags, NLM_F_REQUEST | NLM_F_DUMP);
  EXPECT_EQ(message.sequence, 11);
  EXPECT_EQ(message.port_id, 12);
  EXPECT_EQ(LoadStruct<ifinfomsg>(message.payload)->ifi_index, 9);
  EXPECT_FALSE(messages.Next(message));
  EXPECT_FALSE(messages.malformed());

  AttributeReader attributes(message.payload.subspan(sizeof(ifinfomsg)));
  Attribute attribute;
  ASSERT_TRUE(attributes.Next(attribute));
  EXPECT_EQ(attribute.type, 1);
  EXPECT_EQ(LoadNumber<uint32_t>(attribute.payload), 0xabcdef);
  ASSERT_TRUE(attributes.Next(attribute));
  EXPECT_EQ(attribute.type, 2);
  EXPECT_EQ(attribute.payload.size(), 5) << "with its NUL";
  EXPECT_EQ(LoadText(attribute.payload), "veth");
  ASSERT_TRUE(attributes.Next(attribute));
  EXPECT_EQ(attribute.type, 3);
  EXPECT_FALSE(attributes.Next(attribute));
  EXPECT_FALSE(attributes.malformed());

  AttributeReader nested(attribute.payload);
  ASSERT_TRUE(nested.Next(attribute));
  EXPECT_EQ(attribute.type, 4);
  AttributeReader innermost(attribute.payload);
  ASSERT_TRUE(innermost.Next(attribute));
  EXPECT_EQ(attribute.type, 5);
  EXPECT_EQ(attribute.payload.size(), 1);
}

TEST(RequestTest, CanBeSentAgainWithAnotherSequenceNumber) {
  Request request(RTM_GETLINK, 0);
  request.Number(1, 1);
  const Bytes first = request.Finish(1, 2);
  const std::vector<std::byte> copy(first.begin(), first.end());
  const Bytes second = request.Finish(3, 2);
  EXPECT_EQ(copy.size(), second.size());
  EXPECT_EQ(LoadStruct<nlmsghdr>(second)->nlmsg_seq, 3);
}

TEST(RequestTest, KnowsWhatItAsksFor) {
  EXPECT_TRUE(Request(RTM_GETLINK, NLM_F_DUMP).is_dump());
  EXPECT_FALSE(Request(RTM_GETLINK, NLM_F_ROOT).is_dump());
  EXPECT_FALSE(Request(RTM_GETLINK, 0).is_dump());
  EXPECT_TRUE(Request(RTM_GETLINK, NLM_F_ACK).wants_ack());
  EXPECT_FALSE(Request(RTM_GETLINK, NLM_F_DUMP).wants_ack());
}

TEST(RequestDeathTest, AbortsWhereItIsFull) {
  const std::string longest(Request::kCapacity - sizeof(nlmsghdr) - sizeof(nlattr) - 1, 'x');
  Request(RTM_GETLINK, 0).Text(1, longest);
  EXPECT_DEATH(Request(RTM_GETLINK, 0).Text(1, longest + "x"), "");
}

}  // namespace
}  // namespace linkvane::netlink
