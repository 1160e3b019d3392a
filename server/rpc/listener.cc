#include "server/rpc/listener.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace linkvane::server {
namespace {

// After an error in accept.
constexpr int kPauseMs = 50;

int SpareDescriptor() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

Listener::Listener(std::vector<std::unique_ptr<ListeningSocket>> sockets, size_t max_connections)
    : sockets_(std::move(sockets)), max_connections_(max_connections) {}

Listener::~Listener() {
  Stop();
  if (wake_fd_ >= 0) close(wake_fd_);
  if (spare_fd_ >= 0) close(spare_fd_);
}

absl::Status Listener::Prepare() {
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd_ < 0) return absl::UnavailableError(absl::StrCat("eventfd: ", std::strerror(errno)));
  spare_fd_ = SpareDescriptor();
  if (spare_fd_ < 0) {
    return absl::UnavailableError(absl::StrCat("/dev/null: ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

void Listener::Start(Take take) {
  take_ = std::move(take);
  thread_ = std::thread([this] { Run(); });
}

void Listener::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  (void)!write(wake_fd_, &one, sizeof(one));
  thread_.join();
}

void Listener::Run() {
  std::vector<pollfd> fds{{.fd = wake_fd_, .events = POLLIN, .revents = 0}};
  for (const auto& socket : sockets_) {
    fds.push_back({.fd = socket->fd(), .events = POLLIN, .revents = 0});
  }
  while (true) {
    if (poll(fds.data(), fds.size(), -1) < 0) continue;  // EINTR.
    if (fds[0].revents != 0) return;
    bool failed = false;
    for (size_t i = 1; i < fds.size(); ++i) {
      if (fds[i].revents != 0 && !AcceptFrom(fds[i].fd)) failed = true;
    }
    // The connection is still in the queue, so poll() would return at once, for ever.
    if (failed) poll(fds.data(), 1, kPauseMs);
  }
}

bool Listener::AcceptFrom(int listener_fd) {
  const int fd = accept4(listener_fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) {
    if (!MayTakeOneMore()) {
      ++refused_;
      close(fd);
      return true;
    }
    Remember(fd);
    take_(listener_fd, fd);
    return true;
  }
  if (errno != EMFILE && errno != ENFILE) {
    // Those say that the connection is gone already.
    return errno == ECONNABORTED || errno == EAGAIN || errno == EINTR;
  }
  // Without a descriptor the connection would stay in the queue. So it is taken with the spare one,
  // and closed.
  ++refused_;
  if (spare_fd_ >= 0) close(spare_fd_);
  const int taken = accept4(listener_fd, nullptr, nullptr, SOCK_CLOEXEC);
  if (taken >= 0) close(taken);
  spare_fd_ = SpareDescriptor();
  return taken >= 0;
}

bool Listener::MayTakeOneMore() {
  if (open_.size() < max_connections_) return true;
  std::erase_if(open_, [](const auto& entry) {
    struct stat now {};
    return fstat(entry.first, &now) != 0 || !S_ISSOCK(now.st_mode) || now.st_ino != entry.second;
  });
  return open_.size() < max_connections_;
}

void Listener::Remember(int fd) {
  struct stat now {};
  if (fstat(fd, &now) == 0) open_[fd] = now.st_ino;
}

}  // namespace linkvane::server
