// What a Linux 6.12 kernel told of many kinds of links, put into the tables.
#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "netlink/recording.h"
#include "server/state/network_state.h"
#include "server/state/testing/staged_state.h"

namespace linkvane::server {
namespace {

using ::testing::IsEmpty;

class ReplayTest : public ::testing::TestWithParam<std::string> {
 protected:
  void Dump(TableId table, const std::string& recording) {
    const auto datagrams = netlink::LoadRecording(absl::StrCat(GetParam(), "/", recording));
    const RunningDump dump = stage_.state().BeginDump(table, stage_.now().wall);
    stage_.state().DumpSays(dump, netlink::MessagesOf(datagrams), stage_.now());
    stage_.state().FinishDump(dump, {}, stage_.now().wall);
  }
  void DumpAll() {
    Dump(TableId::kLinks, "link-skipstats");
    Dump(TableId::kAddrs4, "addr4");
    Dump(TableId::kAddrs6, "addr6");
  }
  google::protobuf::ListValue Json(const std::string& file) {
    google::protobuf::ListValue list;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(
                    netlink::LoadRecordingFile(absl::StrCat(GetParam(), "/", file)), &list)
                    .ok());
    return list;
  }

  StagedState stage_;
};

TEST_P(ReplayTest, TheTablesHaveAsManyRowsAsIproute2Saw) {
  DumpAll();
  std::map<double, std::string> names;
  const google::protobuf::ListValue links = Json("link.json");
  for (const auto& link : links.values()) {
    const auto& fields = link.struct_value().fields();
    names[fields.at("ifindex").number_value()] = fields.at("ifname").string_value();
  }
  std::map<double, std::string> rows;
  for (const auto& row : stage_.Interfaces()) rows[row.index()] = row.name();
  EXPECT_GT(rows.size(), 10);
  EXPECT_EQ(rows, names);

  std::map<double, size_t> addresses;
  const google::protobuf::ListValue links_with_addresses = Json("addr.json");
  for (const auto& link : links_with_addresses.values()) {
    const auto& fields = link.struct_value().fields();
    const int count = fields.at("addr_info").list_value().values_size();
    if (count != 0) addresses[fields.at("ifindex").number_value()] = static_cast<size_t>(count);
  }
  std::map<double, size_t> address_rows;
  for (const auto& row : stage_.Addrs()) ++address_rows[row.interface_index()];
  EXPECT_FALSE(address_rows.empty());
  EXPECT_EQ(address_rows, addresses);
}

TEST_P(ReplayTest, TheSameDumpsAgainChangeNothingAndEncodeNothing) {
  DumpAll();
  stage_.TakeChanges();
  const uint64_t encoded = RowsEncoded();
  DumpAll();
  EXPECT_THAT(stage_.TakeWords(), IsEmpty());
  EXPECT_EQ(RowsEncoded(), encoded);
}

INSTANTIATE_TEST_SUITE_P(Namespaces, ReplayTest, ::testing::Values("main", "ns1", "ns2"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace linkvane::server
