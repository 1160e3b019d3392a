// What the server is told at its start: on the command line, in a --flagfile, or as LINKVANE_<FLAG>
// in the environment (in this order of precedence).
#ifndef LINKVANE_SERVER_OPTIONS_H_
#define LINKVANE_SERVER_OPTIONS_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/log.h"

namespace linkvane::server {

struct Options {
  std::vector<std::string> listen;
  bool allow_insecure_remote = false;
  mode_t socket_mode = 0;
  std::string socket_group;
  std::string node_name;
  size_t pool_size = 0;
  int event_buffer_bytes = 0;
  absl::Duration audit_interval;
  size_t max_watchers = 0;
  absl::Duration watch_stall_timeout;
  absl::Duration grace_period;
  std::string log_level;
  LogFormat log_format = LogFormat::kText;
};

// Reads and checks them. A wrong value is INVALID_ARGUMENT with one line that names the flag. Unset
// if only help or the version was asked for, which has been printed then.
absl::StatusOr<std::optional<Options>> ReadOptions(const std::vector<std::string>& arguments);

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_OPTIONS_H_
