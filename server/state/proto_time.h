// Times as the contract sends them.
#ifndef LINKVANE_SERVER_STATE_PROTO_TIME_H_
#define LINKVANE_SERVER_STATE_PROTO_TIME_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <cstdint>

#include "absl/time/time.h"

namespace linkvane::server {

inline google::protobuf::Timestamp ToProto(absl::Time time) {
  const int64_t nanos = absl::ToUnixNanos(time);
  google::protobuf::Timestamp out;
  out.set_seconds(nanos / 1'000'000'000);
  out.set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
  return out;
}

inline google::protobuf::Duration ToProto(absl::Duration duration) {
  const int64_t nanos = absl::ToInt64Nanoseconds(duration);
  google::protobuf::Duration out;
  out.set_seconds(nanos / 1'000'000'000);
  out.set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
  return out;
}

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_PROTO_TIME_H_
