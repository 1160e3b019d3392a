#include "client/watch_stream.h"

#include <utility>

#include "client/rpc_status.h"
#include "client/watch_call.h"

namespace linkvane::client {

WatchStream::WatchStream(std::unique_ptr<Call> call) : call_(std::move(call)) {}

WatchStream::WatchStream(WatchStream&& other) noexcept = default;

WatchStream::~WatchStream() {
  if (call_ != nullptr && !call_->finished) (void)Finish();
}

bool WatchStream::Next(v1::WatchResponse* response) {
  if (call_->ended) return false;
  if (call_->reader == nullptr) call_->reader = call_->start(&call_->context);
  call_->ended = !call_->reader->Read(response);
  return !call_->ended;
}

void WatchStream::Cancel() { call_->context.TryCancel(); }

absl::Status WatchStream::Finish() {
  if (!call_->ended) Cancel();
  call_->ended = true;
  call_->finished = true;
  if (call_->reader == nullptr) return absl::CancelledError("the watch was ended before it began");
  return internal::FromGrpc(call_->reader->Finish(), *call_->channel);
}

}  // namespace linkvane::client
