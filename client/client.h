#ifndef LINKVANE_CLIENT_CLIENT_H_
#define LINKVANE_CLIENT_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/watch_stream.h"
#include "linkvane/v1/network_state_service.pb.h"

namespace linkvane::client {

// Where linkvaned listens unless it was told otherwise.
inline constexpr char kDefaultTarget[] = "unix:/run/linkvane/linkvane.sock";

struct ClientOptions {
  // A gRPC target: "unix:/run/linkvane/linkvane.sock", "127.0.0.1:50550", "[::1]:50550".
  std::string target = kDefaultTarget;
  // The largest message accepted; gRPC's own default is 4 MiB.
  int max_receive_bytes = 64 << 20;
  // The size of a page that listings ask for, unless their request says so itself.
  int page_bytes = 16 << 20;
};

struct CallOptions {
  // How long the call may take in all, every page of a listing together.
  absl::Duration timeout = absl::InfiniteDuration();
};

// Talks to one linkvaned, over one connection that is made with the first call and again after it
// was lost.
//
// Errors have the gRPC code and the server's message; client/errors.h tells the reason and whether
// the server could be reached. No call is tried again, but for a listing whose pages expired.
// A client can be used from any number of threads at once, and is cheap to move.
class Client {
 public:
  // Never fails: a wrong target shows as UNAVAILABLE in the first call.
  static Client Connect(const ClientOptions& options = {});

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // Answer all objects that match, with revision and observed_at of the snapshot they are from.
  // They go through all pages, so `page_token` is not looked at. Where the server lost the listing
  // meanwhile (ABORTED, PAGE_TOKEN_EXPIRED), they start again from the first page, three times at
  // most.
  absl::StatusOr<v1::ListInterfacesResponse> ListInterfaces(v1::ListInterfacesRequest request,
                                                            const CallOptions& options = {}) const;
  absl::StatusOr<v1::ListAddrsResponse> ListAddrs(v1::ListAddrsRequest request,
                                                  const CallOptions& options = {}) const;

  // NOT_FOUND if there is no such interface.
  absl::StatusOr<v1::GetInterfaceResponse> GetInterface(const v1::GetInterfaceRequest& request,
                                                        const CallOptions& options = {}) const;

  absl::StatusOr<v1::GetServerInfoResponse> GetServerInfo(const v1::GetServerInfoRequest& request,
                                                          const CallOptions& options = {}) const;

  // Opens a stream, which may outlive the client. An error shows when the stream is read.
  WatchStream Watch(const v1::WatchRequest& request, const CallOptions& options = {}) const;

 private:
  struct Connection;

  Client(std::shared_ptr<Connection> connection, int page_bytes);

  std::shared_ptr<Connection> connection_;
  int page_bytes_;
};

}  // namespace linkvane::client

#endif  // LINKVANE_CLIENT_CLIENT_H_
