#include "netlink/datagram_reader.h"

#include <algorithm>
#include <bit>
#include <cerrno>

namespace linkvane::netlink {

Datagram DatagramReader::Read(Socket& socket) {
  // An error can come between the two as well (an overrun). It leaves the head where it is, so
  // whoever goes on after it peeks again.
  Received head;
  do {
    head = socket.Peek();
  } while (head.error == EINTR);
  if (head.error != 0) return {.error = head.error};

  // Doubling: a dump's datagrams differ a little in length, and must not make it grow each time.
  constexpr size_t kSmallest = 4096;
  if (buffer_.size() < head.size) buffer_.resize(std::max(kSmallest, std::bit_ceil(head.size)));
  Received got;
  do {
    got = socket.Receive(std::span(buffer_).first(head.size));
  } while (got.error == EINTR);
  if (got.error == EAGAIN) return {.torn = true};
  if (got.error != 0) return {.error = got.error};
  if (got.truncated || got.size != head.size) return {.torn = true};
  return {.sender = got.sender, .bytes = Bytes(buffer_).first(got.size)};
}

}  // namespace linkvane::netlink
