#ifndef LINKVANE_CLIENT_COMMAND_ADDRS_H_
#define LINKVANE_CLIENT_COMMAND_ADDRS_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <string>

#include "absl/time/time.h"
#include "linkvane/v1/addr.pb.h"

namespace linkvane::command {

// "192.0.2.1/24", or "10.0.0.1 peer 10.0.0.2/32" on a point-to-point link.
std::string AddrTitle(const v1::Addr& addr);

// The name of its interface, escaped; "#3" where only the index is known.
std::string AddrInterface(const v1::Addr& addr);

// How long it is valid from `now` on, and preferred where that is another time:
// "forever", "23h59m58s (preferred 11h59m58s)".
std::string AddrLifetime(const v1::Addr& addr, absl::Time now);

struct AddrTableOptions {
  bool of_one_interface = false;  // without the columns that an interface's name makes needless
  bool wide = false;
  bool color = false;
};

// A row an address. The flag "permanent" is not shown: the lifetime says it.
std::string AddrTable(const google::protobuf::RepeatedPtrField<v1::Addr>& addrs, absl::Time now,
                      const AddrTableOptions& options);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_ADDRS_H_
