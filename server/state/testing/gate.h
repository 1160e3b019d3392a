// A door that one thread opens and others wait at.
#ifndef LINKVANE_SERVER_STATE_TESTING_GATE_H_
#define LINKVANE_SERVER_STATE_TESTING_GATE_H_

#include "absl/base/thread_annotations.h"
#include "netlink/mutex.h"

namespace linkvane::server {

class Gate {
 public:
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    opened_.NotifyAll();
  }
  void Wait() {
    MutexLock lock(mutex_);
    while (!open_) opened_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar opened_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_TESTING_GATE_H_
