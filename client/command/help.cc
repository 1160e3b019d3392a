#include "client/command/help.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/command/table.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

constexpr size_t kLineWidth = 96;

// Adds "  left      right", the right part broken into lines at spaces.
void AppendEntry(std::string* text, const std::string& left, std::string_view right,
                 size_t left_width) {
  std::string line = "  ";
  AppendPadded(&line, left, left_width);
  size_t used = 0;
  for (const absl::string_view word : absl::StrSplit(ToAbsl(right), ' ')) {
    if (used > 0 && line.size() + 1 + word.size() > kLineWidth) {
      absl::StrAppend(text, line, "\n");
      line = std::string(2 + left_width, ' ');
      used = 0;
    }
    absl::StrAppend(&line, used++ > 0 ? " " : "", word);
  }
  absl::StrAppend(text, line, "\n");
}

std::string OptionTitle(const OptionSpec& option) {
  std::string title = option.short_name == '\0'
                          ? std::string("    ")
                          : absl::StrCat("-", std::string(1, option.short_name), ", ");
  absl::StrAppend(&title, "--", ToAbsl(option.name));
  if (!option.value.empty()) absl::StrAppend(&title, "=", ToAbsl(option.value));
  return title;
}

// The options of one command, or those that every command takes.
void AppendOptions(std::string* text, const Command* command) {
  constexpr size_t kTitleWidth = 34;
  for (const OptionSpec& option : AllOptions()) {
    const bool common = option.commands.empty();
    if (command == nullptr ? common : (!common && Takes(command->name, option))) {
      AppendEntry(text, OptionTitle(option), option.help, kTitleWidth);
    }
  }
}

}  // namespace

std::string VersionText() { return "linkvane " LINKVANE_VERSION "\n"; }

std::string HelpText() {
  std::string text =
      "Usage: linkvane [OPTION]... COMMAND [ARGUMENT]...\n"
      "Shows the network state of a Linux node, as a linkvaned server tells it.\n"
      "\n"
      "Commands:\n";
  constexpr size_t kNameWidth = 24;
  for (const Command& command : AllCommands()) {
    std::string title(command.name);
    if (!command.alias.empty()) absl::StrAppend(&title, ", ", ToAbsl(command.alias));
    AppendEntry(&text, title, command.summary, kNameWidth);
  }
  AppendEntry(&text, "version", "show the version of this command", kNameWidth);
  AppendEntry(&text, "help [COMMAND]", "show help; 'linkvane COMMAND --help' does so, too",
              kNameWidth);
  text += "\nOptions of all commands, before or after the command:\n";
  AppendOptions(&text, nullptr);
  text +=
      "\n"
      "Exit status: 0 success, 1 error, 2 wrong usage, 3 no such interface, 4 no answer in time,\n"
      "5 no connection to the server. Errors are one line: 'linkvane: MESSAGE (REASON)'.\n"
      "\n"
      "Examples:\n"
      "  linkvane interfaces --kind=veth --up\n"
      "  linkvane addrs -4 --scope=global\n"
      "  linkvane get eth0 --stats\n"
      "  linkvane interfaces -o wide --kind=bridge\n"
      "  linkvane watch --type=interface --fields=oper_state,mtu\n"
      "  linkvane -o json interfaces | jq -r '.[].name'\n";
  return text;
}

std::string CommandHelpText(const Command& command) {
  std::string text = absl::StrCat("Usage: linkvane ", ToAbsl(command.name), " [OPTION]...");
  if (!command.arguments.empty()) absl::StrAppend(&text, " ", ToAbsl(command.arguments));
  absl::StrAppend(&text, "\nDoes: ", ToAbsl(command.summary), ".\n");
  if (!command.alias.empty()) {
    absl::StrAppend(&text, "'", ToAbsl(command.alias), "' is the same command.\n");
  }
  if (!command.notes.empty()) absl::StrAppend(&text, "\n", ToAbsl(command.notes));
  std::string options;
  AppendOptions(&options, &command);
  if (!options.empty()) absl::StrAppend(&text, "\nOptions:\n", options);
  text += "\nOptions of all commands:\n";
  AppendOptions(&text, nullptr);
  return text;
}

}  // namespace linkvane::command
