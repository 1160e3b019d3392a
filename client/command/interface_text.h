#ifndef LINKVANE_CLIENT_COMMAND_INTERFACE_TEXT_H_
#define LINKVANE_CLIENT_COMMAND_INTERFACE_TEXT_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <string>

#include "absl/time/time.h"
#include "client/command/settings.h"
#include "linkvane/v1/addr.pb.h"
#include "linkvane/v1/interface.pb.h"

namespace linkvane::command {

struct InterfaceTextOptions {
  // kFull also tells counters that are 0 and the bytes of unknown attributes.
  Detail detail = Detail::kBrief;
  bool color = false;
  size_t width = 100;  // columns that lists are broken at
  absl::Time now;      // what lifetimes of addresses are counted from
};

// Everything about one interface for a person: its name, then its settings in groups (state, sizes
// and queues, ..., those of its kind and as a port), counters where it has them, `addrs`, and what
// the kernel said that has no field. Fields that no group knows are in a group of their own:
// nothing that is set is left out, nor told twice.
std::string InterfaceText(const v1::Interface& interface,
                          const google::protobuf::RepeatedPtrField<v1::Addr>& addrs,
                          const InterfaceTextOptions& options);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_INTERFACE_TEXT_H_
