#ifndef LINKVANE_CLIENT_COMMAND_INTERFACE_GROUPS_H_
#define LINKVANE_CLIENT_COMMAND_INTERFACE_GROUPS_H_

#include <string>
#include <vector>

#include "client/command/settings.h"
#include "linkvane/v1/interface.pb.h"

namespace linkvane::command {

// Settings that belong together.
struct Group {
  std::string title;
  std::vector<Setting> settings;
};

// All fields of an interface that are set, but for its counters and unknown attributes, in groups
// as people look for them. The first group's title is the interface's name. Groups without settings
// are left out.
std::vector<Group> InterfaceGroups(const v1::Interface& interface, Detail detail);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_INTERFACE_GROUPS_H_
