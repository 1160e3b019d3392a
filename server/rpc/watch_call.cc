#include "server/rpc/watch_call.h"

#include <google/protobuf/duration.pb.h>
#include <grpc/grpc.h>

#include <algorithm>
#include <utility>

#include "linkvane/v1/watch.pb.h"
#include "server/rpc/answer_by.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/error.h"
#include "server/rpc/watch_request.h"
#include "server/state/proto_time.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;

// What is overdue but cannot be done yet is looked at again after this.
constexpr absl::Duration kShortestAlarm = absl::Milliseconds(50);

grpc::Status ShuttingDown() {
  return Error(grpc::StatusCode::UNAVAILABLE, "the server is shutting down",
               {.reason = "SHUTTING_DOWN", .metadata = {}, .retry_delay = absl::Seconds(1)});
}

}  // namespace

// Threads: completion-queue threads, one at a time for each kind of operation, and whoever calls
// Wake(). `mutex_` is taken after none of ours and before a subscription's; the state's lock is
// taken without it.
class WatchCall final : public Watcher, public std::enable_shared_from_this<WatchCall> {
 public:
  explicit WatchCall(WatchMethod& method)
      : method_(method),
        node_(method.node_),
        writer_(&context_),
        accepted_(&WatchCall::OnAccepted),
        done_(&WatchCall::OnDone),
        written_(&WatchCall::OnWritten),
        finished_(&WatchCall::OnFinished),
        rang_(&WatchCall::OnAlarm) {}

  void Accept() {
    // Comes back only for a call that was accepted.
    done_.call = shared_from_this();
    context_.AsyncNotifyWhenDone(&done_);
    accepted_.call = shared_from_this();
    method_.accept_(&context_, &request_, &writer_, &accepted_);
  }

  void Wake() override {
    MutexLock lock(mutex_);
    PumpLocked();
  }

  // Says what there is left to say, and ends the stream.
  void End() {
    if (subscription_ != nullptr) node_.subscriptions.Remove(subscription_.get());
    MutexLock lock(mutex_);
    ending_ = true;
    PumpLocked();
  }

 private:
  // An operation that is outstanding: keeps the call alive until it has ended.
  struct Operation final : Tag {
    explicit Operation(void (WatchCall::*handler)(bool)) : handle(handler) {}
    void Proceed(bool ok) override {
      const std::shared_ptr<WatchCall> held = std::move(call);
      ((*held).*handle)(ok);
    }
    void (WatchCall::*handle)(bool);
    std::shared_ptr<WatchCall> call;
  };

  void OnAccepted(bool ok) {
    if (!ok) {  // The server shuts down.
      done_.call = nullptr;
      return;
    }
    method_.AcceptNext();
    if (auto status = CheckWatch(request_, arguments_)) return Finish(*status);
    // Add() decides; but who cannot be taken anyway is not worth a dump.
    if (node_.subscriptions.size() >= node_.subscriptions.most()) return Finish(TooManyWatchers());
    std::vector<TableId> tables;
    // Taken from the back: links first, as addresses show their names.
    if (arguments_.options.addrs) tables = {TableId::kAddrs6, TableId::kAddrs4};
    tables.push_back(TableId::kLinks);
    node_.refresher.RefreshAll(tables, AnswerBy(context_),
                               [self = shared_from_this()](const Refresher::Result& result) {
                                 self->Begin(result.status);
                               });
  }

  // The state is fresh: join its snapshot and the changes from there on.
  void Begin(const absl::Status& status) {
    if (!status.ok()) return Finish(Error(status));
    std::optional<grpc::Status> error;
    node_.observer.Read([&](NetworkState& state) {
      if (arguments_.resume.has_value()) {
        error =
            CheckResume(*arguments_.resume, state.epoch(), state.revision(), arguments_.options);
        if (error.has_value()) return;
      }
      subscription_ = std::make_unique<Subscription>(arguments_.options, state.epoch(),
                                                     EncodeCreated(state.revision()));
      subscription_->Begin(state.Interfaces(), state.Addrs(), state.revision());
      if (!node_.subscriptions.Add(subscription_.get(), weak_from_this())) {
        error = TooManyWatchers();
      }
    });
    if (error.has_value()) return Finish(*error);
    bool ending = false;
    {
      MutexLock lock(method_.mutex_);
      ending = method_.ending_;
      if (!ending) method_.open_.insert(this);
    }
    MutexLock lock(mutex_);
    begun_ = true;
    ending_ = ending_ || ending;
    last_write_ = absl::Now();
    SetAlarmLocked();
    PumpLocked();
  }

  std::string EncodeCreated(uint64_t revision) const {
    pb::WatchCreated created;
    created.mutable_revision()->set_epoch(node_.observer.epoch());
    created.mutable_revision()->set_number(revision);
    created.set_node_name(node_.name);
    if (const auto cookie = node_.observer.netns_cookie()) created.set_netns_cookie(*cookie);
    created.set_max_watchers(static_cast<uint32_t>(node_.subscriptions.most()));
    *created.mutable_stall_timeout() = ToProto(node_.stall_timeout);
    *created.mutable_bookmark_interval() = ToProto(arguments_.bookmark_interval);
    return created.SerializeAsString();
  }

  grpc::Status TooManyWatchers() const {
    return Error(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many watchers",
                 {.reason = "TOO_MANY_WATCHERS",
                  .metadata = {{"max_watchers", std::to_string(node_.subscriptions.most())}},
                  .retry_delay = absl::Seconds(1)});
  }

  // Writes the next message, if there is one and none is under way.
  void PumpLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!begun_ || writing_ || finishing_) return;
    if (gone_) return FinishLocked(grpc::Status(grpc::StatusCode::CANCELLED, "cancelled"));
    std::string message;
    if (subscription_->Next(message)) return WriteLocked(std::move(message));
    if (subscription_->wants_snapshot()) {
      // The state's lock comes first, so this takes another turn on the queue.
      snapshot_due_ = true;
      alarm_.Cancel();
      return;
    }
    if (!ending_) return;
    finishing_ = true;
    if (subscription_->Bookmark(message)) {
      finished_.call = shared_from_this();
      writer_.WriteAndFinish(ToBuffer(std::move(message)), grpc::WriteOptions(), ShuttingDown(),
                             &finished_);
    } else {
      finished_.call = shared_from_this();
      writer_.Finish(ShuttingDown(), &finished_);
    }
  }

  void WriteLocked(std::string message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    writing_ = true;
    last_write_ = absl::Now();
    written_.call = shared_from_this();
    outgoing_ = ToBuffer(std::move(message));
    writer_.Write(outgoing_, &written_);
  }

  void OnWritten(bool ok) {
    MutexLock lock(mutex_);
    writing_ = false;
    outgoing_.Clear();
    if (!ok) gone_ = true;
    PumpLocked();
  }

  // The call is over, one way or the other.
  void OnDone(bool /*ok*/) {
    MutexLock lock(mutex_);
    gone_ = true;
    alarm_.Cancel();
    PumpLocked();
  }

  void SetAlarmLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (finishing_ || gone_) return;
    const absl::Time now = absl::Now();
    absl::Time due = last_write_ + arguments_.bookmark_interval;
    // No bookmark can overtake what is being written; then only a stall is waited for.
    if (writing_ && due <= now) due = last_write_ + node_.stall_timeout;
    // A write may begin, and stall, while the alarm waits for the next bookmark.
    due = std::min(due, now + node_.stall_timeout);
    rang_.call = shared_from_this();
    alarm_.Set(&method_.queue_, absl::ToChronoTime(std::max(due, now + kShortestAlarm)), &rang_);
  }

  void OnAlarm(bool /*ok*/) {
    bool resnapshot = false;
    {
      MutexLock lock(mutex_);
      resnapshot = std::exchange(snapshot_due_, false);
    }
    if (resnapshot) {
      node_.observer.Read([&](NetworkState& state) {
        subscription_->Begin(state.Interfaces(), state.Addrs(), state.revision());
      });
    }
    MutexLock lock(mutex_);
    const absl::Time now = absl::Now();
    if (writing_ && now - last_write_ >= node_.stall_timeout && !stalled_) {
      stalled_ = true;
      // The write may never complete, so no status can be sent behind it.
      grpc_call_cancel_with_status(context_.c_call(), GRPC_STATUS_RESOURCE_EXHAUSTED,
                                   "the stream took nothing for the stall timeout", nullptr);
    }
    std::string bookmark;
    if (begun_ && !writing_ && !finishing_ && !gone_ &&
        now - last_write_ >= arguments_.bookmark_interval && subscription_->Bookmark(bookmark)) {
      WriteLocked(std::move(bookmark));
    }
    SetAlarmLocked();
    PumpLocked();
  }

  void Finish(const grpc::Status& status) {
    MutexLock lock(mutex_);
    FinishLocked(status);
  }

  void FinishLocked(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (finishing_) return;
    finishing_ = true;
    finished_.call = shared_from_this();
    writer_.Finish(status, &finished_);
  }

  void OnFinished(bool /*ok*/) {
    {
      MutexLock lock(method_.mutex_);
      method_.open_.erase(this);
    }
    if (subscription_ != nullptr) node_.subscriptions.Remove(subscription_.get());
    MutexLock lock(mutex_);
    alarm_.Cancel();
  }

  WatchMethod& method_;
  Node& node_;
  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  WatchMethod::Writer writer_;
  WatchArguments arguments_;
  std::unique_ptr<Subscription> subscription_;
  Operation accepted_;
  Operation done_;
  Operation written_;
  Operation finished_;
  Operation rang_;

  Mutex mutex_;
  grpc::Alarm alarm_ ABSL_GUARDED_BY(mutex_);
  grpc::ByteBuffer outgoing_ ABSL_GUARDED_BY(mutex_);
  absl::Time last_write_ ABSL_GUARDED_BY(mutex_);
  bool begun_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finishing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;  // The client left, or a write failed.
  bool stalled_ ABSL_GUARDED_BY(mutex_) = false;
  bool snapshot_due_ ABSL_GUARDED_BY(mutex_) = false;
};

void WatchMethod::AcceptNext() { std::make_shared<WatchCall>(*this)->Accept(); }

void WatchMethod::EndAll() {
  std::vector<std::shared_ptr<WatchCall>> open;
  {
    MutexLock lock(mutex_);
    ending_ = true;
    for (WatchCall* call : open_) open.push_back(call->shared_from_this());
  }
  for (const auto& call : open) call->End();
}

}  // namespace linkvane::server
