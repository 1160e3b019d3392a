// Questions, lost events and lost sockets. What a dump does is in refresher_test.cc.
#include "server/state/observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>  // NOLINT(build/c++11)

#include "server/state/testing/fake_kernel_test.h"

namespace linkvane::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ObserverTest : public FakeKernelTest {
 protected:
  void StartAndSync() {
    Start();
    ASSERT_TRUE(WaitForSync().ok());
    diary_.Clear();
  }
  absl::StatusOr<Observer::LinkAnswer> AskLink(int32_t index, bool with_stats = false) {
    return observer_->AskLink(index, with_stats, absl::Now() + kPatience);
  }
};

TEST_F(ObserverTest, AnAnswerAboutALinkIsMerged) {
  StartAndSync();
  kernel_.Put(FakeLink{.index = 2, .name = "eth0", .mtu = 9000}, /*announce=*/false);
  const auto answer = AskLink(2);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->row->link.mtu, 9000);
  EXPECT_THAT(diary_.lines(), ElementsAre("eth0"));
  EXPECT_EQ(answer->report.changes, 1);
  EXPECT_EQ(answer->report.stats, nullptr);
}

TEST_F(ObserverTest, AnAnswerAboutALinkHasItsCounters) {
  StartAndSync();
  const auto answer = AskLink(2, /*with_stats=*/true);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_NE(answer->report.stats->Find(2), "");
  EXPECT_EQ(answer->report.stats->Find(1), "");
}

TEST_F(ObserverTest, ALinkIsFoundByItsNames) {
  StartAndSync();
  kernel_.Put(FakeLink{.index = 7, .name = "new", .alt_names = {"alternative"}},
              /*announce=*/false);
  for (const char* name : {"new", "alternative"}) {
    const auto answer = observer_->AskLink(name, /*with_stats=*/false, absl::Now() + kPatience);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->row->link.index, 7);
  }
  EXPECT_THAT(diary_.lines(), ElementsAre("+new"));
}

TEST_F(ObserverTest, ThatThereIsNoSuchLinkIsAnAnswer) {
  StartAndSync();
  kernel_.Remove(2, /*announce=*/false);
  EXPECT_TRUE(absl::IsNotFound(AskLink(2).status()));
  EXPECT_THAT(diary_.lines(), ElementsAre("-eth0"));
  // By name nobody knows which one it would be.
  kernel_.Remove(1, /*announce=*/false);
  EXPECT_TRUE(absl::IsNotFound(
      observer_->AskLink("lo", /*with_stats=*/false, absl::Now() + kPatience).status()));
  EXPECT_THAT(Names(), ElementsAre("lo"));
}

TEST_F(ObserverTest, AnAnswerAboutAddressesIsMergedForItsInterfaceOnly) {
  StartAndSync();
  kernel_.Put(FakeAddr{.index = 1, .address = "10.0.0.1"}, /*announce=*/false);
  kernel_.Put(FakeAddr{.index = 2, .address = "10.0.0.2"}, /*announce=*/false);
  ASSERT_TRUE(observer_->AskAddrs(TableId::kAddrs4, 2, absl::Now() + kPatience).ok());
  EXPECT_THAT(diary_.lines(), ElementsAre("+addr@eth0"));
  ASSERT_TRUE(observer_->AskAddrs(TableId::kAddrs6, 1, absl::Now() + kPatience).ok());
  EXPECT_THAT(diary_.lines(), ElementsAre("+addr@eth0"));
}

TEST_F(ObserverTest, AnAnswerGivenBeforeALossDoesNotStandInTheWayOfTheRepair) {
  StartAndSync();
  kernel_.AfterAnswer([this](Asked what) {
    if (what != Asked::kLink) return;
    // The answer has been made, and is old now.
    kernel_.Put(FakeLink{.index = 2, .name = "eth0", .mtu = 9000}, /*announce=*/false);
    kernel_.Overrun();
    ASSERT_TRUE(Eventually([this] { return observer_->counts().overruns == 1; }));
    ASSERT_TRUE(WaitForSync().ok());
  });
  EXPECT_TRUE(absl::IsUnavailable(AskLink(2).status()));
  kernel_.AfterAnswer(nullptr);
  EXPECT_THAT(diary_.lines(), ElementsAre("lost", "eth0"));
  EXPECT_EQ(AskLink(2)->row->link.mtu, 9000);
}

TEST_F(ObserverTest, ADumpDuringWhichEventsWereLostRepairsNothing) {
  StartAndSync();
  kernel_.AfterAnswer([this](Asked what) {
    if (what != Asked::kLinks || happened_.exchange(true)) return;
    kernel_.Put(FakeLink{.index = 3, .name = "eth1"}, /*announce=*/false);
    kernel_.Overrun();
  });
  const int dumps = kernel_.asked(Asked::kLinks);
  ASSERT_TRUE(Refresh().ok());  // Answered when repaired.
  EXPECT_THAT(Names(), ElementsAre("lo", "eth0", "eth1"));
  EXPECT_TRUE(observer_->synced());
  EXPECT_GE(kernel_.asked(Asked::kLinks) - dumps, 2);
}

TEST_F(ObserverTest, AfterALossAnswersWaitForTheRepairOfAllTables) {
  StartAndSync();
  kernel_.BeforeAnswer([this](Asked what) {
    if (what != Asked::kAddrs6) return;
    entered_.Open();
    go_on_.Wait();
  });
  kernel_.Overrun();
  entered_.Wait();
  EXPECT_THAT(observer_->Unclean(), ::testing::Contains(TableId::kAddrs6));
  std::atomic<bool> answered = false;
  refresher_->Refresh(TableId::kLinks, false, absl::Now() + kPatience,
                      [&](const Refresher::Result& result) {
                        EXPECT_TRUE(result.status.ok()) << result.status;
                        EXPECT_TRUE(observer_->synced());
                        answered = true;
                      });
  EXPECT_FALSE(answered) << "the links were dumped, but what they name was not";
  go_on_.Open();
  EXPECT_TRUE(Eventually([&] { return answered.load(); }));
}

TEST_F(ObserverTest, AnEventSocketThatFailsIsReplacedAndTheLossRepaired) {
  StartAndSync();
  kernel_.Put(FakeLink{.index = 3, .name = "eth1"}, /*announce=*/false);
  kernel_.FailMonitor();
  EXPECT_TRUE(Eventually([&] { return Names().size() == 3; }));
  ASSERT_TRUE(WaitForSync().ok());
  EXPECT_EQ(diary_.lines().front(), "lost");
  kernel_.Put(FakeLink{.index = 4, .name = "eth2"});
  EXPECT_TRUE(Eventually([&] { return Names().size() == 4; })) << "events come again";
}

TEST_F(ObserverTest, WithoutAnEventSocketNoDumpRepairsAnything) {
  StartAndSync();
  kernel_.RefuseMonitors(true);
  kernel_.FailMonitor();
  ASSERT_TRUE(Eventually([this] { return !observer_->synced(); }));
  EXPECT_THAT(diary_.lines(), ElementsAre("lost"));
  const absl::Status status = Refresh(absl::Milliseconds(50));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_FALSE(observer_->synced());
  kernel_.RefuseMonitors(false);
  EXPECT_TRUE(WaitForSync().ok());
}

TEST_F(ObserverTest, ALossBeforeTheFirstSyncIsNoGap) {
  kernel_.Overrun();
  Start();
  ASSERT_TRUE(WaitForSync().ok());
  EXPECT_THAT(diary_.lines(), ElementsAre("+lo", "+eth0"));
}

TEST_F(ObserverTest, EventsOfTheTimeBeforeTheFirstDumpAreNoNews) {
  kernel_.Put(FakeAddr{.index = 2, .address = "10.0.0.1"});
  Start();  // All three were announced before anybody listened.
  ASSERT_TRUE(WaitForSync().ok());
  EXPECT_EQ(observer_->counts().audit_differences, 0);
  diary_.Clear();
  ASSERT_TRUE(Refresh().ok());
  EXPECT_THAT(diary_.lines(), IsEmpty());
}

TEST_F(ObserverTest, AKnownTableStaysKnownAfterALoss) {
  EXPECT_EQ(observer_, nullptr);
  Start();
  ASSERT_TRUE(WaitForSync().ok());
  kernel_.BeforeAnswer([this](Asked /*what*/) { go_on_.Wait(); });
  kernel_.Overrun();
  ASSERT_TRUE(Eventually([this] { return !observer_->synced(); }));
  EXPECT_TRUE(observer_->known());
  go_on_.Open();
  ASSERT_TRUE(WaitForSync().ok());
}

}  // namespace
}  // namespace linkvane::server
