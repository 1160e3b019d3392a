#ifndef LINKVANE_CLIENT_COMMAND_HELP_H_
#define LINKVANE_CLIENT_COMMAND_HELP_H_

#include <string>

#include "client/command/commands.h"

namespace linkvane::command {

// "linkvane 0.1.0\n".
std::string VersionText();

// What `linkvane --help` shows.
std::string HelpText();

// What `linkvane COMMAND --help` shows.
std::string CommandHelpText(const Command& command);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_HELP_H_
