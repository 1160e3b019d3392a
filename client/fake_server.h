#ifndef LINKVANE_CLIENT_FAKE_SERVER_H_
#define LINKVANE_CLIENT_FAKE_SERVER_H_

#include <grpcpp/server.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "linkvane/v1/network_state_service.grpc.pb.h"

namespace linkvane::client {

// A NetworkStateService for tests, in this process, on a Unix socket in a directory of its own. It
// answers what it was given, filters nothing, and can be told to fail. Set the public members
// before the first call.
class FakeServer : private v1::NetworkStateService::Service {
 public:
  FakeServer();
  ~FakeServer() override;

  // Where it listens, as a client's target.
  const std::string& target() const { return target_; }

  // Ends all calls and closes the socket.
  void Stop();

  std::vector<v1::Interface> interfaces;
  std::vector<v1::Addr> addrs;
  int page_size = 100;               // objects in a page
  std::atomic<int> expirations = 0;  // so many second pages are answered PAGE_TOKEN_EXPIRED
  grpc::Status error;                // what every unary call answers, unless OK

  absl::Duration delay = absl::ZeroDuration();  // before each answer to a unary call

  std::vector<v1::WatchResponse> stream;  // what Watch sends
  bool keep_stream = false;               // whether it then waits for the client to end it

  std::vector<v1::ListInterfacesRequest> list_interfaces_requests() const;
  std::vector<v1::ListAddrsRequest> list_addrs_requests() const;
  std::vector<v1::GetInterfaceRequest> get_interface_requests() const;
  std::vector<v1::WatchRequest> watch_requests() const;

 private:
  grpc::Status ListInterfaces(grpc::ServerContext* context,
                              const v1::ListInterfacesRequest* request,
                              v1::ListInterfacesResponse* response) override;
  grpc::Status GetInterface(grpc::ServerContext* context, const v1::GetInterfaceRequest* request,
                            v1::GetInterfaceResponse* response) override;
  grpc::Status ListAddrs(grpc::ServerContext* context, const v1::ListAddrsRequest* request,
                         v1::ListAddrsResponse* response) override;
  grpc::Status Watch(grpc::ServerContext* context, const v1::WatchRequest* request,
                     grpc::ServerWriter<v1::WatchResponse>* writer) override;
  grpc::Status GetServerInfo(grpc::ServerContext* context, const v1::GetServerInfoRequest* request,
                             v1::GetServerInfoResponse* response) override;

  mutable absl::Mutex mutex_;
  std::vector<v1::ListInterfacesRequest> list_interfaces_requests_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::ListAddrsRequest> list_addrs_requests_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::GetInterfaceRequest> get_interface_requests_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::WatchRequest> watch_requests_ ABSL_GUARDED_BY(mutex_);

  std::string directory_;
  std::string target_;
  std::unique_ptr<grpc::Server> server_;
};

// An error as linkvaned makes it, with a google.rpc.ErrorInfo.
grpc::Status LinkvaneError(grpc::StatusCode code, const std::string& message,
                           const std::string& reason, const std::string& field = "",
                           absl::Duration retry_delay = absl::ZeroDuration());

}  // namespace linkvane::client

#endif  // LINKVANE_CLIENT_FAKE_SERVER_H_
