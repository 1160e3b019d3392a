#ifndef LINKVANE_CLIENT_COMMAND_EXIT_STATUS_H_
#define LINKVANE_CLIENT_COMMAND_EXIT_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace linkvane::command {

// What the command's exit status says. Scripts rely on the numbers.
inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitUsage = 2;        // a wrong command line, also where the server found it
inline constexpr int kExitNotFound = 3;     // no such interface
inline constexpr int kExitDeadline = 4;     // no answer within --timeout
inline constexpr int kExitUnreachable = 5;  // no connection to the server

int ExitStatus(const absl::Status& status);

// The line for the user about a call to `server` that failed, with the server's reason where it
// gave one: "linkvane: no interface 'eth7' (INTERFACE_NOT_FOUND)\n".
std::string ErrorLine(const absl::Status& status, const std::string& server,
                      absl::Duration timeout);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_EXIT_STATUS_H_
