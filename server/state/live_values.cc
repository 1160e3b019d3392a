#include "server/state/live_values.h"

#include <linux/ethtool_netlink.h>
#include <linux/if_arp.h>

#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/clock.h"
#include "linkvane/v1/interface.pb.h"
#include "netlink/vf.h"
#include "server/state/values.h"
#include "server/state/wire.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;
using netlink::EthtoolTopic;
using netlink::EthtoolView;

// So many interfaces are asked about one by one; for more, the kernel is asked about all there are.
constexpr size_t kFew = 16;

const netlink::LinkView& LinkOf(const RowPtr& row) {
  return static_cast<const InterfaceRow&>(*row).link;
}

// Only devices on a bus have any. Virtual kinds are on none; before Linux 5.13 the kernel does not
// tell which devices are.
bool MayHaveVfs(const netlink::LinkView& link) {
  return link.parent_device.has_value() ||
         (!link.kind.has_value() && link.hardware_type != ARPHRD_LOOPBACK);
}

absl::Status CheckTime(absl::Time deadline) {
  if (absl::Now() < deadline) return absl::OkStatus();
  return absl::DeadlineExceededError("the deadline passed while drivers were asked");
}

void AppendVfs(const netlink::LinkView& link, std::string& out) {
  const netlink::VfList list = netlink::ReadVfs(link);
  netlink::DecodeTally tally;
  std::string message;
  for (const netlink::Bytes function : list.functions) {
    message.clear();
    SeenAttributes seen;
    AppendValues(function, netlink::VfRules(), seen, tally, message);
    AppendBytesField(pb::Interface::kVfsFieldNumber, message, out);
  }
  if (link.num_vf.has_value()) {
    AppendVarintField(pb::Interface::kNumVfFieldNumber, *link.num_vf, out);
  }
  if (list.unread != 0) {
    AppendVarintField(pb::Interface::kUnreadVfsFieldNumber, list.unread, out);
  }
}

// The contract's numbers are the kernel's plus one, as far as they have names.
void AppendEthtool(const EthtoolView& view, std::string& out) {
  pb::EthtoolSettings message;
  if (view.speed_mbps.has_value()) message.set_speed_mbps(*view.speed_mbps);
  if (view.duplex.has_value()) {
    if (pb::DuplexMode_IsValid(*view.duplex + 1)) {
      message.set_duplex(static_cast<pb::DuplexMode>(*view.duplex + 1));
    }
    message.set_duplex_raw(*view.duplex);
  }
  if (view.autonegotiation.has_value()) message.set_autonegotiation(*view.autonegotiation);
  if (view.port.has_value()) {
    if (pb::EthtoolPort_IsValid(*view.port + 1)) {
      message.set_port(static_cast<pb::EthtoolPort>(*view.port + 1));
    }
    message.set_port_raw(*view.port);
  }
  AppendBytesField(pb::Interface::kEthtoolFieldNumber, message.SerializeAsString(), out);
}

}  // namespace

LiveValues::LiveValues(netlink::ConnectionPool& route, netlink::ConnectionPool& generic)
    : route_(route), generic_(generic) {}

LiveValues::~LiveValues() { Stop(); }

void LiveValues::Start() {
  thread_ = std::thread([this] { Run(); });
}

void LiveValues::Stop() {
  std::deque<Job> left;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    left.swap(jobs_);
    wake_.NotifyAll();
  }
  for (const Job& job : left) job.done(absl::CancelledError("the server shuts down"));
  if (thread_.joinable()) thread_.join();
}

void LiveValues::Read(Wanted wanted, std::vector<RowPtr> interfaces, absl::Time deadline,
                      Done done) {
  absl::Status refused;
  {
    MutexLock lock(mutex_);
    if (stopping_) {
      refused = absl::CancelledError("the server shuts down");
    } else if (jobs_.size() >= kMostWaiting) {
      refused = absl::ResourceExhaustedError(
          "too many requests with include_vfs or include_ethtool wait already");
    } else {
      jobs_.push_back({wanted, std::move(interfaces), deadline, std::move(done)});
      wake_.NotifyOne();
      return;
    }
  }
  done(refused);
}

void LiveValues::Run() {
  for (;;) {
    Job job;
    {
      MutexLock lock(mutex_);
      while (jobs_.empty() && !stopping_) wake_.Wait(mutex_);
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job.done(Answer(job));
  }
}

LiveValues::Result LiveValues::Answer(const Job& job) {
  auto fields = std::make_shared<IndexedFields>();
  absl::flat_hash_map<int32_t, EthtoolView> settings;
  if (job.wanted.ethtool) {
    if (absl::Status status = ReadEthtool(job, settings); !status.ok()) return status;
  }
  for (const RowPtr& row : job.interfaces) {
    const netlink::LinkView& link = LinkOf(row);
    const auto found = settings.find(link.index);
    const bool vfs = job.wanted.vfs && MayHaveVfs(link);
    if (!vfs && found == settings.end()) continue;
    std::string& out = fields->Begin(link.index);
    if (vfs) {
      if (absl::Status status = ReadVfs(link.index, job.deadline, out); !status.ok()) {
        return status;
      }
    }
    if (found != settings.end()) AppendEthtool(found->second, out);
  }
  fields->Sort();
  return fields;
}

absl::Status LiveValues::ReadVfs(int32_t index, absl::Time deadline, std::string& out) {
  if (absl::Status status = CheckTime(deadline); !status.ok()) return status;
  absl::StatusOr<netlink::ConnectionPool::Lease> connection = route_.Acquire(deadline);
  if (!connection.ok()) return connection.status();
  netlink::Request request = netlink::LinkVfRequest(index);
  const absl::Status status =
      (*connection)
          ->Get(
              request,
              [&](std::span<const netlink::Message> messages) {
                for (const netlink::Message& message : messages) {
                  netlink::LinkView link;
                  netlink::DecodeTally tally;
                  if (netlink::DecodeLink(message.payload, link, tally) && link.index == index) {
                    AppendVfs(link, out);
                  }
                }
              },
              deadline);
  // What the kernel says of the device is no failure of the call: it may be gone by now.
  return (*connection)->healthy() ? CheckTime(deadline) : status;
}

absl::Status LiveValues::ReadEthtool(const Job& job,
                                     absl::flat_hash_map<int32_t, EthtoolView>& settings) {
  absl::StatusOr<netlink::ConnectionPool::Lease> connection = generic_.Acquire(job.deadline);
  if (!connection.ok()) return connection.status();
  if (!ethtool_family_.has_value()) {
    const absl::StatusOr<uint16_t> family =
        netlink::GenericFamily(**connection, ETHTOOL_GENL_NAME, job.deadline);
    // A kernel without it has no device that tells anything.
    if (absl::IsNotFound(family.status())) return absl::OkStatus();
    if (!family.ok()) return family.status();
    ethtool_family_ = *family;
  }
  for (const EthtoolTopic topic : {EthtoolTopic::kLinkModes, EthtoolTopic::kLinkInfo}) {
    const auto take = [&settings, topic](std::span<const netlink::Message> messages) {
      for (const netlink::Message& message : messages) {
        EthtoolView view;
        if (!netlink::DecodeEthtool(message.payload, topic, view)) continue;
        EthtoolView& known = settings[view.index];
        known.index = view.index;
        // Each topic has fields of its own.
        if (topic == EthtoolTopic::kLinkInfo) {
          known.port = view.port;
        } else {
          known.speed_mbps = view.speed_mbps;
          known.duplex = view.duplex;
          known.autonegotiation = view.autonegotiation;
        }
      }
    };
    const bool few = job.interfaces.size() <= kFew;
    for (size_t i = 0; i < (few ? job.interfaces.size() : 1); ++i) {
      if (absl::Status status = CheckTime(job.deadline); !status.ok()) return status;
      const std::optional<int32_t> index =
          few ? std::optional(LinkOf(job.interfaces[i]).index) : std::nullopt;
      netlink::Request request = netlink::EthtoolRequest(*ethtool_family_, topic, index);
      absl::Status status = few ? (*connection)->Get(request, take, job.deadline)
                                : (*connection)->Dump(request, take, job.deadline).status();
      // That a driver tells nothing is no failure.
      if (!(*connection)->healthy()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace linkvane::server
