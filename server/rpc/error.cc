#include "server/rpc/error.h"

#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "netlink/error.h"

namespace linkvane::server {
namespace {

constexpr absl::Duration kRetryDelay = absl::Milliseconds(100);

struct Mapped {
  grpc::StatusCode code;
  const char* reason;
  bool retry;
};

Mapped Map(const absl::Status& status) {
  const bool kernel = netlink::ErrnoOf(status) != 0;
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return {grpc::StatusCode::NOT_FOUND, "NOT_FOUND", false};
    case absl::StatusCode::kPermissionDenied:
      return {grpc::StatusCode::PERMISSION_DENIED, "KERNEL_DENIED", false};
    case absl::StatusCode::kInvalidArgument:
      return {grpc::StatusCode::INVALID_ARGUMENT, kernel ? "KERNEL_REFUSED" : "BAD_ARGUMENT",
              false};
    case absl::StatusCode::kUnimplemented:
      return {grpc::StatusCode::UNIMPLEMENTED, "KERNEL_LACKS", false};
    case absl::StatusCode::kResourceExhausted:
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, "OUT_OF_RESOURCES", true};
    case absl::StatusCode::kDeadlineExceeded:
      return {grpc::StatusCode::DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED", false};
    case absl::StatusCode::kCancelled:
      return {grpc::StatusCode::UNAVAILABLE, "SHUTTING_DOWN", true};
    default:
      return {grpc::StatusCode::UNAVAILABLE, kernel ? "KERNEL_BUSY" : "DUMP_INTERRUPTED", true};
  }
}

// A status goes into the trailing metadata, of which clients take some kilobytes, and it may show
// what a caller sent, which can be of any length.
constexpr size_t kLongestText = 256;

std::string Shortened(const std::string& text) {
  if (text.size() <= kLongestText) return text;
  size_t end = kLongestText;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return absl::StrCat(text.substr(0, end), "...");
}

}  // namespace

grpc::Status Error(grpc::StatusCode code, const std::string& whole_message,
                   const ErrorDetails& details) {
  const std::string message = Shortened(whole_message);
  google::rpc::ErrorInfo info;
  info.set_reason(details.reason);
  info.set_domain("linkvane");
  for (const auto& [key, value] : details.metadata) {
    (*info.mutable_metadata())[key] = Shortened(value);
  }

  google::rpc::Status rich;
  rich.set_code(code);
  rich.set_message(message);
  rich.add_details()->PackFrom(info);
  if (details.retry_delay.has_value()) {
    google::rpc::RetryInfo retry;
    const int64_t nanos = absl::ToInt64Nanoseconds(*details.retry_delay);
    retry.mutable_retry_delay()->set_seconds(nanos / 1'000'000'000);
    retry.mutable_retry_delay()->set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
    rich.add_details()->PackFrom(retry);
  }
  return {code, message, rich.SerializeAsString()};
}

grpc::Status Error(const BadArgument& bad) {
  return Error(grpc::StatusCode::INVALID_ARGUMENT, absl::StrCat(bad.field, ": ", bad.why),
               {.reason = "BAD_ARGUMENT", .metadata = {{"field", bad.field}}});
}

grpc::Status Error(const absl::Status& status) {
  const Mapped mapped = Map(status);
  ErrorDetails details{.reason = mapped.reason};
  if (const int error = netlink::ErrnoOf(status); error != 0) {
    details.metadata["errno"] = absl::StrCat(error);
    details.metadata["errno_text"] = std::strerror(error);
  }
  if (const std::string words = netlink::KernelMessageOf(status); !words.empty()) {
    details.metadata["kernel_message"] = words;
  }
  if (mapped.retry) details.retry_delay = kRetryDelay;
  return Error(mapped.code, std::string(status.message()), details);
}

}  // namespace linkvane::server
