#include "client/command/field_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "linkvane/v1/interface.pb.h"
#include "linkvane/v1/network_state_service.pb.h"

namespace linkvane::command {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Key;
using testing::Not;
using testing::Pair;

TEST(FieldTextTest, WritesEachTypeForPeople) {
  v1::Interface interface;
  interface.set_mtu(1500);
  interface.set_carrier(false);
  interface.set_oper_state(v1::OPER_STATE_LOWER_LAYER_DOWN);
  interface.set_alias("a\tb");
  interface.add_flags(v1::INTERFACE_FLAG_UP);
  interface.add_flags(v1::INTERFACE_FLAG_LOWER_UP);
  interface.set_flags_raw(0x10001);
  interface.mutable_stats()->set_rx_bytes(12345678901234);
  auto* unknown = interface.add_unknown_attributes();
  unknown->set_type(61);
  unknown->set_data("\x01\xff");
  EXPECT_EQ(FieldText(interface, "mtu"), "1500");
  EXPECT_EQ(FieldText(interface, "carrier"), "no");
  EXPECT_EQ(FieldText(interface, "oper_state"), "lower-layer-down");
  EXPECT_EQ(FieldText(interface, "alias"), "a\\x09b");
  EXPECT_EQ(FieldText(interface, "flags"), "up,lower-up");
  EXPECT_EQ(FieldText(interface, "flags_raw"), "0x10001");
  EXPECT_EQ(FieldText(interface, "stats.rx_bytes"), "12345678901234");
  EXPECT_EQ(FieldText(interface, "stats"), "rx_bytes=12345678901234");
  EXPECT_EQ(FieldText(interface, "unknown_attributes"), "61=01ff");
}

TEST(FieldTextTest, HasNothingForUnsetAndUnknownFields) {
  const v1::Interface interface;
  for (const char* path : {"mtu", "oper_state", "name", "flags", "stats", "stats.rx_bytes", "nope",
                           "mtu.nope", "unknown_attributes.type", "", "."}) {
    EXPECT_EQ(FieldText(interface, path), std::nullopt) << path;
  }
  EXPECT_EQ(FieldText(interface, "admin_up"), "no");
  EXPECT_EQ(FieldText(interface, "hardware_type"), "0");
}

TEST(FieldTextTest, KeepsEnumNumbersThatThisVersionDoesNotKnow) {
  v1::Interface interface;
  interface.set_oper_state(static_cast<v1::OperState>(99));
  EXPECT_EQ(FieldText(interface, "oper_state"), "99");
}

TEST(FieldTextTest, AllFieldsPutTheKernelsNumberBehindTheWord) {
  v1::Interface interface;
  interface.set_name("lo");
  interface.set_oper_state(v1::OPER_STATE_UP);
  interface.set_oper_state_raw(6);
  interface.mutable_stats()->set_rx_bytes(1);
  const NamedTexts fields = AllFields(interface);
  EXPECT_THAT(fields, Contains(Pair("name", "lo")));
  EXPECT_THAT(fields, Contains(Pair("oper_state", "up (6)")));
  EXPECT_THAT(fields, Contains(Pair("stats.rx_bytes", "1")));
  EXPECT_THAT(fields, Not(Contains(Key("oper_state_raw"))));
  EXPECT_THAT(fields, Not(Contains(Key("stats.tx_bytes"))));
}

TEST(FieldTextTest, FlattensMessagesButNotTimes) {
  v1::GetServerInfoResponse info;
  info.mutable_revision()->set_epoch("e");
  info.mutable_limits()->mutable_audit_interval()->set_seconds(60);
  const NamedTexts fields = AllFields(info);
  EXPECT_THAT(fields, Contains(Pair("revision.epoch", "e")));
  EXPECT_THAT(fields, Contains(Pair("limits.audit_interval", "1m")));
}

TEST(FieldTextTest, PickFieldsKeepsTheOrderAsked) {
  v1::Interface interface;
  interface.set_mtu(1500);
  interface.set_name("lo");
  EXPECT_THAT(PickFields(interface, {"name", "alias", "mtu"}),
              ElementsAre(Pair("name", "lo"), Pair("mtu", "1500")));
}

TEST(FieldTextTest, LinesAreAligned) {
  EXPECT_EQ(FieldLines({{"a", "1"}, {"long", "2"}}), "a     1\nlong  2\n");
}

TEST(FieldTextTest, TableHasAColumnForEachPath) {
  v1::Interface first;
  first.set_name("lo");
  first.set_mtu(65536);
  v1::Interface second;
  second.set_name("eth0");
  EXPECT_EQ(FieldTable({&first, &second}, {"name", "mtu"}),
            "NAME    MTU\nlo    65536\neth0      -\n");
  EXPECT_EQ(FieldTable({}, {"name", "mtu"}), "NAME  MTU\n");
}

TEST(FieldTextTest, KnowsRawForms) {
  const auto is_raw = [](const char* name) {
    return IsRawForm(*v1::Interface::descriptor()->FindFieldByName(name));
  };
  EXPECT_TRUE(is_raw("flags_raw"));
  EXPECT_TRUE(is_raw("raw_name"));
  EXPECT_FALSE(is_raw("name"));
}

}  // namespace
}  // namespace linkvane::command
