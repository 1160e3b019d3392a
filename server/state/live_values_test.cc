#include "server/state/live_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>

#include <future>  // NOLINT(build/c++11)
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "linkvane/v1/interface.pb.h"
#include "netlink/fake_socket.h"
#include "netlink/recording.h"
#include "server/state/testing/gate.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;
using netlink::FakeAttributes;
using netlink::FakeDatagram;
using netlink::FakeSocket;

constexpr uint16_t kFamily = 21;

absl::Time Soon() { return absl::Now() + absl::Seconds(30); }

std::vector<std::byte> Generic(const FakeAttributes& attributes) {
  const genlmsghdr header{};
  std::vector<std::byte> payload;
  netlink::AppendBytes(payload, &header, sizeof(header));
  netlink::AppendBytes(payload, attributes.bytes().data(), attributes.bytes().size());
  return payload;
}
FakeDatagram Family() {
  return FakeDatagram().Add(
      GENL_ID_CTRL, 0, Generic(FakeAttributes().Number<uint16_t>(CTRL_ATTR_FAMILY_ID, kFamily)));
}
FakeDatagram Ethtool(int32_t index, uint16_t type, uint8_t value) {
  return FakeDatagram().Add(
      kFamily, 0,
      Generic(FakeAttributes()
                  .Add(1, FakeAttributes().Number<int32_t>(ETHTOOL_A_HEADER_DEV_INDEX, index))
                  .Number<uint8_t>(type, value)));
}

// The row of a link with so many virtual functions.
RowPtr RowOf(const netlink::Bytes payload) {
  std::vector<std::byte> normal;
  const size_t steady = netlink::AppendNormalLink(payload, normal);
  return MakeInterfaceRow({normal, steady}, {}, {.uid = "u", .revision = 1, .changed_at = {}});
}

class LiveValuesTest : public ::testing::Test {
 protected:
  using Openers = std::vector<std::unique_ptr<FakeSocket>>;

  netlink::ConnectionPool::Opener Opener(Openers& sockets) {
    return [&sockets]() -> absl::StatusOr<std::unique_ptr<netlink::Connection>> {
      if (sockets.empty()) return absl::UnavailableError("no more sockets");
      auto socket = std::move(sockets.back());
      sockets.pop_back();
      return netlink::Connection::Make(std::move(socket), /*prime=*/false);
    };
  }
  FakeSocket& Add(Openers& sockets) {
    sockets.push_back(std::make_unique<FakeSocket>());
    return *sockets.back();
  }

  LiveValues::Result Read(LiveValues::Wanted wanted, std::vector<RowPtr> rows) {
    std::promise<LiveValues::Result> promise;
    values_.Read(wanted, std::move(rows), Soon(),
                 [&promise](const LiveValues::Result& result) { promise.set_value(result); });
    return promise.get_future().get();
  }

  static pb::Interface Parse(std::string_view fields) {
    pb::Interface interface;
    EXPECT_TRUE(interface.ParseFromArray(fields.data(), static_cast<int>(fields.size())));
    return interface;
  }

  Openers route_sockets_;
  Openers generic_sockets_;
  netlink::ConnectionPool route_{1, Opener(route_sockets_)};
  netlink::ConnectionPool generic_{1, Opener(generic_sockets_)};
  LiveValues values_{route_, generic_};
};

TEST_F(LiveValuesTest, TellsAllThatIsKnownOfVirtualFunctions) {
  for (const char* count : {"2", "220", "500"}) {
    const auto recording = netlink::LoadRecording(std::string("vf") + count + "-get");
    const std::vector<netlink::Message> messages = netlink::MessagesOf(recording);
    Add(route_sockets_).OnRequest({FakeDatagram().Add(RTM_NEWLINK, 0, messages.front().payload)});
    LiveValues values(route_, generic_);
    values.Start();
    const RowPtr row = RowOf(messages.front().payload);
    std::promise<LiveValues::Result> promise;
    values.Read({.vfs = true}, {row}, Soon(),
                [&promise](const LiveValues::Result& result) { promise.set_value(result); });
    const LiveValues::Result result = promise.get_future().get();
    ASSERT_TRUE(result.ok()) << result.status();
    const int32_t index = static_cast<const InterfaceRow&>(*row).link.index;
    const pb::Interface interface = Parse((*result)->Find(index));
    ASSERT_EQ(interface.vfs_size(), std::stoi(count));
    EXPECT_FALSE(interface.has_unread_vfs());
    EXPECT_EQ(interface.num_vf(), static_cast<uint32_t>(interface.vfs_size()));
    EXPECT_EQ(interface.vfs(0).index(), 0U);
    EXPECT_EQ(interface.vfs(1).index(), 1U);
    const pb::Vf& vf = interface.vfs(0);
    EXPECT_EQ(vf.hardware_address(), "02:00:00:00:aa:00");
    EXPECT_EQ(vf.broadcast_address(), "ff:ff:ff:ff:ff:ff");
    EXPECT_EQ(vf.vlan_id(), 100U);
    EXPECT_EQ(vf.vlan_qos(), 3U);
    EXPECT_EQ(vf.tx_rate_mbps(), 1000U);
    EXPECT_EQ(vf.min_tx_rate_mbps(), 10U);
    EXPECT_EQ(vf.max_tx_rate_mbps(), 1000U);
    EXPECT_TRUE(vf.spoof_check());
    EXPECT_TRUE(vf.trusted());
    EXPECT_TRUE(vf.has_rss_query());
    EXPECT_FALSE(vf.rss_query());
    EXPECT_EQ(vf.link_state(), pb::VF_LINK_STATE_ENABLE);
    EXPECT_EQ(vf.link_state_raw(), 1U);
    ASSERT_EQ(vf.vlans_size(), 1);
    EXPECT_EQ(vf.vlans(0).id(), 100U);
    EXPECT_EQ(vf.vlans(0).qos(), 3U);
    EXPECT_EQ(vf.vlans(0).protocol(), 0x88a8U);
    EXPECT_EQ(interface.vfs(1).link_state(), pb::VF_LINK_STATE_DISABLE);
    EXPECT_TRUE(interface.vfs(1).rss_query());
    values.Stop();
    // The connection was of use once.
    const auto used = route_.Acquire(Soon());
    ASSERT_TRUE(used.ok());
    (*used)->Cancel();
  }
}

class EthtoolValuesTest : public LiveValuesTest {
 protected:
  static RowPtr Link(int32_t index) {
    ifinfomsg header{};
    header.ifi_index = index;
    std::vector<std::byte> payload;
    netlink::AppendBytes(payload, &header, sizeof(header));
    const FakeAttributes attributes =
        FakeAttributes().Text(IFLA_IFNAME, "eth0").Number<uint32_t>(IFLA_MTU, 1500);
    netlink::AppendBytes(payload, attributes.bytes().data(), attributes.bytes().size());
    return RowOf(payload);
  }
};

TEST_F(EthtoolValuesTest, ADriverThatTellsNothingHasNone) {
  FakeSocket& socket = Add(generic_sockets_);
  socket.OnRequest({Family()});
  socket.OnRequest({Ethtool(1, ETHTOOL_A_LINKMODES_AUTONEG, 1)});
  socket.OnRequest({FakeDatagram().Error(EOPNOTSUPP)});
  socket.OnRequest({Ethtool(1, ETHTOOL_A_LINKINFO_PORT, 0xef)});
  socket.OnRequest({FakeDatagram().Error(ENODEV)});
  values_.Start();
  const LiveValues::Result result = Read({.ethtool = true}, {Link(1), Link(2)});
  ASSERT_TRUE(result.ok()) << result.status();
  const pb::EthtoolSettings settings = Parse((*result)->Find(1)).ethtool();
  EXPECT_TRUE(settings.autonegotiation());
  EXPECT_EQ(settings.port(), pb::ETHTOOL_PORT_NONE);
  EXPECT_EQ(settings.port_raw(), 0xefU);
  EXPECT_FALSE(settings.has_speed_mbps());
  EXPECT_EQ((*result)->Find(2), "");
}

TEST_F(EthtoolValuesTest, TheFamilysNumberIsAskedForOnce) {
  FakeSocket& socket = Add(generic_sockets_);
  socket.OnRequest({Family()});
  for (int i = 0; i < 4; ++i) socket.OnRequest({FakeDatagram().Error(EOPNOTSUPP)});
  values_.Start();
  EXPECT_TRUE(Read({.ethtool = true}, {Link(1)}).ok());
  EXPECT_TRUE(Read({.ethtool = true}, {Link(1)}).ok());
  EXPECT_EQ(socket.requests(), 5);
}

TEST_F(EthtoolValuesTest, AKernelWithoutTheFamilyTellsNothing) {
  Add(generic_sockets_).OnRequest({FakeDatagram().Error(ENOENT)});
  values_.Start();
  const LiveValues::Result result = Read({.ethtool = true}, {Link(1)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)->bytes(), 0);
}

TEST_F(EthtoolValuesTest, AConnectionThatBreaksIsAnError) {
  FakeSocket& socket = Add(generic_sockets_);
  socket.OnRequest({Family()});
  socket.OnRequest({netlink::FakeStep::PeekError(ENOBUFS)});
  values_.Start();
  EXPECT_TRUE(absl::IsUnavailable(Read({.ethtool = true}, {Link(1)}).status()));
}

TEST_F(EthtoolValuesTest, WhoComesTooLateIsToldSo) {
  Add(generic_sockets_).OnRequest({Family()});
  values_.Start();
  std::promise<LiveValues::Result> promise;
  values_.Read({.ethtool = true}, {Link(1)}, absl::Now() - absl::Seconds(1),
               [&promise](const LiveValues::Result& result) { promise.set_value(result); });
  EXPECT_TRUE(absl::IsDeadlineExceeded(promise.get_future().get().status()));
}

TEST_F(EthtoolValuesTest, TooManyAreRefusedAndStopEndsThoseWhoWait) {
  size_t refused = 0;
  size_t cancelled = 0;
  const auto count = [&](const LiveValues::Result& result) {
    refused += absl::IsResourceExhausted(result.status()) ? 1 : 0;
    cancelled += absl::IsCancelled(result.status()) ? 1 : 0;
  };
  // It was not started, so all wait.
  for (size_t i = 0; i < LiveValues::kMostWaiting + 3; ++i) {
    values_.Read({.ethtool = true}, {}, Soon(), count);
  }
  EXPECT_EQ(refused, 3);
  values_.Stop();
  EXPECT_EQ(cancelled, LiveValues::kMostWaiting);
  values_.Read({.ethtool = true}, {}, Soon(), count);
  EXPECT_EQ(cancelled, LiveValues::kMostWaiting + 1);
}

}  // namespace
}  // namespace linkvane::server
