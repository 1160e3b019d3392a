#include "client/command/interface_text.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/command/addrs.h"
#include "client/command/field_text.h"
#include "client/command/interface_groups.h"
#include "client/command/table.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

std::string Indented(const std::string& lines) {
  std::string text;
  for (const absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    absl::StrAppend(&text, "  ", line, "\n");
  }
  return text;
}

// One thing that is counted, in one or both directions.
struct Counter {
  std::string name;
  std::string received;
  std::string transmitted;
  bool zero = true;
};

std::vector<Counter> Counters(const v1::InterfaceStats& stats) {
  std::vector<Counter> counters;
  const auto* type = v1::InterfaceStats::descriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    std::string_view name = type->field(i)->name();
    const std::string count = FieldText(stats, name).value_or("");
    if (count.empty()) continue;
    const bool transmitted = name.starts_with("tx_");
    const bool one_way = transmitted || name.starts_with("rx_");
    if (one_way) name.remove_prefix(3);
    auto found = std::ranges::find(counters, LabelText(name), &Counter::name);
    if (found == counters.end()) {
      counters.push_back({.name = LabelText(name), .received = "", .transmitted = ""});
      found = std::prev(counters.end());
    }
    // Multicast packets are received, collisions happen while transmitting.
    (transmitted || name == "collisions" ? found->transmitted : found->received) = count;
    found->zero = found->zero && count == "0";
  }
  return counters;
}

// What everyone looks for is shown even where it is 0.
bool IsUsual(const std::string& name) {
  return name == "bytes" || name == "packets" || name == "errors" || name == "dropped";
}

std::string CounterLines(const v1::InterfaceStats& stats, const InterfaceTextOptions& options) {
  Table table({{.title = "COUNTER"},
               {.title = "RECEIVED", .right = true},
               {.title = "TRANSMITTED", .right = true}});
  bool left_out = false;
  for (Counter& counter : Counters(stats)) {
    if (counter.zero && !IsUsual(counter.name) && options.detail == Detail::kBrief) {
      left_out = true;
      continue;
    }
    table.AddRow(
        {std::move(counter.name), std::move(counter.received), std::move(counter.transmitted)});
  }
  return Indented(table.Format(options.color)) + (left_out ? "  all others 0\n" : "");
}

std::string UnknownAttributeLines(const v1::Interface& interface, Detail detail) {
  constexpr size_t kShort = 48;
  constexpr size_t kBytesInLine = 32;
  size_t bytes = 0;
  std::vector<std::string> texts;
  std::string lines;
  for (const v1::UnknownAttribute& attribute : interface.unknown_attributes()) {
    bytes += attribute.data().size();
    const std::string number = absl::StrJoin(attribute.parents(), ".") +
                               (attribute.parents().empty() ? "" : ".") +
                               absl::StrCat(attribute.type());
    texts.push_back(absl::StrCat(number, "=", absl::BytesToHexString(attribute.data())));
    absl::StrAppend(&lines, "  ", number, "  ", attribute.data().size(),
                    attribute.data().size() == 1 ? " byte\n" : " bytes\n");
    for (size_t at = 0; at < attribute.data().size(); at += kBytesInLine) {
      absl::StrAppend(&lines, "    ",
                      absl::BytesToHexString(attribute.data().substr(at, kBytesInLine)), "\n");
    }
  }
  if (detail == Detail::kFull) return lines;
  const std::string text = absl::StrJoin(texts, ", ");
  if (text.size() <= kShort) return absl::StrCat("  ", text, "\n");
  return absl::StrCat("  ", texts.size(), " with ", bytes, " bytes; -o wide shows them\n");
}

}  // namespace

std::string InterfaceText(const v1::Interface& interface,
                          const google::protobuf::RepeatedPtrField<v1::Addr>& addrs,
                          const InterfaceTextOptions& options) {
  std::string text;
  const auto add = [&text, &options](const std::string& title, const std::string& lines) {
    absl::StrAppend(&text, Inked(title, Ink::kBold, options.color), "\n", lines);
  };
  for (const Group& group : InterfaceGroups(interface, options.detail)) {
    add(group.title, SettingLines(group.settings, options.width, options.color));
  }
  if (interface.has_stats()) add("counters", CounterLines(interface.stats(), options));
  add("addresses", addrs.empty() ? "  none\n"
                                 : Indented(AddrTable(addrs, options.now,
                                                      {.of_one_interface = true,
                                                       .wide = options.detail == Detail::kFull,
                                                       .color = options.color})));
  if (!interface.unknown_attributes().empty()) {
    add("unknown attributes", UnknownAttributeLines(interface, options.detail));
  }
  return text;
}

}  // namespace linkvane::command
