#ifndef LINKVANE_CLIENT_WATCH_CALL_H_
#define LINKVANE_CLIENT_WATCH_CALL_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <functional>
#include <memory>

#include "client/watch_stream.h"
#include "linkvane/v1/network_state_service.grpc.pb.h"

namespace linkvane::client {

// The gRPC side of a WatchStream; not part of the library's interface.
struct WatchStream::Call {
  std::shared_ptr<grpc::Channel> channel;
  grpc::ClientContext context;  // outlives reader
  // Begins the call, and waits for the connection; to be called once.
  std::function<std::unique_ptr<grpc::ClientReader<v1::WatchResponse>>(grpc::ClientContext*)> start;
  std::unique_ptr<grpc::ClientReader<v1::WatchResponse>> reader;  // null before the first Next
  bool ended = false;                                             // Next answered false
  bool finished = false;                                          // Finish was called
};

}  // namespace linkvane::client

#endif  // LINKVANE_CLIENT_WATCH_CALL_H_
