#include "server/rpc/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <array>
#include <thread>  // NOLINT(build/c++11)
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "linkvane/v1/network_state_service.grpc.pb.h"
#include "server/rpc/get.h"
#include "server/rpc/health.h"
#include "server/rpc/list.h"
#include "server/rpc/tag.h"
#include "server/rpc/unary_call.h"
#include "server/rpc/watch_call.h"

namespace linkvane::server {
namespace {

using State = linkvane::v1::NetworkStateService;
using StateService = State::WithRawMethod_ListInterfaces<
    State::WithRawMethod_GetInterface<State::WithRawMethod_ListAddrs<
        State::WithRawMethod_Watch<State::WithRawMethod_GetServerInfo<State::Service>>>>>;
using HealthProto = grpc::health::v1::Health;
using HealthService =
    HealthProto::WithRawMethod_Check<HealthProto::WithRawMethod_Watch<HealthProto::Service>>;

// A dump keeps a thread busy for as long as the kernel takes, and there can be one for each table:
// one thread more answers what needs none.
constexpr int kThreads = 4;

// Calls of a method that can be taken over before a thread gets to them. What waits in gRPC instead
// is lost when the server shuts down.
constexpr int kAccepting = 64;

constexpr int kReflectionThreads = 8;

// How long nothing may run before the server counts as drained.
constexpr absl::Duration kQuiet = absl::Milliseconds(250);

// The largest request: filters with many names.
constexpr int kMostRequestBytes = 1 << 20;

// For clients on the same node or a stable network: they may ping every ten seconds, without a call
// as well, and one that is dead is noticed within half a minute.
void SetKeepalive(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 9'000);
}

}  // namespace

class GrpcServer::Methods {
 public:
  Methods(Node& node, std::unique_ptr<Listener> listener)
      : node_(node), listener_(std::move(listener)) {}

  absl::Status Start() {
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::EnableDefaultHealthCheckService(false);
    grpc::ServerBuilder builder;
    builder.RegisterService(&state_);
    builder.RegisterService(&health_service_);
    builder.SetMaxReceiveMessageSize(kMostRequestBytes);
    // For the reflection service, the only one that gRPC serves with threads of its own.
    builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
    builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
    builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 1);
    builder.SetSyncServerOption(grpc::ServerBuilder::CQ_TIMEOUT_MSEC, 3'600'000);
    // Each of its streams holds one.
    grpc::ResourceQuota quota("linkvaned");
    quota.SetMaxThreads(kReflectionThreads);
    builder.SetResourceQuota(quota);
    SetKeepalive(builder);
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        grpc::InsecureServerCredentials());
    queue_ = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) return absl::UnavailableError("gRPC did not start");

    AcceptAll();
    for (int i = 0; i < kThreads; ++i) {
      threads_.emplace_back([this] {
        void* tag = nullptr;
        bool ok = false;
        while (queue_->Next(&tag, &ok)) static_cast<Tag*>(tag)->Proceed(ok);
      });
    }
    listener_->Start([this](int listener_fd, int fd) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.listener_fd = listener_fd;
      connection.fd = fd;
      acceptor_->HandleNewConnection(&connection);
    });
    return absl::OkStatus();
  }

  uint64_t refused_connections() const { return listener_->refused(); }

  void Drain(absl::Time deadline) {
    listener_->Stop();
    health_.EndAll();
    watch_->EndAll();
    // gRPC's own Shutdown() waits until clients have closed their connections, also idle ones, and
    // refuses calls that it has read but not handed over. So it is called when all calls have
    // ended.
    // One may still be on its way from a connection to us, so it has to be quiet for a while.
    absl::Time busy = absl::Now();
    for (absl::Time now = busy; now < deadline && now < busy + kQuiet; now = absl::Now()) {
      if (Running()) busy = now;
      absl::SleepFor(absl::Milliseconds(5));
    }
  }

  void Shutdown(absl::Time deadline) {
    const absl::Time soon = absl::Now() + kQuiet;
    server_->Shutdown(absl::ToChronoTime(Running() ? deadline : std::min(soon, deadline)));
    queue_->Shutdown();
    for (std::thread& thread : threads_) thread.join();
    server_ = nullptr;
    listener_ = nullptr;
  }

  Health& health() { return health_; }

 private:
  using Context = grpc::ServerContext;
  using Buffer = grpc::ByteBuffer;
  using UnaryWriter = grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>;

  std::array<UnaryCall::Method*, 5> UnaryMethods() {
    return {&list_interfaces_, &get_interface_, &list_addrs_, &get_server_info_, &health_check_};
  }

  bool Running() {
    return watch_->open() > 0 ||
           std::ranges::any_of(UnaryMethods(),
                               [](const UnaryCall::Method* method) { return method->running > 0; });
  }

  void AcceptAll() {
    grpc::ServerCompletionQueue* const q = queue_.get();
    list_interfaces_.accept = [this, q](Context* c, Buffer* r, UnaryWriter* w, void* tag) {
      state_.RequestListInterfaces(c, r, w, q, q, tag);
    };
    list_interfaces_.handler = [this](UnaryCall& call) { ListInterfaces(node_, call); };
    get_interface_.accept = [this, q](Context* c, Buffer* r, UnaryWriter* w, void* tag) {
      state_.RequestGetInterface(c, r, w, q, q, tag);
    };
    get_interface_.handler = [this](UnaryCall& call) { GetInterface(node_, call); };
    list_addrs_.accept = [this, q](Context* c, Buffer* r, UnaryWriter* w, void* tag) {
      state_.RequestListAddrs(c, r, w, q, q, tag);
    };
    list_addrs_.handler = [this](UnaryCall& call) { ListAddrs(node_, call); };
    get_server_info_.accept = [this, q](Context* c, Buffer* r, UnaryWriter* w, void* tag) {
      state_.RequestGetServerInfo(c, r, w, q, q, tag);
    };
    get_server_info_.handler = [this](UnaryCall& call) { GetServerInfo(node_, call); };
    health_check_.accept = [this, q](Context* c, Buffer* r, UnaryWriter* w, void* tag) {
      health_service_.RequestCheck(c, r, w, q, q, tag);
    };
    health_check_.handler = [this](UnaryCall& call) { health_.Check(call); };
    for (UnaryCall::Method* method : UnaryMethods()) {
      for (int i = 0; i < kAccepting; ++i) UnaryCall::AcceptNext(*method);
    }
    watch_ = std::make_unique<WatchMethod>(
        node_, *queue_, [this, q](Context* c, Buffer* r, WatchMethod::Writer* w, void* tag) {
          state_.RequestWatch(c, r, w, q, q, tag);
        });
    watch_->AcceptNext();
    health_.AcceptNextWatch([this, q](Context* c, Buffer* r, Health::Writer* w, void* tag) {
      health_service_.RequestWatch(c, r, w, q, q, tag);
    });
  }

  Node& node_;
  std::unique_ptr<Listener> listener_;
  StateService state_;
  HealthService health_service_;
  Health health_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  UnaryCall::Method list_interfaces_;
  UnaryCall::Method get_interface_;
  UnaryCall::Method list_addrs_;
  UnaryCall::Method get_server_info_;
  UnaryCall::Method health_check_;
  std::unique_ptr<WatchMethod> watch_;
  std::vector<std::thread> threads_;
};

GrpcServer::GrpcServer(Node& node, std::unique_ptr<Listener> listener)
    : methods_(std::make_unique<Methods>(node, std::move(listener))) {}

GrpcServer::~GrpcServer() = default;

absl::Status GrpcServer::Start() { return methods_->Start(); }

void GrpcServer::SetServing(bool serving) { methods_->health().SetServing(serving); }

uint64_t GrpcServer::refused_connections() const { return methods_->refused_connections(); }

void GrpcServer::Drain(absl::Time deadline) { methods_->Drain(deadline); }

void GrpcServer::Shutdown(absl::Time deadline) { methods_->Shutdown(deadline); }

}  // namespace linkvane::server
