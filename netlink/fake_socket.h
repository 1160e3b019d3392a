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

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "netlink/socket.h"

namespace linkvane::netlink {

void AppendBytes(std::vector<std::byte>& out, const void* data, size_t size);

// Attributes in the making.
class FakeAttributes {
 public:
  FakeAttributes& Add(uint16_t type, Bytes payload);
  FakeAttributes& Text(uint16_t type, std::string_view text);  // With its NUL.
  template <typename T>
  FakeAttributes& Number(uint16_t type, T value) {
    return Add(type, std::as_bytes(std::span(&value, 1)));
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
  FakeDatagram& Add(uint16_t type, uint16_t flags = 0, Bytes payload = {});
  // NLMSG_ERROR; `error` is a positive errno, 0 for an acknowledgement. The request's header
  // follows the code, then `tail`: the rest of the request, or attributes, as `flags` say.
  FakeDatagram& Error(int error, uint16_t flags = NLM_F_CAPPED, Bytes tail = {},
                      size_t request_size = sizeof(nlmsghdr));
  FakeDatagram& Done(int error = 0, uint16_t flags = NLM_F_MULTI, Bytes attributes = {});

  // These change the last message.
  FakeDatagram& ForeignSequence();
  FakeDatagram& ForeignPortId();
  FakeDatagram& ClaimLength(uint32_t length);

  // These change the datagram.
  FakeDatagram& From(uint32_t sender);
  FakeDatagram& CutTo(size_t size);  // By its maker, not by the reader: no flag tells.
  FakeDatagram& CutByRead();
  FakeDatagram& LongerWhenRead();

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

// One thread at a time, but for Cancel().
class FakeSocket : public Socket {
 public:
  static constexpr uint32_t kPortId = 4711;

  // What comes after the next request that has no script yet.
  FakeSocket& OnRequest(std::vector<FakeStep> steps);
  // The next Send() fails with `error`.
  FakeSocket& OnSend(int error);
  // What is in the queue now, without a request.
  FakeSocket& Enqueue(std::vector<FakeStep> steps);

  size_t requests() const { return requests_.size(); }
  const std::vector<std::byte>& request(size_t i) const { return requests_[i]; }
  size_t queued() const { return queue_.size(); }
  size_t largest_buffer() const { return largest_buffer_; }
  bool cancelled() const { return cancelled_; }

  int Send(Bytes datagram) override;
  Received Peek() override;
  Received Receive(std::span<std::byte> buffer) override;
  int Wait(absl::Time deadline) override;
  void Cancel() override { cancelled_ = true; }
  uint32_t port_id() const override { return kPortId; }
  int fd() const override { return -1; }

 private:
  // Nothing to be had before Wait().
  bool LooksEmpty() const;
  // Removes the head of the queue, an error.
  Received TakeError();
  void Stamp(const FakeDatagram::Position& message, std::vector<std::byte>& bytes) const;

  std::deque<std::vector<FakeStep>> scripts_;
  std::deque<int> send_errors_;
  std::deque<FakeStep> queue_;
  std::vector<std::vector<std::byte>> requests_;
  uint32_t sequence_ = 0;  // Of the last request.
  size_t largest_buffer_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_FAKE_SOCKET_H_
