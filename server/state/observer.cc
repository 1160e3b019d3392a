#include "server/state/observer.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/container/flat_hash_set.h"
#include "netlink/addr.h"
#include "netlink/bridge_vlan.h"
#include "netlink/error.h"
#include "netlink/link.h"

namespace linkvane::server {
namespace {

// How many rows an interrupted dump may have left unnamed for them to be asked for one by one. More
// are left to the next dump, which is due soon.
constexpr size_t kMostAsked = 256;

netlink::Request DumpRequest(TableId table, int32_t interface_index = 0) {
  switch (table) {
    case TableId::kLinks:
      return netlink::LinkDumpRequest();
    case TableId::kAddrs4:
      return netlink::AddrDumpRequest(AF_INET, interface_index);
    case TableId::kBridgeVlans:
      return netlink::BridgeVlanDumpRequest();
    case TableId::kAddrs6:
      break;
  }
  return netlink::AddrDumpRequest(AF_INET6, interface_index);
}

}  // namespace

Observer::Observer(std::string epoch, netlink::ConnectionPool& pool, MonitorOpener open_monitor,
                   ChangeSink& sink, Callbacks callbacks)
    : epoch_(std::move(epoch)),
      pool_(pool),
      open_monitor_(std::move(open_monitor)),
      callbacks_(std::move(callbacks)),
      state_(epoch_, sink) {
  unclean_.set();
}

Observer::~Observer() { Stop(); }

absl::Status Observer::Start() {
  absl::StatusOr<std::unique_ptr<netlink::Monitor>> monitor = open_monitor_();
  if (!monitor.ok()) return monitor.status();
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd_ < 0) return netlink::KernelError("eventfd", errno);
  {
    MutexLock lock(mutex_);
    monitor_ = *std::move(monitor);
    netns_cookie_ = netlink::NetnsCookie(monitor_->socket());
  }
  thread_ = std::thread([this] { ReadEvents(); });
  return absl::OkStatus();
}

void Observer::Stop() {
  stopping_ = true;
  if (thread_.joinable()) {
    const uint64_t one = 1;
    (void)!write(wake_fd_, &one, sizeof(one));
    thread_.join();
  }
  if (wake_fd_ >= 0) close(wake_fd_);
  wake_fd_ = -1;
}

absl::StatusOr<DumpReport> Observer::DumpTable(TableId table, bool with_stats,
                                               absl::Time deadline) {
  absl::StatusOr<netlink::ConnectionPool::Lease> connection = pool_.Acquire(deadline);
  if (!connection.ok()) return connection.status();

  auto stats = with_stats ? std::make_shared<StatsBlock>() : nullptr;
  RunningDump dump;
  Before before{};
  {
    MutexLock lock(mutex_);
    before = BeforeLocked();
    DrainLocked();
    before.losses_at_fence = losses_;
    before.vlan_doubts_at_fence = vlan_doubts_;
    dump = state_.BeginDump(table, absl::Now());
    ++counts_.dumps;
  }
  const ReadTime read = ReadTime::Now();
  netlink::Request request = DumpRequest(table);
  const absl::StatusOr<netlink::DumpOutcome> outcome =
      (*connection)
          ->Dump(
              request,
              [&](std::span<const netlink::Message> messages) {
                if (stats != nullptr) stats->Add(messages);
                MutexLock lock(mutex_);
                state_.DumpSays(dump, messages, read);
              },
              deadline);
  Merge merge;
  bool interrupted = false;
  {
    MutexLock lock(mutex_);
    DrainLocked();
    if (outcome.ok()) {
      merge = state_.FinishDump(
          dump,
          {.interrupted = outcome->interrupted, .lost_events = losses_ != before.losses_at_fence},
          absl::Now());
      interrupted = outcome->interrupted || merge.interrupted;
      if (interrupted) ++counts_.interrupted_dumps;
      if (unclean_.none()) counts_.audit_differences += merge.changes;
      NoteDoubtsLocked();
      const bool doubted =
          table == TableId::kBridgeVlans && vlan_doubts_ != before.vlan_doubts_at_fence;
      // Without an event socket, all that happens is being lost.
      if (!interrupted && !doubted && losses_ == before.losses && !monitor_failed_) {
        if (table == TableId::kBridgeVlans) vlans_in_doubt_.store(false, std::memory_order_release);
        NoteCleanLocked(table);
      }
    } else {
      state_.AbandonDump(dump, absl::Now());
    }
  }
  Publish(before);
  if (!outcome.ok()) return outcome.status();
  if (stats != nullptr) stats->Sort();
  { const auto given_back = *std::move(connection); }  // The questions need one of their own.
  AskForUnnamed(table, merge.unnamed, deadline);
  return DumpReport{.interrupted = interrupted,
                    .conflict = merge.conflict,
                    .changes = merge.changes,
                    .observed_at = read.wall,
                    .stats = std::move(stats)};
}

void Observer::AskForUnnamed(TableId table, const std::vector<int32_t>& unnamed,
                             absl::Time deadline) {
  if (unnamed.size() > kMostAsked) return;
  for (const int32_t index : unnamed) {
    // Whatever goes wrong here, the dump that follows an interrupted one makes good.
    if (table == TableId::kLinks) {
      (void)AskLink(index, /*with_stats=*/false, deadline);
    } else {
      (void)AskAddrs(table, index, deadline);
    }
  }
}

std::pair<RunningDump, Observer::Before> Observer::BeginQuestion(TableId table,
                                                                 std::optional<int32_t> index) {
  MutexLock lock(mutex_);
  Before before = BeforeLocked();
  DrainLocked();
  before.losses_at_fence = losses_;
  return {state_.BeginQuestion(table, index, absl::Now()), before};
}

absl::StatusOr<DumpReport> Observer::Ask(netlink::Request& request, RunningDump dump, Before before,
                                         std::shared_ptr<StatsBlock> stats, bool one_answer,
                                         std::vector<int32_t>* answered, absl::Time deadline,
                                         bool doubted) {
  const ReadTime read = ReadTime::Now();
  const auto take = [&](std::span<const netlink::Message> messages) {
    if (stats != nullptr) stats->Add(messages);
    for (const netlink::Message& message : messages) {
      netlink::LinkView link;
      netlink::DecodeTally tally;
      if (answered == nullptr) break;
      if (netlink::DecodeLink(message.payload, link, tally)) answered->push_back(link.index);
    }
    MutexLock lock(mutex_);
    state_.DumpSays(dump, messages, read);
  };
  absl::Status status;
  bool interrupted = false;
  {
    absl::StatusOr<netlink::ConnectionPool::Lease> connection = pool_.Acquire(deadline);
    if (!connection.ok()) {
      status = connection.status();
    } else if (one_answer) {
      status = (*connection)->Get(request, take, deadline);
    } else {
      const absl::StatusOr<netlink::DumpOutcome> outcome =
          (*connection)->Dump(request, take, deadline);
      status = outcome.status();
      interrupted = outcome.ok() && outcome->interrupted;
    }
  }
  // That there is no such link is an answer.
  bool told = status.ok() || (one_answer && absl::IsNotFound(status));
  Merge merge;
  {
    MutexLock lock(mutex_);
    DrainLocked();
    if (told && losses_ != before.losses_at_fence) {
      // It may be older than what the repair reads, which it must not stand in the way of.
      told = false;
      status = absl::UnavailableError("kernel events were lost while the kernel was asked");
    }
    if (told) {
      merge = state_.FinishDump(dump, {.interrupted = interrupted}, absl::Now());
      if (unclean_.none() && !doubted) counts_.audit_differences += merge.changes;
      NoteDoubtsLocked();
    } else {
      state_.AbandonDump(dump, absl::Now());
    }
  }
  Publish(before);
  if (!status.ok()) return status;
  if (stats != nullptr) stats->Sort();
  return DumpReport{.interrupted = interrupted,
                    .conflict = merge.conflict,
                    .changes = merge.changes,
                    .observed_at = read.wall,
                    .stats = std::move(stats)};
}

absl::StatusOr<Observer::LinkAnswer> Observer::AskLink(int32_t index, bool with_stats,
                                                       absl::Time deadline) {
  auto stats = with_stats ? std::make_shared<StatsBlock>() : nullptr;
  netlink::Request request = netlink::LinkGetRequest(index);
  const auto [dump, before] = BeginQuestion(TableId::kLinks, index);
  absl::StatusOr<DumpReport> report =
      Ask(request, dump, before, stats, /*one_answer=*/true, nullptr, deadline);
  if (!report.ok()) return report.status();
  MutexLock lock(mutex_);
  LinkAnswer answer{state_.FindInterface(index), state_.revision(), *std::move(report)};
  if (answer.row == nullptr) return netlink::KernelError("get link", ENODEV);
  return answer;
}

absl::StatusOr<Observer::LinkAnswer> Observer::AskLink(std::string_view name, bool with_stats,
                                                       absl::Time deadline) {
  auto stats = with_stats ? std::make_shared<StatsBlock>() : nullptr;
  netlink::Request request = netlink::LinkGetRequest(name);
  std::vector<int32_t> answered;
  const auto [dump, before] = BeginQuestion(TableId::kLinks, std::nullopt);
  absl::StatusOr<DumpReport> report =
      Ask(request, dump, before, stats, /*one_answer=*/true, &answered, deadline);
  if (!report.ok()) return report.status();
  MutexLock lock(mutex_);
  LinkAnswer answer{answered.empty() ? nullptr : state_.FindInterface(answered.front()),
                    state_.revision(), *std::move(report)};
  if (answer.row == nullptr) return netlink::KernelError("get link", ENODEV);
  return answer;
}

absl::StatusOr<bool> Observer::AskLinks(const netlink::LinkDumpFilter& filter,
                                        absl::Time deadline) {
  netlink::Request request = netlink::LinkDumpRequest(filter);
  std::vector<int32_t> answered;
  const auto [dump, before] = BeginQuestion(TableId::kLinks, std::nullopt);
  const absl::StatusOr<DumpReport> report =
      Ask(request, dump, before, nullptr, /*one_answer=*/false, &answered, deadline);
  if (!report.ok()) return report.status();
  if (report->conflict) return false;

  const absl::flat_hash_set<int32_t> named(answered.begin(), answered.end());
  std::vector<int32_t> unnamed;
  Read([&](NetworkState& state) {
    for (const RowPtr& row : state.Interfaces()->rows) {
      const netlink::LinkView& link = static_cast<const InterfaceRow&>(*row).link;
      const bool among = (!filter.master.has_value() || link.master == filter.master) &&
                         (!filter.kind.has_value() || link.kind == filter.kind);
      if (among && !named.contains(link.index)) unnamed.push_back(link.index);
    }
  });
  if (unnamed.size() > kMostAsked) return false;
  AskForUnnamed(TableId::kLinks, unnamed, deadline);
  return true;
}

bool Observer::AskDoubtful(absl::Time deadline) {
  std::vector<int32_t> indexes;
  Read([&indexes](NetworkState& state) {
    for (const int32_t index : state.TakeDoubtful()) {
      if (state.FindInterface(index) != nullptr) indexes.push_back(index);
    }
  });
  if (indexes.size() > kMostAsked) return false;
  for (const int32_t index : indexes) {
    netlink::Request request = netlink::LinkGetRequest(index);
    const auto [dump, before] = BeginQuestion(TableId::kLinks, index);
    // What goes wrong here, the next audit makes good.
    (void)Ask(request, dump, before, nullptr, /*one_answer=*/true, nullptr, deadline,
              /*doubted=*/true);
  }
  return true;
}

absl::StatusOr<DumpReport> Observer::AskAddrs(TableId table, int32_t interface_index,
                                              absl::Time deadline) {
  netlink::Request request = DumpRequest(table, interface_index);
  const auto [dump, before] = BeginQuestion(table, interface_index);
  return Ask(request, dump, before, nullptr, /*one_answer=*/false, nullptr, deadline);
}

std::vector<TableId> Observer::Unclean() const {
  MutexLock lock(mutex_);
  std::vector<TableId> tables;
  for (size_t i = 0; i < kTables; ++i) {
    if (unclean_.test(i)) tables.push_back(static_cast<TableId>(i));
  }
  return tables;
}

absl::Time Observer::last_read() const {
  MutexLock lock(mutex_);
  return last_read_;
}

Observer::Counts Observer::counts() const {
  MutexLock lock(mutex_);
  return counts_;
}

void Observer::DrainLocked() {
  if (monitor_ == nullptr || monitor_failed_) return;
  const ReadTime read = ReadTime::Now();
  const absl::StatusOr<netlink::DrainOutcome> outcome =
      monitor_->Drain([&](std::span<const netlink::Message> messages) {
        mutex_.AssertHeld();
        for (const netlink::Message& message : messages) state_.ApplyEvent(message, read);
      });
  if (!outcome.ok()) {
    // The socket is of no use any more: the events thread opens another. Until then all is lost.
    monitor_failed_ = true;
    NoteLossLocked();
    const uint64_t one = 1;
    (void)!write(wake_fd_, &one, sizeof(one));
    return;
  }
  NoteDoubtsLocked();
  last_read_ = read.wall;
  counts_.event_datagrams += outcome->datagrams;
  if (outcome->overrun) {
    ++counts_.overruns;
    NoteLossLocked();
  }
}

void Observer::NoteLossLocked() {
  ++losses_;
  // Before the first sync there is no state that events could be missing from.
  if (synced_.load(std::memory_order_relaxed) || state_.revision() > 0) {
    state_.NoteLoss(absl::Now());
  }
  unclean_.set();
  synced_.store(false, std::memory_order_release);
}

void Observer::NoteDoubtsLocked() {
  if (state_.vlan_doubts() == vlan_doubts_) return;
  vlan_doubts_ = state_.vlan_doubts();
  vlans_in_doubt_.store(true, std::memory_order_release);
}

void Observer::NoteCleanLocked(TableId table) {
  unclean_.reset(static_cast<size_t>(table));
  if (unclean_.any()) return;
  state_.Repaired();
  synced_.store(true, std::memory_order_release);
  known_.store(true, std::memory_order_release);
}

void Observer::Publish(Before before) {
  bool changed = false;
  bool lost = false;
  bool doubtful = false;
  {
    MutexLock lock(mutex_);
    changed = state_.revision() != before.revision;
    lost = losses_ != before.losses;
    doubtful = state_.has_doubtful() || vlan_doubts_ != before.vlan_doubts;
  }
  if (changed && callbacks_.published) callbacks_.published();
  if (lost && callbacks_.lost) callbacks_.lost();
  if (doubtful && callbacks_.doubtful) callbacks_.doubtful();
}

void Observer::ReadEvents() {
  while (!stopping_) {
    pollfd fds[2] = {{.fd = wake_fd_, .events = POLLIN, .revents = 0},
                     {.fd = -1, .events = POLLIN, .revents = 0}};
    bool failed = false;
    {
      MutexLock lock(mutex_);
      failed = monitor_failed_;
      if (!failed) fds[1].fd = monitor_->fd();
    }
    if (failed) {
      ReopenMonitor();
      continue;
    }
    if (poll(fds, 2, -1) < 0) continue;  // EINTR.
    if ((fds[0].revents & POLLIN) != 0) {
      uint64_t drained = 0;
      (void)!read(wake_fd_, &drained, sizeof(drained));
    }
    Before before{};
    {
      MutexLock lock(mutex_);
      before = BeforeLocked();
      DrainLocked();
    }
    Publish(before);
  }
}

void Observer::ReopenMonitor() {
  absl::StatusOr<std::unique_ptr<netlink::Monitor>> monitor = open_monitor_();
  if (!monitor.ok()) {
    pollfd pause{.fd = wake_fd_, .events = POLLIN, .revents = 0};
    poll(&pause, 1, /*timeout ms=*/100);
    return;
  }
  Before before{};
  {
    MutexLock lock(mutex_);
    before = BeforeLocked();
    monitor_ = *std::move(monitor);
    monitor_failed_ = false;
    // What happened between the two sockets is lost too.
    NoteLossLocked();
  }
  Publish(before);
}

}  // namespace linkvane::server
