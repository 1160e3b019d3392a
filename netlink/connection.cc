#include "netlink/connection.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "netlink/error.h"

namespace linkvane::netlink {
namespace {

// The kernel builds chunks as large as the largest buffer ever offered, up to this.
constexpr size_t kPrimeBytes = 32768;
// The kernel answers a no-op while it is sent, so this is never waited for.
constexpr absl::Duration kPrimeTimeout = absl::Seconds(5);

std::string_view TypeName(uint16_t type) {
  switch (type) {
    case NLMSG_NOOP:
      return "NLMSG_NOOP";
    case RTM_GETLINK:
      return "RTM_GETLINK";
    case RTM_GETADDR:
      return "RTM_GETADDR";
    case RTM_GETROUTE:
      return "RTM_GETROUTE";
    case RTM_GETNEIGH:
      return "RTM_GETNEIGH";
    case RTM_GETRULE:
      return "RTM_GETRULE";
    case RTM_GETNEXTHOP:
      return "RTM_GETNEXTHOP";
    case RTM_GETNSID:
      return "RTM_GETNSID";
    case RTM_GETSTATS:
      return "RTM_GETSTATS";
    default:
      return "netlink request";
  }
}

// The text and the offset of an extended ack.
struct ExtendedAck {
  std::string_view message;
  std::optional<uint32_t> offset;
};

ExtendedAck ReadExtendedAck(Bytes attributes) {
  ExtendedAck ack;
  AttributeReader reader(attributes);
  Attribute attribute;
  while (reader.Next(attribute)) {
    if (attribute.type == NLMSGERR_ATTR_MSG) {
      ack.message = LoadText(attribute.payload);
    } else if (attribute.type == NLMSGERR_ATTR_OFFS) {
      ack.offset = LoadNumber<uint32_t>(attribute.payload);
    }
  }
  return ack;
}

// How an NLMSG_ERROR or an NLMSG_DONE ends an answer.
struct Ending {
  int error = 0;  // A positive errno, or 0.
  ExtendedAck ack;
};

// Unset where the message is too short, or its code is none.
std::optional<Ending> ReadEnding(const Message& message) {
  const std::optional<int32_t> code = LoadStruct<int32_t>(message.payload);
  if (!code.has_value()) return std::nullopt;
  Bytes attributes = message.payload.subspan(sizeof(*code));
  if (message.type == NLMSG_ERROR) {
    // The header of the request follows, and unless it was capped the rest of it.
    const std::optional<nlmsghdr> request = LoadStruct<nlmsghdr>(attributes);
    if (!request.has_value()) return std::nullopt;
    size_t skip = sizeof(*request);
    if ((message.flags & NLM_F_CAPPED) == 0 && request->nlmsg_len > skip) {
      skip = NLMSG_ALIGN(static_cast<size_t>(request->nlmsg_len));
    }
    attributes = attributes.subspan(std::min(skip, attributes.size()));
  }
  // The kernel's errors are -4095 to -1; a positive code is none.
  if (*code < -4095) return std::nullopt;
  Ending ending;
  if (*code < 0) ending.error = -*code;
  if ((message.flags & NLM_F_ACK_TLVS) != 0) ending.ack = ReadExtendedAck(attributes);
  return ending;
}

}  // namespace

// What is known so far of the answer to the present request.
struct Connection::Answer {
  bool is_dump = false;
  bool wants_ack = false;

  bool finished = false;  // Nothing more belongs to it.
  bool started = false;   // Something came that was no error.
  absl::Status status;    // Once finished: what it came to.
  DumpOutcome outcome;
};

absl::StatusOr<std::unique_ptr<Connection>> Connection::Make(std::unique_ptr<Socket> socket,
                                                             bool prime) {
  // The constructor is private, which make_unique does not know its way around.
  std::unique_ptr<Connection> connection(new Connection(std::move(socket)));
  if (prime) {
    if (absl::Status status = connection->Prime(); !status.ok()) return status;
  }
  return connection;
}

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const SocketOptions& options) {
  absl::StatusOr<std::unique_ptr<Socket>> socket = OpenSocket(options);
  if (!socket.ok()) return socket.status();
  return Make(*std::move(socket));
}

Connection::Connection(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {}

absl::StatusOr<DumpOutcome> Connection::Dump(Request& request, MessageSink sink,
                                             absl::Time deadline) {
  Answer answer = Converse(request, sink, deadline);
  if (ErrnoOf(answer.status) == EBUSY && !answer.started && healthy()) {
    // A dump of before is still running on this socket. Its rest has been read now.
    answer = Converse(request, sink, deadline);
  }
  if (!answer.status.ok()) return std::move(answer.status);
  return answer.outcome;
}

absl::Status Connection::Get(Request& request, MessageSink sink, absl::Time deadline) {
  return Converse(request, sink, deadline).status;
}

Connection::Answer Connection::Converse(Request& request, MessageSink sink, absl::Time deadline) {
  Answer answer;
  answer.is_dump = request.is_dump();
  answer.wants_ack = request.wants_ack();
  answer.status = Send(request, deadline);
  if (!answer.status.ok()) return answer;

  while (!answer.finished) {
    Bytes datagram;
    answer.status = ReadDatagram(request, deadline, datagram);
    if (!answer.status.ok()) return answer;
    ++answer.outcome.datagrams;
    answer.outcome.bytes += datagram.size();
    Sort(request, datagram, answer);
    answer.outcome.messages += messages_.size();
    if (!messages_.empty()) sink(messages_);
  }
  return answer;
}

absl::Status Connection::Send(Request& request, absl::Time deadline) {
  if (cancelled_.load(std::memory_order_relaxed)) return Failure(request, ECANCELED);
  if (deadline <= absl::Now()) return Failure(request, ETIMEDOUT);
  if (!healthy_) {
    return absl::FailedPreconditionError("a netlink connection was used after it had failed");
  }
  // Nothing may be left of an earlier answer. If something is, this connection has lost count.
  Received head;
  do {
    head = socket_->Peek();
  } while (head.error == EINTR);
  if (head.error != EAGAIN) {
    healthy_ = false;
    SkipRest();
    return Failure(request, ENOBUFS, "unread messages were in the receive queue");
  }
  if (++sequence_ == 0) ++sequence_;  // 0 is what events have.
  const Bytes bytes = request.Finish(sequence_, port_id());
  int error;
  do {
    error = socket_->Send(bytes);
  } while (error == EINTR);
  if (error == 0) return absl::OkStatus();
  return Failure(request, error);
}

absl::Status Connection::ReadDatagram(const Request& request, absl::Time deadline,
                                      Bytes& datagram) {
  for (;;) {
    int error = 0;
    if (cancelled_.load(std::memory_order_relaxed)) {
      error = ECANCELED;
    } else if (deadline <= absl::Now()) {
      error = ETIMEDOUT;
    }
    if (error != 0) {
      healthy_ = false;
      return Failure(request, error);
    }

    const Datagram head = reader_.Read(*socket_);
    if (head.error == EAGAIN) {
      error = socket_->Wait(deadline);
      if (error == 0 || error == EINTR) continue;
      healthy_ = false;
      return Failure(request, error);
    }
    if (head.error != 0) {
      healthy_ = false;
      if (head.error == ENOBUFS) SkipRest();
      return Failure(request, head.error);
    }
    if (head.torn) {
      healthy_ = false;
      return ProtocolError(Operation(request), "a datagram was cut after its length was known");
    }
    if (head.sender != 0) {
      // Some other process writes to us. It is not believed, and a new socket has a new port id.
      healthy_ = false;
      continue;
    }
    datagram = head.bytes;
    return absl::OkStatus();
  }
}

void Connection::Sort(const Request& request, Bytes datagram, Answer& answer) {
  messages_.clear();
  MessageReader reader(datagram);
  Message message;
  while (reader.Next(message)) {
    if (message.sequence != sequence_ || message.port_id != port_id() || answer.finished) {
      // An answer to somebody else, to an earlier request, or more than the whole answer.
      healthy_ = false;
      continue;
    }
    if ((message.flags & NLM_F_DUMP_INTR) != 0) answer.outcome.interrupted = true;
    if (message.type >= NLMSG_MIN_TYPE) {
      messages_.push_back(message);
      answer.started = true;
      answer.finished = !answer.is_dump && !answer.wants_ack && (message.flags & NLM_F_MULTI) == 0;
    } else if (message.type != NLMSG_NOOP) {
      Control(request, message, answer);
    }
  }
  if (reader.malformed()) {
    healthy_ = false;
    answer.finished = true;
    answer.status = ProtocolError(Operation(request), "a message is longer than its datagram");
  }
}

void Connection::Control(const Request& request, const Message& message, Answer& answer) {
  answer.finished = true;
  if (message.type == NLMSG_OVERRUN) {
    healthy_ = false;
    answer.status = Failure(request, ENOBUFS, "NLMSG_OVERRUN");
    return;
  }
  const std::optional<Ending> ending = ReadEnding(message);
  if (!ending.has_value()) {
    healthy_ = false;
    answer.status = ProtocolError(Operation(request), "an NLMSG_ERROR or NLMSG_DONE is not sound");
    return;
  }
  if (ending->error != 0) {
    answer.status =
        KernelError(Operation(request), ending->error, ending->ack.message, ending->ack.offset);
    // Where the error did not end a running dump, the connection must not be used before the end.
    const bool rest_may_come = answer.started || ending->error == EBUSY;
    if (answer.is_dump && message.type == NLMSG_ERROR && rest_may_come) {
      if (!SkipRest()) healthy_ = false;
    }
    return;
  }
  const bool expected = message.type == NLMSG_DONE ? answer.is_dump || answer.started
                                                   : answer.wants_ack && !answer.is_dump;
  if (!expected) {
    healthy_ = false;
    answer.status = ProtocolError(Operation(request), "an end of an answer of another kind");
  }
}

bool Connection::SkipRest() {
  // In every read the kernel builds the next chunk of a running dump, so the queue is not empty
  // before its end.
  constexpr int kMost = 1 << 20;
  DatagramReader
      reader;  // The other one's buffer may hold messages that are still to be delivered.
  for (int i = 0; i < kMost; ++i) {
    const Datagram head = reader.Read(*socket_);
    if (head.error == ENOBUFS) continue;
    if (head.error != 0) return false;
    MessageReader messages(head.bytes);
    Message message;
    while (messages.Next(message)) {
      if (message.type == NLMSG_DONE) return true;
    }
  }
  return false;
}

absl::Status Connection::Prime() {
  Request request(NLMSG_NOOP, NLM_F_ACK);
  const absl::Time deadline = absl::Now() + kPrimeTimeout;
  if (absl::Status status = Send(request, deadline); !status.ok()) return status;
  const auto scratch = std::make_unique<std::byte[]>(kPrimeBytes);
  Received got;
  for (;;) {
    got = socket_->Receive(std::span(scratch.get(), kPrimeBytes));
    if (got.error == EINTR) continue;
    if (got.error != EAGAIN) break;
    const int error = socket_->Wait(deadline);
    if (error != 0 && error != EINTR) return Failure(request, error);
  }
  if (got.error != 0) return Failure(request, got.error);
  if (got.truncated || got.sender != 0) {
    return ProtocolError(Operation(request), "not the kernel's acknowledgement");
  }
  Answer answer;
  answer.wants_ack = true;
  Sort(request, Bytes(scratch.get(), got.size), answer);
  messages_.clear();
  if (!answer.status.ok()) return answer.status;
  if (!answer.finished || !healthy_) {
    return ProtocolError(Operation(request), "not the kernel's acknowledgement");
  }
  return absl::OkStatus();
}

std::string Connection::Operation(const Request& request) {
  std::string operation(request.operation().empty() ? TypeName(request.type())
                                                    : request.operation());
  if (request.is_dump()) operation += " dump";
  return operation;
}

absl::Status Connection::Failure(const Request& request, int error, std::string_view message) {
  return KernelError(Operation(request), error, message);
}

}  // namespace linkvane::netlink
