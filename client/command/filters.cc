#include "client/command/filters.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

// Reads the numbers of enum values that are written as EnumText writes them.
absl::StatusOr<std::vector<int>> ReadEnums(const Invocation& invocation, std::string_view option,
                                           const google::protobuf::EnumDescriptor& type) {
  const absl::StatusOr<std::vector<std::string>> texts = invocation.List(option);
  if (!texts.ok()) return texts.status();
  std::vector<int> numbers;
  for (const std::string& text : *texts) {
    const auto* value = type.FindValueByName(EnumValueName(type.name(), text));
    if (value == nullptr || value->number() == 0) {
      std::vector<std::string> known;
      for (int i = 1; i < type.value_count(); ++i) {
        known.push_back(EnumText(type.name(), type.value(i)->name()));
      }
      return BadValue(option, text, absl::StrCat("one of ", absl::StrJoin(known, ", ")));
    }
    numbers.push_back(value->number());
  }
  return numbers;
}

absl::StatusOr<std::vector<int32_t>> ReadIndexes(const Invocation& invocation) {
  const absl::StatusOr<std::vector<std::string>> texts = invocation.List("index");
  if (!texts.ok()) return texts.status();
  std::vector<int32_t> indexes;
  for (const std::string& text : *texts) {
    int32_t index = 0;
    if (!absl::SimpleAtoi(text, &index) || index < 1) {
      return BadValue("index", text, "the index of an interface, a number above 0");
    }
    indexes.push_back(index);
  }
  return indexes;
}

absl::StatusOr<v1::AddressFamily> ReadFamily(const Invocation& invocation) {
  bool ipv4 = invocation.Has("ipv4");
  bool ipv6 = invocation.Has("ipv6");
  for (const std::string& family : invocation.Values("family")) {
    if (family == "ipv4" || family == "inet" || family == "4") {
      ipv4 = true;
    } else if (family == "ipv6" || family == "inet6" || family == "6") {
      ipv6 = true;
    } else {
      return BadValue("family", family, "ipv4 or ipv6");
    }
  }
  if (ipv4 == ipv6) return v1::ADDRESS_FAMILY_UNSPECIFIED;
  return ipv4 ? v1::ADDRESS_FAMILY_IPV4 : v1::ADDRESS_FAMILY_IPV6;
}

}  // namespace

absl::Status ReadInterfaceFilter(const Invocation& invocation, v1::InterfaceFilter* filter) {
  const auto indexes = ReadIndexes(invocation);
  if (!indexes.ok()) return indexes.status();
  filter->mutable_indexes()->Add(indexes->begin(), indexes->end());

  const auto names = invocation.Values("name");
  filter->mutable_names()->Assign(names.begin(), names.end());

  const auto kinds = invocation.List("kind");
  if (!kinds.ok()) return kinds.status();
  filter->mutable_kinds()->Assign(kinds->begin(), kinds->end());

  const auto addresses = invocation.List("hardware-address");
  if (!addresses.ok()) return addresses.status();
  filter->mutable_hardware_addresses()->Assign(addresses->begin(), addresses->end());

  if (const auto master = invocation.Value("master")) filter->set_master(*master);

  if (invocation.Has("up") && invocation.Has("down")) {
    return absl::InvalidArgumentError("--up and --down exclude each other");
  }
  if (invocation.Has("up") || invocation.Has("down")) filter->set_admin_up(invocation.Has("up"));

  const auto states = ReadEnums(invocation, "oper-state", *v1::OperState_descriptor());
  if (!states.ok()) return states.status();
  for (const int state : *states) filter->add_oper_states(static_cast<v1::OperState>(state));
  return absl::OkStatus();
}

absl::Status ReadAddrFilter(const Invocation& invocation, v1::AddrFilter* filter) {
  const auto indexes = ReadIndexes(invocation);
  if (!indexes.ok()) return indexes.status();
  filter->mutable_interface_indexes()->Add(indexes->begin(), indexes->end());

  const auto names = invocation.Values("interface");
  filter->mutable_interface_names()->Assign(names.begin(), names.end());

  const auto family = ReadFamily(invocation);
  if (!family.ok()) return family.status();
  filter->set_family(*family);

  const auto scopes = ReadEnums(invocation, "scope", *v1::AddrScope_descriptor());
  if (!scopes.ok()) return scopes.status();
  for (const int scope : *scopes) filter->add_scopes(static_cast<v1::AddrScope>(scope));

  if (const auto within = invocation.Value("within")) filter->set_within(*within);
  return absl::OkStatus();
}

v1::Consistency ReadConsistency(const Invocation& invocation) {
  return invocation.Has("cached") ? v1::CONSISTENCY_CACHED : v1::CONSISTENCY_FRESH;
}

absl::StatusOr<std::vector<std::string>> ReadFields(const Invocation& invocation) {
  return invocation.List("fields");
}

std::vector<std::string> WithNames(const std::vector<std::string>& fields,
                                   std::initializer_list<std::string_view> names) {
  if (fields.empty()) return {};
  std::vector<std::string> paths(names.begin(), names.end());
  for (const std::string& field : fields) {
    if (std::ranges::find(paths, field) == paths.end()) paths.push_back(field);
  }
  return paths;
}

bool NamesAny(const std::vector<std::string>& fields,
              std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(fields, [names](const std::string& field) {
    const std::string_view outer = std::string_view(field).substr(0, field.find('.'));
    return std::ranges::find(names, outer) != names.end();
  });
}

}  // namespace linkvane::command
