#include "client/command/settings.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "client/command/field_text.h"
#include "client/command/table.h"
#include "client/command/text.h"
#include "client/command/units.h"

namespace linkvane::command {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The field with the kernel's numbers of `field`; null if there is none.
const FieldDescriptor* RawCompanion(const FieldDescriptor& field) {
  const auto* raw = field.containing_type()->FindFieldByName(field.name() + "_raw");
  return raw != nullptr && raw->cpp_type() == FieldDescriptor::CPPTYPE_UINT32 ? raw : nullptr;
}

bool IsRawCompanion(const FieldDescriptor& field) {
  return field.name().ends_with("_raw") && IsRawForm(field) &&
         field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32;
}

// Empty for the value that says nothing, and for one that this version does not know.
std::string EnumName(const FieldDescriptor& field, int number) {
  const auto* value = number == 0 ? nullptr : field.enum_type()->FindValueByNumber(number);
  return value == nullptr ? "" : EnumText(field.enum_type()->name(), value->name());
}

std::string Unknown(uint64_t number) { return absl::StrCat(number, " (unknown)"); }

std::vector<std::string> EnumValue(const Message& message, const FieldDescriptor& field,
                                   const FieldDescriptor* raw, Detail detail) {
  const google::protobuf::Reflection& r = *message.GetReflection();
  const int number = r.GetEnumValue(message, &field);
  std::string name = EnumName(field, number);
  if (raw == nullptr || raw->is_repeated() || !r.HasField(message, raw)) {
    if (!name.empty()) return {std::move(name)};
    if (number == 0) return {};
    return {Unknown(static_cast<uint64_t>(number))};
  }
  const uint32_t raw_number = r.GetUInt32(message, raw);
  if (name.empty()) return {Unknown(raw_number)};
  if (detail == Detail::kFull) absl::StrAppend(&name, " (", raw_number, ")");
  return {std::move(name)};
}

// Names of flags, and all bits where one has no name.
std::vector<std::string> FlagValues(const Message& message, const FieldDescriptor& raw,
                                    std::vector<std::string> names, Detail detail) {
  const google::protobuf::Reflection& r = *message.GetReflection();
  const uint32_t bits = r.GetUInt32(message, &raw);
  if (names.empty() && bits == 0) {
    if (!raw.has_presence() || !r.HasField(message, &raw)) return {};
    return {"none"};
  }
  const std::string hex = absl::StrFormat("0x%x", bits);
  if (names.empty()) return {hex};
  if (detail == Detail::kFull || static_cast<size_t>(std::popcount(bits)) > names.size()) {
    absl::StrAppend(&names.back(), " (", hex, ")");
  }
  return names;
}

std::vector<std::string> EnumValues(const Message& message, const FieldDescriptor& field,
                                    const FieldDescriptor* raw, Detail detail) {
  const google::protobuf::Reflection& r = *message.GetReflection();
  const bool numbers = raw != nullptr && raw->is_repeated();
  const int size = r.FieldSize(message, &field);
  const int raw_size = numbers ? r.FieldSize(message, raw) : 0;
  std::vector<std::string> values;
  for (int i = 0; i < std::max(size, raw_size); ++i) {
    const int number = i < size ? r.GetRepeatedEnumValue(message, &field, i) : 0;
    std::string name = EnumName(field, number);
    if (i < raw_size) {
      const uint32_t raw_number = r.GetRepeatedUInt32(message, raw, i);
      if (name.empty()) {
        name = Unknown(raw_number);
      } else if (detail == Detail::kFull) {
        absl::StrAppend(&name, " (", raw_number, ")");
      }
    } else if (name.empty()) {
      name = Unknown(static_cast<uint64_t>(number));
    }
    values.push_back(std::move(name));
  }
  if (raw == nullptr || numbers) return values;
  return FlagValues(message, *raw, std::move(values), detail);
}

// Of a field that is neither an enum nor has a companion.
std::vector<std::string> PlainValues(const Message& message, const FieldDescriptor& field) {
  const google::protobuf::Reflection& r = *message.GetReflection();
  std::vector<std::string> values = FieldValues(message, field.name());
  if (values.empty() || field.is_repeated()) return values;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32) {
    return {NumberText(field, r.GetUInt32(message, &field))};
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
    return {NumberText(field, r.GetUInt64(message, &field))};
  }
  return values;
}

bool HasOwnSettings(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_repeated() &&
         field.message_type()->file()->package() != "google.protobuf";
}

void AppendSetting(const Setting& setting, size_t label_width, size_t width, bool color,
                   std::string* lines) {
  constexpr size_t kIndent = 2;
  constexpr size_t kGap = 2;
  const size_t start = kIndent + label_width + kGap;
  std::string line(kIndent, ' ');
  AppendPadded(&line, setting.label, label_width + kGap);
  size_t used = start;
  for (size_t i = 0; i < setting.values.size(); ++i) {
    const bool last = i + 1 == setting.values.size();
    const size_t taken = DisplayWidth(setting.values[i]) + (last ? 0 : 1);
    if (used > start && used + 1 + taken > width) {
      absl::StrAppend(lines, line, "\n");
      line.assign(start, ' ');
      used = start;
    } else if (used > start) {
      line += ' ';
      ++used;
    }
    absl::StrAppend(&line, Inked(setting.values[i], setting.ink, color), last ? "" : ",");
    used += taken;
  }
  absl::StrAppend(lines, line, "\n");
}

}  // namespace

std::string LabelText(std::string_view field_name) {
  return absl::StrReplaceAll(ToAbsl(field_name), {{"_", " "}});
}

std::vector<std::string> SettingValues(const Message& message, const FieldDescriptor& field,
                                       Detail detail) {
  const FieldDescriptor* raw = RawCompanion(field);
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    return field.is_repeated() ? EnumValues(message, field, raw, detail)
                               : EnumValue(message, field, raw, detail);
  }
  std::vector<std::string> values = PlainValues(message, field);
  if (raw == nullptr || raw->is_repeated() || !message.GetReflection()->HasField(message, raw)) {
    return values;
  }
  const uint32_t number = message.GetReflection()->GetUInt32(message, raw);
  if (values.empty()) return {Unknown(number)};
  if (detail == Detail::kFull) absl::StrAppend(&values.back(), " (", number, ")");
  return values;
}

std::vector<Setting> FieldSettings(const Message& message, const FieldDescriptor& field,
                                   Detail detail, std::string_view prefix) {
  if (IsRawCompanion(field)) return {};
  std::string label = absl::StrCat(ToAbsl(prefix), LabelText(field.name()));
  if (HasOwnSettings(field)) {
    if (!message.GetReflection()->HasField(message, &field)) return {};
    return Settings(message.GetReflection()->GetMessage(message, &field), detail, label + " ");
  }
  std::vector<std::string> values = SettingValues(message, field, detail);
  if (values.empty()) return {};
  return {{.label = std::move(label), .values = std::move(values)}};
}

std::vector<Setting> Settings(const Message& message, Detail detail, std::string_view prefix) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  std::vector<Setting> settings;
  for (int i = 0; i < type.field_count(); ++i) {
    std::ranges::move(FieldSettings(message, *type.field(i), detail, prefix),
                      std::back_inserter(settings));
  }
  return settings;
}

std::string SettingLines(const std::vector<Setting>& settings, size_t width, bool color) {
  size_t label_width = 0;
  for (const Setting& setting : settings) {
    label_width = std::max(label_width, DisplayWidth(setting.label));
  }
  std::string lines;
  for (const Setting& setting : settings) {
    AppendSetting(setting, label_width, width, color, &lines);
  }
  return lines;
}

}  // namespace linkvane::command
