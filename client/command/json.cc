#include "client/command/json.h"

#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_cat.h"

namespace linkvane::command {

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message, JsonStyle style) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.add_whitespace = style == JsonStyle::kIndented;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!status.ok()) {
    return absl::DataLossError(
        absl::StrCat("the answer has no JSON form: ", status.message().ToString()));
  }
  // The indented form ends in a line break, the other one does not.
  while (json.ends_with('\n')) json.pop_back();
  return json;
}

}  // namespace linkvane::command
