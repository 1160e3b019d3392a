#include "netlink/monitor.h"

#include <linux/netlink.h>

#include <cerrno>
#include <utility>

#include "netlink/error.h"

namespace linkvane::netlink {

absl::StatusOr<std::unique_ptr<Monitor>> Monitor::Open(const MonitorOptions& options) {
  absl::StatusOr<std::unique_ptr<Socket>> socket =
      OpenSocket({.protocol = NETLINK_ROUTE, .receive_buffer_bytes = options.receive_buffer_bytes});
  if (!socket.ok()) return socket.status();
  for (const uint32_t group : options.groups) {
    if (absl::Status status = JoinGroup(**socket, group); !status.ok()) return status;
  }
  return std::make_unique<Monitor>(*std::move(socket));
}

Monitor::Monitor(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {}

absl::StatusOr<DrainOutcome> Monitor::Drain(MessageSink sink) {
  DrainOutcome outcome;
  for (;;) {
    const Datagram head = reader_.Read(*socket_);
    if (head.error == EAGAIN) return outcome;
    if (head.error == ENOBUFS) {
      // Said once, in place of what was lost. What is in the queue is still good.
      outcome.overrun = true;
      continue;
    }
    if (head.error != 0) return KernelError("reading events", head.error);
    ++outcome.datagrams;
    if (head.torn) {
      outcome.overrun = true;
      ++outcome.ignored;
      continue;
    }
    outcome.bytes += head.bytes.size();
    if (head.sender != 0) {
      ++outcome.ignored;
      continue;
    }

    messages_.clear();
    MessageReader reader(head.bytes);
    Message message;
    while (reader.Next(message)) {
      if (message.type >= NLMSG_MIN_TYPE) messages_.push_back(message);
      if (message.type == NLMSG_OVERRUN) outcome.overrun = true;
    }
    if (reader.malformed()) {
      outcome.overrun = true;
      ++outcome.ignored;
    }
    if (!messages_.empty()) sink(messages_);
  }
}

}  // namespace linkvane::netlink
