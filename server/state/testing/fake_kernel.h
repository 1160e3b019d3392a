// A kernel at the socket seam, for what a real one cannot be made to do on demand: dumps that wait,
// interruptions, lost events.
#ifndef LINKVANE_SERVER_STATE_TESTING_FAKE_KERNEL_H_
#define LINKVANE_SERVER_STATE_TESTING_FAKE_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "netlink/connection.h"
#include "netlink/monitor.h"
#include "netlink/mutex.h"
#include "netlink/socket.h"
#include "server/state/testing/fake_messages.h"

namespace linkvane::server {

// What is asked for.
enum class Asked : uint8_t { kLinks, kLink, kAddrs4, kAddrs6, kBridgeVlans, kOther };

// Any thread. As in a real kernel, every answer about a link has other counters, and lifetimes run
// down.
class FakeKernel {
 public:
  FakeKernel();
  ~FakeKernel();

  absl::StatusOr<std::unique_ptr<netlink::Connection>> OpenConnection();
  absl::StatusOr<std::unique_ptr<netlink::Monitor>> OpenMonitor() ABSL_LOCKS_EXCLUDED(mutex_);

  // Change what there is. With `announce`, listeners hear of it.
  void Put(const FakeLink& link, bool announce = true) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(int32_t index, bool announce = true) ABSL_LOCKS_EXCLUDED(mutex_);
  void Put(const FakeAddr& addr, bool announce = true) ABSL_LOCKS_EXCLUDED(mutex_);
  // The VLANs of a bridge or a port that there is; a link that is put has those that it is put
  // with.
  void PutVlans(int32_t index, std::vector<FakeVlan> vlans, bool announce = true)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Leaves that bridge or port out of the next dump of VLANs.
  void HideVlansOnce(int32_t index) ABSL_LOCKS_EXCLUDED(mutex_);

  // Loses the events that nobody has read, and says so.
  void Overrun() ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes the event socket unusable, once.
  void FailMonitor() ABSL_LOCKS_EXCLUDED(mutex_);
  // While set, none can be opened.
  void RefuseMonitors(bool refuse) ABSL_LOCKS_EXCLUDED(mutex_);
  // Flags the next link dumps as interrupted, and leaves out the last link.
  void InterruptLinkDumps(int count) ABSL_LOCKS_EXCLUDED(mutex_);

  // Called, without a lock, before an answer is made, and after; may wait, and may change what
  // there is. Null for nothing.
  using Hook = std::function<void(Asked)>;
  void BeforeAnswer(Hook hook) ABSL_LOCKS_EXCLUDED(mutex_);
  void AfterAnswer(Hook hook) ABSL_LOCKS_EXCLUDED(mutex_);

  // Questions so far. Dumps of one interface's addresses count as dumps.
  int asked(Asked what) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend class FakeConnectionSocket;
  friend class FakeMonitorSocket;
  using Datagram = std::vector<std::byte>;

  std::deque<Datagram> Answer(netlink::Bytes request) ABSL_LOCKS_EXCLUDED(mutex_);
  void AnswerLinks(std::deque<Datagram>& answers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AnswerLink(netlink::Bytes request, std::deque<Datagram>& answers)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AnswerBridgeVlans(std::deque<Datagram>& answers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AnswerAddrs(netlink::Bytes request, std::deque<Datagram>& answers)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Datagram Tell(const FakeLink& link, uint16_t flags) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Announce(const FakeMessage& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WakeListener() const;

  struct KeptAddr {
    FakeAddr addr;
    absl::Time put_at;
  };

  const int event_fd_;
  mutable Mutex mutex_;
  std::map<int32_t, FakeLink> links_ ABSL_GUARDED_BY(mutex_);
  std::vector<KeptAddr> addrs_ ABSL_GUARDED_BY(mutex_);
  std::deque<Datagram> events_ ABSL_GUARDED_BY(mutex_);
  bool overrun_ ABSL_GUARDED_BY(mutex_) = false;
  bool monitor_fails_ ABSL_GUARDED_BY(mutex_) = false;
  bool monitors_refused_ ABSL_GUARDED_BY(mutex_) = false;
  int interruptions_ ABSL_GUARDED_BY(mutex_) = 0;
  int32_t hidden_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<Asked, int> asked_ ABSL_GUARDED_BY(mutex_);
  uint64_t packets_ ABSL_GUARDED_BY(mutex_) = 0;
  Hook before_answer_ ABSL_GUARDED_BY(mutex_);
  Hook after_answer_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_TESTING_FAKE_KERNEL_H_
