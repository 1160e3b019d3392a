#include "client/command/event_text.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command/addrs.h"
#include "client/command/field_text.h"
#include "client/command/ink.h"
#include "client/command/interfaces.h"
#include "client/command/table.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

constexpr size_t kTimeWidth = 23;  // "2025-01-31 13:02:59.021"
constexpr size_t kWhatWidth = 8;   // "MODIFIED"
constexpr size_t kTypeWidth = 9;   // "interface"
constexpr size_t kNameWidth = 15;  // what the kernel allows
constexpr size_t kGap = 2;

std::string RevisionText(const v1::Revision& revision) {
  return absl::StrCat(Escape(revision.epoch()), ":", revision.number());
}

// The object inside, whatever its type; null if there is none that this version knows.
const google::protobuf::Message* Object(const v1::Resource& resource) {
  switch (resource.object_case()) {
    case v1::Resource::kInterface:
      return &resource.interface();
    case v1::Resource::kAddr:
      return &resource.addr();
    case v1::Resource::OBJECT_NOT_SET:
      break;
  }
  return nullptr;
}

std::string TypeText(const v1::Resource& resource) {
  const auto* object = Object(resource);
  return object == nullptr ? "?" : absl::AsciiStrToLower(object->GetDescriptor()->name());
}

// The interface's name: its own, or that of the interface an address belongs to.
std::string NameText(const v1::Resource& resource) {
  if (resource.has_addr()) return AddrInterface(resource.addr());
  const v1::Interface& interface = resource.interface();
  return interface.name().empty() ? absl::StrCat("#", interface.index()) : Escape(interface.name());
}

std::string Masked(const google::protobuf::Message& object,
                   const std::vector<std::string>& fields) {
  std::vector<std::string> parts;
  for (const auto& [path, text] : PickFields(object, fields)) {
    parts.push_back(absl::StrCat(path, ": ", text));
  }
  return absl::StrJoin(parts, ", ");
}

std::string Describe(const v1::Interface& interface) {
  std::string text = absl::StrCat(InterfaceKind(interface), " ", InterfaceState(interface));
  if (interface.has_mtu()) absl::StrAppend(&text, " mtu ", interface.mtu());
  if (!interface.master_name().empty()) {
    absl::StrAppend(&text, " master ", Escape(interface.master_name()));
  }
  if (!interface.hardware_address().empty()) {
    absl::StrAppend(&text, " ", Escape(interface.hardware_address()));
  }
  return text;
}

std::string Describe(const v1::Resource& resource, const std::vector<std::string>& fields) {
  const auto* object = Object(resource);
  if (object == nullptr) return "";
  if (!fields.empty()) return Masked(*object, fields);
  if (resource.has_interface()) return Describe(resource.interface());
  return absl::StrCat("scope ", FieldText(resource.addr(), "scope").value_or("?"));
}

std::vector<std::string> Missing(const std::vector<std::string>& from,
                                 const std::vector<std::string>& others, const char* sign) {
  std::vector<std::string> missing;
  for (const std::string& value : from) {
    if (std::ranges::find(others, value) == others.end()) missing.push_back(sign + value);
  }
  return missing;
}

// One field's change. Of a list, what came and what went, unless only the order changed.
std::string FieldChange(const google::protobuf::Message& before,
                        const google::protobuf::Message& after, const std::string& path,
                        bool is_list) {
  const std::vector<std::string> old_values = FieldValues(before, path);
  const std::vector<std::string> new_values = FieldValues(after, path);
  if (is_list) {
    std::vector<std::string> steps = Missing(new_values, old_values, "+");
    for (std::string& gone : Missing(old_values, new_values, "-")) steps.push_back(std::move(gone));
    if (!steps.empty()) return absl::StrCat(path, ": ", absl::StrJoin(steps, " "));
  }
  const auto text = [](const std::vector<std::string>& values) {
    const std::string joined = absl::StrJoin(values, ",");
    return joined.empty() ? "-" : joined;
  };
  return absl::StrCat(path, ": ", text(old_values), " -> ", text(new_values));
}

Ink EventInk(v1::EventType type) {
  switch (type) {
    case v1::EVENT_TYPE_ADDED:
      return Ink::kGreen;
    case v1::EVENT_TYPE_REMOVED:
      return Ink::kRed;
    case v1::EVENT_TYPE_MODIFIED:
      return Ink::kYellow;
    default:
      return Ink::kPlain;
  }
}

std::string EventLine(const v1::Event& event, const std::vector<std::string>& fields, bool color) {
  std::string line;
  AppendPadded(&line, FieldText(event, "time").value_or("-"), kTimeWidth + kGap);
  std::string what;
  AppendPadded(&what, absl::AsciiStrToUpper(FieldText(event, "type").value_or("?")),
               kWhatWidth + kGap);
  line += Inked(what, EventInk(event.type()), color);
  AppendPadded(&line, TypeText(event.resource()), kTypeWidth + kGap);
  AppendPadded(&line, NameText(event.resource()), kNameWidth + kGap);
  std::vector<std::string> parts;
  if (event.resource().has_addr()) parts.push_back(AddrTitle(event.resource().addr()));
  parts.push_back(event.type() == v1::EVENT_TYPE_MODIFIED ? ChangeText(event)
                                                          : Describe(event.resource(), fields));
  if (event.left_filter()) parts.emplace_back("(still there, but left the filter)");
  if (event.coalesced() > 1) parts.push_back(absl::StrCat("(", event.coalesced(), " changes)"));
  std::erase(parts, "");
  absl::StrAppend(&line, absl::StrJoin(parts, "  "));
  absl::StripTrailingAsciiWhitespace(&line);
  return line + "\n";
}

}  // namespace

std::string ChangeText(const v1::Event& event) {
  const auto* after = Object(event.resource());
  const auto* before = Object(event.previous());
  if (after == nullptr) return "";
  std::vector<std::string> parts;
  for (const std::string& path : event.changed().paths()) {
    const auto* field = after->GetDescriptor()->FindFieldByName(path);
    if (field != nullptr && IsRawForm(*field)) continue;
    parts.push_back(
        before == nullptr
            ? absl::StrCat(path, ": ", FieldText(*after, path).value_or("-"))
            : FieldChange(*before, *after, path, field != nullptr && field->is_repeated()));
  }
  return absl::StrJoin(parts, ", ");
}

std::string WatchText(const v1::WatchResponse& response, const std::vector<std::string>& fields,
                      bool color) {
  switch (response.content_case()) {
    case v1::WatchResponse::kEvents: {
      std::string lines;
      for (const v1::Event& event : response.events().events()) {
        lines += EventLine(event, fields, color);
      }
      return lines;
    }
    case v1::WatchResponse::kSynced:
      return absl::StrCat("--- in sync at ", RevisionText(response.checkpoint()),
                          "; changes follow as they come\n");
    case v1::WatchResponse::kGap:
      return absl::StrCat("--- gap: kernel events were lost after ",
                          RevisionText(response.gap().from()), "; the differences follow\n");
    case v1::WatchResponse::kResync:
      return absl::StrCat("--- resync: the state follows anew (",
                          FieldText(response.resync(), "reason").value_or("no reason given"),
                          "); what it does not name is gone\n");
    case v1::WatchResponse::kCreated:
    case v1::WatchResponse::kBookmark:
    case v1::WatchResponse::CONTENT_NOT_SET:
      break;
  }
  return "";
}

}  // namespace linkvane::command
