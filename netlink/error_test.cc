#include "netlink/error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace linkvane::netlink {
namespace {

TEST(KernelErrorTest, CodeFollowsFromErrno) {
  const struct {
    int error;
    absl::StatusCode code;
  } kCases[] = {
      {EPERM, absl::StatusCode::kPermissionDenied},
      {EACCES, absl::StatusCode::kPermissionDenied},
      {ENODEV, absl::StatusCode::kNotFound},
      {ENOENT, absl::StatusCode::kNotFound},
      {ESRCH, absl::StatusCode::kNotFound},
      {ENXIO, absl::StatusCode::kNotFound},
      {EBUSY, absl::StatusCode::kUnavailable},
      {ENOBUFS, absl::StatusCode::kUnavailable},
      {EAGAIN, absl::StatusCode::kUnavailable},
      {EINTR, absl::StatusCode::kUnavailable},
      {ENOMEM, absl::StatusCode::kResourceExhausted},
      {EMFILE, absl::StatusCode::kResourceExhausted},
      {ENFILE, absl::StatusCode::kResourceExhausted},
      {EOPNOTSUPP, absl::StatusCode::kUnimplemented},
      {EPROTONOSUPPORT, absl::StatusCode::kUnimplemented},
      {EAFNOSUPPORT, absl::StatusCode::kUnimplemented},
      {EINVAL, absl::StatusCode::kInvalidArgument},
      {ERANGE, absl::StatusCode::kInvalidArgument},
      {EMSGSIZE, absl::StatusCode::kInvalidArgument},
      {ETIMEDOUT, absl::StatusCode::kDeadlineExceeded},
      {ECANCELED, absl::StatusCode::kCancelled},
      {EXDEV, absl::StatusCode::kUnavailable},
      {4095, absl::StatusCode::kUnavailable},
  };
  for (const auto& test : kCases) {
    const absl::Status status = KernelError("op", test.error);
    EXPECT_EQ(status.code(), test.code) << test.error;
    EXPECT_EQ(ErrnoOf(status), test.error);
  }
}

TEST(KernelErrorTest, MessageReadsOperationErrnoExtendedAck) {
  EXPECT_EQ(KernelError("RTM_GETLINK", ENODEV).message(), "RTM_GETLINK: No such device");
  EXPECT_EQ(KernelError("RTM_GETLINK", EINVAL, "invalid mask", 20).message(),
            "RTM_GETLINK: Invalid argument: invalid mask");
}

TEST(KernelErrorTest, KeepsTheKernelsWords) {
  const absl::Status status = KernelError("op", EINVAL, "bad \"a\nb\x1b[31m\x7f\"", 20);
  EXPECT_EQ(KernelMessageOf(status), "bad \"a\nb\x1b[31m\x7f\"");
  EXPECT_EQ(KernelOffsetOf(status), 20);
  EXPECT_EQ(status.message(), "op: Invalid argument: bad \"a b [31m \"")
      << "a status' message goes to logs and terminals";
}

TEST(KernelErrorTest, WhatTheKernelDidNotSayIsUnset) {
  const absl::Status status = KernelError("op", EINVAL);
  EXPECT_EQ(KernelMessageOf(status), "");
  EXPECT_EQ(KernelOffsetOf(status), std::nullopt);
}

TEST(KernelErrorTest, OtherStatusesHaveNone) {
  for (const absl::Status& status : {absl::OkStatus(), absl::NotFoundError("x")}) {
    EXPECT_EQ(ErrnoOf(status), 0);
    EXPECT_EQ(KernelMessageOf(status), "");
    EXPECT_EQ(KernelOffsetOf(status), std::nullopt);
  }
}

TEST(ProtocolErrorTest, IsDataLossWithoutAnErrno) {
  const absl::Status status = ProtocolError("RTM_GETADDR dump", "it was cut");
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(status.message(), "RTM_GETADDR dump: it was cut");
  EXPECT_EQ(ErrnoOf(status), 0);
}

}  // namespace
}  // namespace linkvane::netlink
