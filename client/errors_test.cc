#include "client/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/client.h"
#include "client/fake_server.h"

namespace linkvane::client {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(ErrorsTest, KeepCodeMessageReasonAndMetadata) {
  FakeServer server;
  server.error =
      LinkvaneError(grpc::StatusCode::INVALID_ARGUMENT, "no CIDR", "INVALID_CIDR", "filter.within");
  const Client client = Client::Connect({.target = server.target()});
  const absl::Status status = client.ListAddrs({}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "no CIDR");
  const std::optional<ErrorInfo> info = GetErrorInfo(status);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->reason, "INVALID_CIDR");
  EXPECT_EQ(info->domain, "linkvane");
  EXPECT_THAT(info->metadata, ElementsAre(Pair("field", "filter.within")));
  EXPECT_FALSE(GetRetryDelay(status).has_value());
  EXPECT_FALSE(IsUnreachable(status));
}

TEST(ErrorsTest, TellTheRetryDelay) {
  FakeServer server;
  server.error = LinkvaneError(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many", "LISTINGS_FULL",
                               /*field=*/"", absl::Milliseconds(1500));
  const Client client = Client::Connect({.target = server.target()});
  const absl::Status status = client.GetServerInfo({}).status();
  EXPECT_EQ(GetRetryDelay(status), absl::Milliseconds(1500));
  EXPECT_EQ(GetErrorReason(status), "LISTINGS_FULL");
}

TEST(ErrorsTest, AServerThatDoesNotListenIsUnreachable) {
  const Client client = Client::Connect({.target = "unix:/nonexistent/linkvane.sock"});
  const absl::Status status = client.GetServerInfo({}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(IsUnreachable(status)) << status;
  EXPECT_FALSE(GetErrorInfo(status).has_value());
}

TEST(ErrorsTest, AServerThatAnswersUnavailableIsNotUnreachable) {
  FakeServer server;
  const Client client = Client::Connect({.target = server.target()});
  for (const auto& error :
       {LinkvaneError(grpc::StatusCode::UNAVAILABLE, "the kernel is busy", "DUMP_INTERRUPTED"),
        grpc::Status(grpc::StatusCode::UNAVAILABLE, "from something in between")}) {
    server.error = error;
    const absl::Status status = client.GetServerInfo({}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_FALSE(IsUnreachable(status)) << status;
  }
}

TEST(ErrorsTest, AServerThatWentAwayIsUnreachableOnceTheLossIsSeen) {
  FakeServer server;
  const Client client = Client::Connect({.target = server.target()});
  ASSERT_TRUE(client.GetServerInfo({}).ok());
  server.Stop();
  (void)client.GetServerInfo({});  // may still go over the old connection
  EXPECT_TRUE(IsUnreachable(client.GetServerInfo({}).status()));
}

TEST(ErrorsTest, AStatusWithoutDetailsHasNone) {
  EXPECT_FALSE(GetErrorInfo(absl::NotFoundError("x")).has_value());
  EXPECT_EQ(GetErrorReason(absl::OkStatus()), "");
  EXPECT_FALSE(IsUnreachable(absl::UnavailableError("x")));
}

}  // namespace
}  // namespace linkvane::client
