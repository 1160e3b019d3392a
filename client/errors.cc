#include "client/errors.h"

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "client/rpc_status.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace linkvane::client {
namespace {

constexpr char kErrorInfoUrl[] = "type.googleapis.com/google.rpc.ErrorInfo";
constexpr char kRetryInfoUrl[] = "type.googleapis.com/google.rpc.RetryInfo";

template <typename Message>
std::optional<Message> GetDetail(const absl::Status& status, const char* type_url) {
  const absl::optional<absl::Cord> payload = status.GetPayload(type_url);
  Message message;
  if (!payload.has_value() || !message.ParseFromString(std::string(*payload))) return std::nullopt;
  return message;
}

}  // namespace

std::optional<ErrorInfo> GetErrorInfo(const absl::Status& status) {
  const auto detail = GetDetail<google::rpc::ErrorInfo>(status, kErrorInfoUrl);
  if (!detail.has_value()) return std::nullopt;
  return ErrorInfo{.reason = detail->reason(),
                   .domain = detail->domain(),
                   .metadata = {detail->metadata().begin(), detail->metadata().end()}};
}

std::string GetErrorReason(const absl::Status& status) {
  const auto detail = GetDetail<google::rpc::ErrorInfo>(status, kErrorInfoUrl);
  return detail.has_value() ? detail->reason() : std::string();
}

std::optional<absl::Duration> GetRetryDelay(const absl::Status& status) {
  const auto detail = GetDetail<google::rpc::RetryInfo>(status, kRetryInfoUrl);
  if (!detail.has_value()) return std::nullopt;
  return absl::Seconds(detail->retry_delay().seconds()) +
         absl::Nanoseconds(detail->retry_delay().nanos());
}

bool IsUnreachable(const absl::Status& status) {
  return status.GetPayload(internal::kUnreachablePayload).has_value();
}

namespace internal {

absl::Status FromGrpc(const grpc::Status& status, grpc::Channel& channel) {
  if (status.ok()) return absl::OkStatus();
  // The codes are the same numbers by definition.
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  google::rpc::Status details;
  if (details.ParseFromString(status.error_details())) {
    for (const auto& detail : details.details()) {
      result.SetPayload(detail.type_url(), absl::Cord(detail.value()));
    }
  }
  // A server that answers UNAVAILABLE leaves its connection up; one that was lost leaves an idle
  // channel.
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE && details.details().empty() &&
      channel.GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_TRANSIENT_FAILURE) {
    result.SetPayload(kUnreachablePayload, absl::Cord());
  }
  return result;
}

}  // namespace internal
}  // namespace linkvane::client
