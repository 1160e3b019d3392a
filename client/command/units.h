#ifndef LINKVANE_CLIENT_COMMAND_UNITS_H_
#define LINKVANE_CLIENT_COMMAND_UNITS_H_

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <string>

namespace linkvane::command {

// An integer as a person reads it in this field, by what fields of such a name count in the
// contract: "1500 bytes", "1000 packets", "0x10043" of bits, "802.1q (0x8100)" of Ethertypes.
std::string NumberText(const google::protobuf::FieldDescriptor& field, uint64_t number);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_UNITS_H_
