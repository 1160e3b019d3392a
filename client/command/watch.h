#ifndef LINKVANE_CLIENT_COMMAND_WATCH_H_
#define LINKVANE_CLIENT_COMMAND_WATCH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/command/options.h"
#include "linkvane/v1/watch.pb.h"

namespace linkvane::command {

// The request that a command line asks for. `fields` are those of --fields. For people (not
// `structured`), the names of objects and the state before each change are asked for as well.
absl::StatusOr<v1::WatchRequest> BuildWatchRequest(const Invocation& invocation,
                                                   const std::vector<std::string>& fields,
                                                   bool structured);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_WATCH_H_
