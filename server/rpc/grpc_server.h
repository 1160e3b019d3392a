// The gRPC server: its methods, its threads, its connections.
//
// All methods are served as bytes on one completion queue that a few threads of our own wait on
// (see README.md beside this file for what else was tried, and measured).
#ifndef LINKVANE_SERVER_RPC_GRPC_SERVER_H_
#define LINKVANE_SERVER_RPC_GRPC_SERVER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/rpc/listener.h"
#include "server/rpc/node.h"

namespace linkvane::server {

class GrpcServer {
 public:
  // `node` has to outlive the server.
  GrpcServer(Node& node, std::unique_ptr<Listener> listener);
  ~GrpcServer();

  absl::Status Start();

  // What health checks are told.
  void SetServing(bool serving);

  // Connections that were closed at once, as there were too many.
  uint64_t refused_connections() const;

  // Takes no more connections, ends the streams, and waits for calls to finish, until `deadline`.
  void Drain(absl::Time deadline);

  // Ends what is left at `deadline`, and the threads; removes the sockets. After Drain(), and with
  // the Refresher stopped, so that nothing waits for a dump.
  void Shutdown(absl::Time deadline);

 private:
  class Methods;
  const std::unique_ptr<Methods> methods_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_GRPC_SERVER_H_
