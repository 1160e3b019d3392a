#ifndef LINKVANE_CLIENT_COMMAND_SETTINGS_H_
#define LINKVANE_CLIENT_COMMAND_SETTINGS_H_

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "client/command/ink.h"

// Any message as lines that a person reads one by one. By reflection: what a later contract adds
// is shown without a change here. All text comes escaped.

namespace linkvane::command {

// kFull also tells the kernel's numbers of what has a name.
enum class Detail { kBrief, kFull };

struct Setting {
  std::string label;                // "forward delay"
  std::vector<std::string> values;  // with units; several of a list
  Ink ink = Ink::kPlain;
};

// A field's name as words: "forward_delay" is "forward delay".
std::string LabelText(std::string_view field_name);

// The values of one field, none if it is not set. The kernel's number in a companion field
// ("mode_raw" of "mode") is part of them where the name does not say it: "17 (unknown)".
std::vector<std::string> SettingValues(const google::protobuf::Message& message,
                                       const google::protobuf::FieldDescriptor& field,
                                       Detail detail);

// One field as it is set: nothing, one setting, or those of a message inside, which have the
// field's name in front. `prefix` is put before each label. Nothing of a companion: its number is
// told with the field.
std::vector<Setting> FieldSettings(const google::protobuf::Message& message,
                                   const google::protobuf::FieldDescriptor& field, Detail detail,
                                   std::string_view prefix = "");

// All fields that are set, in the contract's order.
std::vector<Setting> Settings(const google::protobuf::Message& message, Detail detail,
                              std::string_view prefix = "");

// A line each, indented by two spaces, the values aligned; lists are broken into lines of `width`
// columns between two values, where that is possible.
std::string SettingLines(const std::vector<Setting>& settings, size_t width, bool color);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_SETTINGS_H_
