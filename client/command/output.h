#ifndef LINKVANE_CLIENT_COMMAND_OUTPUT_H_
#define LINKVANE_CLIENT_COMMAND_OUTPUT_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"

namespace linkvane::command {

// A descriptor that text is written to at once, unbuffered: whoever reads the other end of a pipe
// has a batch of events when they came. SIGPIPE has to be ignored.
class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}

  // Writes all of `text`. An error other than that the reader is gone says why.
  absl::Status Write(std::string_view text);

  // True once nobody reads any more ("| head"): no error, but nothing to go on for.
  bool reader_gone() const { return reader_gone_; }

  bool IsTerminal() const;

  // The columns of the terminal; 100 of anything else. Not less than 40.
  size_t Width() const;

  int fd() const { return fd_; }

 private:
  int fd_;
  bool reader_gone_ = false;
};

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_OUTPUT_H_
