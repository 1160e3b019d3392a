#ifndef LINKVANE_CLIENT_WATCH_STREAM_H_
#define LINKVANE_CLIENT_WATCH_STREAM_H_

#include <memory>

#include "absl/status/status.h"
#include "linkvane/v1/watch.pb.h"

namespace linkvane::client {

// An open Watch, read one message at a time:
//
//   WatchStream stream = client.Watch(request);
//   linkvane::v1::WatchResponse response;
//   while (stream.Next(&response)) Handle(response);
//   absl::Status why = stream.Finish();
//
// The messages come in the order that watch.proto describes. Whoever wants to go on after the end
// keeps the last `checkpoint` and gives it to a new Watch as `resume_from`.
//
// A reader that pauses loses nothing: the server coalesces, and ends the stream only after a long
// stall. One thread reads and finishes; Cancel may be called from any other.
class WatchStream {
 public:
  struct Call;  // the gRPC side

  explicit WatchStream(std::unique_ptr<Call> call);
  WatchStream(WatchStream&& other) noexcept;
  WatchStream& operator=(WatchStream&&) = delete;
  // Cancels a stream that was not finished.
  ~WatchStream();

  // Waits for the next message; the first time, also for the connection. False when the stream has
  // ended, for whatever reason; Finish says which.
  bool Next(v1::WatchResponse* response);

  // Ends the stream from this side: a Next that waits, and every later one, soon answers false.
  void Cancel();

  // Says why the stream ended: CANCELLED after Cancel, else the server's or the connection's error.
  // Cancels the stream if it has not ended. To be called once.
  absl::Status Finish();

 private:
  std::unique_ptr<Call> call_;
};

}  // namespace linkvane::client

#endif  // LINKVANE_CLIENT_WATCH_STREAM_H_
