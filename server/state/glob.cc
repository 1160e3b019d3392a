#include "server/state/glob.h"

#include <cstddef>

#include "server/state/text.h"

namespace linkvane::server {
namespace {

// The element of a pattern at `at`, matched against one character. Moves `at` behind the element.
bool MatchOne(std::u32string_view pattern, size_t& at, char32_t character) {
  const char32_t first = pattern[at++];
  if (first == U'?') return true;
  if (first != U'[') return first == character;
  size_t member = at;
  const bool negated = member < pattern.size() && pattern[member] == U'!';
  if (negated) ++member;
  // A bracket right at the beginning is a member.
  const size_t close =
      member < pattern.size() ? pattern.find(U']', member + 1) : std::u32string_view::npos;
  if (close == std::u32string_view::npos) return first == character;
  at = close + 1;
  bool found = false;
  while (member < close) {
    const bool range = member + 2 < close && pattern[member + 1] == U'-';
    const char32_t last = range ? pattern[member + 2] : pattern[member];
    found = found || (pattern[member] <= character && character <= last);
    member += range ? 3 : 1;
  }
  return found != negated;
}

}  // namespace

Glob::Glob(std::string_view pattern) : pattern_(CodePoints(pattern)) {}

bool Glob::Match(std::string_view text) const {
  const std::u32string characters = CodePoints(text);
  const std::u32string_view pattern = pattern_;
  size_t at = 0;
  size_t read = 0;
  // Where to go on if what follows the last star does not match: the star takes one character more.
  size_t behind_star = std::u32string_view::npos;
  size_t star_ends = 0;
  while (read < characters.size()) {
    if (at < pattern.size() && pattern[at] == U'*') {
      behind_star = ++at;
      star_ends = read;
      continue;
    }
    if (at < pattern.size() && MatchOne(pattern, at, characters[read])) {
      ++read;
      continue;
    }
    if (behind_star == std::u32string_view::npos) return false;
    at = behind_star;
    read = ++star_ends;
  }
  while (at < pattern.size() && pattern[at] == U'*') ++at;
  return at == pattern.size();
}

}  // namespace linkvane::server
