#include "netlink/message.h"

#include <linux/netlink.h>

#include <algorithm>
#include <cstdlib>

namespace linkvane::netlink {

bool MessageReader::Next(Message& message) {
  if (rest_.empty()) return false;
  nlmsghdr header{};
  if (rest_.size() >= sizeof(header)) std::memcpy(&header, rest_.data(), sizeof(header));
  if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > rest_.size()) {
    malformed_ = true;
    rest_ = Bytes();
    return false;
  }
  message.type = header.nlmsg_type;
  message.flags = header.nlmsg_flags;
  message.sequence = header.nlmsg_seq;
  message.port_id = header.nlmsg_pid;
  message.payload = rest_.first(header.nlmsg_len).subspan(sizeof(header));
  // The last message may lack its padding.
  rest_ = rest_.subspan(
      std::min<size_t>(NLMSG_ALIGN(static_cast<size_t>(header.nlmsg_len)), rest_.size()));
  return true;
}

Request::Request(uint16_t type, uint16_t flags, std::string_view operation)
    : type_(type), flags_(flags), operation_(operation), size_(sizeof(nlmsghdr)) {}

bool Request::is_dump() const { return (flags_ & NLM_F_DUMP) == NLM_F_DUMP; }

bool Request::wants_ack() const { return (flags_ & NLM_F_ACK) != 0; }

Request& Request::Number(uint16_t type, uint32_t value) {
  AppendAttribute(type, &value, sizeof(value));
  return *this;
}

Request& Request::Text(uint16_t type, std::string_view text) {
  const size_t start = BeginNested(type);
  Append(text.data(), text.size());
  constexpr char kNul = '\0';
  Append(&kNul, sizeof(kNul));
  EndNested(start);
  return *this;
}

size_t Request::BeginNested(uint16_t type) {
  const size_t start = size_;
  AppendAttribute(type, nullptr, 0);
  return start;
}

void Request::EndNested(size_t start) {
  const uint16_t length = static_cast<uint16_t>(size_ - start);
  std::memcpy(bytes_.data() + start + offsetof(nlattr, nla_len), &length, sizeof(length));
  size_ = NLA_ALIGN(size_);
}

Bytes Request::Finish(uint32_t sequence, uint32_t port_id) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<uint32_t>(size_);
  header.nlmsg_type = type_;
  header.nlmsg_flags = flags_ | NLM_F_REQUEST;
  header.nlmsg_seq = sequence;
  header.nlmsg_pid = port_id;
  std::memcpy(bytes_.data(), &header, sizeof(header));
  return Bytes(bytes_).first(size_);
}

void Request::Append(const void* data, size_t size) {
  if (size > kCapacity - size_) std::abort();
  if (size != 0) std::memcpy(bytes_.data() + size_, data, size);
  size_ += size;
}

void Request::AppendAttribute(uint16_t type, const void* data, size_t size) {
  nlattr header{};
  header.nla_len = static_cast<uint16_t>(sizeof(header) + size);
  header.nla_type = type;
  Append(&header, sizeof(header));
  Append(data, size);
  size_ = NLA_ALIGN(size_);
}

}  // namespace linkvane::netlink
