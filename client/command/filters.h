#ifndef LINKVANE_CLIENT_COMMAND_FILTERS_H_
#define LINKVANE_CLIENT_COMMAND_FILTERS_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/command/options.h"
#include "linkvane/v1/addr.pb.h"
#include "linkvane/v1/interface.pb.h"
#include "linkvane/v1/types.pb.h"

// The parts of requests that several commands read from the command line. A value that can be
// checked here is; the rest (prefixes, field names) is checked by the server, which knows more.

namespace linkvane::command {

// --name, --index, --kind, --master, --up, --down, --oper-state, --hardware-address.
absl::Status ReadInterfaceFilter(const Invocation& invocation, v1::InterfaceFilter* filter);

// --interface, --index, -4, -6, --family, --scope, --within.
absl::Status ReadAddrFilter(const Invocation& invocation, v1::AddrFilter* filter);

// --cached.
v1::Consistency ReadConsistency(const Invocation& invocation);

// --fields; empty without it.
absl::StatusOr<std::vector<std::string>> ReadFields(const Invocation& invocation);

// `fields` with `names` in front, by which a person knows an object; none if there are no fields.
std::vector<std::string> WithNames(const std::vector<std::string>& fields,
                                   std::initializer_list<std::string_view> names);

// Whether one of `fields` is one of `names`, or inside of it ("stats.rx_bytes" of "stats").
bool NamesAny(const std::vector<std::string>& fields,
              std::initializer_list<std::string_view> names);

// Makes `paths` the request's mask; none means all, and leaves it unset.
template <typename Request>
void SetReadMask(const std::vector<std::string>& paths, Request* request) {
  if (paths.empty()) return;
  request->mutable_read_mask()->mutable_paths()->Assign(paths.begin(), paths.end());
}

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_FILTERS_H_
