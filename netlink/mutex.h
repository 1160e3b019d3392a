// A mutex, its scoped lock and a condition variable that clang's -Wthread-safety understands.
//
// They wrap the standard library's, which the thread sanitizer knows; the distribution's
// absl::Mutex is not instrumented, so every use of it looks like a race.
#ifndef LINKVANE_NETLINK_MUTEX_H_
#define LINKVANE_NETLINK_MUTEX_H_

#include <algorithm>
#include <chrono>              // NOLINT(build/c++11)
#include <condition_variable>  // NOLINT(build/c++11)
#include <mutex>               // NOLINT(build/c++11)

#include "absl/base/thread_annotations.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace linkvane {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  // For the analysis only, in callbacks that it cannot follow: the caller holds the lock.
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits wake up without a reason now and then: callers check their condition in a loop.
class CondVar {
 public:
  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // Returns at `deadline` at the latest; absl::InfiniteFuture() is no deadline.
  void WaitUntil(Mutex& mutex, absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (deadline == absl::InfiniteFuture()) return Wait(mutex);
    // A day at a time: the standard library would overflow on a far deadline.
    const absl::Duration left = std::min(deadline - absl::Now(), absl::Hours(24));
    if (left <= absl::ZeroDuration()) return;
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait_for(lock, absl::ToChronoNanoseconds(left));
    lock.release();
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace linkvane

#endif  // LINKVANE_NETLINK_MUTEX_H_
