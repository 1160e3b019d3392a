// One Watch stream: writes what its subscription has to say, as the reader takes it.
//
// Made waiting for a call; once one comes, the next is made. It lives as long as operations on the
// completion queue are outstanding, each of which holds a reference.
#ifndef LINKVANE_SERVER_RPC_WATCH_CALL_H_
#define LINKVANE_SERVER_RPC_WATCH_CALL_H_

#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "netlink/mutex.h"
#include "server/rpc/node.h"
#include "server/rpc/tag.h"
#include "server/state/subscription.h"
#include "server/state/subscriptions.h"

namespace linkvane::server {

class WatchCall;

// The method: how its calls are accepted, and all that are open.
class WatchMethod {
 public:
  using Writer = grpc::ServerAsyncWriter<grpc::ByteBuffer>;
  using Accept = std::function<void(grpc::ServerContext*, grpc::ByteBuffer*, Writer*, void* tag)>;

  WatchMethod(Node& node, grpc::ServerCompletionQueue& queue, Accept accept)
      : node_(node), queue_(queue), accept_(std::move(accept)) {}

  void AcceptNext();

  // Ends all streams: each gets what it still has to be told, a bookmark, and UNAVAILABLE. New ones
  // get UNAVAILABLE at once.
  void EndAll() ABSL_LOCKS_EXCLUDED(mutex_);

  // Streams that are open.
  size_t open() ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    return open_.size();
  }

 private:
  friend class WatchCall;

  Node& node_;
  grpc::ServerCompletionQueue& queue_;
  const Accept accept_;
  Mutex mutex_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<WatchCall*> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_WATCH_CALL_H_
