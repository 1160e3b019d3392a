#include "client/command/settings.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "linkvane/v1/interface.pb.h"
#include "linkvane/v1/network_state_service.pb.h"

namespace linkvane::command {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Values(const google::protobuf::Message& message, const std::string& field,
                                Detail detail = Detail::kBrief) {
  return SettingValues(message, *message.GetDescriptor()->FindFieldByName(field), detail);
}

TEST(SettingsTest, WriteUnits) {
  v1::Interface interface;
  interface.set_mtu(1500);
  interface.set_min_mtu(1);
  interface.set_tx_queue_len(1000);
  interface.set_gso_max_segs(65535);
  interface.set_proto_down_reason(0x11);
  interface.set_group(7);
  EXPECT_THAT(Values(interface, "mtu"), ElementsAre("1500 bytes"));
  EXPECT_THAT(Values(interface, "min_mtu"), ElementsAre("1 byte"));
  EXPECT_THAT(Values(interface, "tx_queue_len"), ElementsAre("1000 packets"));
  EXPECT_THAT(Values(interface, "gso_max_segs"), ElementsAre("65535 segments"));
  EXPECT_THAT(Values(interface, "proto_down_reason"), ElementsAre("0x11"));
  EXPECT_THAT(Values(interface, "group"), ElementsAre("7"));

  v1::Bridge bridge;
  bridge.mutable_forward_delay()->set_nanos(1500000000);
  bridge.mutable_ageing_time()->set_seconds(300);
  bridge.mutable_gc_timer();
  bridge.set_vlan_protocol(0x8100);
  bridge.set_vlan_filtering(true);
  EXPECT_THAT(Values(bridge, "forward_delay"), ElementsAre("1.5s"));
  EXPECT_THAT(Values(bridge, "ageing_time"), ElementsAre("5m"));
  EXPECT_THAT(Values(bridge, "gc_timer"), ElementsAre("0s"));
  EXPECT_THAT(Values(bridge, "vlan_protocol"), ElementsAre("802.1q (0x8100)"));
  EXPECT_THAT(Values(bridge, "vlan_filtering"), ElementsAre("yes"));
}

TEST(SettingsTest, NameEnumsAndTellNumbersThatHaveNoName) {
  v1::Bridge bridge;
  EXPECT_THAT(Values(bridge, "stp_state"), IsEmpty());
  bridge.set_stp_state_raw(17);
  EXPECT_THAT(Values(bridge, "stp_state"), ElementsAre("17 (unknown)"));
  bridge.set_stp_state(v1::STP_STATE_UNSPECIFIED);
  EXPECT_THAT(Values(bridge, "stp_state"), ElementsAre("17 (unknown)"));
  bridge.set_stp_state(static_cast<v1::StpState>(99));  // of a newer contract
  EXPECT_THAT(Values(bridge, "stp_state"), ElementsAre("17 (unknown)"));
  bridge.set_stp_state(v1::STP_STATE_KERNEL);
  bridge.set_stp_state_raw(1);
  EXPECT_THAT(Values(bridge, "stp_state"), ElementsAre("kernel"));
  EXPECT_THAT(Values(bridge, "stp_state", Detail::kFull), ElementsAre("kernel (1)"));
  bridge.clear_stp_state_raw();
  EXPECT_THAT(Values(bridge, "stp_state", Detail::kFull), ElementsAre("kernel"));
}

TEST(SettingsTest, TellAllBitsWhereOneHasNoName) {
  v1::Vlan vlan;
  EXPECT_THAT(Values(vlan, "flags"), IsEmpty());
  vlan.set_flags_raw(0);
  EXPECT_THAT(Values(vlan, "flags"), ElementsAre("none"));
  vlan.set_flags_raw(0x80);
  EXPECT_THAT(Values(vlan, "flags"), ElementsAre("0x80"));
  vlan.add_flags(v1::VLAN_FLAG_REORDER_HDR);
  vlan.add_flags(v1::VLAN_FLAG_GVRP);
  vlan.set_flags_raw(0x3);
  EXPECT_THAT(Values(vlan, "flags"), ElementsAre("reorder-hdr", "gvrp"));
  EXPECT_THAT(Values(vlan, "flags", Detail::kFull), ElementsAre("reorder-hdr", "gvrp (0x3)"));
  vlan.set_flags_raw(0x83);
  EXPECT_THAT(Values(vlan, "flags"), ElementsAre("reorder-hdr", "gvrp (0x83)"));
}

TEST(SettingsTest, PutTheOuterNameBeforeThoseOfMessagesInside) {
  v1::Bridge bridge;
  bridge.set_priority(32768);
  bridge.mutable_multi_boolopt()->set_enabled_raw(0);
  bridge.mutable_multi_boolopt()->set_known(0x1f);
  EXPECT_EQ(SettingLines(Settings(bridge, Detail::kBrief), 80, false),
            "  priority               32768\n"
            "  multi boolopt enabled  none\n"
            "  multi boolopt known    0x1f\n");
}

TEST(SettingsTest, LinesBreakListsBetweenTwoValues) {
  const std::vector<Setting> settings = {{.label = "list", .values = {"one", "two", "three"}},
                                         {.label = "b", .values = {"a very long single value"}}};
  EXPECT_EQ(SettingLines(settings, 18, false),
            "  list  one, two,\n"
            "        three\n"
            "  b     a very long single value\n");
}

TEST(SettingsTest, ColorTakesNoColumns) {
  EXPECT_EQ(SettingLines({{.label = "state", .values = {"up"}, .ink = Ink::kGreen}}, 80, true),
            "  state  \x1b[32mup\x1b[0m\n");
}

}  // namespace
}  // namespace linkvane::command
