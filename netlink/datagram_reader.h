// Reads whole datagrams, whatever their length: a peek, then a read of exactly that many bytes,
// into a buffer that grows to the largest seen and is kept.
//
// One thread at a time, and the only reader of its socket.
#ifndef LINKVANE_NETLINK_DATAGRAM_READER_H_
#define LINKVANE_NETLINK_DATAGRAM_READER_H_

#include <cstdint>
#include <vector>

#include "netlink/attribute.h"
#include "netlink/socket.h"

namespace linkvane::netlink {

// The head of the queue, or why there is none.
struct Datagram {
  int error = 0;        // errno; EAGAIN when the queue is empty. The rest counts only when 0.
  bool torn = false;    // The read did not give what the peek had promised: lost, no data.
  uint32_t sender = 0;  // Port id of the sender; 0 is the kernel.
  Bytes bytes{};        // Valid until the next read.
};

class DatagramReader {
 public:
  // Takes the head of the queue. Never blocks, and never returns EINTR.
  Datagram Read(Socket& socket);

 private:
  std::vector<std::byte> buffer_;
};

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_DATAGRAM_READER_H_
