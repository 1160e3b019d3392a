#ifndef LINKVANE_CLIENT_RPC_STATUS_H_
#define LINKVANE_CLIENT_RPC_STATUS_H_

#include <grpcpp/channel.h>
#include <grpcpp/support/status.h>

#include "absl/status/status.h"

// The way from gRPC's status to ours; not part of the library's interface.

namespace linkvane::client::internal {

// The payload that marks a status for IsUnreachable.
inline constexpr char kUnreachablePayload[] = "linkvane.client/unreachable";

// Translates the status of a call over `channel`, which tells whether there is a connection at all.
absl::Status FromGrpc(const grpc::Status& status, grpc::Channel& channel);

}  // namespace linkvane::client::internal

#endif  // LINKVANE_CLIENT_RPC_STATUS_H_
