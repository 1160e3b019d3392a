#ifndef LINKVANE_CLIENT_COMMAND_TEXT_H_
#define LINKVANE_CLIENT_COMMAND_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// How single values are written for people.

namespace linkvane::command {

// Abseil may have been built with a string_view of its own.
inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

// Makes text that a stranger chose safe to show: what could move a terminal's cursor, break a line,
// turn the writing direction or is not UTF-8 appears as \x1b or \u202e, and a backslash as two.
std::string Escape(std::string_view text);

bool IsUtf8(std::string_view text);

// What TakeCodePoint returns for a byte that is not part of UTF-8 text.
inline constexpr uint32_t kNotUtf8 = 0xffffffff;

// Takes one code point from the front of `text`, which is not empty, and its bytes into `bytes`;
// kNotUtf8 and one byte where there is none.
uint32_t TakeCodePoint(std::string_view* text, std::string_view* bytes);

// True for code points that no one sees but that change how what follows is shown: writing
// direction, zero width, line separators.
bool ChangesWriting(uint32_t code);

// How many code points `text` has: the columns it takes, but for wide and combining characters.
size_t DisplayWidth(std::string_view text);

// An enum value's name without the enum's own and as people write it: "OPER_STATE_LOWER_LAYER_DOWN"
// of "OperState" is "lower-layer-down".
std::string EnumText(std::string_view enum_name, std::string_view value_name);

// The other way: "lower-layer-down" is "OPER_STATE_LOWER_LAYER_DOWN".
std::string EnumValueName(std::string_view enum_name, std::string_view text);

// A point in time in the local zone, to the millisecond: "2025-01-31 13:02:59.021".
std::string TimeText(absl::Time time);

// A lifetime in whole seconds: "23h59m58s", "29d23h59m58s". Nothing is left of one that is over:
// "0s".
std::string LifetimeText(absl::Duration left);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_TEXT_H_
