#include "client/watch_stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "client/errors.h"
#include "client/fake_server.h"

namespace linkvane::client {
namespace {

v1::WatchResponse Synced(uint64_t number) {
  v1::WatchResponse response;
  response.mutable_synced();
  response.mutable_checkpoint()->set_number(number);
  return response;
}

TEST(WatchStreamTest, ReadsMessagesInOrderThenTheServersError) {
  FakeServer server;
  server.stream = {Synced(1), Synced(2)};
  server.error = LinkvaneError(grpc::StatusCode::OUT_OF_RANGE, "gone", "REVISION_COMPACTED");
  WatchStream stream = Client::Connect({.target = server.target()}).Watch({});
  v1::WatchResponse response;
  ASSERT_TRUE(stream.Next(&response));
  EXPECT_EQ(response.checkpoint().number(), 1U);
  ASSERT_TRUE(stream.Next(&response));
  EXPECT_EQ(response.checkpoint().number(), 2U);
  EXPECT_FALSE(stream.Next(&response));
  EXPECT_FALSE(stream.Next(&response));
  const absl::Status status = stream.Finish();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(GetErrorReason(status), "REVISION_COMPACTED");
}

TEST(WatchStreamTest, CancelWakesWhoWaitsForTheConnection) {
  // It accepts connections into its queue, and says nothing.
  const int silent = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {.sun_family = AF_UNIX};
  const std::string path = absl::StrCat("/tmp/linkvane-silent-", getpid());
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(silent, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(silent, 1), 0);
  WatchStream stream = Client::Connect({.target = "unix:" + path}).Watch({});
  std::thread canceller([&stream] {
    absl::SleepFor(absl::Milliseconds(20));
    stream.Cancel();
  });
  const absl::Time start = absl::Now();
  v1::WatchResponse response;
  EXPECT_FALSE(stream.Next(&response));
  EXPECT_EQ(stream.Finish().code(), absl::StatusCode::kCancelled);
  // gRPC would give up on the connection after 20 seconds.
  EXPECT_LT(absl::Now() - start, absl::Seconds(15));
  canceller.join();
  close(silent);
  unlink(path.c_str());
}

TEST(WatchStreamTest, CancelWakesAReader) {
  FakeServer server;
  server.keep_stream = true;
  WatchStream stream = Client::Connect({.target = server.target()}).Watch({});
  std::thread canceller([&stream] {
    absl::SleepFor(absl::Milliseconds(20));
    stream.Cancel();
  });
  v1::WatchResponse response;
  EXPECT_FALSE(stream.Next(&response));
  canceller.join();
  EXPECT_EQ(stream.Finish().code(), absl::StatusCode::kCancelled);
}

TEST(WatchStreamTest, FinishEndsAStreamThatGoesOn) {
  FakeServer server;
  server.stream = {Synced(1)};
  server.keep_stream = true;
  WatchStream stream = Client::Connect({.target = server.target()}).Watch({});
  v1::WatchResponse response;
  ASSERT_TRUE(stream.Next(&response));
  EXPECT_EQ(stream.Finish().code(), absl::StatusCode::kCancelled);
}

TEST(WatchStreamTest, MayBeDroppedUnread) {
  FakeServer server;
  server.stream = {Synced(1)};
  server.keep_stream = true;
  const Client client = Client::Connect({.target = server.target()});
  { const WatchStream stream = client.Watch({}); }
  EXPECT_TRUE(client.GetServerInfo({}).ok());
}

TEST(WatchStreamTest, TellsALostConnectionFromAnUnreachableServer) {
  std::optional<FakeServer> server(std::in_place);
  server->stream = {Synced(1)};
  server->keep_stream = true;
  const std::string target = server->target();
  const Client client = Client::Connect({.target = target});
  WatchStream stream = client.Watch({});
  v1::WatchResponse response;
  ASSERT_TRUE(stream.Next(&response));
  server.reset();
  EXPECT_FALSE(stream.Next(&response));
  const absl::Status lost = stream.Finish();
  EXPECT_FALSE(lost.ok());
  EXPECT_FALSE(IsUnreachable(lost)) << lost;
  WatchStream second = client.Watch({});
  EXPECT_FALSE(second.Next(&response));
  EXPECT_TRUE(IsUnreachable(second.Finish()));
}

}  // namespace
}  // namespace linkvane::client
