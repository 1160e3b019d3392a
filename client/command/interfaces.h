#ifndef LINKVANE_CLIENT_COMMAND_INTERFACES_H_
#define LINKVANE_CLIENT_COMMAND_INTERFACES_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <string>

#include "linkvane/v1/interface.pb.h"

namespace linkvane::command {

// The interface's name, escaped, with what it stands on behind it as `ip` writes it: "eth0.5@eth0",
// or "eth0@if7" where the other end is in another namespace. "#3" for an interface of which only
// the index is known.
std::string InterfaceTitle(const v1::Interface& interface);

// One word: "admin-down" while the administrator keeps it down, else the operational state.
std::string InterfaceState(const v1::Interface& interface);

// The kind of a virtual device, else that of the hardware ("ether").
std::string InterfaceKind(const v1::Interface& interface);

struct InterfaceTableOptions {
  bool stats = false;  // with counters
  bool ethtool = false;
  bool wide = false;  // with more columns, among them a summary of the kind's settings
  bool color = false;
};

// A row an interface.
std::string InterfaceTable(const google::protobuf::RepeatedPtrField<v1::Interface>& interfaces,
                           const InterfaceTableOptions& options);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_INTERFACES_H_
