#include "netlink/error.h"

#include <cerrno>
#include <charconv>
#include <system_error>

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace linkvane::netlink {
namespace {

constexpr absl::string_view kErrnoUrl = "linkvane.netlink/errno";
constexpr absl::string_view kMessageUrl = "linkvane.netlink/message";
constexpr absl::string_view kOffsetUrl = "linkvane.netlink/offset";

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case EPERM:
    case EACCES:
      return absl::StatusCode::kPermissionDenied;
    case ENODEV:
    case ENOENT:
    case ESRCH:
    case ENXIO:
      return absl::StatusCode::kNotFound;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return absl::StatusCode::kResourceExhausted;
    case EOPNOTSUPP:
    case EPROTONOSUPPORT:
    case EAFNOSUPPORT:
      return absl::StatusCode::kUnimplemented;
    case EINVAL:
    case ERANGE:
    case EMSGSIZE:
      return absl::StatusCode::kInvalidArgument;
    case ETIMEDOUT:
      return absl::StatusCode::kDeadlineExceeded;
    case ECANCELED:
      return absl::StatusCode::kCancelled;
    default:
      // EBUSY, ENOBUFS, EAGAIN and EINTR pass. Of the rest nobody knows better than to try again.
      return absl::StatusCode::kUnavailable;
  }
}

// Appends what the kernel said, fit for a line of a log: it can quote names, and those can hold any
// bytes.
void AppendClean(std::string_view text, std::string& out) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(byte < 0x20 || byte == 0x7f ? ' ' : c);
  }
}

template <typename T>
std::optional<T> NumberPayload(const absl::Status& status, absl::string_view url) {
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  if (!payload.has_value()) return std::nullopt;
  const std::string text(*payload);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

absl::Status KernelError(std::string_view operation, int error, std::string_view message,
                         std::optional<uint32_t> offset) {
  std::string text(operation);
  text += ": ";
  text += std::generic_category().message(error);
  if (!message.empty()) {
    text += ": ";
    AppendClean(message, text);
  }
  absl::Status status(CodeOf(error), text);
  status.SetPayload(kErrnoUrl, absl::Cord(std::to_string(error)));
  if (!message.empty()) status.SetPayload(kMessageUrl, absl::Cord(std::string(message)));
  if (offset.has_value()) status.SetPayload(kOffsetUrl, absl::Cord(std::to_string(*offset)));
  return status;
}

int ErrnoOf(const absl::Status& status) {
  return NumberPayload<int>(status, kErrnoUrl).value_or(0);
}

std::string KernelMessageOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kMessageUrl);
  std::string text;
  if (payload.has_value()) absl::CopyCordToString(*payload, &text);
  return text;
}

std::optional<uint32_t> KernelOffsetOf(const absl::Status& status) {
  return NumberPayload<uint32_t>(status, kOffsetUrl);
}

absl::Status ProtocolError(std::string_view operation, std::string_view what) {
  std::string text(operation);
  text += ": ";
  AppendClean(what, text);
  return absl::DataLossError(text);
}

}  // namespace linkvane::netlink
