// A Socket that plays a script, for tests of what the kernel cannot be made to do.
//
//   auto socket = std::make_unique<FakeSocket>();
//   socket->OnRequest({FakeDatagram().Add(RTM_NEWLINK, NLM_F_MULTI, payload),
//                      FakeStep::ReadError(ENOBUFS),
//                      FakeDatagram().Done()});
//
// Nothing ever blocks: Wait() on an empty queue is a deadline that has come.
#ifndef LINKVANE_NETLINK_FAKE_SOCKET_H_
#define LINKVANE_NETLINK_FAKE_SOCKET_H_

#include <linux/netlink.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "netlink/socket.h"

namespace linkvane::netlink {

inline void AppendBytes(std::vector<std::byte>& out, const void* data, size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

// Attributes in the making.
class FakeAttributes {
 public:
  FakeAttributes& Add(uint16_t type, Bytes payload) {
    const auto length = static_cast<uint16_t>(sizeof(nlattr) + payload.size());
    const nlattr header{length, type};
    AppendBytes(bytes_, &header, sizeof(header));
    AppendBytes(bytes_, payload.data(), payload.size());
    bytes_.resize(NLA_ALIGN(bytes_.size()));
    return *this;
  }
  template <typename T>
  FakeAttributes& Number(uint16_t type, T value) {
    return Add(type, std::as_bytes(std::span(&value, 1)));
  }
  FakeAttributes& Text(uint16_t type, const char* text) {
    return Add(type, std::as_bytes(std::span(text, std::strlen(text) + 1)));
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }
  operator Bytes() const { return bytes_; }  // NOLINT(google-explicit-constructor)

 private:
  std::vector<std::byte> bytes_;
};

// A datagram in the making. Its messages get the sequence number and the port id of the request
// that they answer, and come from the kernel, unless told otherwise.
class FakeDatagram {
 public:
  FakeDatagram& Add(uint16_t type, uint16_t flags = 0, Bytes payload = {}) {
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
  // NLMSG_ERROR; `error` is a positive errno, 0 for an acknowledgement. The request's header follows
  // the code, then `tail`: the rest of the request, or attributes, as `flags` say.
  FakeDatagram& Error(int error, uint16_t flags = NLM_F_CAPPED, Bytes tail = {},
                      size_t request_size = sizeof(nlmsghdr)) {
    std::vector<std::byte> payload;
    const int32_t code = -error;
    AppendBytes(payload, &code, sizeof(code));
    nlmsghdr request{};
    request.nlmsg_len = static_cast<uint32_t>(request_size);
    AppendBytes(payload, &request, sizeof(request));
    AppendBytes(payload, tail.data(), tail.size());
    return Add(NLMSG_ERROR, flags, payload);
  }
  FakeDatagram& Done(int error = 0, uint16_t flags = NLM_F_MULTI, Bytes attributes = {}) {
    std::vector<std::byte> payload;
    const int32_t code = -error;
    AppendBytes(payload, &code, sizeof(code));
    AppendBytes(payload, attributes.data(), attributes.size());
    return Add(NLMSG_DONE, flags, payload);
  }

  // These change the last message.
  FakeDatagram& ForeignSequence() {
    messages_.back().our_sequence = false;
    return *this;
  }
  FakeDatagram& ForeignPortId() {
    messages_.back().our_port_id = false;
    return *this;
  }
  FakeDatagram& ClaimLength(uint32_t length) {
    std::memcpy(bytes_.data() + messages_.back().start, &length, sizeof(length));
    return *this;
  }

  // These change the datagram.
  FakeDatagram& From(uint32_t sender) {
    sender_ = sender;
    return *this;
  }
  FakeDatagram& CutTo(size_t size) {  // By its maker, not by the reader: nobody notices.
    bytes_.resize(size);
    return *this;
  }
  FakeDatagram& CutByRead() {
    cut_by_read_ = true;
    return *this;
  }
  FakeDatagram& LongerWhenRead() {
    longer_when_read_ = true;
    return *this;
  }

 private:
  friend class FakeSocket;
  struct Position {
    size_t start;
    bool our_sequence;
    bool our_port_id;
  };

  std::vector<std::byte> bytes_;
  std::vector<Position> messages_;
  uint32_t sender_ = 0;
  bool cut_by_read_ = false;
  bool longer_when_read_ = false;
};

// One step of a script.
class FakeStep {
 public:
  FakeStep(FakeDatagram datagram)  // NOLINT(google-explicit-constructor)
      : kind_(Kind::kDatagram), datagram_(std::move(datagram)) {}
  // The next peek, or the next read, fails with `error`.
  static FakeStep PeekError(int error) { return FakeStep(Kind::kPeekError, error); }
  static FakeStep ReadError(int error) { return FakeStep(Kind::kReadError, error); }
  // The queue looks empty until Wait() is called, which returns `result`.
  static FakeStep Pause(int result = 0) { return FakeStep(Kind::kPause, result); }

 private:
  friend class FakeSocket;
  enum class Kind { kDatagram, kPeekError, kReadError, kPause };
  FakeStep(Kind kind, int error) : kind_(kind), error_(error) {}

  Kind kind_;
  int error_ = 0;
  FakeDatagram datagram_;
};

class FakeSocket : public Socket {
 public:
  static constexpr uint32_t kPortId = 4711;

  // What comes after the next request that has no script yet.
  FakeSocket& OnRequest(std::vector<FakeStep> steps) {
    scripts_.push_back(std::move(steps));
    return *this;
  }
  // The next Send() fails with `error`.
  FakeSocket& OnSend(int error) {
    send_errors_.push_back(error);
    return *this;
  }
  // What is in the queue now.
  FakeSocket& Enqueue(std::vector<FakeStep> steps) {
    for (FakeStep& step : steps) queue_.push_back(std::move(step));
    return *this;
  }

  size_t requests() const { return requests_.size(); }
  const std::vector<std::byte>& request(size_t i) const { return requests_[i]; }
  size_t queued() const { return queue_.size(); }
  size_t largest_buffer() const { return largest_buffer_; }
  bool cancelled() const { return cancelled_; }

  int Send(Bytes datagram) override {
    if (!send_errors_.empty()) {
      const int error = send_errors_.front();
      send_errors_.pop_front();
      if (error != 0) return error;
    }
    requests_.emplace_back(datagram.begin(), datagram.end());
    std::memcpy(&sequence_, datagram.data() + offsetof(nlmsghdr, nlmsg_seq), sizeof(sequence_));
    if (scripts_.empty()) return 0;
    Enqueue(std::move(scripts_.front()));
    scripts_.pop_front();
    return 0;
  }

  Received Peek() override {
    if (queue_.empty() || queue_.front().kind_ == FakeStep::Kind::kPause) return {.error = EAGAIN};
    if (queue_.front().kind_ == FakeStep::Kind::kPeekError) {
      const int error = queue_.front().error_;
      queue_.pop_front();
      return {.error = error};
    }
    const FakeDatagram* datagram = Head();
    if (datagram == nullptr) return {.error = EAGAIN};
    return {.size = datagram->bytes_.size(), .sender = datagram->sender_};
  }

  Received Receive(std::span<std::byte> buffer) override {
    largest_buffer_ = std::max(largest_buffer_, buffer.size());
    if (queue_.empty() || queue_.front().kind_ == FakeStep::Kind::kPause) return {.error = EAGAIN};
    if (queue_.front().kind_ != FakeStep::Kind::kDatagram) {
      const int error = queue_.front().error_;
      queue_.pop_front();
      return {.error = error};
    }
    const FakeDatagram datagram = std::move(queue_.front().datagram_);
    queue_.pop_front();
    std::vector<std::byte> bytes = datagram.bytes_;
    for (const FakeDatagram::Position& message : datagram.messages_) Stamp(message, bytes);
    const size_t copied = std::min(buffer.size(), bytes.size());
    if (copied != 0) std::memcpy(buffer.data(), bytes.data(), copied);
    return {.size = bytes.size() + (datagram.longer_when_read_ ? 4 : 0),
            .sender = datagram.sender_,
            .truncated = datagram.cut_by_read_ || copied < bytes.size()};
  }

  int Wait(absl::Time /*deadline*/) override {
    if (cancelled_) return ECANCELED;
    if (queue_.empty()) return ETIMEDOUT;
    if (queue_.front().kind_ != FakeStep::Kind::kPause) return 0;
    const int result = queue_.front().error_;
    queue_.pop_front();
    return result;
  }

  void Cancel() override { cancelled_ = true; }
  uint32_t port_id() const override { return kPortId; }
  int fd() const override { return -1; }

 private:
  // The first datagram; a read error does not hide it from a peek.
  const FakeDatagram* Head() const {
    for (const FakeStep& step : queue_) {
      if (step.kind_ == FakeStep::Kind::kDatagram) return &step.datagram_;
    }
    return nullptr;
  }

  void Stamp(const FakeDatagram::Position& message, std::vector<std::byte>& bytes) const {
    nlmsghdr header;
    if (message.start + sizeof(header) > bytes.size()) return;  // Cut.
    std::memcpy(&header, bytes.data() + message.start, sizeof(header));
    header.nlmsg_seq = message.our_sequence ? sequence_ : sequence_ + 1000;
    header.nlmsg_pid = message.our_port_id ? kPortId : kPortId + 1;
    std::memcpy(bytes.data() + message.start, &header, sizeof(header));
  }

  std::deque<std::vector<FakeStep>> scripts_;
  std::deque<int> send_errors_;
  std::deque<FakeStep> queue_;
  std::vector<std::vector<std::byte>> requests_;
  uint32_t sequence_ = 0;
  size_t largest_buffer_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_FAKE_SOCKET_H_
