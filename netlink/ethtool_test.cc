#include "netlink/ethtool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "netlink/fake_socket.h"

namespace linkvane::netlink {
namespace {

constexpr uint16_t kFamily = 21;

absl::Time Soon() { return absl::Now() + absl::Seconds(30); }

std::vector<std::byte> Generic(const FakeAttributes& attributes) {
  const genlmsghdr header{};
  std::vector<std::byte> payload;
  AppendBytes(payload, &header, sizeof(header));
  AppendBytes(payload, attributes.bytes().data(), attributes.bytes().size());
  return payload;
}

std::vector<std::byte> Modes(int32_t index, uint32_t speed, uint8_t duplex, uint8_t autoneg) {
  return Generic(FakeAttributes()
                     .Add(ETHTOOL_A_LINKMODES_HEADER,
                          FakeAttributes().Number<int32_t>(ETHTOOL_A_HEADER_DEV_INDEX, index))
                     .Number<uint8_t>(ETHTOOL_A_LINKMODES_AUTONEG, autoneg)
                     .Number<uint32_t>(ETHTOOL_A_LINKMODES_SPEED, speed)
                     .Number<uint8_t>(ETHTOOL_A_LINKMODES_DUPLEX, duplex));
}

TEST(EthtoolTest, ReadsLinkModes) {
  EthtoolView view;
  ASSERT_TRUE(DecodeEthtool(Modes(7, 25000, 1, 1), EthtoolTopic::kLinkModes, view));
  EXPECT_EQ(view.index, 7);
  EXPECT_EQ(view.speed_mbps, 25000);
  EXPECT_EQ(view.duplex, 1);
  EXPECT_EQ(view.autonegotiation, true);
  EXPECT_EQ(view.port, std::nullopt);
}

TEST(EthtoolTest, WhatIsNotKnownIsUnset) {
  EthtoolView view;
  ASSERT_TRUE(DecodeEthtool(Modes(7, 0xffffffff, 0xff, 0), EthtoolTopic::kLinkModes, view));
  EXPECT_EQ(view.speed_mbps, std::nullopt);
  EXPECT_EQ(view.duplex, std::nullopt);
  EXPECT_EQ(view.autonegotiation, false);
}

TEST(EthtoolTest, ReadsThePort) {
  EthtoolView view;
  const auto message =
      Generic(FakeAttributes()
                  .Add(ETHTOOL_A_LINKINFO_HEADER,
                       FakeAttributes().Number<int32_t>(ETHTOOL_A_HEADER_DEV_INDEX, 7))
                  .Number<uint8_t>(ETHTOOL_A_LINKINFO_PORT, 3));
  ASSERT_TRUE(DecodeEthtool(message, EthtoolTopic::kLinkInfo, view));
  EXPECT_EQ(view.port, 3);
  EXPECT_EQ(view.speed_mbps, std::nullopt) << "the same number is another thing there";
}

TEST(EthtoolTest, TakesAnyBytes) {
  const std::vector<std::byte> whole = Modes(7, 1000, 1, 1);
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(size));
    for (const EthtoolTopic topic : {EthtoolTopic::kLinkModes, EthtoolTopic::kLinkInfo}) {
      EthtoolView view;
      EXPECT_EQ(DecodeEthtool(cut, topic, view), size >= 16) << size;
    }
  }
}

TEST(GenericFamilyTest, IsAskedByName) {
  auto fake = std::make_unique<FakeSocket>();
  FakeSocket& socket = *fake;
  socket.OnRequest(
      {FakeDatagram().Add(GENL_ID_CTRL, 0,
                          Generic(FakeAttributes()
                                      .Text(CTRL_ATTR_FAMILY_NAME, "ethtool")
                                      .Number<uint16_t>(CTRL_ATTR_FAMILY_ID, kFamily)))});
  socket.OnRequest({FakeDatagram().Error(ENOENT)});
  const auto connection = *Connection::Make(std::move(fake), /*prime=*/false);
  EXPECT_EQ(*GenericFamily(*connection, "ethtool", Soon()), kFamily);
  const absl::Status none = GenericFamily(*connection, "nothing", Soon()).status();
  EXPECT_TRUE(absl::IsNotFound(none)) << none;
  EXPECT_THAT(std::string(none.message()), ::testing::StartsWith("generic netlink family: "));
}

}  // namespace
}  // namespace linkvane::netlink
