#include "client/command/details_summary.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/command/settings.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

// Fields that a contract does not have are passed over.
constexpr auto kSummaries = std::to_array<Summary>({
    {"bareudp", "port ethertype"},
    {"bond", "mode:"},
    {"bridge", "stp_state:stp vlan_filtering"},
    {"geneve", "id:vni remote remote6 port"},
    {"gre", "local remote"},
    {"gretap", "local remote"},
    {"hsr", "slave1 slave2"},
    {"ipvlan", "mode:"},
    {"macsec", "sci"},
    {"macvlan", "mode:"},
    {"macvtap", "mode:"},
    {"netkit", "mode:"},
    {"tun", "type owner"},
    {"vlan", "id protocol"},
    {"vrf", "table"},
    {"vxlan", "id:vni remote remote6 group group6 local local6 port"},
    {"xfrm", "if_id"},
    {"bond_port", "state:"},
    {"bridge_port", "state:"},
});

std::string NameAndValue(std::string_view name, const std::vector<std::string>& values) {
  return absl::StrCat(ToAbsl(name), name.empty() ? "" : " ", absl::StrJoin(values, ","));
}

std::vector<std::string> Chosen(const google::protobuf::Message& message, std::string_view fields) {
  std::vector<std::string> words;
  for (const absl::string_view field : absl::StrSplit(ToAbsl(fields), ' ')) {
    const std::vector<std::string> names = absl::StrSplit(field, ':');
    const auto* found = message.GetDescriptor()->FindFieldByName(names[0]);
    if (found == nullptr) continue;
    const std::vector<std::string> values = SettingValues(message, *found, Detail::kBrief);
    if (!values.empty()) words.push_back(NameAndValue(names.back(), values));
  }
  return words;
}

std::vector<std::string> FirstOnes(const google::protobuf::Message& message) {
  constexpr size_t kMost = 3;
  std::vector<std::string> words;
  for (const Setting& setting : Settings(message, Detail::kBrief)) {
    if (words.size() == kMost) break;
    words.push_back(NameAndValue(setting.label, setting.values));
  }
  return words;
}

std::string SummaryOf(const v1::Interface& interface, const std::string& oneof_name) {
  const auto* oneof = v1::Interface::descriptor()->FindOneofByName(oneof_name);
  const auto* reflection = v1::Interface::GetReflection();
  if (oneof == nullptr || !reflection->HasOneof(interface, oneof)) return "";
  const auto* field = reflection->GetOneofFieldDescriptor(interface, oneof);
  const auto& message = reflection->GetMessage(interface, field);
  std::vector<std::string> words;
  const auto* summary = std::ranges::find(kSummaries, field->name(), &Summary::kind);
  if (summary != kSummaries.end()) words = Chosen(message, summary->fields);
  if (words.empty()) words = FirstOnes(message);
  return absl::StrJoin(words, " ");
}

}  // namespace

std::span<const Summary> AllSummaries() { return kSummaries; }

std::string KindSummary(const v1::Interface& interface) { return SummaryOf(interface, "details"); }

std::string PortSummary(const v1::Interface& interface) { return SummaryOf(interface, "port"); }

}  // namespace linkvane::command
