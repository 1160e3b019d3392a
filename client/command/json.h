#ifndef LINKVANE_CLIENT_COMMAND_JSON_H_
#define LINKVANE_CLIENT_COMMAND_JSON_H_

#include <google/protobuf/message.h>
#include <google/protobuf/repeated_ptr_field.h>

#include <string>

#include "absl/status/statusor.h"

namespace linkvane::command {

enum class JsonStyle { kOneLine, kIndented };

// Protobuf's own JSON mapping with the contract's field names, without a line break at the end.
// Fails for values that the mapping has no form for, such as a time after the year 9999.
absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message, JsonStyle style);

// One array, an object a line, with a line break at the end.
template <typename T>
absl::StatusOr<std::string> ToJsonArray(const google::protobuf::RepeatedPtrField<T>& messages) {
  std::string array = "[";
  for (const T& message : messages) {
    absl::StatusOr<std::string> json = ToJson(message, JsonStyle::kOneLine);
    if (!json.ok()) return json.status();
    array += array.size() == 1 ? "\n" : ",\n";
    array += *json;
  }
  array += array.size() == 1 ? "]\n" : "\n]\n";
  return array;
}

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_JSON_H_
