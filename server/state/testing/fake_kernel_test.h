// For tests of the Observer and the Refresher together, on a fake kernel with two links, lo and
// eth0.
#ifndef LINKVANE_SERVER_STATE_TESTING_FAKE_KERNEL_TEST_H_
#define LINKVANE_SERVER_STATE_TESTING_FAKE_KERNEL_TEST_H_

#include <gtest/gtest.h>

#include <atomic>
#include <future>  // NOLINT(build/c++11)
#include <memory>
#include <string>
#include <thread>  // NOLINT(build/c++11)
#include <vector>

#include "absl/time/clock.h"
#include "netlink/connection_pool.h"
#include "netlink/mutex.h"
#include "server/state/observer.h"
#include "server/state/refresher.h"
#include "server/state/testing/fake_kernel.h"
#include "server/state/testing/gate.h"

namespace linkvane::server {

constexpr absl::Duration kPatience = absl::Seconds(20);

// Keeps what the state tells, in words: "+eth0", "-eth0", "eth0", "lost".
class Diary : public ChangeSink {
 public:
  void Take(const ChangePtr& change) override {
    MutexLock lock(mutex_);
    lines_.push_back(Line(*change));
  }
  std::vector<std::string> lines() {
    MutexLock lock(mutex_);
    return lines_;
  }
  void Clear() {
    MutexLock lock(mutex_);
    lines_.clear();
  }

 private:
  static std::string Line(const Change& change) {
    if (change.is_loss()) return "lost";
    const Row& row = change.after != nullptr ? *change.after : *change.before;
    const std::string name =
        row.kind == ResourceKind::kInterface
            ? std::string(static_cast<const InterfaceRow&>(row).name())
            : "addr@" + static_cast<const AddrRow&>(row).interface_name.value_or("?");
    return (change.before == nullptr ? "+" : change.after == nullptr ? "-" : "") + name;
  }
  Mutex mutex_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
};

class FakeKernelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    kernel_.Put(FakeLink{.index = 1, .name = "lo"});
    kernel_.Put(FakeLink{.index = 2, .name = "eth0"});
  }

  void Start(absl::Duration audit_interval = absl::Hours(1)) {
    observer_ = std::make_unique<Observer>(
        "epoch", pool_, [this] { return kernel_.OpenMonitor(); }, diary_,
        Observer::Callbacks{.published = [] {},
                            .lost = [this] { refresher_->Wake(); },
                            .doubtful = [this] { refresher_->Wake(); }});
    refresher_ = std::make_unique<Refresher>(*observer_, audit_interval);
    ASSERT_TRUE(observer_->Start().ok());
    refresher_->Start();
  }

  void TearDown() override {
    if (refresher_ != nullptr) refresher_->Stop();
    if (observer_ != nullptr) observer_->Stop();
  }

  absl::Status WaitForSync() {
    std::promise<absl::Status> synced;
    refresher_->WhenSynced(absl::Now() + kPatience, [&](const Refresher::Result& result) {
      synced.set_value(result.status);
    });
    return synced.get_future().get();
  }

  absl::Status Refresh(absl::Duration patience = kPatience) {
    std::promise<absl::Status> refreshed;
    refresher_->Refresh(
        TableId::kLinks, false, absl::Now() + patience,
        [&](const Refresher::Result& result) { refreshed.set_value(result.status); });
    return refreshed.get_future().get();
  }

  std::vector<std::string> Names() {
    std::vector<std::string> names;
    observer_->Read([&](NetworkState& state) {
      for (const RowPtr& row : state.Interfaces()->rows) {
        names.emplace_back(static_cast<const InterfaceRow&>(*row).name());
      }
    });
    return names;
  }

  // Waits for a condition that other threads bring about.
  template <typename F>
  bool Eventually(F&& holds) {
    for (const absl::Time end = absl::Now() + kPatience; absl::Now() < end;) {
      if (holds()) return true;
      std::this_thread::yield();
    }
    return false;
  }

  // For the kernel's hooks, which may run until the threads have ended.
  Gate entered_;
  Gate go_on_;
  std::atomic<bool> happened_ = false;
  FakeKernel kernel_;
  netlink::ConnectionPool pool_{4, [this] { return kernel_.OpenConnection(); }};
  Diary diary_;
  std::unique_ptr<Observer> observer_;
  std::unique_ptr<Refresher> refresher_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_TESTING_FAKE_KERNEL_TEST_H_
