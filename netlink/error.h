// Errors of the kernel's, as absl::Status that keep the kernel's own words.
//
// The status' code follows from errno (see error.cc): ENODEV is NOT_FOUND, EPERM PERMISSION_DENIED,
// EBUSY and ENOBUFS UNAVAILABLE, ETIMEDOUT DEADLINE_EXCEEDED, ECANCELED CANCELLED, and so on. The
// message reads "OPERATION: ERRNO-TEXT: EXTENDED-ACK-TEXT".
#ifndef LINKVANE_NETLINK_ERROR_H_
#define LINKVANE_NETLINK_ERROR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace linkvane::netlink {

// `error` is a positive errno. `message` and `offset` are what the extended ack said, if anything:
// a text, and where in the request the offending attribute stands.
absl::Status KernelError(std::string_view operation, int error, std::string_view message = {},
                         std::optional<uint32_t> offset = std::nullopt);

// The errno a status was made of by KernelError; 0 for any other status.
int ErrnoOf(const absl::Status& status);

// The extended ack's text and offset, where the kernel gave them.
std::string KernelMessageOf(const absl::Status& status);
std::optional<uint32_t> KernelOffsetOf(const absl::Status& status);

// What the kernel sent that breaks netlink's own rules: DATA_LOSS. The connection that saw it is
// not used again.
absl::Status ProtocolError(std::string_view operation, std::string_view what);

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_ERROR_H_
