#include "netlink/monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>

#include <utility>

#include "netlink/error.h"
#include "netlink/fake_socket.h"

namespace linkvane::netlink {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

FakeDatagram Event(uint16_t type) { return FakeDatagram().Add(type); }

class Play {
 public:
  Play() : Play(std::make_unique<FakeSocket>()) {}

  absl::StatusOr<DrainOutcome> Drain(std::vector<FakeStep> steps) {
    socket_.Enqueue(std::move(steps));
    return monitor_.Drain([this](std::span<const Message> messages) {
      for (const Message& message : messages) types_.push_back(message.type);
    });
  }

  FakeSocket& socket() { return socket_; }
  const std::vector<uint16_t>& types() const { return types_; }

 private:
  explicit Play(std::unique_ptr<FakeSocket> socket)
      : socket_(*socket), monitor_(std::move(socket)) {}

  FakeSocket& socket_;
  Monitor monitor_;
  std::vector<uint16_t> types_;
};

TEST(MonitorTest, DrainsUpToTheEmptyQueue) {
  Play play;
  const absl::StatusOr<DrainOutcome> outcome =
      play.Drain({Event(RTM_NEWLINK), Event(RTM_NEWADDR).Add(RTM_DELADDR), FakeStep::Pause(),
                  Event(RTM_DELLINK)});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(play.types(), ElementsAre(RTM_NEWLINK, RTM_NEWADDR, RTM_DELADDR));
  EXPECT_EQ(outcome->datagrams, 2);
  EXPECT_EQ(outcome->bytes, 16 + 32);
  EXPECT_EQ(outcome->ignored, 0);
  EXPECT_FALSE(outcome->overrun);
}

TEST(MonitorTest, OverrunAtThePeekOrAtTheReadIsReportedAndTheRestDelivered) {
  for (const FakeStep& overrun : {FakeStep::PeekError(ENOBUFS), FakeStep::ReadError(ENOBUFS)}) {
    Play play;
    absl::StatusOr<DrainOutcome> outcome =
        play.Drain({Event(RTM_NEWLINK), overrun, Event(RTM_NEWADDR), Event(RTM_DELADDR)});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_TRUE(outcome->overrun);
    EXPECT_THAT(play.types(), ElementsAre(RTM_NEWLINK, RTM_NEWADDR, RTM_DELADDR));

    outcome = play.Drain({Event(RTM_DELLINK)});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_FALSE(outcome->overrun) << "an overrun is reported once";
  }
}

TEST(MonitorTest, OverrunOfAnEmptyQueueIsReported) {
  Play play;
  const absl::StatusOr<DrainOutcome> outcome = play.Drain({FakeStep::PeekError(ENOBUFS)});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->overrun);
  EXPECT_EQ(outcome->datagrams, 0);
}

TEST(MonitorTest, OverrunMessageIsAnOverrun) {
  Play play;
  const absl::StatusOr<DrainOutcome> outcome = play.Drain({Event(NLMSG_OVERRUN)});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->overrun);
  EXPECT_THAT(play.types(), IsEmpty());
}

TEST(MonitorTest, BelievesOnlyTheKernel) {
  Play play;
  const absl::StatusOr<DrainOutcome> outcome =
      play.Drain({Event(RTM_DELLINK).From(99), Event(RTM_NEWLINK)});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(play.types(), ElementsAre(RTM_NEWLINK));
  EXPECT_EQ(outcome->ignored, 1);
  EXPECT_FALSE(outcome->overrun) << "nothing of the kernel's was lost";
}

TEST(MonitorTest, WhatCannotBeReadCountsAsLost) {
  const std::vector<FakeDatagram> datagrams = {
      Event(RTM_NEWLINK).Add(RTM_NEWADDR).ClaimLength(17),
      Event(RTM_NEWLINK).Add(RTM_NEWADDR).ClaimLength(3),
      Event(RTM_NEWLINK).Add(RTM_NEWADDR).CutTo(16 + 15),
  };
  for (const FakeDatagram& datagram : datagrams) {
    Play play;
    const absl::StatusOr<DrainOutcome> outcome = play.Drain({datagram, Event(RTM_DELLINK)});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_THAT(play.types(), ElementsAre(RTM_NEWLINK, RTM_DELLINK));
    EXPECT_EQ(outcome->ignored, 1);
    EXPECT_TRUE(outcome->overrun);
  }
}

TEST(MonitorTest, DatagramCutByTheReadIsLostAndNotParsed) {
  for (const FakeDatagram& datagram :
       {Event(RTM_NEWLINK).CutByRead(), Event(RTM_NEWLINK).LongerWhenRead()}) {
    Play play;
    const absl::StatusOr<DrainOutcome> outcome = play.Drain({datagram, Event(RTM_DELLINK)});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_THAT(play.types(), ElementsAre(RTM_DELLINK));
    EXPECT_EQ(outcome->ignored, 1);
    EXPECT_TRUE(outcome->overrun);
  }
}

TEST(MonitorTest, ControlMessagesAreNoEvents) {
  Play play;
  const absl::StatusOr<DrainOutcome> outcome =
      play.Drain({Event(NLMSG_NOOP), FakeDatagram().Error(0), FakeDatagram().Done()});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(play.types(), IsEmpty());
  EXPECT_FALSE(outcome->overrun);
}

TEST(MonitorTest, InterruptedSystemCallsAreRepeated) {
  Play play;
  const absl::StatusOr<DrainOutcome> outcome =
      play.Drain({FakeStep::PeekError(EINTR), Event(RTM_NEWLINK), FakeStep::ReadError(EINTR),
                  Event(RTM_DELLINK)});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(play.types(), ElementsAre(RTM_NEWLINK, RTM_DELLINK));
  EXPECT_FALSE(outcome->overrun);
}

TEST(MonitorTest, FailsWhereTheSocketIsOfNoUse) {
  Play play;
  const absl::Status status = play.Drain({Event(RTM_NEWLINK), FakeStep::PeekError(EBADF)}).status();
  EXPECT_EQ(ErrnoOf(status), EBADF);
  EXPECT_THAT(play.types(), ElementsAre(RTM_NEWLINK));
}

}  // namespace
}  // namespace linkvane::netlink
