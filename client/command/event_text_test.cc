#include "client/command/event_text.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace linkvane::command {
namespace {

using testing::HasSubstr;

v1::WatchResponse Response(const std::string& text) {
  v1::WatchResponse response;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &response)) << text;
  return response;
}

// The line of one event, without its time.
std::string Line(const std::string& event, const std::vector<std::string>& fields = {}) {
  const std::string line = WatchText(Response("events { events { " + event + " } }"), fields);
  return line.substr(std::min<size_t>(25, line.size()));
}

constexpr char kEth0[] =
    "index: 2 name: 'eth0' kind: 'veth' admin_up: true oper_state: OPER_STATE_UP mtu: 1500 "
    "hardware_address: '02:00:00:00:00:01'";

TEST(EventTextTest, DescribesWhatCame) {
  EXPECT_EQ(Line(std::string("type: EVENT_TYPE_ADDED resource { interface {") + kEth0 + "} }"),
            "ADDED     interface  eth0             veth up mtu 1500 02:00:00:00:00:01\n");
  EXPECT_EQ(Line("type: EVENT_TYPE_ADDED resource { addr { interface_index: 2 interface_name: "
                 "'eth0' address: '192.0.2.1' prefix_length: 24 scope: ADDR_SCOPE_GLOBAL } }"),
            "ADDED     addr       eth0             192.0.2.1/24  scope global\n");
}

TEST(EventTextTest, ColorsWhatHappened) {
  const auto response = Response(
      "events { events { type: EVENT_TYPE_REMOVED resource { interface { index: 1 } } } }");
  EXPECT_THAT(WatchText(response, {}, true), HasSubstr("\x1b[31mREMOVED   \x1b[0minterface "));
  EXPECT_EQ(WatchText(response, {}).find('\x1b'), std::string::npos);
}

TEST(EventTextTest, StartsWithTheTime) {
  EXPECT_THAT(WatchText(Response("events { events { time { seconds: 1760000000 nanos: 5000000 } "
                                 "resource { interface { index: 1 } } } }"),
                        {}),
              testing::MatchesRegex("2025-10-0[89] ..:..:20.005  .*\n"));
}

TEST(EventTextTest, ShowsOldAndNewValues) {
  EXPECT_EQ(
      Line("type: EVENT_TYPE_MODIFIED coalesced: 1 "
           "resource { interface { name: 'eth0' oper_state: OPER_STATE_UP mtu: 1400 "
           "  flags: [INTERFACE_FLAG_UP, INTERFACE_FLAG_RUNNING] } } "
           "previous { interface { name: 'eth0' oper_state: OPER_STATE_DOWN "
           "  flags: [INTERFACE_FLAG_UP, INTERFACE_FLAG_NO_ARP] } } "
           "changed { paths: ['oper_state', 'oper_state_raw', 'flags', 'flags_raw', 'mtu'] }"),
      "MODIFIED  interface  eth0             oper_state: down -> up, "
      "flags: +running -no-arp, mtu: - -> 1400\n");
}

TEST(EventTextTest, ShowsNewValuesWhereTheOldOnesAreNotKnown) {
  EXPECT_EQ(Line("type: EVENT_TYPE_MODIFIED coalesced: 3 "
                 "resource { interface { name: 'eth0' mtu: 1400 } } changed { paths: 'mtu' }"),
            "MODIFIED  interface  eth0             mtu: 1400  (3 changes)\n");
}

TEST(EventTextTest, TellsWhatOnlyLeftTheFilter) {
  EXPECT_EQ(
      Line("type: EVENT_TYPE_REMOVED left_filter: true resource { addr { "
           "interface_name: 'lo' address: '::1' prefix_length: 128 scope: ADDR_SCOPE_HOST } }"),
      "REMOVED   addr       lo               ::1/128  scope host  "
      "(still there, but left the filter)\n");
}

TEST(EventTextTest, DescribesMaskedObjectsByTheirFieldsAlone) {
  EXPECT_EQ(Line("type: EVENT_TYPE_ADDED resource { interface { index: 7 mtu: 1500 } }",
                 {"mtu", "alias"}),
            "ADDED     interface  #7               mtu: 1500\n");
}

TEST(EventTextTest, EscapesNames) {
  EXPECT_THAT(Line("type: EVENT_TYPE_REMOVED resource { interface { name: 'a\\033[2J' } }"),
              HasSubstr("a\\x1b[2J"));
  EXPECT_THAT(Line("type: EVENT_TYPE_MODIFIED resource { interface { name: 'a' alias: '\\n' } } "
                   "changed { paths: 'alias' }"),
              HasSubstr("alias: \\x0a"));
}

TEST(EventTextTest, HasLinesForSyncedGapAndResync) {
  EXPECT_EQ(WatchText(Response("synced {} checkpoint { epoch: 'e' number: 7 }"), {}),
            "--- in sync at e:7; changes follow as they come\n");
  EXPECT_EQ(WatchText(Response("gap { from { epoch: 'e' number: 7 } }"), {}),
            "--- gap: kernel events were lost after e:7; the differences follow\n");
  EXPECT_EQ(WatchText(Response("resync { reason: RESYNC_REASON_EPOCH_CHANGED }"), {}),
            "--- resync: the state follows anew (epoch-changed); what it does not name is gone\n");
  EXPECT_EQ(WatchText(Response("created {}"), {}), "");
  EXPECT_EQ(WatchText(Response("bookmark {}"), {}), "");
}

TEST(EventTextTest, SurvivesTypesOfALaterVersion) {
  EXPECT_THAT(Line("type: EVENT_TYPE_MODIFIED resource {} changed { paths: 'x' }"),
              HasSubstr("MODIFIED  ?"));
}

}  // namespace
}  // namespace linkvane::command
