#ifndef LINKVANE_CLIENT_COMMAND_STRUCTURED_H_
#define LINKVANE_CLIENT_COMMAND_STRUCTURED_H_

#include <google/protobuf/message.h>
#include <google/protobuf/repeated_ptr_field.h>

#include <string>

#include "absl/status/statusor.h"
#include "client/command/json.h"
#include "client/command/yaml.h"

namespace linkvane::command {

// What -o asks for.
enum class Format { kTable, kWide, kJson, kYaml };

// True for the formats that programs read: the contract's fields as they are.
constexpr bool IsStructured(Format format) {
  return format == Format::kJson || format == Format::kYaml;
}

// One object in a structured format, with a line break at the end.
inline absl::StatusOr<std::string> ObjectText(const google::protobuf::Message& message,
                                              Format format) {
  absl::StatusOr<std::string> json = ToJson(message, JsonStyle::kIndented);
  if (!json.ok() || format == Format::kYaml) return json.ok() ? YamlFromJson(*json) : json;
  return *json + "\n";
}

// The same in a stream of them: a line of JSON, or a YAML document with "---" in front.
inline absl::StatusOr<std::string> StreamedText(const google::protobuf::Message& message,
                                                Format format) {
  absl::StatusOr<std::string> json = ToJson(message, JsonStyle::kOneLine);
  if (!json.ok()) return json;
  if (format != Format::kYaml) return *json + "\n";
  absl::StatusOr<std::string> yaml = YamlFromJson(*json);
  return yaml.ok() ? "---\n" + *yaml : yaml;
}

// A list of objects in a structured format.
template <typename T>
absl::StatusOr<std::string> ListText(const google::protobuf::RepeatedPtrField<T>& messages,
                                     Format format) {
  absl::StatusOr<std::string> json = ToJsonArray(messages);
  return json.ok() && format == Format::kYaml ? YamlFromJson(*json) : json;
}

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_STRUCTURED_H_
