#ifndef LINKVANE_CLIENT_COMMAND_FIELD_TEXT_H_
#define LINKVANE_CLIENT_COMMAND_FIELD_TEXT_H_

#include <google/protobuf/message.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Any field of any message as people read it, found by its name: what a later contract adds is
// shown without a change here. All text comes escaped.

namespace linkvane::command {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

// The values at `path` ("mtu", "stats.rx_bytes"), each as text: several for a repeated field, none
// for one that is not set or does not exist. Numbers and bools that the contract does not call
// `optional` are always there.
std::vector<std::string> FieldValues(const google::protobuf::Message& message,
                                     std::string_view path);

// The same as one text, comma-separated; nothing where there are no values.
std::optional<std::string> FieldText(const google::protobuf::Message& message,
                                     std::string_view path);

// Path and text of all fields that are set, in the contract's order, those of messages inside by
// their path. The kernel's number of an enum or of flags stands behind it:
// {"oper_state", "up (6)"}.
NamedTexts AllFields(const google::protobuf::Message& message);

// Those of `paths` that are set.
NamedTexts PickFields(const google::protobuf::Message& message,
                      const std::vector<std::string>& paths);

// A line each, names and texts aligned.
std::string FieldLines(const NamedTexts& fields);

// A table with a column for each path and a row for each message, all of one type. With `color`,
// for a terminal.
std::string FieldTable(const std::vector<const google::protobuf::Message*>& messages,
                       const std::vector<std::string>& paths, bool color = false);

// True if another field of the same message says the same in words: "flags_raw" beside "flags",
// "raw_name" beside "name".
bool IsRawForm(const google::protobuf::FieldDescriptor& field);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_FIELD_TEXT_H_
