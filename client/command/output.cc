#include "client/command/output.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace linkvane::command {

absl::Status Output::Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      reader_gone_ = true;
      return absl::CancelledError("nobody reads the output");
    } else if (errno == EAGAIN) {  // a terminal or pipe that somebody else made non-blocking
      pollfd waiting{.fd = fd_, .events = POLLOUT, .revents = 0};
      (void)poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      return absl::UnknownError(absl::StrCat("cannot write the output: ", std::strerror(errno)));
    }
  }
  return absl::OkStatus();
}

bool Output::IsTerminal() const { return isatty(fd_) == 1; }

size_t Output::Width() const {
  constexpr size_t kUsual = 100;
  constexpr size_t kLeast = 40;
  winsize size = {};
  if (ioctl(fd_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return std::max<size_t>(size.ws_col, kLeast);
}

}  // namespace linkvane::command
