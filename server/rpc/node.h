// What all calls share: the state and those who keep it, and who and where this server is.
#ifndef LINKVANE_SERVER_RPC_NODE_H_
#define LINKVANE_SERVER_RPC_NODE_H_

#include <cstddef>
#include <string>

#include "absl/time/time.h"
#include "server/rpc/page_store.h"
#include "server/state/live_values.h"
#include "server/state/observer.h"
#include "server/state/refresher.h"
#include "server/state/subscriptions.h"

namespace linkvane::server {

struct Node {
  Observer& observer;
  Refresher& refresher;
  LiveValues& live_values;
  Subscriptions& subscriptions;
  PageStore& pages;

  std::string name;
  std::string kernel_release;
  absl::Time started_at;
  absl::Duration stall_timeout;
  absl::Duration audit_interval;
  size_t pool_size = 0;
  size_t max_connections = 0;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_NODE_H_
