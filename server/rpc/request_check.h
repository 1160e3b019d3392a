// Arguments that several requests have.
#ifndef LINKVANE_SERVER_RPC_REQUEST_CHECK_H_
#define LINKVANE_SERVER_RPC_REQUEST_CHECK_H_

#include <google/protobuf/field_mask.pb.h>
#include <grpcpp/support/status.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "linkvane/v1/types.pb.h"
#include "server/rpc/error.h"
#include "server/state/read_mask.h"

namespace linkvane::server {

// Only the server's own network namespace is served.
inline std::optional<grpc::Status> CheckNetns(const std::string& netns) {
  if (netns.empty()) return std::nullopt;
  return Error(
      grpc::StatusCode::INVALID_ARGUMENT,
      absl::StrCat("netns: this server serves its own network namespace only, not \"", netns, "\""),
      {.reason = "NETNS_NOT_SERVED", .metadata = {{"field", "netns"}, {"netns", netns}}});
}

// Whether the answer has to be fresh. `live` is the field that asks for what is read from the
// kernel for each answer, if one does.
inline std::optional<BadArgument> CheckConsistency(int consistency, std::string_view live,
                                                   bool& fresh) {
  namespace pb = ::linkvane::v1;
  if (!pb::Consistency_IsValid(consistency)) {
    return BadArgument{"consistency", absl::StrCat(consistency, " is no consistency")};
  }
  fresh = consistency != pb::CONSISTENCY_CACHED;
  if (!fresh && !live.empty()) {
    return BadArgument{std::string(live),
                       "what it asks for is read from the kernel, so it does not go with "
                       "CONSISTENCY_CACHED"};
  }
  return std::nullopt;
}

// The first field of a request that asks for such a thing; "" if none does.
template <typename Request>
std::string_view LiveField(const Request& request) {
  if (request.include_stats()) return "include_stats";
  if (request.include_vfs()) return "include_vfs";
  if (request.include_ethtool()) return "include_ethtool";
  return {};
}

inline std::optional<BadArgument> CheckMask(const google::protobuf::FieldMask& mask,
                                            ReadMask& out) {
  const absl::Status status = CompileMask(mask, out);
  if (status.ok()) return std::nullopt;
  return BadArgument{"read_mask", std::string(status.message())};
}

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_REQUEST_CHECK_H_
