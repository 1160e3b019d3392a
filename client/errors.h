#ifndef LINKVANE_CLIENT_ERRORS_H_
#define LINKVANE_CLIENT_ERRORS_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

// What a failed call tells beyond code and message. The client library answers absl::Status with
// the gRPC code and message, and keeps each detail that the server attached (google.rpc.*) as a
// payload under its type URL; these functions read the ones that Linkvane servers send.

namespace linkvane::client {

// Why the server refused (google.rpc.ErrorInfo).
struct ErrorInfo {
  std::string reason;                           // "PAGE_TOKEN_EXPIRED"
  std::string domain;                           // "linkvane"
  std::map<std::string, std::string> metadata;  // the values concerned: "field" -> "page_token"
};

// Nothing if the error did not come from a Linkvane server but from the connection to it.
std::optional<ErrorInfo> GetErrorInfo(const absl::Status& status);

// The reason alone; empty without one.
std::string GetErrorReason(const absl::Status& status);

// How long the server asks to wait before the call is tried again (google.rpc.RetryInfo).
std::optional<absl::Duration> GetRetryDelay(const absl::Status& status);

// True if no connection to the server could be made, so that the call never reached one. Every
// other UNAVAILABLE comes from a server, or from a connection that was lost.
bool IsUnreachable(const absl::Status& status);

}  // namespace linkvane::client

#endif  // LINKVANE_CLIENT_ERRORS_H_
