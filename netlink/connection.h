// A netlink connection: sends one request at a time and checks every word of the answer.
//
// What is checked: the sender is the kernel, sequence and port id are ours, lengths stay inside the
// datagram, NLMSG_DONE carries no error, nothing was overrun, the dump was not interrupted. Errors
// keep the kernel's extended ack.
//
// Costs: a connection is primed when it is opened: one no-op is acknowledged into a 32 KiB buffer,
// which makes the kernel build all later dumps in chunks of up to 32 KiB instead of 4 (it goes by
// the largest buffer ever offered on the socket). Each datagram's length is peeked before it is
// read; the buffer grows to the largest seen, and is kept. After the first dump a dump allocates
// nothing.
//
// One thread at a time, but for Cancel().
#ifndef LINKVANE_NETLINK_CONNECTION_H_
#define LINKVANE_NETLINK_CONNECTION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "netlink/datagram_reader.h"
#include "netlink/message.h"
#include "netlink/socket.h"

namespace linkvane::netlink {

// Takes the messages of one datagram; they are valid during the call.
using MessageSink = absl::FunctionRef<void(std::span<const Message> messages)>;

struct DumpOutcome {
  // The kernel's table changed while it was dumped (NLM_F_DUMP_INTR): what was sent is true, but
  // what was not may be there all the same.
  bool interrupted = false;
  uint64_t datagrams = 0;
  uint64_t bytes = 0;
  uint64_t messages = 0;
};

class Connection {
 public:
  // Takes the socket, and primes it unless `prime` is false (then the kernel's chunks stay small).
  static absl::StatusOr<std::unique_ptr<Connection>> Make(std::unique_ptr<Socket> socket,
                                                          bool prime = true);
  // OpenSocket() and Make().
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const SocketOptions& options);

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Sends a dump request and hands its answer to `sink`, datagram by datagram, without the closing
  // NLMSG_DONE. An interrupted dump is no error: see DumpOutcome. After an error of the kernel's
  // the rest of the answer has been read, and the connection can be used again (see healthy()).
  absl::StatusOr<DumpOutcome> Dump(Request& request, MessageSink sink, absl::Time deadline);

  // Sends a request that is answered by one message (with NLM_F_ACK: and an acknowledgement), and
  // hands the answer to `sink`. What the kernel refuses is its error: NOT_FOUND for ENODEV.
  absl::Status Get(Request& request, MessageSink sink, absl::Time deadline);

  // False once something was not as it has to be (foreign or malformed messages, a truncated
  // datagram, a timeout in the middle of an answer, a cancellation): then it is closed, not used
  // again.
  bool healthy() const { return healthy_ && !cancelled_.load(std::memory_order_relaxed); }

  // From any thread: ends the present request, and every later one, with CANCELLED.
  void Cancel() {
    // The flag is for a dump that never has to wait.
    cancelled_.store(true, std::memory_order_relaxed);
    socket_->Cancel();
  }

  uint32_t port_id() const { return socket_->port_id(); }

 private:
  struct Answer;

  explicit Connection(std::unique_ptr<Socket> socket);

  absl::Status Prime();
  // Sends `request` and takes its answer, up to the end.
  Answer Converse(Request& request, MessageSink sink, absl::Time deadline);
  absl::Status Send(Request& request, absl::Time deadline);
  // Waits for the kernel's next datagram; it is valid until the next call.
  absl::Status ReadDatagram(const Request& request, absl::Time deadline, Bytes& datagram);
  // Leaves what is for the sink in messages_, and notes the rest in `answer`.
  void Sort(const Request& request, Bytes datagram, Answer& answer);
  void Control(const Request& request, const Message& message, Answer& answer);
  // Reads what is there, without waiting, up to an NLMSG_DONE. False if there was none.
  bool SkipRest();

  static std::string Operation(const Request& request);
  static absl::Status Failure(const Request& request, int error, std::string_view message = {});

  const std::unique_ptr<Socket> socket_;
  std::atomic<bool> cancelled_ = false;
  uint32_t sequence_ = 0;
  bool healthy_ = true;
  DatagramReader reader_;
  std::vector<Message> messages_;  // Of the datagram in reader_.
};

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_CONNECTION_H_
