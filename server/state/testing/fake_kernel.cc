#include "server/state/testing/fake_kernel.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "netlink/attribute.h"
#include "netlink/fake_socket.h"

namespace linkvane::server {
namespace {

constexpr uint32_t kPortId = 4711;

std::vector<std::byte> Control(uint16_t type, uint16_t flags, const void* body, size_t size) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<uint32_t>(sizeof(header) + size);
  header.nlmsg_type = type;
  header.nlmsg_flags = flags;
  std::vector<std::byte> bytes;
  netlink::AppendBytes(bytes, &header, sizeof(header));
  netlink::AppendBytes(bytes, body, size);
  return bytes;
}

std::vector<std::byte> Done(uint16_t flags) {
  const int32_t error = 0;
  return Control(NLMSG_DONE, flags | NLM_F_MULTI, &error, sizeof(error));
}

std::vector<std::byte> Error(int error) {
  nlmsgerr body{};
  body.error = -error;
  body.msg.nlmsg_len = sizeof(nlmsghdr);
  return Control(NLMSG_ERROR, NLM_F_CAPPED, &body, sizeof(body));
}

template <typename T>
T BodyOf(netlink::Bytes request) {
  return netlink::LoadStruct<T>(request.subspan(sizeof(nlmsghdr))).value_or(T{});
}

Asked WhatIsAsked(netlink::Bytes request) {
  const auto header = netlink::LoadStruct<nlmsghdr>(request).value_or(nlmsghdr{});
  const bool dump = (header.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
  if (header.nlmsg_type == RTM_GETLINK && dump) {
    return BodyOf<ifinfomsg>(request).ifi_family == AF_BRIDGE ? Asked::kBridgeVlans : Asked::kLinks;
  }
  if (header.nlmsg_type == RTM_GETLINK) return Asked::kLink;
  if (header.nlmsg_type != RTM_GETADDR) return Asked::kOther;
  return BodyOf<ifaddrmsg>(request).ifa_family == AF_INET ? Asked::kAddrs4 : Asked::kAddrs6;
}

// What the kernel tells of a link in family AF_BRIDGE.
FakeMessage AboutBridge(const FakeLink& link) {
  FakeLink told = link;
  told.family = AF_BRIDGE;
  return {RTM_NEWLINK, told};
}

// The head of a queue as recvmsg shows it, and takes it.
netlink::Received Look(const std::deque<std::vector<std::byte>>& queue) {
  if (queue.empty()) return {.error = EAGAIN};
  return {.size = queue.front().size()};
}
netlink::Received Take(std::deque<std::vector<std::byte>>& queue, std::span<std::byte> buffer) {
  netlink::Received received = Look(queue);
  if (received.error != 0) return received;
  const size_t fits = std::min(received.size, buffer.size());
  std::copy_n(queue.front().begin(), fits, buffer.begin());
  received.truncated = fits < received.size;
  queue.pop_front();
  return received;
}

}  // namespace

class FakeConnectionSocket final : public netlink::Socket {
 public:
  explicit FakeConnectionSocket(FakeKernel& kernel) : kernel_(kernel) {}

  int Send(netlink::Bytes datagram) override {
    for (std::vector<std::byte>& answer : kernel_.Answer(datagram)) {
      queue_.push_back(std::move(answer));
    }
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
  std::deque<std::vector<std::byte>> queue_;
};

class FakeMonitorSocket final : public netlink::Socket {
 public:
  explicit FakeMonitorSocket(FakeKernel& kernel) : kernel_(kernel) {}

  int Send(netlink::Bytes /*datagram*/) override { return EOPNOTSUPP; }
  netlink::Received Peek() override {
    MutexLock lock(kernel_.mutex_);
    if (std::exchange(kernel_.monitor_fails_, false)) return {.error = EIO};
    if (std::exchange(kernel_.overrun_, false)) return {.error = ENOBUFS};
    if (kernel_.events_.empty()) {
      eventfd_t drained = 0;
      (void)!eventfd_read(kernel_.event_fd_, &drained);
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
  MutexLock lock(mutex_);
  if (monitors_refused_) return absl::ResourceExhaustedError("no more descriptors");
  return std::make_unique<netlink::Monitor>(std::make_unique<FakeMonitorSocket>(*this));
}

void FakeKernel::Put(const FakeLink& link, bool announce) {
  MutexLock lock(mutex_);
  links_[link.index] = link;
  if (announce) Announce(FakeMessage(RTM_NEWLINK, link));
}

void FakeKernel::Remove(int32_t index, bool announce) {
  MutexLock lock(mutex_);
  if (announce) Announce(FakeMessage(RTM_DELLINK, links_[index]));
  links_.erase(index);
}

void FakeKernel::Put(const FakeAddr& addr, bool announce) {
  MutexLock lock(mutex_);
  addrs_.push_back({addr, absl::Now()});
  if (announce) Announce(FakeMessage(RTM_NEWADDR, addr));
}

void FakeKernel::PutVlans(int32_t index, std::vector<FakeVlan> vlans, bool announce) {
  MutexLock lock(mutex_);
  FakeLink& link = links_.at(index);
  link.vlans = std::move(vlans);
  if (announce) Announce(AboutBridge(link));
}

void FakeKernel::HideVlansOnce(int32_t index) {
  MutexLock lock(mutex_);
  hidden_ = index;
}

void FakeKernel::Overrun() {
  MutexLock lock(mutex_);
  events_.clear();
  overrun_ = true;
  WakeListener();
}

void FakeKernel::FailMonitor() {
  MutexLock lock(mutex_);
  monitor_fails_ = true;
  WakeListener();
}

void FakeKernel::RefuseMonitors(bool refuse) {
  MutexLock lock(mutex_);
  monitors_refused_ = refuse;
}

void FakeKernel::InterruptLinkDumps(int count) {
  MutexLock lock(mutex_);
  interruptions_ = count;
}

void FakeKernel::BeforeAnswer(Hook hook) {
  MutexLock lock(mutex_);
  before_answer_ = std::move(hook);
}

void FakeKernel::AfterAnswer(Hook hook) {
  MutexLock lock(mutex_);
  after_answer_ = std::move(hook);
}

int FakeKernel::asked(Asked what) const {
  MutexLock lock(mutex_);
  const auto it = asked_.find(what);
  return it == asked_.end() ? 0 : it->second;
}

void FakeKernel::Announce(const FakeMessage& event) {
  if (overrun_) return;  // Lost, until the listener has noticed.
  events_.push_back(event.ToBytes());
  WakeListener();
}

void FakeKernel::WakeListener() const { (void)!eventfd_write(event_fd_, 1); }

std::deque<FakeKernel::Datagram> FakeKernel::Answer(netlink::Bytes request) {
  const Asked asked = WhatIsAsked(request);
  std::deque<Datagram> answers;
  Hook before;
  Hook after;
  {
    MutexLock lock(mutex_);
    ++asked_[asked];
    before = before_answer_;
    after = after_answer_;
  }
  if (before) before(asked);
  {
    MutexLock lock(mutex_);
    switch (asked) {
      case Asked::kLinks:
        AnswerLinks(answers);
        break;
      case Asked::kLink:
        AnswerLink(request, answers);
        break;
      case Asked::kAddrs4:
      case Asked::kAddrs6:
        AnswerAddrs(request, answers);
        break;
      case Asked::kBridgeVlans:
        AnswerBridgeVlans(answers);
        break;
      case Asked::kOther:  // The no-op that primes a connection.
        answers.push_back(Error(0));
        break;
    }
  }
  if (after) after(asked);
  const auto header = netlink::LoadStruct<nlmsghdr>(request).value_or(nlmsghdr{});
  for (Datagram& answer : answers) {
    std::memcpy(answer.data() + offsetof(nlmsghdr, nlmsg_seq), &header.nlmsg_seq,
                sizeof(header.nlmsg_seq));
    std::memcpy(answer.data() + offsetof(nlmsghdr, nlmsg_pid), &kPortId, sizeof(kPortId));
  }
  return answers;
}

FakeKernel::Datagram FakeKernel::Tell(const FakeLink& link, uint16_t flags) {
  FakeLink told = link;
  told.rx_packets = ++packets_;
  return FakeMessage(RTM_NEWLINK, told).ToBytes(flags);
}

void FakeKernel::AnswerLinks(std::deque<Datagram>& answers) {
  const bool interrupted = interruptions_ > 0;
  if (interrupted) --interruptions_;
  const uint16_t flags = NLM_F_MULTI | (interrupted ? NLM_F_DUMP_INTR : 0);
  for (const auto& [index, link] : links_) answers.push_back(Tell(link, flags));
  if (interrupted && !answers.empty()) answers.pop_back();
  answers.push_back(Done(flags));
}

void FakeKernel::AnswerLink(netlink::Bytes request, std::deque<Datagram>& answers) {
  const int32_t index = BodyOf<ifinfomsg>(request).ifi_index;
  std::string name;
  netlink::AttributeReader reader(request.subspan(sizeof(nlmsghdr) + sizeof(ifinfomsg)));
  netlink::Attribute attribute;
  while (reader.Next(attribute)) {
    if (attribute.type == IFLA_IFNAME) name = netlink::LoadText(attribute.payload);
  }
  const auto it = std::ranges::find_if(links_, [&](const auto& entry) {
    const FakeLink& link = entry.second;
    return index != 0 ? link.index == index
                      : link.name == name || std::ranges::count(link.alt_names, name) != 0;
  });
  answers.push_back(it == links_.end() ? Error(ENODEV) : Tell(it->second, 0));
}

void FakeKernel::AnswerBridgeVlans(std::deque<Datagram>& answers) {
  const int32_t hidden = std::exchange(hidden_, 0);
  for (const auto& [index, link] : links_) {
    if (link.kind != "bridge" && link.slave_kind != "bridge") continue;
    if (index != hidden) answers.push_back(AboutBridge(link).ToBytes(NLM_F_MULTI));
  }
  answers.push_back(Done(0));
}

void FakeKernel::AnswerAddrs(netlink::Bytes request, std::deque<Datagram>& answers) {
  const auto asked = BodyOf<ifaddrmsg>(request);
  for (const KeptAddr& kept : addrs_) {
    FakeAddr addr = kept.addr;
    if (addr.family() != asked.ifa_family) continue;
    if (asked.ifa_index != 0 && addr.index != static_cast<int32_t>(asked.ifa_index)) continue;
    if (addr.lifetime.has_value()) {
      const auto passed = static_cast<uint32_t>(absl::ToInt64Seconds(absl::Now() - kept.put_at));
      addr.lifetime->ifa_prefered -= std::min(addr.lifetime->ifa_prefered, passed);
      addr.lifetime->ifa_valid -= std::min(addr.lifetime->ifa_valid, passed);
    }
    answers.push_back(FakeMessage(RTM_NEWADDR, addr).ToBytes(NLM_F_MULTI));
  }
  answers.push_back(Done(0));
}

}  // namespace linkvane::server
