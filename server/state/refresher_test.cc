// The Observer and the Refresher together, on a fake kernel.

#include "server/state/refresher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>  // NOLINT(build/c++11)
#include <memory>
#include <string>
#include <thread>  // NOLINT(build/c++11)
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "server/state/testing/fake_kernel_test.h"

namespace linkvane::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using RefresherTest = FakeKernelTest;

TEST_F(RefresherTest, AllWhoComeWhileADumpRunsShareTheNextOne) {
  Start();
  ASSERT_TRUE(WaitForSync().ok());
  kernel_.BeforeAnswer([this](Asked what) {
    if (what != Asked::kLinks) return;
    entered_.Open();
    go_on_.Wait();
  });
  const int before = kernel_.asked(Asked::kLinks);
  std::thread first([&] { EXPECT_TRUE(Refresh().ok()); });
  entered_.Wait();

  constexpr int kCallers = 64;
  std::atomic<int> answered = 0;
  for (int i = 0; i < kCallers; ++i) {
    refresher_->Refresh(TableId::kLinks, false, absl::Now() + kPatience,
                        [&](const Refresher::Result& result) {
                          EXPECT_TRUE(result.status.ok());
                          ++answered;
                        });
  }
  EXPECT_EQ(answered, 0) << "a dump that began before a request is not fresh enough for it";
  go_on_.Open();
  first.join();
  EXPECT_TRUE(Eventually([&] { return answered == kCallers; }));
  EXPECT_EQ(kernel_.asked(Asked::kLinks) - before, 2);
}

TEST_F(RefresherTest, EventsAreAppliedWhileADumpWaits) {
  Start();
  ASSERT_TRUE(WaitForSync().ok());
  kernel_.BeforeAnswer([this](Asked what) {
    if (what != Asked::kLinks) return;
    entered_.Open();
    go_on_.Wait();
  });
  std::thread caller([&] { EXPECT_TRUE(Refresh().ok()); });
  entered_.Wait();
  kernel_.Put(FakeLink{.index = 3, .name = "eth1"});
  EXPECT_TRUE(Eventually([&] { return Names().size() == 3; }));
  kernel_.BeforeAnswer(nullptr);
  go_on_.Open();
  caller.join();
  EXPECT_THAT(Names(), ElementsAre("lo", "eth0", "eth1"));
}

TEST_F(RefresherTest, AnInterruptedDumpIsAnsweredAndRemovesNothing) {
  Start();
  ASSERT_TRUE(WaitForSync().ok());
  diary_.Clear();
  kernel_.InterruptLinkDumps(1);  // Leaves eth0 out.
  ASSERT_TRUE(Refresh().ok());
  EXPECT_THAT(Names(), ElementsAre("lo", "eth0"));
  EXPECT_THAT(diary_.lines(), IsEmpty());
}

TEST_F(RefresherTest, AfterAnInterruptedDumpRowsThatItDidNotNameAreAskedFor) {
  Start();
  ASSERT_TRUE(WaitForSync().ok());
  kernel_.Remove(2, /*announce=*/false);
  kernel_.Put(FakeLink{.index = 9, .name = "left-out"}, /*announce=*/false);
  kernel_.InterruptLinkDumps(1);
  ASSERT_TRUE(Refresh().ok());
  EXPECT_THAT(Names(), ElementsAre("lo")) << "the kernel was asked, and has no eth0";
}

TEST_F(RefresherTest, BeforeTheFirstWholeDumpCallersWaitUntilTheirDeadline) {
  kernel_.InterruptLinkDumps(1 << 20);
  Start();
  const absl::Status status = Refresh(absl::Milliseconds(50));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_FALSE(observer_->synced());
  kernel_.InterruptLinkDumps(0);
  EXPECT_TRUE(WaitForSync().ok());
}

TEST_F(RefresherTest, LostEventsAreToldAndThenRepaired) {
  Start();
  ASSERT_TRUE(WaitForSync().ok());
  diary_.Clear();
  kernel_.Put(FakeLink{.index = 3, .name = "eth1"}, /*announce=*/false);
  kernel_.Remove(2, /*announce=*/false);
  kernel_.Overrun();
  ASSERT_TRUE(Eventually([&] { return observer_->counts().overruns == 1; }));
  ASSERT_TRUE(WaitForSync().ok());
  EXPECT_THAT(diary_.lines(), ElementsAre("lost", "-eth0", "+eth1"));
}

TEST_F(RefresherTest, AnAuditFindsWhatNoEventTold) {
  Start(/*audit_interval=*/absl::Milliseconds(100));
  ASSERT_TRUE(WaitForSync().ok());
  diary_.Clear();
  kernel_.Put(FakeLink{.index = 2, .name = "eth0", .mtu = 9000}, /*announce=*/false);
  EXPECT_TRUE(Eventually([&] { return !diary_.lines().empty(); }));
  EXPECT_THAT(diary_.lines(), ElementsAre("eth0"));
  EXPECT_EQ(observer_->counts().audit_differences, 1U);
}

TEST_F(RefresherTest, AuditsOfWhatOnlyRunsByItselfTellNothingAndEncodeNothing) {
  for (const char* address : {"192.0.2.1", "2001:db8::1"}) {
    kernel_.Put(FakeAddr{.index = 2,
                         .address = address,
                         .flags = 0,
                         .lifetime = ifa_cacheinfo{.ifa_prefered = 100, .ifa_valid = 200}});
  }
  Start(/*audit_interval=*/absl::Milliseconds(100));
  ASSERT_TRUE(WaitForSync().ok());
  diary_.Clear();
  const uint64_t encoded = RowsEncoded();
  for (const Asked table : {Asked::kLinks, Asked::kAddrs4, Asked::kAddrs6, Asked::kBridgeVlans}) {
    const int dumps = kernel_.asked(table);
    ASSERT_TRUE(Eventually([&] { return kernel_.asked(table) >= dumps + 3; }));
  }
  EXPECT_THAT(diary_.lines(), IsEmpty());
  EXPECT_EQ(RowsEncoded(), encoded);
  EXPECT_EQ(observer_->counts().audit_differences, 0);
}

TEST_F(RefresherTest, AfterADumpThatTheTableContradictsThereIsAnother) {
  Start();
  ASSERT_TRUE(WaitForSync().ok());
  kernel_.AfterAnswer([this](Asked what) {
    if (what != Asked::kLinks || happened_.exchange(true)) return;
    kernel_.Put(FakeLink{.index = 2, .name = "eth0", .mtu = 9000});
  });
  const int dumps = kernel_.asked(Asked::kLinks);
  ASSERT_TRUE(Refresh().ok());
  EXPECT_TRUE(Eventually([&] { return kernel_.asked(Asked::kLinks) == dumps + 2; }));
}

TEST_F(RefresherTest, OneRowIsEncodedForOneChange) {
  for (int i = 10; i < 1010; ++i) {
    kernel_.Put(FakeLink{.index = i, .name = "if" + std::to_string(i)});
  }
  Start();
  ASSERT_TRUE(WaitForSync().ok());
  const uint64_t encoded = RowsEncoded();
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(RowsEncoded(), encoded) << "1,000 unchanged rows";
  kernel_.Put(FakeLink{.index = 500, .name = "if500", .mtu = 1400});
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(RowsEncoded(), encoded + 1);
}

TEST_F(RefresherTest, WhoComesTooLateIsCancelledAtOnce) {
  Start();
  refresher_->Stop();
  EXPECT_TRUE(absl::IsCancelled(Refresh()));
}

TEST_F(RefresherTest, StopEndsWhoWaitsForTheNextDump) {
  Start();
  ASSERT_TRUE(WaitForSync().ok());
  kernel_.BeforeAnswer([this](Asked what) {
    if (what != Asked::kLinks) return;
    entered_.Open();
    go_on_.Wait();
  });
  std::thread caller([&] { (void)Refresh(); });
  entered_.Wait();
  std::promise<absl::Status> status;
  refresher_->Refresh(TableId::kLinks, false, absl::InfiniteFuture(),
                      [&](const Refresher::Result& result) { status.set_value(result.status); });
  refresher_->Stop();
  EXPECT_TRUE(absl::IsCancelled(status.get_future().get()));
  go_on_.Open();
  caller.join();
}

TEST_F(RefresherTest, StopEndsWhatWaits) {
  kernel_.InterruptLinkDumps(1 << 20);
  Start();
  std::promise<absl::Status> status;
  refresher_->WhenSynced(absl::InfiniteFuture(),
                         [&](const Refresher::Result& result) { status.set_value(result.status); });
  refresher_->Stop();
  EXPECT_TRUE(absl::IsCancelled(status.get_future().get()));
}

}  // namespace
}  // namespace linkvane::server
