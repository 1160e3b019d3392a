// grpc.health.v1.Health, for "" and the service's name.
//
// Our own, since the one built into gRPC runs on its callback API, which wakes an idle process
// several times a second.
#ifndef LINKVANE_SERVER_RPC_HEALTH_H_
#define LINKVANE_SERVER_RPC_HEALTH_H_

#include <grpcpp/completion_queue.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "netlink/mutex.h"
#include "server/rpc/unary_call.h"

namespace linkvane::server {

class HealthWatchCall;

// Any thread.
class Health {
 public:
  using Writer = grpc::ServerAsyncWriter<grpc::ByteBuffer>;
  using AcceptWatch =
      std::function<void(grpc::ServerContext*, grpc::ByteBuffer*, Writer*, void* tag)>;

  // Changes what is told; streams hear of it.
  void SetServing(bool serving) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends all streams with UNAVAILABLE, and those that come later.
  void EndAll() ABSL_LOCKS_EXCLUDED(mutex_);

  // Check().
  void Check(UnaryCall& call);
  // Watch().
  void AcceptNextWatch(AcceptWatch accept);

 private:
  friend class HealthWatchCall;

  // A grpc.health.v1 ServingStatus.
  int StatusLocked(const std::string& service) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<std::shared_ptr<HealthWatchCall>> Open() ABSL_LOCKS_EXCLUDED(mutex_);

  Mutex mutex_;
  bool serving_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<HealthWatchCall*> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_HEALTH_H_
