// The kernel's events: a socket that has joined multicast groups.
//
// When events come faster than they are read, the kernel drops them and says so once (ENOBUFS);
// nothing more comes until the queue has been emptied. Drain() empties it and reports the loss;
// what was lost can only be learned from dumps.
//
// One thread at a time.
#ifndef LINKVANE_NETLINK_MONITOR_H_
#define LINKVANE_NETLINK_MONITOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "netlink/connection.h"
#include "netlink/datagram_reader.h"
#include "netlink/message.h"
#include "netlink/socket.h"

namespace linkvane::netlink {

struct MonitorOptions {
  std::vector<uint32_t> groups;  // RTNLGRP_LINK, ...
  int receive_buffer_bytes = 8 << 20;
};

struct DrainOutcome {
  // Events were lost before or during this drain: the kernel said so, or a datagram of its could
  // not be read to its end.
  bool overrun = false;
  uint64_t datagrams = 0;  // Taken off the queue, the ignored ones too.
  uint64_t bytes = 0;
  // Datagrams not from the kernel, or cut, or with a malformed message in them (whose sound
  // messages are delivered all the same).
  uint64_t ignored = 0;
};

class Monitor {
 public:
  static absl::StatusOr<std::unique_ptr<Monitor>> Open(const MonitorOptions& options);
  // Takes a socket that has joined its groups.
  explicit Monitor(std::unique_ptr<Socket> socket);

  // Reads events until there are none (EAGAIN), each datagram as a peek and a read of just its
  // length. Fails only where the socket itself is of no use any more.
  absl::StatusOr<DrainOutcome> Drain(MessageSink sink);

  // The descriptor becomes readable when there are events.
  int fd() const { return socket_->fd(); }
  const Socket& socket() const { return *socket_; }

 private:
  const std::unique_ptr<Socket> socket_;
  DatagramReader reader_;
  std::vector<Message> messages_;  // Of the datagram in reader_.
};

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_MONITOR_H_
