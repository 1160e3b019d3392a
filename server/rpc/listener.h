// Accepts connections and hands them over.
//
// gRPC could listen by itself, but then one EMFILE in accept ends a listener for good, there is no
// limit on connections, and a Unix socket's file is taken away from a server that is still alive.
// So sockets are opened, limited and accepted here, and gRPC gets the descriptors.
#ifndef LINKVANE_SERVER_RPC_LISTENER_H_
#define LINKVANE_SERVER_RPC_LISTENER_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>  // NOLINT(build/c++11)
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace linkvane::server {

struct ListenOptions {
  mode_t socket_mode = 0660;
  std::string socket_group;  // Empty: the process' own.
  bool allow_insecure_remote = false;
  size_t max_connections = 1024;
};

// A socket that listens, and what is to be tidied up behind it.
class ListeningSocket {
 public:
  // `address` is "unix:/path", "unix:///path", "HOST:PORT" or "[HOST]:PORT"; port 0 is any free
  // one, and the directory of a Unix socket is made if it is missing. Errors: INVALID_ARGUMENT for
  // what is no address, or would offer plaintext beyond this machine; FAILED_PRECONDITION where
  // another server is alive; else what the kernel refused.
  static absl::StatusOr<std::vector<std::unique_ptr<ListeningSocket>>> Open(
      const std::string& address, const ListenOptions& options);
  ~ListeningSocket();

  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  int fd() const { return fd_; }
  // As it can be connected to: with the port that was found.
  const std::string& address() const { return address_; }

 private:
  friend class SocketOpener;
  ListeningSocket() = default;

  int fd_ = -1;
  int lock_fd_ = -1;  // Of a Unix socket: locked while we own the path.
  std::string path_;  // Likewise.
  std::string address_;
};

// Accepts on a thread of its own.
class Listener {
 public:
  // Takes a connected socket.
  using Take = std::function<void(int listener_fd, int fd)>;

  Listener(std::vector<std::unique_ptr<ListeningSocket>> sockets, size_t max_connections);
  ~Listener();

  // Gets what Start() needs, while an error can still end the process in peace.
  absl::Status Prepare();
  void Start(Take take);
  // No more connections from here on. The sockets' files are removed with the Listener.
  void Stop();

  const std::vector<std::unique_ptr<ListeningSocket>>& sockets() const { return sockets_; }
  // Connections closed at once, as there were too many or no descriptor was left.
  uint64_t refused() const { return refused_; }

 private:
  void Run();
  // False if there was an error that may come again at once.
  bool AcceptFrom(int listener_fd);
  bool MayTakeOneMore();
  void Remember(int fd);

  const std::vector<std::unique_ptr<ListeningSocket>> sockets_;
  const size_t max_connections_;
  Take take_;
  int wake_fd_ = -1;
  int spare_fd_ = -1;  // Given up to accept, and close, a connection when no descriptor is left.
  // Descriptors handed over, with the inode of the socket that each was: one that is another's now,
  // or closed, does not count any more.
  std::unordered_map<int, ino_t> open_;
  std::atomic<uint64_t> refused_ = 0;
  std::thread thread_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_LISTENER_H_
