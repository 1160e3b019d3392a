// The Socket that talks to the kernel.
#include "netlink/socket.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "netlink/error.h"

// Linux 5.14; older C libraries lack it.
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

namespace linkvane::netlink {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

class KernelSocket final : public Socket {
 public:
  KernelSocket(FileDescriptor fd, FileDescriptor cancel, uint32_t port_id)
      : fd_(std::move(fd)), cancel_(std::move(cancel)), port_id_(port_id) {}

  int Send(Bytes datagram) override {
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    ssize_t sent;
    do {
      sent = sendto(fd_.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL,
                    reinterpret_cast<const sockaddr*>(&kernel), sizeof(kernel));
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? errno : 0;
  }

  Received Peek() override { return ReceiveMessage({}, MSG_PEEK); }

  Received Receive(std::span<std::byte> buffer) override { return ReceiveMessage(buffer, 0); }

  int Wait(absl::Time deadline) override {
    std::array<pollfd, 2> polled{{{cancel_.get(), POLLIN, 0}, {fd_.get(), POLLIN, 0}}};
    for (;;) {
      // A day at a time: a far deadline must not overflow anything.
      const absl::Duration left =
          std::clamp(deadline - absl::Now(), absl::ZeroDuration(), absl::Hours(24));
      const timespec timeout = absl::ToTimespec(left);
      const int ready = ppoll(polled.data(), polled.size(), &timeout, nullptr);
      if (ready < 0 && errno != EINTR) return errno;
      if (ready > 0) return polled[0].revents != 0 ? ECANCELED : 0;
      if (ready == 0 && absl::Now() >= deadline) return ETIMEDOUT;
    }
  }

  void Cancel() override {
    // Fails only when the counter is full, and then it is readable all the same.
    [[maybe_unused]] const int result = eventfd_write(cancel_.get(), 1);
  }

  uint32_t port_id() const override { return port_id_; }
  int fd() const override { return fd_.get(); }

 private:
  Received ReceiveMessage(std::span<std::byte> buffer, int flags) {
    sockaddr_nl sender{};
    iovec vector{buffer.data(), buffer.size()};
    msghdr header{};
    header.msg_name = &sender;
    header.msg_namelen = sizeof(sender);
    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    ssize_t size;
    do {
      // MSG_TRUNC makes the whole length the result, also of what does not fit.
      size = recvmsg(fd_.get(), &header, flags | MSG_TRUNC | MSG_DONTWAIT);
    } while (size < 0 && errno == EINTR);
    if (size < 0) return {.error = errno};
    return {.size = static_cast<size_t>(size),
            .sender = sender.nl_pid,
            .truncated = (header.msg_flags & MSG_TRUNC) != 0};
  }

  const FileDescriptor fd_;
  const FileDescriptor cancel_;  // An eventfd, readable for ever once cancelled.
  const uint32_t port_id_;
};

// While it lives, the calling thread's CAP_NET_ADMIN is effective if it is permitted at all.
class NetAdminCapability {
 public:
  NetAdminCapability() {
    if (syscall(SYS_capget, &header_, old_.data()) != 0) return;
    Sets raised = old_;
    raised[kWord].effective |= kBit & raised[kWord].permitted;
    if (raised[kWord].effective == old_[kWord].effective) return;
    raised_ = syscall(SYS_capset, &header_, raised.data()) == 0;
  }
  NetAdminCapability(const NetAdminCapability&) = delete;
  NetAdminCapability& operator=(const NetAdminCapability&) = delete;
  ~NetAdminCapability() {
    if (raised_) syscall(SYS_capset, &header_, old_.data());
  }

 private:
  using Sets = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;
  static constexpr size_t kWord = CAP_TO_INDEX(CAP_NET_ADMIN);
  static constexpr uint32_t kBit = CAP_TO_MASK(CAP_NET_ADMIN);

  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  Sets old_{};
  bool raised_ = false;
};

bool SetOption(int fd, int level, int name, int value) {
  return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

void SetReceiveBuffer(int fd, int bytes) {
  const NetAdminCapability capability;
  if (SetOption(fd, SOL_SOCKET, SO_RCVBUFFORCE, bytes)) return;
  // The kernel takes as much of it as net.core.rmem_max allows.
  SetOption(fd, SOL_SOCKET, SO_RCVBUF, bytes);
}

absl::Status LastError(std::string_view operation) { return KernelError(operation, errno); }

}  // namespace

absl::StatusOr<std::unique_ptr<Socket>> OpenSocket(const SocketOptions& options) {
  FileDescriptor fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, options.protocol));
  if (fd.get() < 0) return LastError("netlink socket");
  FileDescriptor cancel(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (cancel.get() < 0) return LastError("eventfd");

  // All three are comforts: without them errors have no text, acks repeat the whole request, and
  // filters are ignored. Older kernels answer ENOPROTOOPT.
  SetOption(fd.get(), SOL_NETLINK, NETLINK_EXT_ACK, 1);
  SetOption(fd.get(), SOL_NETLINK, NETLINK_CAP_ACK, 1);
  if (options.strict_check) SetOption(fd.get(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, 1);
  if (options.receive_buffer_bytes > 0) SetReceiveBuffer(fd.get(), options.receive_buffer_bytes);

  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return LastError("netlink bind");
  }
  socklen_t size = sizeof(address);
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return LastError("netlink getsockname");
  }
  return std::make_unique<KernelSocket>(std::move(fd), std::move(cancel), address.nl_pid);
}

std::optional<uint64_t> NetnsCookie(const Socket& socket) {
  uint64_t cookie = 0;
  socklen_t size = sizeof(cookie);
  if (getsockopt(socket.fd(), SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) != 0 ||
      size != sizeof(cookie)) {
    return std::nullopt;
  }
  return cookie;
}

absl::Status JoinGroup(const Socket& socket, uint32_t group) {
  if (!SetOption(socket.fd(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, static_cast<int>(group))) {
    return LastError("joining multicast group " + std::to_string(group));
  }
  return absl::OkStatus();
}

int ReceiveBufferSize(const Socket& socket) {
  int bytes = 0;
  socklen_t size = sizeof(bytes);
  if (getsockopt(socket.fd(), SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0) return 0;
  return bytes;
}

}  // namespace linkvane::netlink
