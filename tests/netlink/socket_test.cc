// The socket itself: waiting, cancelling, peeking, its buffer and its namespace.
#include "netlink/socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "netlink/connection.h"
#include "netlink/link.h"
#include "tests/netlink/network_namespace.h"

namespace linkvane::netlink {
namespace {

class SocketTest : public NetworkNamespaceTest {
 protected:
  static std::unique_ptr<Socket> Open(int receive_buffer_bytes = 0) {
    absl::StatusOr<std::unique_ptr<Socket>> socket =
        OpenSocket({.protocol = NETLINK_ROUTE, .receive_buffer_bytes = receive_buffer_bytes});
    EXPECT_TRUE(socket.ok()) << socket.status();
    return *std::move(socket);
  }

  // A no-op whose acknowledgement is asked for, or not.
  static void SendNoOp(Socket& socket, uint16_t flags) {
    Request request(NLMSG_NOOP, flags);
    ASSERT_EQ(socket.Send(request.Finish(1, socket.port_id())), 0);
  }
};

TEST_F(SocketTest, PeekTellsTheLengthAndLeavesTheDatagram) {
  const std::unique_ptr<Socket> socket = Open();
  EXPECT_EQ(socket->Peek().error, EAGAIN);
  SendNoOp(*socket, NLM_F_ACK);
  for (int i = 0; i < 2; ++i) {
    const Received head = socket->Peek();
    EXPECT_EQ(head.error, 0);
    EXPECT_EQ(head.size, 36);
    EXPECT_EQ(head.sender, 0);
  }
  std::array<std::byte, 36> exact;
  const Received got = socket->Receive(exact);
  EXPECT_EQ(got.error, 0);
  EXPECT_EQ(got.size, 36);
  EXPECT_FALSE(got.truncated);
  EXPECT_EQ(socket->Peek().error, EAGAIN);
}

TEST_F(SocketTest, ReadIntoTooSmallABufferTellsThatItWasCut) {
  const std::unique_ptr<Socket> socket = Open();
  SendNoOp(*socket, NLM_F_ACK);
  std::array<std::byte, 35> small;
  const Received got = socket->Receive(small);
  EXPECT_EQ(got.error, 0);
  EXPECT_TRUE(got.truncated);
  EXPECT_EQ(got.size, 36) << "the whole length all the same";
}

TEST_F(SocketTest, WaitEndsWithADatagramOrAtTheDeadline) {
  const std::unique_ptr<Socket> socket = Open();
  EXPECT_EQ(socket->Wait(absl::Now() - absl::Seconds(1)), ETIMEDOUT);
  const absl::Time deadline = absl::Now() + absl::Milliseconds(20);
  EXPECT_EQ(socket->Wait(deadline), ETIMEDOUT);
  EXPECT_GE(absl::Now(), deadline);
  SendNoOp(*socket, NLM_F_ACK);
  EXPECT_EQ(socket->Wait(absl::InfiniteFuture()), 0);
  EXPECT_EQ(socket->Wait(absl::InfinitePast()), 0) << "what is there counts after the deadline too";
}

TEST_F(SocketTest, CancelEndsAWaitOnAnotherThreadAndEveryLaterOne) {
  const std::unique_ptr<Socket> socket = Open();
  std::thread waiter([&] { EXPECT_EQ(socket->Wait(absl::InfiniteFuture()), ECANCELED); });
  socket->Cancel();
  waiter.join();
  SendNoOp(*socket, NLM_F_ACK);
  EXPECT_EQ(socket->Wait(absl::InfiniteFuture()), ECANCELED);
  socket->Cancel();
  EXPECT_EQ(socket->Wait(absl::InfiniteFuture()), ECANCELED);
}

TEST_F(SocketTest, RequestThatIsNeverAnsweredEndsAtItsDeadline) {
  absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Make(Open());
  ASSERT_TRUE(connection.ok()) << connection.status();
  Request request(NLMSG_NOOP, 0);
  const absl::Time deadline = absl::Now() + absl::Milliseconds(20);
  EXPECT_EQ((*connection)
                ->Get(
                    request, [](std::span<const Message>) {}, deadline)
                .code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_GE(absl::Now(), deadline);
  EXPECT_FALSE((*connection)->healthy());
}

TEST_F(SocketTest, RequestThatIsNeverAnsweredEndsWithItsCancellation) {
  absl::StatusOr<std::unique_ptr<Socket>> socket = Open();
  const int fd = (*socket)->fd();
  absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Make(*std::move(socket));
  ASSERT_TRUE(connection.ok()) << connection.status();
  std::thread caller([&] {
    Request request(NLMSG_NOOP, 0);
    EXPECT_EQ((*connection)
                  ->Get(
                      request, [](std::span<const Message>) {}, absl::InfiniteFuture())
                  .code(),
              absl::StatusCode::kCancelled);
  });
  (*connection)->Cancel();
  caller.join();
  EXPECT_FALSE((*connection)->healthy());
  EXPECT_NE(fcntl(fd, F_GETFD), -1) << "nobody's descriptor is closed under him";
}

TEST_F(SocketTest, DescriptorIsNotInherited) {
  const std::unique_ptr<Socket> socket = Open();
  EXPECT_NE(fcntl(socket->fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(SocketTest, PortIdsDiffer) {
  const std::unique_ptr<Socket> one = Open();
  const std::unique_ptr<Socket> other = Open();
  EXPECT_NE(one->port_id(), 0);
  EXPECT_NE(one->port_id(), other->port_id());
}

TEST_F(SocketTest, ReceiveBufferIsAsLargeAsWantedWhereThatIsAllowed) {
  const int usual = ReceiveBufferSize(*Open());
  EXPECT_GT(usual, 0);
  EXPECT_LT(ReceiveBufferSize(*Open(4096)), usual);
  // Root, which these tests need, may exceed the maximum for others. The kernel counts twice what
  // it is asked for.
  int most = 0;
  if (!(std::ifstream("/proc/sys/net/core/rmem_max") >> most)) {
    GTEST_SKIP() << "this kernel tells the maximum in its first namespace only";
  }
  const int wanted = std::min(most, 64 << 20) + (1 << 20);
  EXPECT_GE(ReceiveBufferSize(*Open(wanted)), 2 * wanted);
}

TEST_F(SocketTest, CookieTellsNamespacesApart) {
  const std::unique_ptr<Socket> one = Open();
  const std::unique_ptr<Socket> same = Open();
  SetUp();  // Another namespace.
  const std::unique_ptr<Socket> other = Open();
  if (!NetnsCookie(*one).has_value()) GTEST_SKIP() << "before Linux 5.14";
  EXPECT_EQ(NetnsCookie(*one), NetnsCookie(*same));
  EXPECT_NE(NetnsCookie(*one), NetnsCookie(*other));
}

TEST_F(SocketTest, UnknownProtocolOrGroupIsAnError) {
  EXPECT_EQ(OpenSocket({.protocol = 31}).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(JoinGroup(*Open(), 100000).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace linkvane::netlink
