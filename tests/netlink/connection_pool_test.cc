// Many callers, few connections, and the running kernel.
#include "netlink/connection_pool.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "netlink/link.h"
#include "tests/netlink/network_namespace.h"

namespace linkvane::netlink {
namespace {

ptrdiff_t OpenDescriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

absl::StatusOr<std::unique_ptr<Connection>> OpenConnection() {
  return Connection::Open({.protocol = NETLINK_ROUTE});
}

class ConnectionPoolTest : public NetworkNamespaceTest {};

TEST_F(ConnectionPoolTest, NoReplyReachesTheWrongCallerAndNoDescriptorIsLost) {
  constexpr int kLinks = 50;
  constexpr int kThreads = 64;
  constexpr int kGets = 100;
  std::string lines;
  for (int i = 0; i < kLinks; ++i) lines += "link add br" + std::to_string(i) + " type bridge\n";
  Ip(lines);

  const ptrdiff_t descriptors = OpenDescriptors();
  std::atomic<int> answered = 0;
  {
    ConnectionPool pool(4, OpenConnection);
    std::vector<std::thread> callers;
    callers.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread) {
      callers.emplace_back([&, thread] {
        for (int i = 0; i < kGets; ++i) {
          // In a namespace of its own, indexes begin with lo's 1. One of ten does not exist.
          const int32_t index = (thread * 7 + i) % 10 == 0 ? 1000 + i : 2 + (thread + i) % kLinks;
          const absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon());
          ASSERT_TRUE(lease.ok()) << lease.status();
          Request request = LinkGetRequest(index);
          int32_t got = 0;
          const auto take = [&](std::span<const Message> messages) {
            ASSERT_EQ(messages.size(), 1);
            LinkView view;
            DecodeTally tally;
            ASSERT_TRUE(DecodeLink(messages[0].payload, view, tally));
            got = view.index;
          };
          const absl::Status status = (*lease)->Get(request, take, Soon());
          ASSERT_EQ(status.ok(), index < 1000) << status;
          ASSERT_EQ(got, index < 1000 ? index : 0);
          ++answered;
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(pool.counts().opened, pool.counts().idle) << "each is still in use";
    EXPECT_LE(pool.counts().opened, 4);
    EXPECT_EQ(pool.counts().discarded, 0);
  }
  EXPECT_EQ(answered, kThreads * kGets);
  EXPECT_EQ(OpenDescriptors(), descriptors);
}

TEST_F(ConnectionPoolTest, DumpsOfManyThreadsAreWhole) {
  std::string lines;
  for (int i = 0; i < 60; ++i) lines += "link add br" + std::to_string(i) + " type bridge\n";
  Ip(lines);
  ConnectionPool pool(4, OpenConnection);
  std::vector<std::thread> callers;
  callers.reserve(8);
  for (int thread = 0; thread < 8; ++thread) {
    callers.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon());
        ASSERT_TRUE(lease.ok()) << lease.status();
        Request request = LinkDumpRequest();
        const absl::StatusOr<DumpOutcome> outcome = (*lease)->Dump(
            request, [](std::span<const Message>) {}, Soon());
        ASSERT_TRUE(outcome.ok()) << outcome.status();
        EXPECT_EQ(outcome->messages, 61);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST_F(ConnectionPoolTest, ShutdownEndsRequestsThatAreNeverAnsweredAndThoseWhoWait) {
  const ptrdiff_t descriptors = OpenDescriptors();
  {
    ConnectionPool pool(2, OpenConnection);
    std::vector<std::thread> callers;
    callers.reserve(8);
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&] {
        const absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(absl::InfiniteFuture());
        if (!lease.ok()) {
          EXPECT_EQ(lease.status().code(), absl::StatusCode::kCancelled);
          return;
        }
        Request request(NLMSG_NOOP, 0);
        EXPECT_EQ((*lease)
                      ->Get(
                          request, [](std::span<const Message>) {}, absl::InfiniteFuture())
                      .code(),
                  absl::StatusCode::kCancelled);
      });
    }
    const absl::Time deadline = Soon();
    while (pool.counts().waiting < 6 && absl::Now() < deadline) std::this_thread::yield();
    EXPECT_EQ(pool.counts().waiting, 6);
    pool.Shutdown();
    for (std::thread& caller : callers) caller.join();
  }
  EXPECT_EQ(OpenDescriptors(), descriptors);
}

}  // namespace
}  // namespace linkvane::netlink
