// The errors that calls end with. Each carries a google.rpc.ErrorInfo.
#ifndef LINKVANE_SERVER_RPC_ERROR_H_
#define LINKVANE_SERVER_RPC_ERROR_H_

#include <grpcpp/support/status.h>

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/state/filter.h"

namespace linkvane::server {

struct ErrorDetails {
  std::string reason;  // UPPER_SNAKE_CASE.
  std::map<std::string, std::string> metadata;
  // When it is worth while to ask again; sent as google.rpc.RetryInfo.
  std::optional<absl::Duration> retry_delay = std::nullopt;
};

grpc::Status Error(grpc::StatusCode code, const std::string& message, const ErrorDetails& details);

// INVALID_ARGUMENT, reason BAD_ARGUMENT, with the field's name.
grpc::Status Error(const BadArgument& bad);

// What went wrong below: the kernel's refusals keep errno and the kernel's own words.
grpc::Status Error(const absl::Status& status);

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_ERROR_H_
