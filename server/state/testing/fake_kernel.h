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
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "netlink/connection.h"
#include "netlink/monitor.h"
#include "netlink/mutex.h"
#include "netlink/socket.h"

namespace linkvane::server {

struct FakeLink {
  int32_t index = 0;
  std::string name;
  uint32_t mtu = 1500;
  std::string kind = {};
  uint32_t carrier_changes = 0;
  int32_t master = 0;
};

struct FakeAddr {
  int32_t index = 0;
  uint32_t ipv4 = 0;  // Host byte order.
  uint8_t prefix_length = 24;
};

using Datagram = std::vector<std::byte>;

// The messages that a kernel sends of them.
Datagram LinkMessage(uint16_t type, const FakeLink& link, uint16_t flags = 0);
Datagram AddrMessage(uint16_t type, const FakeAddr& addr, uint16_t flags = 0);

// Any thread.
class FakeKernel {
 public:
  FakeKernel();
  ~FakeKernel();

  absl::StatusOr<std::unique_ptr<netlink::Connection>> OpenConnection();
  absl::StatusOr<std::unique_ptr<netlink::Monitor>> OpenMonitor();

  // Change what there is. With `announce`, listeners hear of it.
  void Put(const FakeLink& link, bool announce = true) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(int32_t index, bool announce = true) ABSL_LOCKS_EXCLUDED(mutex_);
  void Put(const FakeAddr& addr, bool announce = true) ABSL_LOCKS_EXCLUDED(mutex_);

  // Loses the events that nobody has read, and says so.
  void Overrun() ABSL_LOCKS_EXCLUDED(mutex_);
  // Flags the next link dumps as interrupted, and leaves out the last link.
  void InterruptLinkDumps(int count) ABSL_LOCKS_EXCLUDED(mutex_);
  // Called, without a lock, when a whole dump of links begins: may wait.
  void OnLinkDump(std::function<void()> hook) ABSL_LOCKS_EXCLUDED(mutex_);

  int link_dumps() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend class FakeConnectionSocket;
  friend class FakeMonitorSocket;

  std::deque<Datagram> Answer(netlink::Bytes request) ABSL_LOCKS_EXCLUDED(mutex_);
  void Announce(Datagram event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int event_fd_;
  mutable Mutex mutex_;
  std::map<int32_t, FakeLink> links_ ABSL_GUARDED_BY(mutex_);
  std::vector<FakeAddr> addrs_ ABSL_GUARDED_BY(mutex_);
  std::deque<Datagram> events_ ABSL_GUARDED_BY(mutex_);
  bool overrun_ ABSL_GUARDED_BY(mutex_) = false;
  int interruptions_ ABSL_GUARDED_BY(mutex_) = 0;
  int link_dumps_ ABSL_GUARDED_BY(mutex_) = 0;
  std::function<void()> on_link_dump_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_TESTING_FAKE_KERNEL_H_
