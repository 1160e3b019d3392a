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
#include "server/state/observer.h"
#include "server/state/testing/fake_kernel.h"
#include "server/state/testing/gate.h"

namespace linkvane::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::Duration kPatience = absl::Seconds(20);

// Keeps what the state tells, in words: "+eth0", "-eth0", "eth0", "lost".
class Diary : public ChangeSink {
 public:
  void Take(const ChangePtr& change) override {
    MutexLock lock(mutex_);
    lines_.push_back(Line(*change));
  }
  std::vector<std::string> lines() {
    MutexLock lock(mutex_);
    return lines_;
  }
  void Clear() {
    MutexLock lock(mutex_);
    lines_.clear();
  }

 private:
  static std::string Line(const Change& change) {
    if (change.is_loss()) return "lost";
    const Row& row = change.after != nullptr ? *change.after : *change.before;
    const std::string name =
        row.kind == ResourceKind::kInterface
            ? std::string(static_cast<const InterfaceRow&>(row).name())
            : "addr@" + static_cast<const AddrRow&>(row).interface_name.value_or("?");
    return (change.before == nullptr ? "+" : change.after == nullptr ? "-" : "") + name;
  }
  Mutex mutex_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
};

class RefresherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    kernel_.Put(FakeLink{.index = 1, .name = "lo"});
    kernel_.Put(FakeLink{.index = 2, .name = "eth0"});
  }

  void Start(absl::Duration audit_interval = absl::Hours(1)) {
    observer_ = std::make_unique<Observer>(
        "epoch", pool_, [this] { return kernel_.OpenMonitor(); }, diary_,
        Observer::Callbacks{.published = [] {}, .lost = [this] { refresher_->Wake(); }});
    refresher_ = std::make_unique<Refresher>(*observer_, audit_interval);
    ASSERT_TRUE(observer_->Start().ok());
    refresher_->Start();
  }

  void TearDown() override {
    if (refresher_ != nullptr) refresher_->Stop();
    if (observer_ != nullptr) observer_->Stop();
  }

  absl::Status WaitForSync() {
    std::promise<absl::Status> synced;
    refresher_->WhenSynced(absl::Now() + kPatience, [&](const Refresher::Result& result) {
      synced.set_value(result.status);
    });
    return synced.get_future().get();
  }

  absl::Status Refresh(absl::Duration patience = kPatience) {
    std::promise<absl::Status> refreshed;
    refresher_->Refresh(
        TableId::kLinks, false, absl::Now() + patience,
        [&](const Refresher::Result& result) { refreshed.set_value(result.status); });
    return refreshed.get_future().get();
  }

  std::vector<std::string> Names() {
    std::vector<std::string> names;
    observer_->Read([&](NetworkState& state) {
      for (const RowPtr& row : state.Interfaces()->rows) {
        names.emplace_back(static_cast<const InterfaceRow&>(*row).name());
      }
    });
    return names;
  }

  // Waits for a condition that other threads bring about.
  template <typename F>
  bool Eventually(F&& holds) {
    for (const absl::Time end = absl::Now() + kPatience; absl::Now() < end;) {
      if (holds()) return true;
      std::this_thread::yield();
    }
    return false;
  }

  FakeKernel kernel_;
  netlink::ConnectionPool pool_{4, [this] { return kernel_.OpenConnection(); }};
  Diary diary_;
  std::unique_ptr<Observer> observer_;
  std::unique_ptr<Refresher> refresher_;
};

TEST_F(RefresherTest, AllWhoComeWhileADumpRunsShareTheNextOne) {
  Start();
  ASSERT_TRUE(WaitForSync().ok());
  Gate entered;
  Gate go_on;
  kernel_.BeforeAnswer([&](Asked what) {
    if (what != Asked::kLinks) return;
    entered.Open();
    go_on.Wait();
  });
  const int before = kernel_.asked(Asked::kLinks);
  std::thread first([&] { EXPECT_TRUE(Refresh().ok()); });
  entered.Wait();

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
  go_on.Open();
  first.join();
  EXPECT_TRUE(Eventually([&] { return answered == kCallers; }));
  EXPECT_EQ(kernel_.asked(Asked::kLinks) - before, 2);
}

TEST_F(RefresherTest, EventsAreAppliedWhileADumpWaits) {
  Start();
  ASSERT_TRUE(WaitForSync().ok());
  Gate entered;
  Gate go_on;
  kernel_.BeforeAnswer([&](Asked what) {
    if (what != Asked::kLinks) return;
    entered.Open();
    go_on.Wait();
  });
  std::thread caller([&] { EXPECT_TRUE(Refresh().ok()); });
  entered.Wait();
  kernel_.Put(FakeLink{.index = 3, .name = "eth1"});
  EXPECT_TRUE(Eventually([&] { return Names().size() == 3; }));
  kernel_.BeforeAnswer(nullptr);
  go_on.Open();
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

TEST_F(RefresherTest, AuditsOfWhatDoesNotChangeTellNothingAndEncodeNothing) {
  kernel_.Put(FakeAddr{.index = 2, .address = "192.0.2.1"});
  Start(/*audit_interval=*/absl::Milliseconds(100));
  ASSERT_TRUE(WaitForSync().ok());
  diary_.Clear();
  const uint64_t encoded = RowsEncoded();
  const int dumps = kernel_.asked(Asked::kLinks);
  ASSERT_TRUE(Eventually([&] { return kernel_.asked(Asked::kLinks) >= dumps + 3; }));
  EXPECT_THAT(diary_.lines(), IsEmpty());
  EXPECT_EQ(RowsEncoded(), encoded);
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
