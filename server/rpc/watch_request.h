// What a WatchRequest asks for, checked.
#ifndef LINKVANE_SERVER_RPC_WATCH_REQUEST_H_
#define LINKVANE_SERVER_RPC_WATCH_REQUEST_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "server/state/subscription.h"

namespace linkvane::server {

inline constexpr absl::Duration kDefaultBookmarkInterval = absl::Seconds(10);
inline constexpr absl::Duration kShortestBookmarkInterval = absl::Milliseconds(100);

struct ResumePoint {
  std::string epoch;
  uint64_t number = 0;
  bool required = false;
};

struct WatchArguments {
  WatchOptions options;
  absl::Duration bookmark_interval = kDefaultBookmarkInterval;
  std::optional<ResumePoint> resume;
};

// The error if there is one.
std::optional<grpc::Status> CheckWatch(const grpc::ByteBuffer& request, WatchArguments& out);

// Whether the stream can continue after `resume`; this version keeps no history, so it never can.
// Either the reason for a resync goes into `options`, or the error is returned.
std::optional<grpc::Status> CheckResume(const ResumePoint& resume, const std::string& epoch,
                                        uint64_t revision, WatchOptions& options);

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_WATCH_REQUEST_H_
