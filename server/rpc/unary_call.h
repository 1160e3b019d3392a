// One unary call of a method that is served as bytes.
//
// A call waits for its request, hands it to the method's handler and is answered once, on whatever
// thread; then it deletes itself. As one starts, the next is made, so that there is always one
// waiting.
#ifndef LINKVANE_SERVER_RPC_UNARY_CALL_H_
#define LINKVANE_SERVER_RPC_UNARY_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <atomic>
#include <chrono>  // NOLINT(build/c++11)
#include <functional>

#include "absl/time/time.h"
#include "server/rpc/answer_by.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/error.h"
#include "server/rpc/tag.h"

namespace linkvane::server {

class UnaryCall final : public Tag {
 public:
  // Asks the server for the next call of the method.
  using Accept = std::function<void(grpc::ServerContext*, grpc::ByteBuffer*,
                                    grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>*, void* tag)>;
  // Has to see to it that Reply() or Fail() is called once.
  using Handler = std::function<void(UnaryCall&)>;
  // One method. Outlives its calls.
  struct Method {
    Accept accept;
    Handler handler;
    std::atomic<int> running = 0;  // Calls that came and have not ended.
  };

  static void AcceptNext(Method& method) {
    auto* const call = new UnaryCall(method);
    method.accept(&call->context_, &call->request_, &call->writer_, call);
  }

  const grpc::ByteBuffer& request() const { return request_; }

  absl::Time deadline() const { return AnswerBy(context_); }

  // Nobody waits for the answer any more.
  bool TooLate() const { return std::chrono::system_clock::now() >= context_.deadline(); }

  void Reply(const grpc::ByteBuffer& response) { writer_.Finish(response, grpc::Status::OK, this); }
  void Fail(const grpc::Status& status) { writer_.FinishWithError(status, this); }

  void Proceed(bool ok) override {
    if (finishing_ || !ok) {  // Done; or the server shuts down.
      if (finishing_) --method_.running;
      delete this;
      return;
    }
    finishing_ = true;
    ++method_.running;
    AcceptNext(method_);
    method_.handler(*this);
  }

 private:
  explicit UnaryCall(Method& method) : method_(method), writer_(&context_) {}

  Method& method_;
  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer_;
  bool finishing_ = false;
};

// Parses the request of a call; answers it with INVALID_ARGUMENT and returns false if it is
// garbage, or names a namespace that is not served.
template <typename Request>
bool ParseRequest(UnaryCall& call, Request& request) {
  if (!Parse(call.request(), request)) {
    call.Fail(Error(BadArgument{"request", "not an encoded message of this method"}));
    return false;
  }
  return true;
}

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_UNARY_CALL_H_
