// A netlink socket: the seam between this library and the kernel.
//
// A datagram is whole or absent, and only a reader can change which one is the head of the queue.
// So whoever owns a Socket alone (nobody else reads from it) can Peek() the length of the next
// datagram and then Receive() it into a buffer that is large enough: exactly, always. A datagram
// that is truncated after a peek is a bug.
#ifndef LINKVANE_NETLINK_SOCKET_H_
#define LINKVANE_NETLINK_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "netlink/attribute.h"

namespace linkvane::netlink {

// What a look at, or a read from, the head of the queue gave.
struct Received {
  int error = 0;        // errno; EAGAIN when the queue is empty. The rest counts only when 0.
  size_t size = 0;      // The datagram's whole length, also when it was cut.
  uint32_t sender = 0;  // Port id of the sender; 0 is the kernel.
  bool truncated = false;
};

// One thread at a time, but for Cancel().
class Socket {
 public:
  virtual ~Socket() = default;

  // Sends one datagram to the kernel. 0 or an errno. The kernel works during this call: of a dump,
  // it builds the first chunk.
  virtual int Send(Bytes datagram) = 0;

  // The head of the queue, left where it is. Never blocks.
  virtual Received Peek() = 0;

  // Takes the head of the queue. Never blocks.
  virtual Received Receive(std::span<std::byte> buffer) = 0;

  // Blocks until there is something to read (or an error to fetch): 0, ETIMEDOUT at the deadline,
  // or ECANCELED.
  virtual int Wait(absl::Time deadline) = 0;

  // From any thread: makes the present and every later Wait() return ECANCELED.
  virtual void Cancel() = 0;

  // The port id that the kernel gave us.
  virtual uint32_t port_id() const = 0;

  // The descriptor, to be polled with others; -1 if there is none.
  virtual int fd() const = 0;
};

struct SocketOptions {
  int protocol = 0;  // NETLINK_ROUTE.
  // Wanted size of the receive buffer in bytes; 0 leaves the kernel's default. Beyond
  // net.core.rmem_max it needs CAP_NET_ADMIN; without, the largest allowed is taken.
  int receive_buffer_bytes = 0;
  // Ask for strict checking of dump requests (Linux 4.20 and newer; ignored by older ones).
  bool strict_check = true;
};

// Opens a socket in the calling thread's network namespace: close-on-exec, extended acks on,
// strict checks if wanted, bound to a port id of the kernel's choice.
absl::StatusOr<std::unique_ptr<Socket>> OpenSocket(const SocketOptions& options);

// The kernel's cookie of the namespace that the socket is in (SO_NETNS_COOKIE, Linux 5.14).
std::optional<uint64_t> NetnsCookie(const Socket& socket);

// Joins a multicast group (RTNLGRP_LINK, ...).
absl::Status JoinGroup(const Socket& socket, uint32_t group);

// The size of the receive buffer that the socket really has, in bytes, as the kernel counts it;
// 0 if it is not known.
int ReceiveBufferSize(const Socket& socket);

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_SOCKET_H_
