// The linkvane command: shows on a terminal what a linkvaned server tells.

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "client/command/commands.h"
#include "client/command/output.h"

int main(int argc, char** argv) {
  // A reader that went away shows as EPIPE.
  std::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  const linkvane::command::Environment environment{.server = variable("LINKVANE_SERVER"),
                                                   .no_color = variable("NO_COLOR"),
                                                   .term = variable("TERM")};
  linkvane::command::Output out(STDOUT_FILENO);
  linkvane::command::Output err(STDERR_FILENO);
  return linkvane::command::RunLinkvane(words, environment, out, err);
}
