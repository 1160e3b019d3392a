#include "client/command/watch_stop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace linkvane::command {

WatchStop::WatchStop() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      sigaddset(&signals_, signal);
    }
  }
  pthread_sigmask(SIG_BLOCK, &signals_, &previous_mask_);
  signal_fd_ = signalfd(-1, &signals_, SFD_CLOEXEC);
  done_fd_ = eventfd(0, EFD_CLOEXEC);
}

WatchStop::~WatchStop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    (void)!write(done_fd_, &one, sizeof(one));
    thread_.join();
  }
  close(signal_fd_);
  close(done_fd_);
  pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
}

void WatchStop::Start(int output, std::function<void()> stop) {
  thread_ = std::thread([this, output, stop = std::move(stop)] { Wait(output, stop); });
}

void WatchStop::Wait(int output, const std::function<void()>& stop) {
  pollfd fds[] = {{.fd = done_fd_, .events = POLLIN, .revents = 0},
                  {.fd = signal_fd_, .events = POLLIN, .revents = 0},
                  // Nothing is asked of it: a pipe without a reader shows as POLLERR all the same.
                  {.fd = output, .events = 0, .revents = 0}};
  while (poll(fds, std::size(fds), -1) < 0) {
    if (errno != EINTR) return;
  }
  if (fds[0].revents != 0) return;
  stopped_ = true;
  signalfd_siginfo received = {};
  if (fds[1].revents != 0) (void)!read(signal_fd_, &received, sizeof(received));
  stop();
  // Unblocked in this thread, a signal does what it does by default.
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  constexpr int kPatienceMs = 1000;
  if (poll(fds, 1, kPatienceMs) == 0 && received.ssi_signo != 0) {
    (void)raise(static_cast<int>(received.ssi_signo));
  }
}

}  // namespace linkvane::command
