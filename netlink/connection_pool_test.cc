#include "netlink/connection_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "netlink/fake_socket.h"

namespace linkvane::netlink {
namespace {

using ::testing::ElementsAre;

absl::Time Soon() { return absl::Now() + absl::Seconds(30); }

absl::StatusOr<std::unique_ptr<Connection>> OpenFake() {
  return Connection::Make(std::make_unique<FakeSocket>(), /*prime=*/false);
}

// Until as many callers wait.
void AwaitWaiting(const ConnectionPool& pool, size_t waiting) {
  const absl::Time deadline = Soon();
  while (pool.counts().waiting != waiting) {
    ASSERT_LT(absl::Now(), deadline);
    std::this_thread::yield();
  }
}

// Leaves a connection unhealthy.
void Spoil(Connection& connection) {
  Request request(RTM_GETLINK, NLM_F_DUMP);
  // A fake socket without a script: nothing comes.
  ASSERT_FALSE(connection
                   .Dump(
                       request, [](std::span<const Message>) {}, Soon())
                   .ok());
  ASSERT_FALSE(connection.healthy());
}

TEST(ConnectionPoolTest, OpensWhenNeededAndKeeps) {
  ConnectionPool pool(2, OpenFake);
  EXPECT_EQ(pool.counts().opened, 0);
  { const absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon()); }
  { const absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon()); }
  EXPECT_EQ(pool.counts().opened, 1);
  EXPECT_EQ(pool.counts().idle, 1);
  EXPECT_EQ(pool.counts().in_use, 0);
  EXPECT_EQ(pool.counts().discarded, 0);
}

TEST(ConnectionPoolTest, LendsTheOneUsedLast) {
  ConnectionPool pool(2, OpenFake);
  absl::StatusOr<ConnectionPool::Lease> first = pool.Acquire(Soon());
  Connection* last = nullptr;
  {
    absl::StatusOr<ConnectionPool::Lease> second = pool.Acquire(Soon());
    { const ConnectionPool::Lease returned = *std::move(first); }
    last = &**second;
  }
  EXPECT_EQ(pool.counts().idle, 2);
  absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon());
  EXPECT_EQ(&**lease, last);
}

TEST(ConnectionPoolTest, ConnectionsThatAreNotHealthyAreClosed) {
  ConnectionPool pool(1, OpenFake);
  {
    absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon());
    Spoil(**lease);
  }
  EXPECT_EQ(pool.counts().discarded, 1);
  EXPECT_EQ(pool.counts().idle, 0);
  absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon());
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_TRUE((*lease)->healthy());
  (*lease)->Cancel();
  { const ConnectionPool::Lease returned = *std::move(lease); }
  EXPECT_EQ(pool.counts().discarded, 2) << "a cancelled one is of no use either";
}

TEST(ConnectionPoolTest, WaitingHonoursTheDeadline) {
  ConnectionPool pool(1, OpenFake);
  const absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon());
  const absl::Time deadline = absl::Now() + absl::Milliseconds(30);
  EXPECT_EQ(pool.Acquire(deadline).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_GE(absl::Now(), deadline);
  EXPECT_EQ(pool.counts().waiting, 0);
  EXPECT_EQ(pool.Acquire(absl::InfinitePast()).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(ConnectionPoolTest, FirstComeFirstServed) {
  ConnectionPool pool(1, OpenFake);
  absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon());
  std::vector<int> served;  // Guarded by the only connection.
  std::vector<std::thread> callers;
  callers.reserve(5);
  for (int i = 0; i < 5; ++i) {
    callers.emplace_back([&, i] {
      const absl::StatusOr<ConnectionPool::Lease> mine = pool.Acquire(Soon());
      EXPECT_TRUE(mine.ok()) << mine.status();
      served.push_back(i);
    });
    AwaitWaiting(pool, static_cast<size_t>(i) + 1);
  }
  { const ConnectionPool::Lease returned = *std::move(lease); }
  for (std::thread& caller : callers) caller.join();
  EXPECT_THAT(served, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(pool.counts().opened, 1);
}

TEST(ConnectionPoolTest, AConnectionThatIsClosedMakesRoomForWhoeverWaits) {
  ConnectionPool pool(1, OpenFake);
  absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon());
  std::thread caller([&] { EXPECT_TRUE(pool.Acquire(Soon()).ok()); });
  AwaitWaiting(pool, 1);
  Spoil(**lease);
  { const ConnectionPool::Lease returned = *std::move(lease); }
  caller.join();
  EXPECT_EQ(pool.counts().opened, 2);
}

TEST(ConnectionPoolTest, ErrorsOfTheOpenerAreTheCallersAndKeepNoPlace) {
  std::atomic<bool> fail = true;
  ConnectionPool pool(1, [&]() -> absl::StatusOr<std::unique_ptr<Connection>> {
    if (fail) return absl::ResourceExhaustedError("no descriptor left");
    return OpenFake();
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(pool.Acquire(Soon()).status().code(), absl::StatusCode::kResourceExhausted);
  }
  EXPECT_EQ(pool.counts().in_use, 0);
  fail = false;
  EXPECT_TRUE(pool.Acquire(Soon()).ok());
}

TEST(ConnectionPoolTest, NeverLendsMoreThanItsCapacity) {
  constexpr int kCapacity = 3;
  ConnectionPool pool(kCapacity, OpenFake);
  std::atomic<int> lent = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> callers;
  callers.reserve(12);
  for (int i = 0; i < 12; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        const absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon());
        ASSERT_TRUE(lease.ok()) << lease.status();
        const int now = ++lent;
        int seen = most;
        while (seen < now && !most.compare_exchange_weak(seen, now)) {
        }
        std::this_thread::yield();
        --lent;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_LE(most, kCapacity);
  EXPECT_LE(pool.counts().opened, kCapacity);
  EXPECT_EQ(pool.counts().in_use, 0);
}

TEST(ConnectionPoolTest, ShutdownCancelsWhatIsLentAndEndsAllWhoWait) {
  ConnectionPool pool(2, OpenFake);
  const absl::StatusOr<ConnectionPool::Lease> first = pool.Acquire(Soon());
  { const absl::StatusOr<ConnectionPool::Lease> idle = pool.Acquire(Soon()); }
  const absl::StatusOr<ConnectionPool::Lease> second = pool.Acquire(Soon());
  std::vector<std::thread> callers;
  callers.reserve(3);
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      EXPECT_EQ(pool.Acquire(absl::InfiniteFuture()).status().code(), absl::StatusCode::kCancelled);
    });
  }
  AwaitWaiting(pool, 3);
  pool.Shutdown();
  for (std::thread& caller : callers) caller.join();
  EXPECT_FALSE((*first)->healthy());
  EXPECT_FALSE((*second)->healthy());
  Request request(RTM_GETLINK, 0);
  EXPECT_EQ((*first)
                ->Get(
                    request, [](std::span<const Message>) {}, Soon())
                .code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(pool.Acquire(Soon()).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(pool.counts().waiting, 0);
}

TEST(ConnectionPoolTest, ShutdownClosesWhatIsIdle) {
  ConnectionPool pool(1, OpenFake);
  { const absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon()); }
  pool.Shutdown();
  EXPECT_EQ(pool.counts().idle, 0);
  EXPECT_EQ(pool.Acquire(Soon()).status().code(), absl::StatusCode::kCancelled);
}

TEST(ConnectionPoolTest, WhatIsReturnedAfterShutdownIsClosed) {
  ConnectionPool pool(1, OpenFake);
  {
    const absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon());
    pool.Shutdown();
  }
  EXPECT_EQ(pool.counts().idle, 0);
  EXPECT_EQ(pool.counts().in_use, 0);
}

}  // namespace
}  // namespace linkvane::netlink
