#include "netlink/fake_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace linkvane::netlink {

void AppendBytes(std::vector<std::byte>& out, const void* data, size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

FakeAttributes& FakeAttributes::Add(uint16_t type, Bytes payload) {
  const auto length = static_cast<uint16_t>(sizeof(nlattr) + payload.size());
  const nlattr header{length, type};
  AppendBytes(bytes_, &header, sizeof(header));
  AppendBytes(bytes_, payload.data(), payload.size());
  bytes_.resize(NLA_ALIGN(bytes_.size()));
  return *this;
}

FakeAttributes& FakeAttributes::Text(uint16_t type, std::string_view text) {
  std::vector<std::byte> payload;
  AppendBytes(payload, text.data(), text.size());
  payload.push_back(std::byte{0});
  return Add(type, payload);
}

FakeDatagram& FakeDatagram::Add(uint16_t type, uint16_t flags, Bytes payload) {
  bytes_.resize(NLMSG_ALIGN(bytes_.size()));
  messages_.push_back({bytes_.size(), true, true});
  nlmsghdr header{};
  header.nlmsg_len = static_cast<uint32_t>(sizeof(header) + payload.size());
  header.nlmsg_type = type;
  header.nlmsg_flags = flags;
  AppendBytes(bytes_, &header, sizeof(header));
  AppendBytes(bytes_, payload.data(), payload.size());
  return *this;
}

FakeDatagram& FakeDatagram::Error(int error, uint16_t flags, Bytes tail, size_t request_size) {
  std::vector<std::byte> payload;
  const int32_t code = -error;
  AppendBytes(payload, &code, sizeof(code));
  nlmsghdr request{};
  request.nlmsg_len = static_cast<uint32_t>(request_size);
  AppendBytes(payload, &request, sizeof(request));
  AppendBytes(payload, tail.data(), tail.size());
  return Add(NLMSG_ERROR, flags, payload);
}

FakeDatagram& FakeDatagram::Done(int error, uint16_t flags, Bytes attributes) {
  std::vector<std::byte> payload;
  const int32_t code = -error;
  AppendBytes(payload, &code, sizeof(code));
  AppendBytes(payload, attributes.data(), attributes.size());
  return Add(NLMSG_DONE, flags, payload);
}

FakeDatagram& FakeDatagram::ForeignSequence() {
  messages_.back().our_sequence = false;
  return *this;
}

FakeDatagram& FakeDatagram::ForeignPortId() {
  messages_.back().our_port_id = false;
  return *this;
}

FakeDatagram& FakeDatagram::ClaimLength(uint32_t length) {
  std::memcpy(bytes_.data() + messages_.back().start, &length, sizeof(length));
  return *this;
}

FakeDatagram& FakeDatagram::From(uint32_t sender) {
  sender_ = sender;
  return *this;
}

FakeDatagram& FakeDatagram::CutTo(size_t size) {
  bytes_.resize(size);
  return *this;
}

FakeDatagram& FakeDatagram::CutByRead() {
  cut_by_read_ = true;
  return *this;
}

FakeDatagram& FakeDatagram::LongerWhenRead() {
  longer_when_read_ = true;
  return *this;
}

FakeSocket& FakeSocket::OnRequest(std::vector<FakeStep> steps) {
  scripts_.push_back(std::move(steps));
  return *this;
}

FakeSocket& FakeSocket::OnSend(int error) {
  send_errors_.push_back(error);
  return *this;
}

FakeSocket& FakeSocket::Enqueue(std::vector<FakeStep> steps) {
  for (FakeStep& step : steps) queue_.push_back(std::move(step));
  return *this;
}

int FakeSocket::Send(Bytes datagram) {
  if (!send_errors_.empty()) {
    const int error = send_errors_.front();
    send_errors_.pop_front();
    return error;
  }
  requests_.emplace_back(datagram.begin(), datagram.end());
  sequence_ = LoadStruct<nlmsghdr>(datagram).value_or(nlmsghdr{}).nlmsg_seq;
  if (!scripts_.empty()) {
    Enqueue(std::move(scripts_.front()));
    scripts_.pop_front();
  }
  return 0;
}

bool FakeSocket::LooksEmpty() const {
  return queue_.empty() || queue_.front().kind_ == FakeStep::Kind::kPause;
}

Received FakeSocket::TakeError() {
  const int error = queue_.front().error_;
  queue_.pop_front();
  return {.error = error};
}

Received FakeSocket::Peek() {
  if (LooksEmpty()) return {.error = EAGAIN};
  if (queue_.front().kind_ == FakeStep::Kind::kPeekError) return TakeError();
  // An error of the read is not seen yet, but the datagram behind it is.
  const auto head = std::ranges::find(queue_, FakeStep::Kind::kDatagram, &FakeStep::kind_);
  if (head == queue_.end()) return {.error = EAGAIN};
  return {.size = head->datagram_.bytes_.size(), .sender = head->datagram_.sender_};
}

Received FakeSocket::Receive(std::span<std::byte> buffer) {
  largest_buffer_ = std::max(largest_buffer_, buffer.size());
  if (LooksEmpty()) return {.error = EAGAIN};
  if (queue_.front().kind_ != FakeStep::Kind::kDatagram) return TakeError();
  FakeDatagram datagram = std::move(queue_.front().datagram_);
  queue_.pop_front();
  std::vector<std::byte>& bytes = datagram.bytes_;
  for (const FakeDatagram::Position& message : datagram.messages_) Stamp(message, bytes);
  const size_t fits = std::min(buffer.size(), bytes.size());
  std::copy_n(bytes.begin(), fits, buffer.begin());
  return {.size = bytes.size() + (datagram.longer_when_read_ ? 4 : 0),
          .sender = datagram.sender_,
          .truncated = datagram.cut_by_read_ || fits < bytes.size()};
}

int FakeSocket::Wait(absl::Time /*deadline*/) {
  if (cancelled_) return ECANCELED;
  if (queue_.empty()) return ETIMEDOUT;
  if (!LooksEmpty()) return 0;
  return TakeError().error;
}

void FakeSocket::Stamp(const FakeDatagram::Position& message, std::vector<std::byte>& bytes) const {
  nlmsghdr header;
  if (message.start + sizeof(header) > bytes.size()) return;  // Cut.
  std::memcpy(&header, bytes.data() + message.start, sizeof(header));
  header.nlmsg_seq = message.our_sequence ? sequence_ : sequence_ + 1000;
  header.nlmsg_pid = message.our_port_id ? kPortId : kPortId + 1;
  std::memcpy(bytes.data() + message.start, &header, sizeof(header));
}

}  // namespace linkvane::netlink
