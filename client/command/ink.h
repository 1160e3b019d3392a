#ifndef LINKVANE_CLIENT_COMMAND_INK_H_
#define LINKVANE_CLIENT_COMMAND_INK_H_

#include <string>
#include <string_view>

namespace linkvane::command {

// How a piece of text is shown on a terminal.
enum class Ink { kPlain, kBold, kRed, kGreen, kYellow };

// `text` between the escape sequences of `ink`, as it is if not `color`. The sequences take no
// columns: measure and pad text before.
std::string Inked(std::string_view text, Ink ink, bool color);

// Of an operational or administrative state as text: up is green, down red, all others yellow.
Ink StateInk(std::string_view state);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_INK_H_
