#include "server/state/testing/fake_kernel.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace linkvane::server {
namespace {

void Append(Datagram& out, const void* data, size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + size);
  out.resize(NLMSG_ALIGN(out.size()));
}

void AppendAttribute(Datagram& out, uint16_t type, const void* data, size_t size) {
  const nlattr header{.nla_len = static_cast<uint16_t>(sizeof(nlattr) + size), .nla_type = type};
  Append(out, &header, sizeof(header));
  Append(out, data, size);
}

template <typename T>
void AppendNumber(Datagram& out, uint16_t type, T value) {
  AppendAttribute(out, type, &value, sizeof(value));
}

Datagram Begin(uint16_t type, uint16_t flags) {
  nlmsghdr header{};
  header.nlmsg_type = type;
  header.nlmsg_flags = flags;
  Datagram out;
  Append(out, &header, sizeof(header));
  return out;
}

Datagram End(Datagram message) {
  const auto size = static_cast<uint32_t>(message.size());
  std::memcpy(message.data(), &size, sizeof(size));
  return message;
}

Datagram Done(uint16_t flags) {
  Datagram message = Begin(NLMSG_DONE, flags | NLM_F_MULTI);
  const int error = 0;
  Append(message, &error, sizeof(error));
  return End(std::move(message));
}

Datagram ErrorMessage(int error, const nlmsghdr& request) {
  Datagram message = Begin(NLMSG_ERROR, NLM_F_CAPPED);
  nlmsgerr body{};
  body.error = error;
  body.msg = request;
  Append(message, &body, sizeof(body));
  return End(std::move(message));
}

// Reads the head of a queue as recvmsg does.
netlink::Received Look(const std::deque<Datagram>& queue) {
  if (queue.empty()) return {.error = EAGAIN};
  return {.size = queue.front().size()};
}

netlink::Received Take(std::deque<Datagram>& queue, std::span<std::byte> buffer) {
  netlink::Received received = Look(queue);
  if (received.error != 0) return received;
  received.truncated = received.size > buffer.size();
  std::memcpy(buffer.data(), queue.front().data(), std::min(received.size, buffer.size()));
  queue.pop_front();
  return received;
}

constexpr uint32_t kPortId = 4711;

}  // namespace

Datagram LinkMessage(uint16_t type, const FakeLink& link, uint16_t flags) {
  Datagram message = Begin(type, flags);
  ifinfomsg header{};
  header.ifi_type = 1;
  header.ifi_index = link.index;
  Append(message, &header, sizeof(header));
  AppendAttribute(message, IFLA_IFNAME, link.name.c_str(), link.name.size() + 1);
  AppendNumber(message, IFLA_MTU, link.mtu);
  AppendNumber(message, IFLA_CARRIER_CHANGES, link.carrier_changes);
  if (link.master != 0) AppendNumber(message, IFLA_MASTER, link.master);
  if (!link.kind.empty()) {
    Datagram info;
    AppendAttribute(info, IFLA_INFO_KIND, link.kind.c_str(), link.kind.size() + 1);
    AppendAttribute(message, IFLA_LINKINFO | NLA_F_NESTED, info.data(), info.size());
  }
  return End(std::move(message));
}

Datagram AddrMessage(uint16_t type, const FakeAddr& addr, uint16_t flags) {
  Datagram message = Begin(type, flags);
  ifaddrmsg header{};
  header.ifa_family = AF_INET;
  header.ifa_prefixlen = addr.prefix_length;
  header.ifa_index = static_cast<uint32_t>(addr.index);
  Append(message, &header, sizeof(header));
  AppendNumber(message, IFA_ADDRESS, htonl(addr.ipv4));
  AppendNumber(message, IFA_LOCAL, htonl(addr.ipv4));
  return End(std::move(message));
}

class FakeConnectionSocket final : public netlink::Socket {
 public:
  explicit FakeConnectionSocket(FakeKernel& kernel) : kernel_(kernel) {}

  int Send(netlink::Bytes datagram) override {
    for (Datagram& answer : kernel_.Answer(datagram)) queue_.push_back(std::move(answer));
    return 0;
  }
  netlink::Received Peek() override { return Look(queue_); }
  netlink::Received Receive(std::span<std::byte> buffer) override { return Take(queue_, buffer); }
  int Wait(absl::Time /*deadline*/) override { return queue_.empty() ? ETIMEDOUT : 0; }
  void Cancel() override {}
  uint32_t port_id() const override { return kPortId; }
  int fd() const override { return -1; }

 private:
  FakeKernel& kernel_;
  std::deque<Datagram> queue_;
};

class FakeMonitorSocket final : public netlink::Socket {
 public:
  explicit FakeMonitorSocket(FakeKernel& kernel) : kernel_(kernel) {}

  int Send(netlink::Bytes /*datagram*/) override { return EOPNOTSUPP; }
  netlink::Received Peek() override {
    MutexLock lock(kernel_.mutex_);
    if (std::exchange(kernel_.overrun_, false)) return {.error = ENOBUFS};
    if (kernel_.events_.empty()) {
      uint64_t drained = 0;
      (void)!read(kernel_.event_fd_, &drained, sizeof(drained));
    }
    return Look(kernel_.events_);
  }
  netlink::Received Receive(std::span<std::byte> buffer) override {
    MutexLock lock(kernel_.mutex_);
    return Take(kernel_.events_, buffer);
  }
  int Wait(absl::Time /*deadline*/) override { return ETIMEDOUT; }
  void Cancel() override {}
  uint32_t port_id() const override { return kPortId; }
  int fd() const override { return kernel_.event_fd_; }

 private:
  FakeKernel& kernel_;
};

FakeKernel::FakeKernel() : event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
FakeKernel::~FakeKernel() { close(event_fd_); }

absl::StatusOr<std::unique_ptr<netlink::Connection>> FakeKernel::OpenConnection() {
  return netlink::Connection::Make(std::make_unique<FakeConnectionSocket>(*this));
}

absl::StatusOr<std::unique_ptr<netlink::Monitor>> FakeKernel::OpenMonitor() {
  return std::make_unique<netlink::Monitor>(std::make_unique<FakeMonitorSocket>(*this));
}

void FakeKernel::Announce(Datagram event) {
  events_.push_back(std::move(event));
  const uint64_t one = 1;
  (void)!write(event_fd_, &one, sizeof(one));
}

void FakeKernel::Put(const FakeLink& link, bool announce) {
  MutexLock lock(mutex_);
  links_[link.index] = link;
  if (announce) Announce(LinkMessage(RTM_NEWLINK, link));
}

void FakeKernel::Remove(int32_t index, bool announce) {
  MutexLock lock(mutex_);
  if (announce) Announce(LinkMessage(RTM_DELLINK, links_[index]));
  links_.erase(index);
}

void FakeKernel::Put(const FakeAddr& addr, bool announce) {
  MutexLock lock(mutex_);
  addrs_.push_back(addr);
  if (announce) Announce(AddrMessage(RTM_NEWADDR, addr));
}

void FakeKernel::Overrun() {
  MutexLock lock(mutex_);
  events_.clear();
  overrun_ = true;
  const uint64_t one = 1;
  (void)!write(event_fd_, &one, sizeof(one));
}

void FakeKernel::InterruptLinkDumps(int count) {
  MutexLock lock(mutex_);
  interruptions_ = count;
}

void FakeKernel::OnLinkDump(std::function<void()> hook) {
  MutexLock lock(mutex_);
  on_link_dump_ = std::move(hook);
}

int FakeKernel::link_dumps() const {
  MutexLock lock(mutex_);
  return link_dumps_;
}

std::deque<Datagram> FakeKernel::Answer(netlink::Bytes request) {
  nlmsghdr header{};
  std::memcpy(&header, request.data(), sizeof(header));
  const bool dump = (header.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
  std::function<void()> hook;
  if (header.nlmsg_type == RTM_GETLINK && dump) {
    MutexLock lock(mutex_);
    ++link_dumps_;
    hook = on_link_dump_;
  }
  if (hook) hook();

  MutexLock lock(mutex_);
  std::deque<Datagram> answers;
  if (header.nlmsg_type == RTM_GETLINK && dump) {
    const bool interrupted = interruptions_ > 0;
    if (interrupted) --interruptions_;
    const uint16_t flags = NLM_F_MULTI | (interrupted ? NLM_F_DUMP_INTR : 0);
    for (const auto& [index, link] : links_) {
      answers.push_back(LinkMessage(RTM_NEWLINK, link, flags));
    }
    if (interrupted && !answers.empty()) answers.pop_back();
    answers.push_back(Done(flags));
  } else if (header.nlmsg_type == RTM_GETLINK) {
    ifinfomsg body{};
    std::memcpy(&body, request.data() + NLMSG_HDRLEN, sizeof(body));
    const auto it = links_.find(body.ifi_index);
    answers.push_back(it == links_.end() ? ErrorMessage(-ENODEV, header)
                                         : LinkMessage(RTM_NEWLINK, it->second));
  } else if (header.nlmsg_type == RTM_GETADDR) {
    ifaddrmsg body{};
    std::memcpy(&body, request.data() + NLMSG_HDRLEN, sizeof(body));
    for (const FakeAddr& addr : addrs_) {
      if (body.ifa_family == AF_INET) {
        answers.push_back(AddrMessage(RTM_NEWADDR, addr, NLM_F_MULTI));
      }
    }
    answers.push_back(Done(0));
  } else {
    answers.push_back(ErrorMessage(0, header));  // The no-op that primes a connection.
  }
  for (Datagram& answer : answers) {
    auto* const sent = reinterpret_cast<nlmsghdr*>(answer.data());
    sent->nlmsg_seq = header.nlmsg_seq;
    sent->nlmsg_pid = kPortId;
  }
  return answers;
}

}  // namespace linkvane::server
