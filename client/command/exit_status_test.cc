#include "client/command/exit_status.h"

#include <gtest/gtest.h>

#include "client/client.h"
#include "client/fake_server.h"

namespace linkvane::command {
namespace {

TEST(ExitStatusTest, FollowsTheCode) {
  EXPECT_EQ(ExitStatus(absl::OkStatus()), 0);
  EXPECT_EQ(ExitStatus(absl::InternalError("x")), 1);
  EXPECT_EQ(ExitStatus(absl::UnavailableError("x")), 1);
  EXPECT_EQ(ExitStatus(absl::OutOfRangeError("x")), 1);
  EXPECT_EQ(ExitStatus(absl::InvalidArgumentError("x")), 2);
  EXPECT_EQ(ExitStatus(absl::NotFoundError("x")), 3);
  EXPECT_EQ(ExitStatus(absl::DeadlineExceededError("x")), 4);
}

TEST(ExitStatusTest, ErrorLineHasTheServersReason) {
  client::FakeServer server;
  server.error = client::LinkvaneError(grpc::StatusCode::UNAVAILABLE, "kernel\x1b busy", "BUSY");
  const auto client = client::Client::Connect({.target = server.target()});
  EXPECT_EQ(ErrorLine(client.GetServerInfo({}).status(), server.target(), absl::Seconds(1)),
            "linkvane: kernel\\x1b busy (BUSY)\n");
}

TEST(ExitStatusTest, UnreachableServerIsNamedWithAHint) {
  const std::string target = "unix:/nonexistent/socket";
  const auto client = client::Client::Connect({.target = target});
  const absl::Status status = client.GetServerInfo({}).status();
  EXPECT_EQ(ExitStatus(status), 5);
  EXPECT_EQ(
      ErrorLine(status, target, absl::Seconds(1)),
      "linkvane: cannot reach the server at unix:/nonexistent/socket: No such file or "
      "directory; is linkvaned running there? (--server or $LINKVANE_SERVER names another)\n");
}

TEST(ExitStatusTest, ErrorLineExplainsGrpcsOwnErrors) {
  EXPECT_EQ(ErrorLine(absl::DeadlineExceededError("Deadline Exceeded"), "x", absl::Seconds(10)),
            "linkvane: no answer from x within 10s\n");
  EXPECT_EQ(ErrorLine(absl::UnavailableError("Socket closed"), "x", absl::Seconds(10)),
            "linkvane: the connection to x was lost: Socket closed\n");
  EXPECT_EQ(ErrorLine(absl::InternalError(""), "x", absl::Seconds(10)), "linkvane: INTERNAL\n");
}

}  // namespace
}  // namespace linkvane::command
