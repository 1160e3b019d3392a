// Netlink messages (struct nlmsghdr): reading the ones in a datagram, writing requests.
#ifndef LINKVANE_NETLINK_MESSAGE_H_
#define LINKVANE_NETLINK_MESSAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "netlink/attribute.h"

namespace linkvane::netlink {

// One message of a datagram. Valid as long as the datagram's buffer is untouched.
struct Message {
  uint16_t type = 0;   // RTM_NEWLINK, NLMSG_DONE, ...
  uint16_t flags = 0;  // NLM_F_MULTI, NLM_F_DUMP_INTR, ...
  uint32_t sequence = 0;
  uint32_t port_id = 0;
  Bytes payload;  // What follows the header.
};

// Steps through the messages of one datagram.
class MessageReader {
 public:
  explicit MessageReader(Bytes datagram) : rest_(datagram) {}

  // False at the end, and at a header that is not sound.
  bool Next(Message& message);

  // True once Next() has stopped before the end of the datagram.
  bool malformed() const { return malformed_; }

 private:
  Bytes rest_;
  bool malformed_ = false;
};

// A request in the making: a header, a family's own struct, then attributes. Everything that we ask
// of the kernel fits into its fixed buffer; what does not is a bug and aborts.
class Request {
 public:
  static constexpr size_t kCapacity = 512;

  // `flags` besides NLM_F_REQUEST. `operation` is for errors, where the type does not tell it:
  // those of generic netlink are given out by the kernel. It has to live as long as the request.
  Request(uint16_t type, uint16_t flags, std::string_view operation = {});

  // The family's struct (ifinfomsg, ifaddrmsg, ...), before any attribute.
  template <typename T>
  Request& Header(const T& header) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0);
    Append(&header, sizeof(header));
    return *this;
  }
  Request& Number(uint16_t type, uint32_t value);
  // With the NUL that the kernel expects.
  Request& Text(uint16_t type, std::string_view text);
  // The attributes added between the two go into one of `type`.
  size_t BeginNested(uint16_t type);
  void EndNested(size_t start);

  // Sets the sequence number and returns the bytes to send.
  Bytes Finish(uint32_t sequence, uint32_t port_id);

  uint16_t type() const { return type_; }
  std::string_view operation() const { return operation_; }
  bool is_dump() const;
  bool wants_ack() const;  // NLM_F_ACK.

 private:
  void Append(const void* data, size_t size);
  void AppendAttribute(uint16_t type, const void* data, size_t size);

  uint16_t type_;
  uint16_t flags_;
  std::string_view operation_;
  size_t size_;
  alignas(4) std::array<std::byte, kCapacity> bytes_{};
};

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_MESSAGE_H_
