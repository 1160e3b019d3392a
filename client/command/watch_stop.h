#ifndef LINKVANE_CLIENT_COMMAND_WATCH_STOP_H_
#define LINKVANE_CLIENT_COMMAND_WATCH_STOP_H_

#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

namespace linkvane::command {

// Ends a command that otherwise runs for ever: at the first SIGINT or SIGTERM, or when nobody reads
// the output any more. Where that does not suffice within a second, because the output is stalled,
// the signal does what it does by default, as does a second one.
//
// Construct it before any other thread: it blocks the signals for all threads that start later. A
// signal that the process was started to ignore stays ignored.
class WatchStop {
 public:
  WatchStop();
  ~WatchStop();
  WatchStop(const WatchStop&) = delete;
  WatchStop& operator=(const WatchStop&) = delete;

  // Calls `stop` once, on another thread, when it is time. `output` is the descriptor that is
  // written to. To be called once; `stop` is not called any more after the destructor.
  void Start(int output, std::function<void()> stop);

  // True if it was time.
  bool stopped() const { return stopped_; }

 private:
  void Wait(int output, const std::function<void()>& stop);

  sigset_t signals_;
  sigset_t previous_mask_;
  int signal_fd_;
  int done_fd_;  // an eventfd: the destructor was called
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_WATCH_STOP_H_
