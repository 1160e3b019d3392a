#include "client/command/field_text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/command/table.h"
#include "client/command/text.h"
#include "linkvane/v1/types.pb.h"

namespace linkvane::command {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr std::string_view kRawSuffix = "_raw";
constexpr std::string_view kRawPrefix = "raw_";

std::string MessageText(const Message& message) {
  if (const auto* time = dynamic_cast<const google::protobuf::Timestamp*>(&message)) {
    return TimeText(absl::FromUnixSeconds(time->seconds()) + absl::Nanoseconds(time->nanos()));
  }
  if (const auto* duration = dynamic_cast<const google::protobuf::Duration*>(&message)) {
    const std::string text = absl::FormatDuration(absl::Seconds(duration->seconds()) +
                                                  absl::Nanoseconds(duration->nanos()));
    return text == "0" ? "0s" : text;
  }
  if (const auto* unknown = dynamic_cast<const v1::UnknownAttribute*>(&message)) {
    std::string text;
    for (const uint32_t parent : unknown->parents()) absl::StrAppend(&text, parent, ".");
    absl::StrAppend(&text, unknown->type(), "=", absl::BytesToHexString(unknown->data()));
    return text;
  }
  std::vector<std::string> parts;
  for (const auto& [path, text] : AllFields(message)) {
    parts.push_back(absl::StrCat(path, "=", text));
  }
  return absl::StrJoin(parts, " ");
}

// The value of a field, or the `i`th one of a repeated field.
std::string ValueText(const Message& message, const FieldDescriptor& field, int i) {
  const google::protobuf::Reflection& r = *message.GetReflection();
  const bool repeated = field.is_repeated();
  const auto pick = [&](auto get, auto get_repeated) {
    return repeated ? (r.*get_repeated)(message, &field, i) : (r.*get)(message, &field);
  };
  using R = google::protobuf::Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(pick(&R::GetInt32, &R::GetRepeatedInt32));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(pick(&R::GetInt64, &R::GetRepeatedInt64));
    case FieldDescriptor::CPPTYPE_UINT32: {
      const uint32_t number = pick(&R::GetUInt32, &R::GetRepeatedUInt32);
      return field.name() == "flags_raw" ? absl::StrFormat("0x%x", number) : absl::StrCat(number);
    }
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(pick(&R::GetUInt64, &R::GetRepeatedUInt64));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return absl::StrCat(pick(&R::GetDouble, &R::GetRepeatedDouble));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return absl::StrCat(pick(&R::GetFloat, &R::GetRepeatedFloat));
    case FieldDescriptor::CPPTYPE_BOOL:
      return pick(&R::GetBool, &R::GetRepeatedBool) ? "yes" : "no";
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int number = pick(&R::GetEnumValue, &R::GetRepeatedEnumValue);
      const auto* value = field.enum_type()->FindValueByNumber(number);
      return value == nullptr ? absl::StrCat(number)
                              : EnumText(field.enum_type()->name(), value->name());
    }
    case FieldDescriptor::CPPTYPE_STRING:
      return Escape(pick(&R::GetString, &R::GetRepeatedString));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageText(repeated ? r.GetRepeatedMessage(message, &field, i)
                                  : r.GetMessage(message, &field));
  }
  return "?";
}

bool IsNumber(const FieldDescriptor& field) {
  return !field.is_repeated() && field.cpp_type() <= FieldDescriptor::CPPTYPE_FLOAT;
}

bool IsSet(const Message& message, const FieldDescriptor& field) {
  return message.GetReflection()->HasField(message, &field) ||
         (!field.has_presence() &&
          (IsNumber(field) || field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL));
}

std::vector<std::string> ValueTexts(const Message& message, const FieldDescriptor& field) {
  std::vector<std::string> texts;
  if (field.is_repeated()) {
    const int size = message.GetReflection()->FieldSize(message, &field);
    for (int i = 0; i < size; ++i) texts.push_back(ValueText(message, field, i));
  } else if (IsSet(message, field)) {
    texts.push_back(ValueText(message, field, 0));
  }
  return texts;
}

bool IsFlattened(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_repeated() &&
         field.message_type()->file()->package() != "google.protobuf";
}

void CollectFields(const Message& message, const std::string& prefix, NamedTexts* fields) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (IsFlattened(field)) {
      if (IsSet(message, field)) {
        CollectFields(message.GetReflection()->GetMessage(message, &field),
                      absl::StrCat(prefix, field.name(), "."), fields);
      }
      continue;
    }
    if (field.name().ends_with(kRawSuffix) && IsRawForm(field)) continue;
    std::string text = absl::StrJoin(ValueTexts(message, field), ",");
    if (const auto* raw = type.FindFieldByName(field.name() + std::string(kRawSuffix))) {
      for (const std::string& number : ValueTexts(message, *raw)) {
        absl::StrAppend(&text, text.empty() ? "" : " ", "(", number, ")");
      }
    }
    if (!text.empty()) fields->emplace_back(prefix + field.name(), std::move(text));
  }
}

// The field at the end of `path`, and through `message` the message that has it.
const FieldDescriptor* FindField(const Message** message, std::string_view path) {
  while (true) {
    const size_t dot = path.find('.');
    const auto* field =
        (*message)->GetDescriptor()->FindFieldByName(std::string(path.substr(0, dot)));
    if (field == nullptr || dot == std::string_view::npos) return field;
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_repeated()) {
      return nullptr;
    }
    *message = &(*message)->GetReflection()->GetMessage(**message, field);
    path.remove_prefix(dot + 1);
  }
}

}  // namespace

bool IsRawForm(const FieldDescriptor& field) {
  std::string_view name = field.name();
  if (name.ends_with(kRawSuffix)) {
    name.remove_suffix(kRawSuffix.size());
  } else if (name.starts_with(kRawPrefix)) {
    name.remove_prefix(kRawPrefix.size());
  } else {
    return false;
  }
  return field.containing_type()->FindFieldByName(std::string(name)) != nullptr;
}

std::vector<std::string> FieldValues(const Message& message, std::string_view path) {
  const Message* holder = &message;
  const FieldDescriptor* field = FindField(&holder, path);
  if (field == nullptr) return {};
  return ValueTexts(*holder, *field);
}

std::optional<std::string> FieldText(const Message& message, std::string_view path) {
  const std::vector<std::string> values = FieldValues(message, path);
  if (values.empty()) return std::nullopt;
  return absl::StrJoin(values, ",");
}

NamedTexts AllFields(const Message& message) {
  NamedTexts fields;
  CollectFields(message, "", &fields);
  return fields;
}

NamedTexts PickFields(const Message& message, const std::vector<std::string>& paths) {
  NamedTexts fields;
  for (const std::string& path : paths) {
    if (auto text = FieldText(message, path)) fields.emplace_back(path, *std::move(text));
  }
  return fields;
}

std::string FieldLines(const NamedTexts& fields) {
  size_t width = 0;
  for (const auto& [path, text] : fields) width = std::max(width, DisplayWidth(path));
  std::string lines;
  for (const auto& [path, text] : fields) {
    AppendPadded(&lines, path, width + 2);
    absl::StrAppend(&lines, text, "\n");
  }
  return lines;
}

std::string FieldTable(const std::vector<const Message*>& messages,
                       const std::vector<std::string>& paths, bool color) {
  std::vector<Table::Column> columns;
  columns.reserve(paths.size());
  for (const std::string& path : paths) {
    const Message* holder = messages.empty() ? nullptr : messages.front();
    const FieldDescriptor* field = holder == nullptr ? nullptr : FindField(&holder, path);
    columns.push_back({.title = absl::AsciiStrToUpper(path),
                       .right = field != nullptr && IsNumber(*field),
                       .ink = path == "oper_state" ? StateInk : nullptr});
  }
  Table table(std::move(columns));
  for (const Message* message : messages) {
    std::vector<std::string> cells;
    cells.reserve(paths.size());
    for (const std::string& path : paths) {
      cells.push_back(FieldText(*message, path).value_or(""));
    }
    table.AddRow(std::move(cells));
  }
  return table.Format(color);
}

}  // namespace linkvane::command
