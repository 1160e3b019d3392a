#include "client/fake_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "absl/time/clock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace linkvane::client {
namespace {

constexpr char kEpoch[] = "fake";
constexpr uint64_t kRevision = 42;

// Answers one page of `items`; the token is the number of the page's first item.
template <typename Request, typename Response, typename Item, typename Add>
grpc::Status AnswerPage(const std::vector<Item>& items, int page_size,
                        std::atomic<int>* expirations, const Request& request, Response* response,
                        const Add& add) {
  size_t first = 0;
  if (!request.page_token().empty()) {
    first = std::stoul(request.page_token());
    if (expirations->fetch_sub(1) > 0) {
      return LinkvaneError(grpc::StatusCode::ABORTED, "the listing is gone", "PAGE_TOKEN_EXPIRED",
                           "page_token");
    }
  }
  const size_t size = request.page_size() > 0 ? request.page_size() : page_size;
  const size_t end = std::min(items.size(), first + size);
  for (size_t i = first; i < end; ++i) add(items[i]);
  if (end < items.size()) response->set_next_page_token(std::to_string(end));
  response->mutable_revision()->set_epoch(kEpoch);
  response->mutable_revision()->set_number(kRevision);
  return grpc::Status::OK;
}

}  // namespace

FakeServer::FakeServer() {
  char directory[] = "/tmp/linkvane_test.XXXXXX";
  if (mkdtemp(directory) == nullptr) {
    std::perror("mkdtemp");
    std::abort();
  }
  directory_ = directory;
  target_ = "unix:" + directory_ + "/socket";
  grpc::ServerBuilder builder;
  builder.AddListeningPort(target_, grpc::InsecureServerCredentials());
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

FakeServer::~FakeServer() {
  Stop();
  unlink((directory_ + "/socket").c_str());
  rmdir(directory_.c_str());
}

void FakeServer::Stop() {
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

std::vector<v1::ListInterfacesRequest> FakeServer::list_interfaces_requests() const {
  absl::MutexLock lock(&mutex_);
  return list_interfaces_requests_;
}

std::vector<v1::ListAddrsRequest> FakeServer::list_addrs_requests() const {
  absl::MutexLock lock(&mutex_);
  return list_addrs_requests_;
}

std::vector<v1::GetInterfaceRequest> FakeServer::get_interface_requests() const {
  absl::MutexLock lock(&mutex_);
  return get_interface_requests_;
}

std::vector<v1::WatchRequest> FakeServer::watch_requests() const {
  absl::MutexLock lock(&mutex_);
  return watch_requests_;
}

grpc::Status FakeServer::ListInterfaces(grpc::ServerContext* /*context*/,
                                        const v1::ListInterfacesRequest* request,
                                        v1::ListInterfacesResponse* response) {
  {
    absl::MutexLock lock(&mutex_);
    list_interfaces_requests_.push_back(*request);
  }
  absl::SleepFor(delay);
  if (!error.ok()) return error;
  return AnswerPage(interfaces, page_size, &expirations, *request, response,
                    [&](const v1::Interface& item) { *response->add_interfaces() = item; });
}

grpc::Status FakeServer::ListAddrs(grpc::ServerContext* /*context*/,
                                   const v1::ListAddrsRequest* request,
                                   v1::ListAddrsResponse* response) {
  {
    absl::MutexLock lock(&mutex_);
    list_addrs_requests_.push_back(*request);
  }
  absl::SleepFor(delay);
  if (!error.ok()) return error;
  return AnswerPage(addrs, page_size, &expirations, *request, response,
                    [&](const v1::Addr& item) { *response->add_addrs() = item; });
}

grpc::Status FakeServer::GetInterface(grpc::ServerContext* /*context*/,
                                      const v1::GetInterfaceRequest* request,
                                      v1::GetInterfaceResponse* response) {
  {
    absl::MutexLock lock(&mutex_);
    get_interface_requests_.push_back(*request);
  }
  absl::SleepFor(delay);
  if (!error.ok()) return error;
  for (const v1::Interface& interface : interfaces) {
    if (request->has_name() ? interface.name() == request->name()
                            : interface.index() == request->index()) {
      *response->mutable_interface() = interface;
      return grpc::Status::OK;
    }
  }
  return LinkvaneError(grpc::StatusCode::NOT_FOUND, "no such interface", "INTERFACE_NOT_FOUND");
}

grpc::Status FakeServer::Watch(grpc::ServerContext* context, const v1::WatchRequest* request,
                               grpc::ServerWriter<v1::WatchResponse>* writer) {
  {
    absl::MutexLock lock(&mutex_);
    watch_requests_.push_back(*request);
  }
  for (const v1::WatchResponse& response : stream) {
    if (!writer->Write(response)) return grpc::Status::CANCELLED;
  }
  while (keep_stream && !context->IsCancelled()) absl::SleepFor(absl::Milliseconds(5));
  return error;
}

grpc::Status FakeServer::GetServerInfo(grpc::ServerContext* /*context*/,
                                       const v1::GetServerInfoRequest* /*request*/,
                                       v1::GetServerInfoResponse* response) {
  absl::SleepFor(delay);
  if (!error.ok()) return error;
  response->set_version("0.0.1");
  response->set_node_name("node-a");
  response->mutable_revision()->set_epoch(kEpoch);
  response->mutable_revision()->set_number(kRevision);
  response->mutable_counts()->set_interfaces(interfaces.size());
  return grpc::Status::OK;
}

grpc::Status LinkvaneError(grpc::StatusCode code, const std::string& message,
                           const std::string& reason, const std::string& field,
                           absl::Duration retry_delay) {
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  info.set_domain("linkvane");
  if (!field.empty()) (*info.mutable_metadata())["field"] = field;
  google::rpc::Status details;
  details.set_code(code);
  details.set_message(message);
  details.add_details()->PackFrom(info);
  if (retry_delay > absl::ZeroDuration()) {
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_seconds(absl::ToInt64Seconds(retry_delay));
    retry.mutable_retry_delay()->set_nanos(
        static_cast<int32_t>(absl::ToInt64Nanoseconds(retry_delay % absl::Seconds(1))));
    details.add_details()->PackFrom(retry);
  }
  return {code, message, details.SerializeAsString()};
}

}  // namespace linkvane::client
