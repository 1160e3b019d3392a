#include "client/command/exit_status.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "client/command/text.h"
#include "client/errors.h"

namespace linkvane::command {
namespace {

// gRPC's words for a failed connection end in those of the kernel or the resolver:
// "failed to connect to all addresses; last error: UNKNOWN: unix:/x: No such file or directory".
std::string_view ConnectError(std::string_view message) {
  constexpr std::string_view kBefore = "last error: ";
  if (const size_t at = message.find(kBefore); at != std::string_view::npos) {
    message.remove_prefix(at + kBefore.size());
  }
  for (const std::string_view code : {"UNKNOWN: ", "UNAVAILABLE: ", "INTERNAL: "}) {
    if (message.starts_with(code)) message.remove_prefix(code.size());
  }
  return message;
}

std::string Explain(const absl::Status& status, const std::string& server, absl::Duration timeout) {
  std::string message(status.message());
  if (client::IsUnreachable(status)) {
    std::string_view why = ConnectError(message);
    if (why.starts_with(server + ": ")) why.remove_prefix(server.size() + 2);
    return absl::StrCat(
        "cannot reach the server at ", server, ": ", ToAbsl(why),
        "; is linkvaned running there? (--server or $LINKVANE_SERVER names another)");
  }
  const bool from_server = client::GetErrorInfo(status).has_value();
  if (absl::IsDeadlineExceeded(status) && !from_server) {
    return absl::StrCat("no answer from ", server, " within ", absl::FormatDuration(timeout));
  }
  if (absl::IsUnavailable(status) && !from_server) {
    return absl::StrCat("the connection to ", server, " was lost: ", message);
  }
  if (message.empty()) return absl::StatusCodeToString(status.code());
  return message;
}

}  // namespace

int ExitStatus(const absl::Status& status) {
  if (client::IsUnreachable(status)) return kExitUnreachable;
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
      return kExitUsage;
    case absl::StatusCode::kNotFound:
      return kExitNotFound;
    case absl::StatusCode::kDeadlineExceeded:
      return kExitDeadline;
    default:
      return kExitError;
  }
}

std::string ErrorLine(const absl::Status& status, const std::string& server,
                      absl::Duration timeout) {
  std::string line = absl::StrCat("linkvane: ", Escape(Explain(status, server, timeout)));
  if (const std::string reason = client::GetErrorReason(status); !reason.empty()) {
    absl::StrAppend(&line, " (", Escape(reason), ")");
  }
  return line + "\n";
}

}  // namespace linkvane::command
