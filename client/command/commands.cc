#include "client/command/commands.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/command/exit_status.h"
#include "client/command/help.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

constexpr absl::Duration kDefaultTimeout = absl::Seconds(10);

constexpr auto kCommands = std::to_array<Command>({
    {"interfaces", "links", "", "list interfaces",
     "GLOB may have *, ? and [...]; quote it for the shell. Filters of different kinds all have "
     "to\n"
     "match; of several values of one, any.\n",
     RunInterfaces, true},
    {"addrs", "addresses", "", "list unicast addresses", "", RunAddrs, true},
    {"get", "", "[NAME]", "show everything about one interface",
     "NAME is a name or an alternative name; --index=N names the interface by its index instead.\n"
     "Only what is set is shown. With -o wide also counters, the kernel's numbers of what has a "
     "name,\n"
     "and the bytes that this version has no name for. With -o json or yaml, the output is the\n"
     "interface alone, without its addresses; --fields takes the names in it.\n",
     RunGet, true},
    {"watch", "", "", "show the present state, then every change as it comes",
     "--name, --kind and the like limit interfaces, --interface, --scope and the like addresses;\n"
     "neither limits the other. --index limits both, and so may --type.\n"
     "\n"
     "It runs until it is stopped (then exit status 0) or the server ends the stream. It does not\n"
     "connect again by itself: whoever wants to go on after the end keeps the last checkpoint of\n"
     "the JSON output and gives it back with --resume. With -o yaml each message is a document.\n",
     RunWatch},
    {"info", "", "", "tell about the server", "", RunInfo},
});

absl::Status CheckWordCount(const Command& command, size_t count) {
  if (count <= (command.arguments.empty() ? 0U : 1U)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", ToAbsl(command.name), "' takes no ",
                   command.arguments.empty() ? "arguments" : "second argument"));
}

// gRPC takes a bare path for a host name.
std::string Target(const std::string& server) {
  return server.starts_with('/') ? absl::StrCat("unix:", server) : server;
}

absl::StatusOr<Format> ReadFormat(const Command& command, const Invocation& invocation) {
  const std::string format = invocation.Value("output").value_or("table");
  if (format == "table") return Format::kTable;
  if (format == "wide" && command.has_wide) return Format::kWide;
  if (format == "json") return Format::kJson;
  if (format == "yaml") return Format::kYaml;
  return BadValue("output", format,
                  command.has_wide ? "table, wide, json or yaml" : "table, json or yaml");
}

absl::StatusOr<bool> ReadColor(const Invocation& invocation, const Environment& environment,
                               const Output& out) {
  const std::string when = invocation.Value("color").value_or("auto");
  if (when == "always") return true;
  if (when == "never") return false;
  if (when != "auto") return BadValue("color", when, "auto, always or never");
  return environment.no_color.empty() && environment.term != "dumb" && out.IsTerminal();
}

absl::Status RunCommand(const Command& command, const Environment& environment, Context& context) {
  if (absl::Status status = context.invocation.CheckOptions(command.name); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckWordCount(command, context.arguments.size()); !status.ok()) {
    return status;
  }
  const auto format = ReadFormat(command, context.invocation);
  if (!format.ok()) return format.status();
  context.format = *format;
  const auto color = ReadColor(context.invocation, environment, context.out);
  if (!color.ok()) return color.status();
  context.color = *color;
  const auto timeout = context.invocation.Duration("timeout");
  if (!timeout.ok()) return timeout.status();
  context.call.timeout = timeout->value_or(kDefaultTimeout);
  if (context.server.target.empty()) {
    return absl::InvalidArgumentError("--server: the address is empty");
  }
  return command.run(context);
}

int UsageError(std::string_view message, Output& err) {
  (void)err.Write(absl::StrCat("linkvane: ", Escape(message), "\n"));
  return kExitUsage;
}

int Print(const std::string& text, Output& out, Output& err) {
  const absl::Status status = out.Write(text);
  if (status.ok() || out.reader_gone()) return kExitOk;
  (void)err.Write(ErrorLine(status, "", {}));
  return kExitError;
}

}  // namespace

std::span<const Command> AllCommands() { return kCommands; }

const Command* FindCommand(std::string_view name) {
  const auto* found = std::ranges::find_if(kCommands, [name](const Command& command) {
    return name == command.name || (!name.empty() && name == command.alias);
  });
  return found == kCommands.end() ? nullptr : found;
}

int RunLinkvane(std::span<const std::string_view> words, const Environment& environment,
                Output& out, Output& err) {
  const absl::StatusOr<Invocation> invocation = Invocation::Parse(words);
  if (!invocation.ok()) {
    return UsageError(std::string(invocation.status().message()) + "; see 'linkvane --help'", err);
  }
  std::vector<std::string> arguments = invocation->words();
  std::string name;
  if (!arguments.empty()) {
    name = std::move(arguments.front());
    arguments.erase(arguments.begin());
  }
  if (invocation->Has("version") || name == "version") return Print(VersionText(), out, err);
  const bool wants_help = invocation->Has("help") || name == "help";
  if (name == "help") name = arguments.empty() ? "" : arguments.front();
  if (name.empty() && wants_help) return Print(HelpText(), out, err);
  if (name.empty()) return UsageError("no command given; see 'linkvane --help'", err);
  const Command* command = FindCommand(name);
  if (command == nullptr) {
    return UsageError(absl::StrCat("unknown command '", name, "'; see 'linkvane --help'"), err);
  }
  if (wants_help) return Print(CommandHelpText(*command), out, err);

  Context context{.invocation = *invocation,
                  .arguments = std::move(arguments),
                  .server = {},
                  .call = {},
                  .format = Format::kTable,
                  .color = false,
                  .out = out};
  if (!environment.server.empty()) {
    context.server.target = Target(std::string(environment.server));
  }
  if (const auto server = invocation->Value("server")) context.server.target = Target(*server);
  const absl::Status status = RunCommand(*command, environment, context);
  if (status.ok() || out.reader_gone()) return kExitOk;
  (void)err.Write(ErrorLine(status, context.server.target, context.call.timeout));
  return ExitStatus(status);
}

}  // namespace linkvane::command
