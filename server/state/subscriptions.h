// All open streams: hands each change to every subscription, and wakes those who write the streams.
//
// Any thread. Its lock comes after the state's and before a subscription's.
#ifndef LINKVANE_SERVER_STATE_SUBSCRIPTIONS_H_
#define LINKVANE_SERVER_STATE_SUBSCRIPTIONS_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "netlink/mutex.h"
#include "server/state/change.h"
#include "server/state/subscription.h"

namespace linkvane::server {

// Whoever writes a stream.
class Watcher {
 public:
  virtual ~Watcher() = default;
  // There may be something to write.
  virtual void Wake() = 0;
};

class Subscriptions : public ChangeSink {
 public:
  explicit Subscriptions(size_t most) : most_(most) {}

  // With the state's lock held, so that no change is missed or seen twice. False if there are too
  // many.
  bool Add(Subscription* subscription, const std::weak_ptr<Watcher>& watcher) {
    MutexLock lock(mutex_);
    if (watchers_.size() >= most_) return false;
    watchers_.emplace(subscription, watcher);
    return true;
  }

  // After this call the subscription is not used any more.
  void Remove(Subscription* subscription) {
    MutexLock lock(mutex_);
    watchers_.erase(subscription);
  }

  // With the state's lock held.
  void Take(const ChangePtr& change) override {
    MutexLock lock(mutex_);
    for (auto& [subscription, watcher] : watchers_) subscription->Take(change);
  }

  // Without any lock.
  void WakeAll() {
    std::vector<std::shared_ptr<Watcher>> awake;
    {
      MutexLock lock(mutex_);
      awake.reserve(watchers_.size());
      for (auto& [subscription, watcher] : watchers_) {
        if (auto locked = watcher.lock()) awake.push_back(std::move(locked));
      }
    }
    for (const auto& watcher : awake) watcher->Wake();
  }

  size_t size() const {
    MutexLock lock(mutex_);
    return watchers_.size();
  }
  size_t most() const { return most_; }

 private:
  const size_t most_;
  mutable Mutex mutex_;
  absl::flat_hash_map<Subscription*, std::weak_ptr<Watcher>> watchers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_SUBSCRIPTIONS_H_
