#include "netlink/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>

#include <utility>

#include "absl/time/clock.h"
#include "netlink/error.h"
#include "netlink/fake_socket.h"

namespace linkvane::netlink {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

absl::Time Soon() { return absl::Now() + absl::Seconds(30); }

// One message of a dump, told from others by its one word of payload.
FakeDatagram& AddItem(FakeDatagram& datagram, uint32_t item, uint16_t flags = NLM_F_MULTI) {
  return datagram.Add(RTM_NEWLINK, flags, std::as_bytes(std::span(&item, 1)));
}
FakeDatagram Items(std::initializer_list<uint32_t> items, uint16_t flags = NLM_F_MULTI) {
  FakeDatagram datagram;
  for (const uint32_t item : items) AddItem(datagram, item, flags);
  return datagram;
}
FakeDatagram Done() { return FakeDatagram().Done(); }

// A connection over a fake socket, and what it delivered.
class Play {
 public:
  Play() : Play(std::make_unique<FakeSocket>()) {}

  // Dumps against this script.
  absl::StatusOr<DumpOutcome> Dump(std::vector<FakeStep> steps) {
    socket_.OnRequest(std::move(steps));
    return Dump();
  }
  absl::StatusOr<DumpOutcome> Dump(absl::Time deadline = Soon()) {
    Request request(RTM_GETLINK, NLM_F_DUMP);
    return connection_->Dump(
        request, [this](std::span<const Message> messages) { Take(messages); }, deadline);
  }
  absl::Status Get(std::vector<FakeStep> steps, uint16_t flags = 0) {
    socket_.OnRequest(std::move(steps));
    Request request(RTM_GETLINK, flags);
    return connection_->Get(
        request, [this](std::span<const Message> messages) { Take(messages); }, Soon());
  }

  Connection& connection() { return *connection_; }
  FakeSocket& socket() { return socket_; }
  const std::vector<uint32_t>& items() const { return items_; }

 private:
  explicit Play(std::unique_ptr<FakeSocket> socket)
      : socket_(*socket), connection_(*Connection::Make(std::move(socket), /*prime=*/false)) {}

  void Take(std::span<const Message> messages) {
    for (const Message& message : messages) {
      items_.push_back(LoadNumber<uint32_t>(message.payload).value_or(0));
    }
  }

  FakeSocket& socket_;
  std::unique_ptr<Connection> connection_;
  std::vector<uint32_t> items_;
};

TEST(DumpTest, DeliversAllDatagramsUpToDone) {
  Play play;
  const absl::StatusOr<DumpOutcome> outcome = play.Dump({Items({1, 2}), Items({3}), Done()});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(play.items(), ElementsAre(1, 2, 3));
  EXPECT_EQ(outcome->datagrams, 3);
  EXPECT_EQ(outcome->messages, 3);
  EXPECT_EQ(outcome->bytes, 3 * 20 + 20);
  EXPECT_FALSE(outcome->interrupted);
  EXPECT_TRUE(play.connection().healthy());
}

TEST(DumpTest, DoneMayShareADatagramWithData) {
  Play play;
  const absl::StatusOr<DumpOutcome> outcome = play.Dump({Items({1}), Items({2}).Done()});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(play.items(), ElementsAre(1, 2));
  EXPECT_EQ(outcome->datagrams, 2);
  EXPECT_TRUE(play.connection().healthy());
}

// A larger buffer would make the kernel's next chunk larger, and its memory with it.
TEST(DumpTest, OffersNoMoreThanTheDatagramNeeds) {
  Play play;
  ASSERT_TRUE(play.Dump({Items({1}), Items({2, 3}), Done()}).ok());
  EXPECT_EQ(play.socket().largest_buffer(), 2 * 20);
}

TEST(DumpTest, EachRequestHasItsOwnSequenceNumber) {
  Play play;
  ASSERT_TRUE(play.Dump({Items({1}), Done()}).ok());
  ASSERT_TRUE(play.Dump({Items({2}), Done()}).ok());
  const auto sequence = [&](size_t i) {
    return LoadStruct<nlmsghdr>(play.socket().request(i))->nlmsg_seq;
  };
  EXPECT_NE(sequence(0), 0);
  EXPECT_NE(sequence(0), sequence(1));
  EXPECT_THAT(play.items(), ElementsAre(1, 2));
}

TEST(DumpTest, BelievesOnlyTheKernel) {
  Play play;
  const absl::StatusOr<DumpOutcome> outcome = play.Dump(
      {Items({1}), Items({666}).From(99), FakeDatagram().Done().From(99), Items({2}), Done()});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(play.items(), ElementsAre(1, 2));
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, SkipsMessagesOfAnotherSequenceNumber) {
  Play play;
  FakeDatagram datagram = Items({1, 666}).ForeignSequence();
  AddItem(datagram, 2);
  const absl::StatusOr<DumpOutcome> outcome =
      play.Dump({datagram, FakeDatagram().Done().ForeignSequence(), Items({3}), Done()});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(play.items(), ElementsAre(1, 2, 3));
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, SkipsMessagesForAnotherPortId) {
  Play play;
  const absl::StatusOr<DumpOutcome> outcome =
      play.Dump({Items({1, 666}).ForeignPortId(), Items({2}), Done()});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(play.items(), ElementsAre(1, 2));
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, WhatFollowsDoneInItsDatagramIsNotDelivered) {
  Play play;
  FakeDatagram datagram = Items({1}).Done();
  AddItem(datagram, 666);
  ASSERT_TRUE(play.Dump({datagram}).ok());
  EXPECT_THAT(play.items(), ElementsAre(1));
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, IgnoresNoOps) {
  Play play;
  ASSERT_TRUE(play.Dump({FakeDatagram().Add(NLMSG_NOOP), Items({1}), Done()}).ok());
  EXPECT_THAT(play.items(), ElementsAre(1));
  EXPECT_TRUE(play.connection().healthy());
}

struct Malformed {
  std::string name;
  FakeDatagram datagram;
};

class MalformedTest : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedTest, IsDataLossAfterWhatWasSoundBeforeIt) {
  Play play;
  const absl::StatusOr<DumpOutcome> outcome = play.Dump({Items({1}), GetParam().datagram, Done()});
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kDataLoss) << outcome.status();
  EXPECT_THAT(play.items(), ElementsAre(1, 2));
  EXPECT_FALSE(play.connection().healthy());
}

INSTANTIATE_TEST_SUITE_P(
    All, MalformedTest,
    ::testing::Values(Malformed{"LengthBeyondDatagram", Items({2, 3}).ClaimLength(21)},
                      Malformed{"LengthFarBeyondDatagram", Items({2, 3}).ClaimLength(0xfffffffd)},
                      Malformed{"LengthBelowHeader", Items({2, 3}).ClaimLength(15)},
                      Malformed{"LengthZero", Items({2, 3}).ClaimLength(0)},
                      Malformed{"HeaderCut", Items({2, 3}).CutTo(20 + 7)},
                      Malformed{"PayloadCut", Items({2, 3}).CutTo(20 + 18)},
                      Malformed{"ErrorWithoutCode", Items({2}).Add(NLMSG_ERROR)},
                      Malformed{
                          "ErrorWithoutRequest",
                          Items({2}).Add(NLMSG_ERROR, 0, FakeAttributes().Number<uint32_t>(0, 0))},
                      Malformed{"DoneWithoutCode", Items({2}).Add(NLMSG_DONE)},
                      Malformed{"DoneWithoutASaneCode", Items({2}).Done(4096)},
                      Malformed{"AcknowledgedDump", Items({2}).Error(0)}),
    [](const auto& test) { return test.param.name; });

TEST(DumpTest, DatagramCutByTheReadIsNotParsed) {
  Play play;
  const absl::StatusOr<DumpOutcome> outcome = play.Dump({Items({1}).CutByRead(), Done()});
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(play.items(), IsEmpty());
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, DatagramLongerThanItsPeekIsNotParsed) {
  Play play;
  const absl::StatusOr<DumpOutcome> outcome = play.Dump({Items({1}).LongerWhenRead(), Done()});
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(play.items(), IsEmpty());
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, DatagramThatIsGoneAfterItsPeekIsDataLoss) {
  Play play;
  const absl::StatusOr<DumpOutcome> outcome =
      play.Dump({FakeStep::ReadError(EAGAIN), Items({1}), Done()});
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, RefusalCarriesTheExtendedAck) {
  Play play;
  const FakeAttributes ack = FakeAttributes()
                                 .Text(NLMSGERR_ATTR_MSG, "no such\nthing")
                                 .Number<uint32_t>(NLMSGERR_ATTR_OFFS, 36);
  const absl::Status status =
      play.Dump({FakeDatagram().Error(EINVAL, NLM_F_CAPPED | NLM_F_ACK_TLVS, ack)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "RTM_GETLINK dump: Invalid argument: no such thing");
  EXPECT_EQ(ErrnoOf(status), EINVAL);
  EXPECT_EQ(KernelMessageOf(status), "no such\nthing");
  EXPECT_EQ(KernelOffsetOf(status), 36);
  EXPECT_TRUE(play.connection().healthy());

  ASSERT_TRUE(play.Dump({Items({1}), Done()}).ok());
  EXPECT_THAT(play.items(), ElementsAre(1));
}

TEST(DumpTest, ExtendedAckStandsBehindARequestThatWasNotCapped) {
  Play play;
  FakeAttributes tail;
  tail.Number<uint32_t>(NLMSGERR_ATTR_OFFS, 1).Number<uint32_t>(NLMSGERR_ATTR_OFFS, 2);
  const size_t rest = tail.bytes().size();  // Of the request, whose attributes are none of an ack.
  tail.Text(NLMSGERR_ATTR_MSG, "behind it");
  const absl::Status status =
      play.Dump({FakeDatagram().Error(EPERM, NLM_F_ACK_TLVS, tail, sizeof(nlmsghdr) + rest)})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(KernelMessageOf(status), "behind it");
  EXPECT_EQ(KernelOffsetOf(status), std::nullopt);
}

TEST(DumpTest, RequestThatClaimsMoreThanTheErrorHoldsHasNoExtendedAck) {
  Play play;
  const absl::Status status =
      play.Dump({FakeDatagram().Error(EPERM, NLM_F_ACK_TLVS, {}, 100000)}).status();
  EXPECT_EQ(status.message(), "RTM_GETLINK dump: Operation not permitted");
}

TEST(DumpTest, ErrorInDoneFailsTheDump) {
  Play play;
  const FakeAttributes ack = FakeAttributes().Text(NLMSGERR_ATTR_MSG, "out of it");
  const absl::Status status =
      play.Dump({Items({1}), FakeDatagram().Done(ENOMEM, NLM_F_MULTI | NLM_F_ACK_TLVS, ack)})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(KernelMessageOf(status), "out of it");
  EXPECT_THAT(play.items(), ElementsAre(1));
  EXPECT_TRUE(play.connection().healthy());
}

TEST(DumpTest, AttributesOfDoneCountOnlyWhereItsFlagsSaySo) {
  Play play;
  const FakeAttributes ack = FakeAttributes().Text(NLMSGERR_ATTR_MSG, "no");
  const absl::Status status = play.Dump({FakeDatagram().Done(ENOMEM, NLM_F_MULTI, ack)}).status();
  EXPECT_EQ(KernelMessageOf(status), "");
}

TEST(DumpTest, PositiveCodeInDoneIsNoError) {
  Play play;
  EXPECT_TRUE(play.Dump({Items({1}), FakeDatagram().Done(-7)}).ok());
}

TEST(DumpTest, AfterAnErrorInADumpItsRestIsReadSoThatTheConnectionCanBeUsedAgain) {
  Play play;
  const absl::Status status =
      play.Dump({Items({1}), FakeDatagram().Error(ENOENT), Items({666}), Done()}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(play.items(), ElementsAre(1));
  EXPECT_EQ(play.socket().queued(), 0);
  ASSERT_TRUE(play.connection().healthy());
  ASSERT_TRUE(play.Dump({Items({2}), Done()}).ok());
  EXPECT_THAT(play.items(), ElementsAre(1, 2));
}

TEST(DumpTest, AnErrorInADumpWithoutAnEndLeavesAConnectionThatIsNotUsedAgain) {
  Play play;
  EXPECT_FALSE(play.Dump({Items({1}), FakeDatagram().Error(ENOENT), Items({666})}).ok());
  EXPECT_FALSE(play.connection().healthy());
  EXPECT_EQ(play.Dump({Items({2}), Done()}).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(DumpTest, InterruptionIsNotedOnDataAndOnDone) {
  Play on_data;
  absl::StatusOr<DumpOutcome> outcome =
      on_data.Dump({Items({1}), Items({2}, NLM_F_MULTI | NLM_F_DUMP_INTR), Items({3}), Done()});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->interrupted);
  EXPECT_THAT(on_data.items(), ElementsAre(1, 2, 3));
  EXPECT_TRUE(on_data.connection().healthy());

  Play on_done;
  outcome = on_done.Dump({Items({1}), FakeDatagram().Done(0, NLM_F_MULTI | NLM_F_DUMP_INTR)});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->interrupted);

  outcome = on_done.Dump({Items({1}), Done()});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_FALSE(outcome->interrupted) << "the next dump is another one";
}

TEST(DumpTest, OverrunAtThePeekOrAtTheReadIsUnavailable) {
  for (const FakeStep& overrun : {FakeStep::PeekError(ENOBUFS), FakeStep::ReadError(ENOBUFS)}) {
    Play play;
    const absl::Status status =
        play.Dump({Items({1}), overrun, Items({2}), Items({3}), Done()}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(ErrnoOf(status), ENOBUFS);
    EXPECT_THAT(play.items(), ElementsAre(1));
    EXPECT_EQ(play.socket().queued(), 0) << "what was there has been read";
    EXPECT_FALSE(play.connection().healthy());
  }
}

TEST(DumpTest, OverrunMessageIsUnavailable) {
  Play play;
  const absl::Status status =
      play.Dump({Items({1}), FakeDatagram().Add(NLMSG_OVERRUN), Done()}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ErrnoOf(status), ENOBUFS);
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, OtherErrorsOfTheSocketAreReported) {
  Play play;
  const absl::Status status = play.Dump({Items({1}), FakeStep::PeekError(ENOMEM)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, InterruptedSystemCallsAreRepeated) {
  Play play;
  play.socket().OnSend(EINTR);
  const absl::StatusOr<DumpOutcome> outcome =
      play.Dump({FakeStep::PeekError(EINTR), Items({1}), FakeStep::ReadError(EINTR), Items({2}),
                 FakeStep::Pause(EINTR), Done()});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(play.items(), ElementsAre(1, 2));
  EXPECT_EQ(play.socket().requests(), 1);
  EXPECT_TRUE(play.connection().healthy());
}

TEST(DumpTest, WaitsWhereTheQueueIsEmpty) {
  Play play;
  const absl::StatusOr<DumpOutcome> outcome =
      play.Dump({FakeStep::Pause(), Items({1}), FakeStep::Pause(), Items({2}), Done()});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(play.items(), ElementsAre(1, 2));
  EXPECT_TRUE(play.connection().healthy());
}

TEST(DumpTest, DeadlineInTheMiddleLeavesAConnectionThatIsNotUsedAgain) {
  Play play;
  EXPECT_EQ(play.Dump({Items({1})}).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(play.items(), ElementsAre(1));
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, DeadlineIsSeenByADumpThatNeverWaits) {
  Play play;
  Request request(RTM_GETLINK, NLM_F_DUMP);
  play.socket().OnRequest({Items({1}), Items({2}), Done()});
  const absl::Time deadline = absl::Now() + absl::Milliseconds(20);
  const auto until_deadline = [&](std::span<const Message>) {
    while (absl::Now() < deadline) {
    }
  };
  EXPECT_EQ(play.connection().Dump(request, until_deadline, deadline).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, NothingIsSentAfterTheDeadline) {
  Play play;
  EXPECT_EQ(play.Dump(absl::Now()).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(play.socket().requests(), 0);
  EXPECT_TRUE(play.connection().healthy());
}

TEST(DumpTest, CancellationEndsAWait) {
  Play play;
  EXPECT_EQ(play.Dump({Items({1}), FakeStep::Pause(ECANCELED)}).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, CancellationEndsADumpThatNeverWaits) {
  Play play;
  Request request(RTM_GETLINK, NLM_F_DUMP);
  play.socket().OnRequest({Items({1}), Items({2}), Done()});
  int datagrams = 0;
  const auto cancel = [&](std::span<const Message>) {
    ++datagrams;
    play.connection().Cancel();
  };
  EXPECT_EQ(play.connection().Dump(request, cancel, Soon()).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(datagrams, 1);
  EXPECT_TRUE(play.socket().cancelled());
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, CancellationHoldsForEveryLaterRequest) {
  Play play;
  play.connection().Cancel();
  EXPECT_FALSE(play.connection().healthy());
  EXPECT_EQ(play.Dump({Items({1}), Done()}).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(play.socket().requests(), 0);
}

TEST(DumpTest, LeftoversOfAnEarlierAnswerAreNotTakenForTheNext) {
  Play play;
  play.socket().Enqueue({Items({666}), Done(), Items({667})});
  const absl::Status status = play.Dump({Items({1}), Done()}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(play.items(), IsEmpty());
  EXPECT_EQ(play.socket().requests(), 0);
  EXPECT_FALSE(play.connection().healthy());
}

TEST(DumpTest, BusyWithAnEarlierDumpReadsThatToItsEndAndAsksAgain) {
  Play play;
  play.socket()
      .OnRequest({FakeDatagram().Error(EBUSY), Items({666}).ForeignSequence(),
                  FakeDatagram().Done().ForeignSequence()})
      .OnRequest({Items({1}), Done()});
  const absl::StatusOr<DumpOutcome> outcome = play.Dump();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(play.items(), ElementsAre(1));
  EXPECT_TRUE(play.connection().healthy());
}

TEST(DumpTest, BusyTwiceIsUnavailable) {
  Play play;
  play.socket()
      .OnRequest({FakeDatagram().Error(EBUSY), Done()})
      .OnRequest({FakeDatagram().Error(EBUSY), Done()})
      .OnRequest({Items({1}), Done()});
  EXPECT_EQ(ErrnoOf(play.Dump().status()), EBUSY);
  EXPECT_EQ(play.socket().requests(), 2);
}

TEST(DumpTest, FailureToSendIsReported) {
  Play play;
  play.socket().OnSend(ENOBUFS);
  EXPECT_EQ(play.Dump({Items({1}), Done()}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(play.socket().requests(), 0);
}

TEST(GetTest, DeliversTheOneAnswer) {
  Play play;
  EXPECT_TRUE(play.Get({Items({7}, 0)}).ok());
  EXPECT_THAT(play.items(), ElementsAre(7));
  EXPECT_TRUE(play.connection().healthy());
}

TEST(GetTest, WaitsForTheAcknowledgementIfItAskedForOne) {
  Play play;
  EXPECT_TRUE(play.Get({Items({7}, 0), FakeDatagram().Error(0)}, NLM_F_ACK).ok());
  EXPECT_THAT(play.items(), ElementsAre(7));
  EXPECT_EQ(play.socket().queued(), 0);
  EXPECT_TRUE(play.connection().healthy());
}

TEST(GetTest, AnswerMayHaveSeveralParts) {
  Play play;
  EXPECT_TRUE(play.Get({Items({7}), Items({8}), Done()}).ok());
  EXPECT_THAT(play.items(), ElementsAre(7, 8));
  EXPECT_TRUE(play.connection().healthy());
}

TEST(GetTest, RefusalIsTheKernelsError) {
  Play play;
  const absl::Status status = play.Get({FakeDatagram().Error(ENODEV)});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "RTM_GETLINK: No such device");
  EXPECT_TRUE(play.connection().healthy());
}

TEST(GetTest, BusyIsNotAskedAgain) {
  Play play;
  EXPECT_EQ(ErrnoOf(play.Get({FakeDatagram().Error(EBUSY)})), EBUSY);
  EXPECT_EQ(play.socket().requests(), 1);
  EXPECT_TRUE(play.connection().healthy());
}

TEST(GetTest, EndsOfAnotherKindOfAnswerAreDataLoss) {
  Play acknowledged;
  EXPECT_EQ(acknowledged.Get({FakeDatagram().Error(0)}).code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(acknowledged.connection().healthy());
  Play done;
  EXPECT_EQ(done.Get({Done()}).code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(done.connection().healthy());
}

// Primes a connection against this answer to its no-op.
absl::Status Prime(std::vector<FakeStep> steps) {
  auto socket = std::make_unique<FakeSocket>();
  socket->OnRequest(std::move(steps));
  return Connection::Make(std::move(socket)).status();
}

TEST(PrimeTest, OffersTheLargestBufferThatTheKernelGoesBy) {
  auto owned = std::make_unique<FakeSocket>();
  FakeSocket& socket = *owned;
  socket.OnRequest({FakeStep::Pause(), FakeDatagram().Error(0)});
  const absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Make(std::move(owned));
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ(socket.largest_buffer(), 32768);
  const nlmsghdr request = *LoadStruct<nlmsghdr>(socket.request(0));
  EXPECT_EQ(request.nlmsg_type, NLMSG_NOOP);
  EXPECT_EQ(request.nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
  EXPECT_TRUE((*connection)->healthy());
}

TEST(PrimeTest, AnythingButTheAcknowledgementFails) {
  EXPECT_EQ(Prime({}).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Prime({FakeStep::Pause(), FakeStep::ReadError(ENOMEM)}).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Prime({FakeDatagram().Error(EPERM)}).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Prime({FakeDatagram().Error(0).From(99)}).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Prime({FakeDatagram().Error(0).CutByRead()}).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Prime({FakeDatagram().Error(0).ForeignSequence()}).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace linkvane::netlink
