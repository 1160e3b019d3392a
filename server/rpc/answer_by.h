// By when a call has to be answered.
#ifndef LINKVANE_SERVER_RPC_ANSWER_BY_H_
#define LINKVANE_SERVER_RPC_ANSWER_BY_H_

#include <grpcpp/server_context.h>

#include <algorithm>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace linkvane::server {

// A little before the caller's own deadline, so that the caller hears why; in half a minute if
// there is none.
inline absl::Time AnswerBy(const grpc::ServerContext& context) {
  const absl::Time now = absl::Now();
  const absl::Time ours = now + absl::Seconds(30);
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return ours;
  const absl::Time theirs = absl::FromChrono(deadline);
  return std::min(ours, theirs - std::min(absl::Milliseconds(50), (theirs - now) / 5));
}

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_ANSWER_BY_H_
