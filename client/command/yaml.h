#ifndef LINKVANE_CLIENT_COMMAND_YAML_H_
#define LINKVANE_CLIENT_COMMAND_YAML_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace linkvane::command {

// The same value as `json`, what protobuf's JSON mapping printed, as YAML in block style with a
// line break at the end: same fields in the same order, and numbers of 64 bits stay strings.
// Readers of YAML 1.1 and of 1.2 understand the same. Fails only for what is not JSON.
absl::StatusOr<std::string> YamlFromJson(std::string_view json);

// A string as a scalar: plain where every reader takes it for a string, else in double quotes. It
// never contains a byte that a terminal would act on.
std::string YamlString(std::string_view text);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_YAML_H_
