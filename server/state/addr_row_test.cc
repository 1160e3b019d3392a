#include "server/state/addr_row.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/time_util.h>
#include <gtest/gtest.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include <string>

#include "server/state/row.h"
#include "server/state/testing/staged_state.h"

namespace linkvane::server {
namespace {

using ::google::protobuf::util::TimeUtil;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace pb = ::linkvane::v1;

constexpr uint32_t kForever = 0xffffffff;

// The stage begins 100,000 s after boot, at this time.
constexpr int64_t kStart = 1'700'000'000;

FakeAddr Leased(uint32_t preferred, uint32_t valid) {
  return {
      .address = "192.0.2.1",
      .flags = 0,
      .lifetime = ifa_cacheinfo{
          .ifa_prefered = preferred, .ifa_valid = valid, .cstamp = 9'900'000, .tstamp = 9'990'000}};
}

TEST(AddrRowTest, TellsAllThatTheKernelTells) {
  StagedState stage;
  FakeAddr addr{.address = "10.0.0.1",
                .prefix_length = 32,
                .peer = "10.0.0.2",
                .label = "eth0:1",
                .scope = RT_SCOPE_LINK,
                .flags = IFA_F_PERMANENT | IFA_F_SECONDARY | IFA_F_NOPREFIXROUTE | 0x10000};
  addr.others = {{IFA_BROADCAST, std::string("\x0a\0\0\xff", 4)},
                 {IFA_RT_PRIORITY, std::string("\x07\0\0\0", 4)},
                 {IFA_PROTO, std::string("\x03", 1)}};
  stage.Sync({{.index = 1}}, {addr});
  const pb::Addr row = stage.Addr();
  EXPECT_EQ(row.interface_index(), 1);
  EXPECT_EQ(row.family(), pb::ADDRESS_FAMILY_IPV4);
  EXPECT_EQ(row.peer_address(), "10.0.0.2");
  EXPECT_EQ(row.broadcast_address(), "10.0.0.255");
  EXPECT_EQ(row.label(), "eth0:1");
  EXPECT_EQ(row.scope(), pb::ADDR_SCOPE_LINK);
  EXPECT_EQ(row.scope_raw(), RT_SCOPE_LINK);
  EXPECT_EQ(row.route_metric(), 7);
  EXPECT_EQ(row.protocol(), 3);
  EXPECT_THAT(row.flags(), ElementsAre(pb::ADDR_FLAG_SECONDARY, pb::ADDR_FLAG_PERMANENT,
                                       pb::ADDR_FLAG_NOPREFIXROUTE));
  EXPECT_EQ(row.flags_raw(), addr.flags);
}

TEST(AddrRowTest, TheBitOfSecondaryMeansTemporaryInIpv6) {
  StagedState stage;
  stage.Sync({{.index = 1}}, {{.address = "2001:db8::1", .flags = IFA_F_TEMPORARY}});
  EXPECT_THAT(stage.Addr().flags(), ElementsAre(pb::ADDR_FLAG_TEMPORARY));
}

TEST(AddrRowTest, WhatTheKernelDoesNotSayIsUnset) {
  StagedState stage;
  stage.Sync({{.index = 1}}, {{.address = "2001:db8::1"}});
  const pb::Addr row = stage.Addr();
  EXPECT_FALSE(row.has_peer_address());
  EXPECT_FALSE(row.has_broadcast_address());
  EXPECT_FALSE(row.has_label());
  EXPECT_FALSE(row.has_protocol());
  EXPECT_FALSE(row.has_valid_until());
  EXPECT_FALSE(row.has_created_at());
}

TEST(AddrRowTest, LifetimesBecomePointsInTime) {
  StagedState stage;
  stage.Sync({{.index = 1}}, {Leased(1000, 2000)});
  const pb::Addr row = stage.Addr();
  EXPECT_EQ(TimeUtil::TimestampToSeconds(row.preferred_until()), kStart + 1000);
  EXPECT_EQ(TimeUtil::TimestampToSeconds(row.valid_until()), kStart + 2000);
  EXPECT_EQ(TimeUtil::TimestampToSeconds(row.created_at()), kStart - 1000);
  EXPECT_EQ(TimeUtil::TimestampToSeconds(row.updated_at()), kStart - 100);
}

TEST(AddrRowTest, ALifetimeWithoutEndIsUnset) {
  StagedState stage;
  stage.Sync({{.index = 1}}, {Leased(kForever, kForever)});
  EXPECT_FALSE(stage.Addr().has_preferred_until());
  EXPECT_FALSE(stage.Addr().has_valid_until());
  EXPECT_TRUE(stage.Addr().has_created_at());
}

TEST(AddrRowTest, ATimeStampMayHaveWrappedAround) {
  StagedState stage;
  FakeAddr addr = Leased(10, 10);
  addr.lifetime->cstamp = 9'999'999 + 1'000'000;  // Ten thousand seconds ahead: the clocks differ.
  addr.lifetime->tstamp = static_cast<uint32_t>(-500);  // Before the counter began again.
  stage.Sync({{.index = 1}}, {addr});
  EXPECT_EQ(TimeUtil::TimestampToSeconds(stage.Addr().created_at()), kStart);
  EXPECT_EQ(TimeUtil::TimestampToSeconds(stage.Addr().updated_at()), kStart - 100'005);
}

TEST(AddrRowTest, LifetimesThatRunDownMakeNoChange) {
  StagedState stage;
  stage.Sync({{.index = 1}}, {Leased(1000, 2000)});
  const std::string wire = stage.state().Addrs()->rows[0]->wire;
  const uint64_t encoded = RowsEncoded();
  stage.TakeWords();
  for (uint32_t passed = 60; passed < 600; passed += 60) {
    stage.Pass(absl::Seconds(60));
    stage.DumpAddrs({Leased(1000 - passed, 2000 - passed)});
    stage.Event(Leased(1000 - passed, 2000 - passed));
  }
  EXPECT_THAT(stage.TakeWords(), IsEmpty());
  EXPECT_EQ(stage.state().Addrs()->rows[0]->wire, wire);
  EXPECT_EQ(RowsEncoded(), encoded);
}

TEST(AddrRowTest, ALifetimeThatEndsAtZeroStaysThere) {
  StagedState stage;
  stage.Sync({{.index = 1}}, {Leased(10, 2000)});
  stage.TakeWords();
  stage.Pass(absl::Seconds(100));
  stage.DumpAddrs({Leased(0, 1900)});
  EXPECT_THAT(stage.TakeWords(), IsEmpty());
}

TEST(AddrRowTest, ALifetimeThatWasSetAnewIsAChange) {
  StagedState stage;
  stage.Sync({{.index = 1}}, {Leased(1000, 2000)});
  stage.TakeWords();
  stage.Pass(absl::Seconds(500));
  FakeAddr renewed = Leased(1000, 2000);
  renewed.lifetime->tstamp += 60'000;
  stage.Event(renewed);
  EXPECT_THAT(stage.TakeWords(),
              ElementsAre("~192.0.2.1/24 eth0: preferred_until valid_until updated_at"));
  EXPECT_EQ(TimeUtil::TimestampToSeconds(stage.Addr().valid_until()), kStart + 2500);
}

TEST(AddrRowTest, ALifetimeThatWasSetAnewToWhatItWasIsAChange) {
  StagedState stage;
  stage.Sync({{.index = 1}}, {Leased(kForever, kForever)});
  stage.TakeWords();
  FakeAddr renewed = Leased(kForever, kForever);
  renewed.lifetime->tstamp += 1000;
  stage.Event(renewed);
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~192.0.2.1/24 eth0: updated_at"));
}

TEST(AddrRowTest, ALifetimeThatJumpedIsAChangeEvenWithTheSameStamp) {
  StagedState stage;
  stage.Sync({{.index = 1}}, {Leased(1000, 2000)});
  stage.TakeWords();
  stage.DumpAddrs({Leased(1000, 2010)});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~192.0.2.1/24 eth0: valid_until"));
}

TEST(AddrRowTest, AnotherChangeLeavesThePointsInTimeAsTheyWere) {
  StagedState stage;
  stage.Sync({{.index = 1}}, {Leased(1000, 2000)});
  stage.TakeWords();
  stage.Pass(absl::Milliseconds(10'700));  // The kernel tells whole seconds.
  FakeAddr deprecated = Leased(990, 1990);
  deprecated.flags = IFA_F_DEPRECATED;
  stage.Event(deprecated);
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~192.0.2.1/24 eth0: flags flags_raw"));
  stage.Event(FakeLink{.index = 1, .name = "eth1"});
  EXPECT_THAT(stage.TakeWords(), ElementsAre("~eth1: name", "~192.0.2.1/24 eth1: interface_name"));
  EXPECT_EQ(TimeUtil::TimestampToSeconds(stage.Addr().valid_until()), kStart + 2000);
}

TEST(AddrRowTest, UnknownAttributesAreRefreshedWithoutAChange) {
  StagedState stage;
  FakeAddr addr = Leased(1000, 2000);
  addr.others = {{99, "before"}};
  stage.Sync({{.index = 1}}, {addr});
  ASSERT_EQ(stage.Addr().unknown_attributes_size(), 1);
  EXPECT_EQ(stage.Addr().unknown_attributes(0).type(), 99);
  stage.TakeWords();
  stage.Pass(absl::Milliseconds(5'500));
  addr = Leased(995, 1995);
  addr.others = {{99, "after"}};
  stage.DumpAddrs({addr});
  EXPECT_THAT(stage.TakeWords(), IsEmpty());
  EXPECT_EQ(stage.Addr().unknown_attributes(0).data(), "after");
  EXPECT_EQ(TimeUtil::TimestampToSeconds(stage.Addr().valid_until()), kStart + 2000);
}

TEST(AddrRowTest, TextsThatAreNotUtf8AlsoComeRaw) {
  StagedState stage;
  stage.Sync({{.index = 1, .name = "e\xff"}}, {{.label = "l\xfe"}});
  const pb::Addr row = stage.Addr();
  EXPECT_EQ(row.interface_name(), "e\uFFFD");
  EXPECT_EQ(row.raw_interface_name(), "e\xff");
  EXPECT_EQ(row.label(), "l\uFFFD");
  EXPECT_EQ(row.raw_label(), "l\xfe");
}

}  // namespace
}  // namespace linkvane::server
