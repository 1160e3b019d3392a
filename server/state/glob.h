// Glob patterns: * is any characters, ? any one, [abc] and [a-z] one of these, [!...] one not of
// these. A bracket that is not closed stands for itself.
//
// Our own, since the C library's fnmatch() counts bytes where it should count characters, and takes
// exponential time for patterns with many stars, which may come from strangers. This one takes at
// most pattern length times text length.
#ifndef LINKVANE_SERVER_STATE_GLOB_H_
#define LINKVANE_SERVER_STATE_GLOB_H_

#include <string>
#include <string_view>

namespace linkvane::server {

class Glob {
 public:
  explicit Glob(std::string_view pattern);

  // Whether the whole of `text` matches.
  bool Match(std::string_view text) const;

 private:
  std::u32string pattern_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_GLOB_H_
