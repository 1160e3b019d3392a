#include "client/command/details_summary.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

TEST(DetailsSummaryTest, SaysTheMostImportantInAFewWords) {
  v1::Interface interface;
  EXPECT_EQ(KindSummary(interface), "");
  interface.mutable_vlan()->set_id(100);
  interface.mutable_vlan()->set_protocol(0x88a8);
  EXPECT_EQ(KindSummary(interface), "id 100 protocol 802.1ad (0x88a8)");
  interface.mutable_bridge()->set_stp_state(v1::STP_STATE_KERNEL);
  interface.mutable_bridge()->mutable_ageing_time()->set_seconds(300);
  EXPECT_EQ(KindSummary(interface), "stp kernel");
  interface.mutable_bridge_port()->set_state(v1::BRIDGE_PORT_STATE_BLOCKING);
  EXPECT_EQ(PortSummary(interface), "blocking");
}

TEST(DetailsSummaryTest, FallsBackToTheFirstSettings) {
  v1::Interface interface;
  interface.mutable_bridge()->mutable_ageing_time()->set_seconds(300);
  interface.mutable_bridge()->set_priority(1);
  EXPECT_EQ(KindSummary(interface), "ageing time 5m priority 1");
  interface.mutable_veth();
  EXPECT_EQ(KindSummary(interface), "");
}

// A kind that the contract does not have is passed over; one that it has is not without effect.
TEST(DetailsSummaryTest, NamesFieldsThatTheContractHas) {
  for (const Summary& summary : AllSummaries()) {
    const auto* kind = v1::Interface::descriptor()->FindFieldByName(std::string(summary.kind));
    if (kind == nullptr) continue;
    bool found = false;
    for (const absl::string_view field : absl::StrSplit(ToAbsl(summary.fields), ' ')) {
      const std::vector<std::string> names = absl::StrSplit(field, ':');
      found |= kind->message_type()->FindFieldByName(names[0]) != nullptr;
    }
    EXPECT_TRUE(found) << kind->name();
  }
}

}  // namespace
}  // namespace linkvane::command
