#ifndef LINKVANE_CLIENT_COMMAND_COMMANDS_H_
#define LINKVANE_CLIENT_COMMAND_COMMANDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/client.h"
#include "client/command/options.h"
#include "client/command/output.h"
#include "client/command/structured.h"

namespace linkvane::command {

// What a command works with.
struct Context {
  const Invocation& invocation;
  std::vector<std::string> arguments;  // the words after the command
  client::ClientOptions server;
  client::CallOptions call;
  Format format = Format::kTable;
  bool color = false;
  Output& out;
};

struct Command {
  std::string_view name;
  std::string_view alias;      // another name, or empty
  std::string_view arguments;  // "NAME", or empty for none
  std::string_view summary;    // one line
  std::string_view notes;      // what else the help says; lines
  // Writes the answer to context.out. An error is said and turned into the exit status by the
  // caller; INVALID_ARGUMENT is a usage error.
  absl::Status (*run)(Context& context);
  bool has_wide = false;  // whether it has the output format "wide"
};

// All commands, in the order of the help.
std::span<const Command> AllCommands();

// By name or alias; null if there is none.
const Command* FindCommand(std::string_view name);

// The variables of the environment that a command heeds; empty if they are not set.
struct Environment {
  std::string_view server;    // LINKVANE_SERVER
  std::string_view no_color;  // NO_COLOR
  std::string_view term;      // TERM
};

// Runs the linkvane command: `words` are those after the program's name. Returns the exit status.
int RunLinkvane(std::span<const std::string_view> words, const Environment& environment,
                Output& out, Output& err);

// What each command does.
absl::Status RunInterfaces(Context& context);
absl::Status RunAddrs(Context& context);
absl::Status RunGet(Context& context);
absl::Status RunWatch(Context& context);
absl::Status RunInfo(Context& context);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_COMMANDS_H_
