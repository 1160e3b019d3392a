#include "client/client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <utility>

#include "client/errors.h"
#include "client/rpc_status.h"
#include "client/watch_call.h"
#include "linkvane/v1/network_state_service.grpc.pb.h"

namespace linkvane::client {
namespace {

// A listing that expires again and again is read too slowly; that is better said than repeated.
constexpr int kMaxRestarts = 3;

void SetDeadline(absl::Time deadline, grpc::ClientContext* context) {
  if (deadline != absl::InfiniteFuture()) context->set_deadline(absl::ToChronoTime(deadline));
}

auto* MutableItems(v1::ListInterfacesResponse* response) { return response->mutable_interfaces(); }
auto* MutableItems(v1::ListAddrsResponse* response) { return response->mutable_addrs(); }

// Reads one listing from its first page to its last. `list` asks for one page.
template <typename Request, typename Response, typename List>
absl::Status ListAllPages(const List& list, Request* request, Response* all) {
  request->clear_page_token();
  for (bool first = true;; first = false) {
    Response page;
    if (absl::Status status = list(*request, &page); !status.ok()) return status;
    request->set_page_token(page.next_page_token());
    if (first) {
      *all = std::move(page);
      all->clear_next_page_token();
    } else {
      for (auto& item : *MutableItems(&page)) MutableItems(all)->Add(std::move(item));
    }
    if (request->page_token().empty()) return absl::OkStatus();
  }
}

}  // namespace

struct Client::Connection {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::NetworkStateService::Stub> stub;

  // Makes one unary call; `method` is a member of the stub.
  template <typename Method, typename Request, typename Response>
  absl::Status Call(Method method, const Request& request, absl::Time deadline,
                    Response* response) const {
    grpc::ClientContext context;
    SetDeadline(deadline, &context);
    return internal::FromGrpc((stub.get()->*method)(&context, request, response), *channel);
  }

  template <typename Response, typename Method, typename Request>
  absl::StatusOr<Response> ListAll(Method method, Request request, absl::Time deadline) const {
    const auto list = [&](const Request& page_request, Response* page) {
      return Call(method, page_request, deadline, page);
    };
    Response all;
    for (int restarts = 0;; ++restarts) {
      absl::Status status = ListAllPages(list, &request, &all);
      if (status.ok()) return all;
      const bool expired =
          absl::IsAborted(status) && GetErrorReason(status) == "PAGE_TOKEN_EXPIRED";
      if (!expired || restarts == kMaxRestarts) return status;
    }
  }
};

Client::Client(std::shared_ptr<Connection> connection, int page_bytes)
    : connection_(std::move(connection)), page_bytes_(page_bytes) {}

Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Client Client::Connect(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(options.max_receive_bytes);
  // The server is on this node or in this cluster: $http_proxy is not about it.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  auto connection = std::make_shared<Connection>();
  connection->channel =
      grpc::CreateCustomChannel(options.target, grpc::InsecureChannelCredentials(), arguments);
  connection->stub = v1::NetworkStateService::NewStub(connection->channel);
  return Client(std::move(connection), options.page_bytes);
}

absl::StatusOr<v1::ListInterfacesResponse> Client::ListInterfaces(
    v1::ListInterfacesRequest request, const CallOptions& options) const {
  if (request.max_response_bytes() == 0) request.set_max_response_bytes(page_bytes_);
  return connection_->ListAll<v1::ListInterfacesResponse>(
      &v1::NetworkStateService::Stub::ListInterfaces, std::move(request),
      absl::Now() + options.timeout);
}

absl::StatusOr<v1::ListAddrsResponse> Client::ListAddrs(v1::ListAddrsRequest request,
                                                        const CallOptions& options) const {
  if (request.max_response_bytes() == 0) request.set_max_response_bytes(page_bytes_);
  return connection_->ListAll<v1::ListAddrsResponse>(
      &v1::NetworkStateService::Stub::ListAddrs, std::move(request), absl::Now() + options.timeout);
}

absl::StatusOr<v1::GetInterfaceResponse> Client::GetInterface(
    const v1::GetInterfaceRequest& request, const CallOptions& options) const {
  v1::GetInterfaceResponse response;
  absl::Status status = connection_->Call(&v1::NetworkStateService::Stub::GetInterface, request,
                                          absl::Now() + options.timeout, &response);
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<v1::GetServerInfoResponse> Client::GetServerInfo(
    const v1::GetServerInfoRequest& request, const CallOptions& options) const {
  v1::GetServerInfoResponse response;
  absl::Status status = connection_->Call(&v1::NetworkStateService::Stub::GetServerInfo, request,
                                          absl::Now() + options.timeout, &response);
  if (!status.ok()) return status;
  return response;
}

WatchStream Client::Watch(const v1::WatchRequest& request, const CallOptions& options) const {
  auto call = std::make_unique<WatchStream::Call>();
  call->channel = connection_->channel;
  SetDeadline(absl::Now() + options.timeout, &call->context);
  call->start = [connection = connection_, request](grpc::ClientContext* context) {
    return connection->stub->Watch(context, request);
  };
  return WatchStream(std::move(call));
}

}  // namespace linkvane::client
