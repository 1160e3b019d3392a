// What a Linux 6.12 kernel told of many kinds of links, put into the tables.
#include <gmock/gmock.h>
#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "netlink/recording.h"
#include "server/state/network_state.h"
#include "server/state/testing/staged_state.h"

namespace linkvane::server {
namespace {

using ::testing::ElementsAre;
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
    Dump(TableId::kBridgeVlans, "link-bridge-compressed");
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

TEST_P(ReplayTest, JustBridgesAndTheirPortsHaveVlans) {
  DumpAll();
  for (const linkvane::v1::Interface& row : stage_.Interfaces()) {
    EXPECT_EQ(row.bridge().vlans().empty(), row.kind() != "bridge") << row.name();
    EXPECT_EQ(row.bridge_port().vlans().empty(), row.slave_kind() != "bridge") << row.name();
  }
}

TEST_P(ReplayTest, TheSameDumpsAgainChangeNothingAndEncodeNothing) {
  DumpAll();
  stage_.TakeChanges();
  const uint64_t encoded = RowsEncoded();
  DumpAll();
  EXPECT_THAT(stage_.TakeWords(), IsEmpty());
  EXPECT_EQ(RowsEncoded(), encoded);
}

TEST_P(ReplayTest, OnlyDevlinkPortsAreUnknown) {
  constexpr uint32_t kDevlinkPort = 62;  // IFLA_DEVLINK_PORT.
  DumpAll();
  for (const auto& row : stage_.Interfaces()) {
    for (const auto& unknown : row.unknown_attributes()) {
      EXPECT_THAT(unknown.parents(), ElementsAre(kDevlinkPort)) << row.name();
    }
  }
}

// Upper case, and without what iproute2 and we put between words: "layer2+3" is "LAYER23".
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (std::strchr("-+_.", c) == nullptr) plain += static_cast<char>(std::toupper(c));
  }
  return plain;
}

// A field as iproute2 would write it, plain; "" for one that has no such form.
std::string FieldText(const google::protobuf::Message& message, const std::string& name,
                      bool as_number) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& values = *message.GetReflection();
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr || field->is_repeated() || !values.HasField(message, field)) return "";
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(values.GetUInt32(message, field));
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(values.GetInt32(message, field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return values.GetBool(message, field) ? "1" : "0";
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int number = values.GetEnumValue(message, field);
      if (as_number) return absl::StrCat(number - 1);
      const auto& names = *field->enum_type();
      // BOND_MODE_UNSPECIFIED has the prefix that the others have.
      const size_t prefix = names.value(0)->name().size() - std::strlen("UNSPECIFIED");
      return Plain(names.FindValueByNumber(number)->name().substr(prefix));
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = values.GetString(message, field);
      return text == "::" || text == "0.0.0.0" ? "ANY" : Plain(text);
    }
    default:
      return "";
  }
}

std::string ValueText(const google::protobuf::Value& value) {
  switch (value.kind_case()) {
    case google::protobuf::Value::kNumberValue:
      return absl::StrCat(static_cast<int64_t>(value.number_value()));
    case google::protobuf::Value::kBoolValue:
      return value.bool_value() ? "1" : "0";
    default:
      if (value.string_value() == "on") return "1";
      return Plain(value.string_value());
  }
}

// Of those settings that both call and write the same.
TEST_P(ReplayTest, SettingsAreWhatIproute2Reads) {
  static const std::set<std::string> kOtherwise = {
      // Names instead of numbers, other notations, other meanings.
      "active_slave",
      "primary",
      "link",
      "slave1",
      "slave2",
      "bridge_id",
      "root_id",
      "tos",
      "okey",
      "ikey",
      "flowinfo",
      "id",
      "no",
      "if_id",
      "erspan_hwid",
      "protocol",
      "vlan_protocol",
      "proto",
      "ethertype",
      "group_fwd_mask",
      "fwmark",
      "label"};
  DumpAll();
  std::map<int32_t, linkvane::v1::Interface> rows;
  for (auto& row : stage_.Interfaces()) rows[row.index()] = row;
  std::map<std::string, int> compared;
  const google::protobuf::ListValue links = Json("link.json");
  for (const auto& link : links.values()) {
    const auto& fields = link.struct_value().fields();
    if (!fields.contains("linkinfo")) continue;
    const auto& row = rows.at(static_cast<int32_t>(fields.at("ifindex").number_value()));
    const auto& info = fields.at("linkinfo").struct_value().fields();
    const auto compare = [&](const char* part, uint32_t number) {
      const auto data = info.find(part);
      if (data == info.end() || number == 0) return;
      const auto* field =
          linkvane::v1::Interface::descriptor()->FindFieldByNumber(static_cast<int>(number));
      const auto& settings = linkvane::v1::Interface::GetReflection()->GetMessage(row, field);
      for (const auto& [name, value] : data->second.struct_value().fields()) {
        const std::string ours =
            FieldText(settings, name, value.kind_case() == google::protobuf::Value::kNumberValue);
        if (ours.empty() || kOtherwise.contains(name)) continue;
        // iproute2 has no word for the first one of an enum's.
        if (value.kind_case() == google::protobuf::Value::kNullValue) continue;
        EXPECT_EQ(ours, ValueText(value)) << row.name() << " " << field->name() << "." << name;
        ++compared[field->name()];
      }
    };
    compare("info_data", row.details_case());
    compare("info_slave_data", row.port_case());
  }
  EXPECT_FALSE(compared.empty());
  if (GetParam() == "main") {
    EXPECT_GT(compared.size(), 25) << ::testing::PrintToString(compared);
  }
}

INSTANTIATE_TEST_SUITE_P(Namespaces, ReplayTest, ::testing::Values("main", "ns1", "ns2"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace linkvane::server
