#include "client/command/ink.h"

#include "absl/strings/str_cat.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

std::string_view Sequence(Ink ink) {
  switch (ink) {
    case Ink::kPlain:
      return "";
    case Ink::kBold:
      return "\x1b[1m";
    case Ink::kRed:
      return "\x1b[31m";
    case Ink::kGreen:
      return "\x1b[32m";
    case Ink::kYellow:
      return "\x1b[33m";
  }
  return "";
}

}  // namespace

std::string Inked(std::string_view text, Ink ink, bool color) {
  if (!color || ink == Ink::kPlain || text.empty()) return std::string(text);
  return absl::StrCat(ToAbsl(Sequence(ink)), ToAbsl(text), "\x1b[0m");
}

Ink StateInk(std::string_view state) {
  if (state == "up") return Ink::kGreen;
  if (state == "down" || state == "admin-down") return Ink::kRed;
  return Ink::kYellow;
}

}  // namespace linkvane::command
