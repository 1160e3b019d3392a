#include "client/command/interface_groups.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command/field_text.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

using google::protobuf::FieldDescriptor;

// A field in a line: alone, or in parentheses behind the line's first one with a word before it.
struct Part {
  std::string_view field;
  std::string_view word = {};
  std::string_view zero = {};  // what 0 means, where that is not a number
};

struct Line {
  std::string_view group;
  std::string_view label;  // empty: that of the first field
  std::array<Part, 3> parts;
};

constexpr std::string_view kIdentity = "identity";
constexpr std::string_view kState = "state";
constexpr std::string_view kSizes = "sizes and queues";
constexpr std::string_view kOffload = "offload";
constexpr std::string_view kHardware = "hardware";
constexpr std::string_view kIpv6 = "IPv6";
constexpr std::string_view kPort = "port";

// Where each field of an interface is shown. What is missing here is shown at the end.
constexpr auto kLines = std::to_array<Line>({
    {kIdentity, "", {{{"index"}}}},
    {kIdentity, "", {{{"kind"}}}},
    {kIdentity, "", {{{"raw_name"}}}},
    {kIdentity, "alternative names", {{{"alt_names"}}}},
    {kIdentity, "raw alternative names", {{{"raw_alt_names"}}}},
    {kIdentity, "", {{{"alias"}}}},
    {kIdentity, "", {{{"raw_alias"}}}},
    {kIdentity, "", {{{"hardware_type_name"}}}},
    {kIdentity, "", {{{"hardware_address"}}}},
    {kIdentity, "", {{{"broadcast_address"}}}},
    {kIdentity, "link", {{{"link_name"}, {"link_index", "index"}, {"link_netns_id", "namespace"}}}},
    {kIdentity, "", {{{"raw_link_name"}}}},
    {kIdentity, "", {{{"uid"}}}},
    {kState, "administrative state", {{{"admin_up"}}}},
    {kState, "operational state", {{{"oper_state"}}}},
    {kState, "", {{{"carrier"}}}},
    {kState,
     "carrier changes",
     {{{"carrier_changes"}, {"carrier_up_count", "up"}, {"carrier_down_count", "down"}}}},
    {kState, "", {{{"flags"}}}},
    {kState, "", {{{"link_mode"}}}},
    {kState, "protocol down", {{{"proto_down"}, {"proto_down_reason", "reason"}}}},
    {kState, "", {{{"promiscuity"}}}},
    {kState, "", {{{"allmulticast"}}}},
    {kState, "", {{{"group"}}}},
    {kState, "bound to its namespace", {{{"netns_immutable"}}}},
    {kSizes, "", {{{"mtu"}, {"min_mtu", "at least"}, {"max_mtu", "at most", "any number"}}}},
    {kSizes, "transmit queues", {{{"num_tx_queues"}}}},
    {kSizes, "receive queues", {{{"num_rx_queues"}}}},
    {kSizes, "transmit queue length", {{{"tx_queue_len"}}}},
    {kSizes, "queueing discipline", {{{"qdisc"}}}},
    {kSizes, "", {{{"headroom"}}}},
    {kSizes, "", {{{"tailroom"}}}},
    {kOffload, "GSO", {{{"gso_max_size"}, {"gso_max_segs"}}}},
    {kOffload, "GSO IPv4", {{{"gso_ipv4_max_size"}}}},
    {kOffload, "GRO", {{{"gro_max_size"}}}},
    {kOffload, "GRO IPv4", {{{"gro_ipv4_max_size"}}}},
    {kOffload, "pacing horizon", {{{"max_pacing_offload_horizon"}}}},
    {kOffload, "TSO", {{{"tso_max_size"}, {"tso_max_segs"}}}},
    {kHardware, "device", {{{"parent_device"}, {"parent_bus", "bus"}}}},
    {kHardware, "", {{{"permanent_address"}}}},
    {kHardware, "physical port", {{{"phys_port_name"}, {"phys_port_id", "id"}}}},
    {kHardware, "switch", {{{"phys_switch_id"}}}},
    {kHardware, "virtual functions", {{{"num_vf"}, {"unread_vfs", "unread"}}}},
    {kHardware, "", {{{"vfs"}}}},
    {kIpv6, "address generation", {{{"ipv6_addr_gen_mode"}}}},
    {kIpv6, "token", {{{"ipv6_token"}}}},
    {kPort, "master's kind", {{{"slave_kind"}}}},
    {kPort, "master's index", {{{"master_index"}}}},
    {kPort, "master's raw name", {{{"raw_master_name"}}}},
});

// Fields that are part of a title, of another line or of another part of the text.
constexpr auto kElsewhere = std::to_array<std::string_view>(
    {"name", "master_name", "hardware_type", "stats", "unknown_attributes"});

std::vector<std::string> Values(const v1::Interface& interface, std::string_view field,
                                Detail detail) {
  const auto* found = v1::Interface::descriptor()->FindFieldByName(std::string(field));
  return found == nullptr ? std::vector<std::string>() : SettingValues(interface, *found, detail);
}

Setting LineSetting(const v1::Interface& interface, const Line& line, Detail detail) {
  Setting setting;
  setting.label = line.label.empty() ? LabelText(line.parts[0].field) : std::string(line.label);
  std::vector<std::string> behind;
  for (const Part& part : line.parts) {
    if (part.field.empty()) continue;
    std::vector<std::string> values = Values(interface, part.field, detail);
    if (values.empty()) continue;
    if (!part.zero.empty() && FieldText(interface, part.field) == "0") {
      values = {std::string(part.zero)};
    }
    if (&part == line.parts.data()) {
      setting.values = std::move(values);
    } else {
      behind.push_back(absl::StrCat(ToAbsl(part.word), part.word.empty() ? "" : " ",
                                    absl::StrJoin(values, ", ")));
    }
  }
  if (behind.empty()) return setting;
  const std::string text = absl::StrJoin(behind, ", ");
  if (setting.values.empty()) {
    setting.values = {text};
  } else {
    absl::StrAppend(&setting.values.back(), " (", text, ")");
  }
  return setting;
}

// The hardware's number is told where it has no name.
void AddHardwareType(const v1::Interface& interface, Detail detail, Setting* setting) {
  if (setting->values.empty()) {
    setting->values = {absl::StrCat(interface.hardware_type(), " (unknown)")};
  } else if (detail == Detail::kFull) {
    absl::StrAppend(&setting->values.back(), " (", interface.hardware_type(), ")");
  }
}

Group TableGroup(const v1::Interface& interface, std::string_view name, Detail detail) {
  Group group{.title = std::string(name), .settings = {}};
  for (const Line& line : kLines) {
    if (line.group != name) continue;
    Setting setting = LineSetting(interface, line, detail);
    const std::string_view field = line.parts[0].field;
    if (field == "hardware_type_name") {
      setting.label = "hardware type";
      AddHardwareType(interface, detail, &setting);
    } else if (field == "admin_up") {
      setting.values = {interface.admin_up() ? "up" : "down"};
      setting.ink = StateInk(setting.values[0]);
    } else if (field == "oper_state" && !setting.values.empty()) {
      setting.ink = StateInk(FieldText(interface, field).value_or(""));
    }
    if (!setting.values.empty()) group.settings.push_back(std::move(setting));
  }
  return group;
}

// What the oneof `name` of an interface has.
Group OneofGroup(const v1::Interface& interface, const std::string& name, Detail detail) {
  Group group;
  const auto* oneof = v1::Interface::descriptor()->FindOneofByName(name);
  const auto* reflection = v1::Interface::GetReflection();
  if (oneof == nullptr || !reflection->HasOneof(interface, oneof)) return group;
  const FieldDescriptor& field = *reflection->GetOneofFieldDescriptor(interface, oneof);
  group.title = LabelText(field.name());
  group.settings = Settings(reflection->GetMessage(interface, &field), detail);
  return group;
}

Group PortGroup(const v1::Interface& interface, Detail detail) {
  Group group = TableGroup(interface, kPort, detail);
  Group port = OneofGroup(interface, "port", detail);
  std::ranges::move(port.settings, std::back_inserter(group.settings));
  if (!interface.master_name().empty()) {
    group.title = absl::StrCat("port of ", Escape(interface.master_name()));
  }
  return group;
}

// Programs, where there are any.
Group XdpGroup(const v1::Interface& interface, Detail detail) {
  Group group{.title = "XDP", .settings = Settings(interface.xdp(), detail)};
  const bool nothing = interface.xdp().attached() == v1::XDP_ATTACHED_NONE;
  if (nothing && detail == Detail::kBrief && group.settings.size() == 1) group.settings.clear();
  return group;
}

// Of the contract's own messages; a point in time or a duration is a value.
bool IsMessage(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_repeated() &&
         field.message_type()->file()->package() != "google.protobuf";
}

// So many settings are for those who ask for them.
constexpr size_t kMany = 25;

bool IsShownElsewhere(const FieldDescriptor& field) {
  const auto* oneof = field.real_containing_oneof();
  if (oneof != nullptr && (oneof->name() == "details" || oneof->name() == "port")) return true;
  if (field.name() == "xdp" || std::ranges::find(kElsewhere, field.name()) != kElsewhere.end()) {
    return true;
  }
  return std::ranges::any_of(kLines, [&field](const Line& line) {
    return std::ranges::find(line.parts, field.name(), &Part::field) != line.parts.end();
  });
}

// What a field that is a message of its own has, and that this text does not know.
std::vector<Group> MessageGroups(const v1::Interface& interface, Detail detail) {
  std::vector<Group> groups;
  const auto* type = v1::Interface::descriptor();
  const auto* reflection = v1::Interface::GetReflection();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor& field = *type->field(i);
    if (IsShownElsewhere(field) || !IsMessage(field) || !reflection->HasField(interface, &field)) {
      continue;
    }
    std::vector<Setting> settings = Settings(reflection->GetMessage(interface, &field), detail);
    if (settings.size() > kMany && detail == Detail::kBrief) {
      settings = {
          {.label = absl::StrCat(settings.size(), " settings"), .values = {"-o wide shows them"}}};
    }
    groups.push_back({.title = LabelText(field.name()), .settings = std::move(settings)});
  }
  return groups;
}

// Fields that this text does not know, and numbers of those that this version's contract does not.
Group OtherGroup(const v1::Interface& interface, Detail detail) {
  Group group{.title = "other", .settings = {}};
  const auto* type = v1::Interface::descriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    if (IsShownElsewhere(*type->field(i)) || IsMessage(*type->field(i))) continue;
    std::ranges::move(FieldSettings(interface, *type->field(i), detail),
                      std::back_inserter(group.settings));
  }
  std::vector<std::string> numbers;
  const auto& unknown = v1::Interface::GetReflection()->GetUnknownFields(interface);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const std::string number = absl::StrCat(unknown.field(i).number());
    if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
  }
  if (!numbers.empty()) {
    group.settings.push_back({.label = "fields of a newer version", .values = std::move(numbers)});
  }
  return group;
}

}  // namespace

std::vector<Group> InterfaceGroups(const v1::Interface& interface, Detail detail) {
  std::vector<Group> groups;
  const auto add = [&groups](Group group) {
    if (!group.settings.empty()) groups.push_back(std::move(group));
  };
  for (const std::string_view name : {kIdentity, kState, kSizes, kOffload, kHardware, kIpv6}) {
    add(TableGroup(interface, name, detail));
  }
  groups[0].title =
      interface.name().empty() ? absl::StrCat("#", interface.index()) : Escape(interface.name());
  add(OneofGroup(interface, "details", detail));
  add(PortGroup(interface, detail));
  add(XdpGroup(interface, detail));
  for (Group& group : MessageGroups(interface, detail)) add(std::move(group));
  add(OtherGroup(interface, detail));
  return groups;
}

}  // namespace linkvane::command
