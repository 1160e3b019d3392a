// Every way in which a program with choices can go.
//
//   Choices choices;
//   do {
//     Play(choices);  // Calls Choose() wherever things can go differently.
//   } while (choices.Next());
//
// The program has to be deterministic but for its choices. Nothing is sampled: each path is played
// exactly once, depth first.
#ifndef LINKVANE_SERVER_STATE_TESTING_CHOICES_H_
#define LINKVANE_SERVER_STATE_TESTING_CHOICES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace linkvane::server {

class Choices {
 public:
  // One of 0 to count - 1; all of them, one path after the other. `count` is at least 1.
  size_t Choose(size_t count) {
    if (count == 1) return 0;
    if (depth_ == forks_.size()) forks_.push_back({0, count});
    return forks_[depth_++].taken;
  }

  // Ends a path and turns to the next one; false when all have been played.
  bool Next() {
    ++paths_;
    depth_ = 0;
    while (!forks_.empty() && forks_.back().taken + 1 == forks_.back().count) forks_.pop_back();
    if (forks_.empty()) return false;
    ++forks_.back().taken;
    return true;
  }

  // How many paths have been played to their end.
  uint64_t paths() const { return paths_; }

 private:
  struct Fork {
    size_t taken;
    size_t count;
  };
  std::vector<Fork> forks_;
  size_t depth_ = 0;
  uint64_t paths_ = 0;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_TESTING_CHOICES_H_
