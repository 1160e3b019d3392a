// linkvaned: puts the parts together, waits for signals, and takes them apart again.

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>  // NOLINT(build/c++11)
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "netlink/connection_pool.h"
#include "netlink/monitor.h"
#include "server/log.h"
#include "server/options.h"
#include "server/rpc/grpc_server.h"
#include "server/rpc/listener.h"
#include "server/rpc/node.h"
#include "server/state/observer.h"
#include "server/state/refresher.h"
#include "server/state/subscriptions.h"

namespace linkvane::server {
namespace {

constexpr int kExitError = 1;
constexpr int kExitUsage = 2;

// Descriptors for everything but clients.
constexpr size_t kOwnDescriptors = 64;
constexpr size_t kLeastDescriptors = kOwnDescriptors + 16;
constexpr size_t kMostConnections = 4096;

// How long the first dumps may take before the server answers all the same (calls then wait for
// them).
constexpr absl::Duration kFirstSync = absl::Seconds(10);

// Answers of some megabytes come and go: keep their memory instead of giving it back to the kernel
// each time, which costs more than the answer.
void KeepMemory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_ARENA_MAX, 2);
}

// Raises the soft limit on descriptors, and returns how many connections fit below it. Unset if it
// is too low for the server itself.
std::optional<size_t> RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMostConnections;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{
        .rlim_cur = std::min<rlim_t>(limit.rlim_max, kMostConnections + kOwnDescriptors),
        .rlim_max = limit.rlim_max};
    if (raised.rlim_cur > limit.rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  const size_t all = limit.rlim_cur;
  if (all < kLeastDescriptors) return std::nullopt;
  return std::clamp<size_t>(all > kOwnDescriptors ? all - kOwnDescriptors : 1, 1, kMostConnections);
}

std::string NewEpoch() {
  std::random_device random;
  return absl::StrCat(absl::Hex((uint64_t{random()} << 32) | random(), absl::kZeroPad16));
}

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

std::string KernelRelease() {
  utsname names{};
  return uname(&names) == 0 ? names.release : "";
}

sigset_t OurSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  return signals;
}

absl::StatusOr<std::unique_ptr<Listener>> Listen(const Options& options, size_t max_connections) {
  const ListenOptions listen{.socket_mode = options.socket_mode,
                             .socket_group = options.socket_group,
                             .allow_insecure_remote = options.allow_insecure_remote};
  std::vector<std::unique_ptr<ListeningSocket>> all;
  for (const std::string& address : options.listen) {
    absl::StatusOr<std::vector<std::unique_ptr<ListeningSocket>>> sockets =
        ListeningSocket::Open(address, listen);
    if (!sockets.ok()) return sockets.status();
    std::ranges::move(*sockets, std::back_inserter(all));
  }
  auto listener = std::make_unique<Listener>(std::move(all), max_connections);
  if (absl::Status status = listener->Prepare(); !status.ok()) return status;
  return listener;
}

absl::StatusOr<std::unique_ptr<netlink::Monitor>> OpenMonitor(int receive_buffer_bytes) {
  return netlink::Monitor::Open({.groups = {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR},
                                 .receive_buffer_bytes = receive_buffer_bytes});
}

// Ends the process when shutting down takes longer than it may.
void StartWatchdog(absl::Duration grace) {
  std::thread([grace] {
    absl::SleepFor(grace);
    LogError("shutting down took longer than --grace_period; giving up");
    _exit(kExitError);
  }).detach();
}

// Where a standard descriptor is closed, the next file that is opened would get its number, and
// what is written to standard error would go into that.
void OccupyStandardDescriptors() {
  int fd = 0;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

// Waits for the signal that ends the server.
void WaitForSignal(PageStore& pages, const GrpcServer& server) {
  const sigset_t signals = OurSignals();
  // Listings that nobody continues are dropped now and then, also when nobody lists.
  constexpr timespec kSweep{.tv_sec = 30, .tv_nsec = 0};
  uint64_t refused = 0;
  while (true) {
    const int signal = sigtimedwait(&signals, nullptr, &kSweep);
    if (signal == SIGTERM || signal == SIGINT) {
      LogInfo(absl::StrCat("got ", signal == SIGTERM ? "SIGTERM" : "SIGINT", "; shutting down"));
      return;
    }
    pages.Expire(absl::Now());
    if (const uint64_t now = server.refused_connections(); now != refused) {
      LogWarning(absl::StrCat(now - refused, " connections were refused: too many are open"));
      refused = now;
    }
  }
}

int Run(const Options& options) {
  KeepMemory();
  const absl::Time started = absl::Now();
  const std::optional<size_t> max_connections = RaiseDescriptorLimit();
  if (!max_connections.has_value()) {
    LogError(absl::StrCat("the limit on open files (RLIMIT_NOFILE) is below ", kLeastDescriptors));
    return kExitError;
  }
  // Every thread inherits it: signals are for WaitForSignal() alone.
  const sigset_t signals = OurSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  for (const int signal : {SIGPIPE, SIGUSR1, SIGUSR2}) std::signal(signal, SIG_IGN);

  absl::StatusOr<std::unique_ptr<Listener>> listener = Listen(options, *max_connections);
  if (!listener.ok()) {
    const std::string why(listener.status().message());
    if (absl::IsInvalidArgument(listener.status())) {
      std::fprintf(stderr, "linkvaned: %s%s\n",
                   why.starts_with("--") ? "" : "--listen: ", why.c_str());
      return kExitUsage;
    }
    LogError(why);
    return kExitError;
  }
  std::vector<std::string> addresses;
  for (const auto& socket : (*listener)->sockets()) addresses.push_back(socket->address());

  netlink::ConnectionPool pool(
      options.pool_size, [] { return netlink::Connection::Open({.protocol = NETLINK_ROUTE}); });
  netlink::ConnectionPool generic_pool(
      1, [] { return netlink::Connection::Open({.protocol = NETLINK_GENERIC}); });
  Subscriptions subscriptions(options.max_watchers);
  Refresher* refresher_to_wake = nullptr;
  Observer observer(NewEpoch(), pool,
                    [&options] { return OpenMonitor(options.event_buffer_bytes); }, subscriptions,
                    {.published = [&subscriptions] { subscriptions.WakeAll(); },
                     .lost =
                         [&refresher_to_wake, &subscriptions] {
                           LogRepeated("lost",
                                       "kernel events were lost; all tables are dumped again");
                           subscriptions.WakeAll();
                           if (refresher_to_wake != nullptr) refresher_to_wake->Wake();
                         },
                     .doubtful =
                         [&refresher_to_wake] {
                           if (refresher_to_wake != nullptr) refresher_to_wake->Wake();
                         }});
  Refresher refresher(observer, options.audit_interval);
  refresher_to_wake = &refresher;
  LiveValues live_values(pool, generic_pool);
  PageStore pages(observer.epoch());
  Node node{.observer = observer,
            .refresher = refresher,
            .live_values = live_values,
            .subscriptions = subscriptions,
            .pages = pages,
            .name = options.node_name.empty() ? HostName() : options.node_name,
            .kernel_release = KernelRelease(),
            .started_at = started,
            .stall_timeout = options.watch_stall_timeout,
            .audit_interval = options.audit_interval,
            .pool_size = options.pool_size,
            .max_connections = *max_connections};
  GrpcServer server(node, *std::move(listener));

  if (const absl::Status status = observer.Start(); !status.ok()) {
    LogError(absl::StrCat("kernel events: ", std::string(status.message())));
    return kExitError;
  }
  refresher.Start();
  live_values.Start();
  if (const absl::Status status = server.Start(); !status.ok()) {
    LogError(std::string(status.message()));
    return kExitError;
  }
  refresher.WhenSynced(absl::Now() + kFirstSync, [&server](const Refresher::Result& result) {
    if (absl::IsCancelled(result.status)) return;  // It shuts down already.
    if (result.status.ok()) return server.SetServing(true);
    LogWarning(std::string(result.status.message()));
    server.SetServing(true);
  });
  for (const std::string& address : addresses) {
    LogInfo(absl::StrCat("linkvaned ", LINKVANE_VERSION, " listening on ", address));
  }

  WaitForSignal(pages, server);
  StartWatchdog(options.grace_period);
  server.SetServing(false);
  // Calls may finish; what still waits for the kernel after half of the grace period may not.
  const absl::Time now = absl::Now();
  server.Drain(now + options.grace_period * 0.5);
  refresher.Stop();
  generic_pool.Shutdown();
  live_values.Stop();
  server.Shutdown(now + options.grace_period * 0.8);
  pool.Shutdown();
  observer.Stop();
  LogInfo("bye");
  // Taking gRPC's library down would wait for a poller of its own, for up to ten seconds, once a
  // write has blocked. Nothing is left to be done.
  _exit(EXIT_SUCCESS);
}

}  // namespace
}  // namespace linkvane::server

int main(int argc, char** argv) {
  using linkvane::server::ReadOptions;
  linkvane::server::OccupyStandardDescriptors();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const absl::StatusOr<std::optional<linkvane::server::Options>> options = ReadOptions(arguments);
  if (!options.ok()) {
    std::fprintf(stderr, "linkvaned: %s\n", std::string(options.status().message()).c_str());
    return linkvane::server::kExitUsage;
  }
  if (!options->has_value()) {  // The help was all that was wanted.
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? EXIT_SUCCESS
                                                                : linkvane::server::kExitError;
  }
  linkvane::server::StartLog((*options)->log_level, (*options)->log_format);
  return linkvane::server::Run(**options);
}
