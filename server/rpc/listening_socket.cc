#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/rpc/listener.h"

namespace linkvane::server {
namespace {

absl::Status SystemError(const std::string& what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(error)));
}

bool IsLoopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
  return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) ||
         (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) && v6->sin6_addr.s6_addr[12] == 127);
}

std::string AddressText(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (getsockname(fd, generic, &size) != 0 ||
      getnameinfo(generic, size, host, sizeof(host), port, sizeof(port),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "";
  }
  return address.ss_family == AF_INET6 ? absl::StrCat("[", host, "]:", port)
                                       : absl::StrCat(host, ":", port);
}

// Locks `path`.lock, and sees to it that the file locked is the one that the path names: another
// server may have removed it meanwhile.
absl::StatusOr<int> TakeLock(const std::string& path) {
  const std::string lock_path = path + ".lock";
  while (true) {
    const int fd = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return SystemError(lock_path, errno);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      close(fd);
      if (error != EWOULDBLOCK) return SystemError(lock_path, error);
      return absl::FailedPreconditionError(
          absl::StrCat("unix:", path, ": another server is listening there"));
    }
    struct stat locked {};
    struct stat named {};
    if (fstat(fd, &locked) == 0 && stat(lock_path.c_str(), &named) == 0 &&
        locked.st_ino == named.st_ino) {
      return fd;
    }
    close(fd);
  }
}

}  // namespace

class SocketOpener {
 public:
  static absl::StatusOr<std::unique_ptr<ListeningSocket>> Unix(const std::string& path,
                                                               const ListenOptions& options) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.front() != '/' || path.size() >= sizeof(address.sun_path)) {
      return absl::InvalidArgumentError(absl::StrCat("unix:", path,
                                                     ": want an absolute path of at most ",
                                                     sizeof(address.sun_path) - 1, " bytes"));
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);

    gid_t group = static_cast<gid_t>(-1);
    if (!options.socket_group.empty()) {
      const struct group* found = getgrnam(options.socket_group.c_str());
      if (found == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("--socket_group=", options.socket_group, ": there is no such group"));
      }
      group = found->gr_gid;
    }

    // The last directory of the path is made if it is missing; what is wrong with it otherwise
    // shows at the next step.
    mkdir(path.substr(0, path.rfind('/')).c_str(), 0755);
    absl::StatusOr<int> lock = TakeLock(path);
    if (!lock.ok()) return lock.status();
    std::unique_ptr<ListeningSocket> socket(new ListeningSocket);
    socket->lock_fd_ = *lock;
    struct stat old {};
    if (lstat(path.c_str(), &old) == 0) {
      if (!S_ISSOCK(old.st_mode)) {
        return absl::InvalidArgumentError(absl::StrCat("unix:", path, ": is not a socket"));
      }
      // Whoever made it is gone: its lock was free.
      unlink(path.c_str());
    }
    socket->fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket->fd_ < 0) return SystemError("socket", errno);
    if (bind(socket->fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      return SystemError(absl::StrCat("unix:", path), errno);
    }
    socket->path_ = path;
    // Nobody can connect before listen().
    if (chmod(path.c_str(), options.socket_mode) != 0 ||
        (group != static_cast<gid_t>(-1) &&
         chown(path.c_str(), static_cast<uid_t>(-1), group) != 0) ||
        listen(socket->fd_, SOMAXCONN) != 0) {
      return SystemError(absl::StrCat("unix:", path), errno);
    }
    socket->address_ = "unix:" + path;
    return socket;
  }

  static absl::StatusOr<std::vector<std::unique_ptr<ListeningSocket>>> Tcp(
      const std::string& address, const ListenOptions& options) {
    const size_t colon = address.rfind(':');
    std::string host = address.substr(0, colon == std::string::npos ? 0 : colon);
    const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (host.empty() || (!bracketed && host.find(':') != std::string::npos)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", address, "\" is no address: want unix:/path, HOST:PORT or [HOST]:PORT"));
    }
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const std::string port = address.substr(colon + 1);
    int number = -1;
    const char* const end = port.data() + port.size();
    const auto [rest, port_error] = std::from_chars(port.data(), end, number);
    if (port_error != std::errc() || rest != end || number < 0 || number > 65535) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", address, "\": want a port from 0 to 65535"));
    }
    if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
      return absl::InvalidArgumentError(absl::StrCat("\"", address, "\": ", gai_strerror(error)));
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, freeaddrinfo);

    std::vector<std::unique_ptr<ListeningSocket>> sockets;
    for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
      if (!IsLoopback(info->ai_addr) && !options.allow_insecure_remote) {
        return absl::InvalidArgumentError(
            absl::StrCat("\"", address,
                         "\" is not a loopback address, and anyone who reaches it could read what "
                         "is told in plaintext; --allow_insecure_remote does it nevertheless"));
      }
      absl::StatusOr<std::unique_ptr<ListeningSocket>> socket = TcpOne(address, *info);
      if (!socket.ok()) return socket.status();
      sockets.push_back(*std::move(socket));
    }
    return sockets;
  }

 private:
  static absl::StatusOr<std::unique_ptr<ListeningSocket>> TcpOne(const std::string& address,
                                                                 const addrinfo& info) {
    std::unique_ptr<ListeningSocket> socket(new ListeningSocket);
    socket->fd_ = ::socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket->fd_ < 0) return SystemError("socket", errno);
    const int on = 1;
    setsockopt(socket->fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    // Accepted sockets inherit it: small answers go out at once.
    setsockopt(socket->fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (info.ai_family == AF_INET6) {
      setsockopt(socket->fd_, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    }
    if (bind(socket->fd_, info.ai_addr, info.ai_addrlen) != 0 ||
        listen(socket->fd_, SOMAXCONN) != 0) {
      return SystemError(address, errno);
    }
    socket->address_ = AddressText(socket->fd_);
    return socket;
  }
};

absl::StatusOr<std::vector<std::unique_ptr<ListeningSocket>>> ListeningSocket::Open(
    const std::string& address, const ListenOptions& options) {
  if (!absl::StartsWith(address, "unix:")) return SocketOpener::Tcp(address, options);
  std::string path = address.substr(5);
  if (absl::StartsWith(path, "///")) path = path.substr(2);
  absl::StatusOr<std::unique_ptr<ListeningSocket>> socket = SocketOpener::Unix(path, options);
  if (!socket.ok()) return socket.status();
  std::vector<std::unique_ptr<ListeningSocket>> sockets;
  sockets.push_back(*std::move(socket));
  return sockets;
}

ListeningSocket::~ListeningSocket() {
  if (fd_ >= 0) close(fd_);
  if (!path_.empty()) unlink(path_.c_str());
  if (lock_fd_ >= 0) {
    if (!path_.empty()) unlink((path_ + ".lock").c_str());
    close(lock_fd_);
  }
}

}  // namespace linkvane::server
