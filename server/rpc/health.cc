#include "server/rpc/health.h"

#include <utility>
#include <vector>

#include "grpc/health/v1/health.pb.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/error.h"
#include "server/rpc/tag.h"

namespace linkvane::server {
namespace {

namespace pb = ::grpc::health::v1;

constexpr char kService[] = "linkvane.v1.NetworkStateService";

grpc::ByteBuffer Encode(int status) {
  pb::HealthCheckResponse response;
  response.set_status(static_cast<pb::HealthCheckResponse::ServingStatus>(status));
  return ToBuffer(response);
}

}  // namespace

// One Watch stream. As WatchCall, but what there is to say is only the latest status.
class HealthWatchCall final : public std::enable_shared_from_this<HealthWatchCall> {
 public:
  HealthWatchCall(Health& health, Health::AcceptWatch accept)
      : health_(health),
        accept_(std::move(accept)),
        writer_(&context_),
        accepted_(&HealthWatchCall::OnAccepted),
        done_(&HealthWatchCall::OnDone),
        written_(&HealthWatchCall::OnWritten),
        finished_(&HealthWatchCall::OnFinished) {}

  void Accept() {
    done_.call = shared_from_this();
    context_.AsyncNotifyWhenDone(&done_);
    accepted_.call = shared_from_this();
    accept_(&context_, &request_, &writer_, &accepted_);
  }

  // Writes the status if it is another than the last one told.
  void Pump() {
    int status = 0;
    bool ending = false;
    {
      MutexLock lock(health_.mutex_);
      status = health_.StatusLocked(service_);
      ending = health_.ending_;
    }
    MutexLock lock(mutex_);
    if (!open_ || writing_ || finishing_) return;
    if (!gone_ && status != told_) {
      told_ = status;
      writing_ = true;
      written_.call = shared_from_this();
      writer_.Write(Encode(status), &written_);
    } else if (gone_ || ending) {
      finishing_ = true;
      finished_.call = shared_from_this();
      writer_.Finish(Error(grpc::StatusCode::UNAVAILABLE, "the server is shutting down",
                           {.reason = "SHUTTING_DOWN", .metadata = {}}),
                     &finished_);
    }
  }

 private:
  struct Operation final : Tag {
    explicit Operation(void (HealthWatchCall::*handler)(bool)) : handle(handler) {}
    void Proceed(bool ok) override {
      const std::shared_ptr<HealthWatchCall> held = std::move(call);
      ((*held).*handle)(ok);
    }
    void (HealthWatchCall::*handle)(bool);
    std::shared_ptr<HealthWatchCall> call;
  };

  void OnAccepted(bool ok) {
    if (!ok) {
      done_.call = nullptr;
      return;
    }
    health_.AcceptNextWatch(accept_);
    pb::HealthCheckRequest request;
    (void)Parse(request_, request);  // An unreadable request asks for the whole server.
    service_ = request.service();
    {
      MutexLock lock(health_.mutex_);
      health_.open_.insert(this);
    }
    {
      // From here on it may finish, not before: the call can be over already.
      MutexLock lock(mutex_);
      open_ = true;
    }
    Pump();
  }

  void OnWritten(bool ok) {
    {
      MutexLock lock(mutex_);
      writing_ = false;
      if (!ok) gone_ = true;
    }
    Pump();
  }

  void OnDone(bool /*ok*/) {
    {
      MutexLock lock(mutex_);
      gone_ = true;
    }
    Pump();
  }

  void OnFinished(bool /*ok*/) {
    MutexLock lock(health_.mutex_);
    health_.open_.erase(this);
  }

  Health& health_;
  const Health::AcceptWatch accept_;
  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  Health::Writer writer_;
  std::string service_;
  Operation accepted_;
  Operation done_;
  Operation written_;
  Operation finished_;

  Mutex mutex_;
  int told_ ABSL_GUARDED_BY(mutex_) = -1;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finishing_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;
};

int Health::StatusLocked(const std::string& service) const {
  if (!service.empty() && service != kService) return pb::HealthCheckResponse::SERVICE_UNKNOWN;
  return serving_ ? pb::HealthCheckResponse::SERVING : pb::HealthCheckResponse::NOT_SERVING;
}

std::vector<std::shared_ptr<HealthWatchCall>> Health::Open() {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<HealthWatchCall>> open;
  for (HealthWatchCall* call : open_) open.push_back(call->shared_from_this());
  return open;
}

void Health::SetServing(bool serving) {
  {
    MutexLock lock(mutex_);
    if (serving_ == serving) return;
    serving_ = serving;
  }
  for (const auto& call : Open()) call->Pump();
}

void Health::EndAll() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  for (const auto& call : Open()) call->Pump();
}

void Health::Check(UnaryCall& call) {
  pb::HealthCheckRequest request;
  if (!ParseRequest(call, request)) return;
  int status = 0;
  {
    MutexLock lock(mutex_);
    status = StatusLocked(request.service());
  }
  if (status == pb::HealthCheckResponse::SERVICE_UNKNOWN) {
    return call.Fail(
        Error(grpc::StatusCode::NOT_FOUND, "no such service",
              {.reason = "SERVICE_NOT_FOUND", .metadata = {{"service", request.service()}}}));
  }
  call.Reply(Encode(status));
}

void Health::AcceptNextWatch(AcceptWatch accept) {
  std::make_shared<HealthWatchCall>(*this, std::move(accept))->Accept();
}

}  // namespace linkvane::server
