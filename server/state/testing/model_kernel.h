// A kernel reduced to what matters for the fence: objects that come, change and go, a queue of
// events, and rows that a dump reads one at a time, each at its own moment.
#ifndef LINKVANE_SERVER_STATE_TESTING_MODEL_KERNEL_H_
#define LINKVANE_SERVER_STATE_TESTING_MODEL_KERNEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace linkvane::server {

// What an object is: not there, or a number that stands for all that the kernel says of it.
using ObjectState = int;
inline constexpr ObjectState kAbsent = 0;

// What can happen to an object.
enum class Op : uint8_t {
  kAdd,          // It comes; a removed one comes again with the same key.
  kModify,       // It changes, with an event.
  kRemove,       // It goes, and then this is announced.
  kLate,         // It changes or goes, and the event follows later (no lock is held over both).
  kRemoveEarly,  // Its removal is announced, and takes place later.
  kSilent        // It changes without an event.
};

class ModelKernel {
 public:
  static constexpr size_t kObjects = 2;

  struct Event {
    size_t object;
    ObjectState state;
  };

  // With `recurring`, states come back (a change and its undoing); else each is met once.
  explicit ModelKernel(bool recurring) : recurring_(recurring) {}

  // An object at the start: what the server knows of it, and what it is by now without an event.
  void Start(size_t object, ObjectState known, ObjectState real) {
    history_[object] = {known};
    if (real != known) history_[object].push_back(real);
    rows_[object] = real;
  }

  bool Can(size_t object, Op op) const {
    // Changes are made under one lock, which is held until a late event is sent.
    if (owed_ != kNone || leaving_ == object) return false;
    const bool there = rows_[object] != kAbsent;
    if (op == Op::kRemoveEarly) return there && leaving_ == kNone;
    return op == Op::kAdd ? !there : there;
  }

  // `removes` says which of its two ways Op::kLate goes.
  void Do(size_t object, Op op, bool removes = false) {
    switch (op) {
      case Op::kAdd:
      case Op::kModify:
        Become(object, NextState(object));
        return Announce(object);
      case Op::kRemove:
        Become(object, kAbsent);
        return Announce(object);
      case Op::kLate:
        Become(object, removes ? kAbsent : NextState(object));
        owed_ = object;
        return;
      case Op::kRemoveEarly:
        history_[object].push_back(kAbsent);
        Announce(object);
        leaving_ = object;
        return;
      case Op::kSilent:
        return Become(object, NextState(object));
    }
  }

  // The second half of Op::kLate, and of Op::kRemoveEarly.
  bool owes_event() const { return owed_ != kNone; }
  void SendOwedEvent() {
    Announce(owed_);
    owed_ = kNone;
  }
  bool owes_removal() const { return leaving_ != kNone; }
  void RemoveLeaving() {
    rows_[leaving_] = kAbsent;
    leaving_ = kNone;
    ++comings_and_goings_;
  }

  // From now on events are dropped, until the queue is emptied.
  void Overrun() { overrun_ = true; }
  bool overrun() const { return overrun_; }
  bool has_news() const { return overrun_ || !queue_.empty(); }

  // Empties the queue into `take(const Event&)`. True if events were lost.
  template <typename Take>
  bool Drain(Take&& take) {
    for (const Event& event : queue_) take(event);
    queue_.clear();
    const bool lost = overrun_;
    overrun_ = false;
    return lost;
  }

  // What a dump reads at this moment.
  ObjectState Read(size_t object) const { return rows_[object]; }
  // A dump during which this grew is flagged as interrupted.
  uint64_t comings_and_goings() const { return comings_and_goings_; }
  // All states that an object has had, the last one its present one. An announced removal counts
  // from its announcement.
  const std::vector<ObjectState>& History(size_t object) const { return history_[object]; }

 private:
  static constexpr size_t kNone = kObjects;

  ObjectState NextState(size_t object) {
    if (!recurring_) return ++last_state_;
    return rows_[object] == 1 ? 2 : 1;
  }
  void Become(size_t object, ObjectState state) {
    if ((rows_[object] == kAbsent) != (state == kAbsent)) ++comings_and_goings_;
    rows_[object] = state;
    history_[object].push_back(state);
  }
  void Announce(size_t object) {
    if (!overrun_) queue_.push_back({object, history_[object].back()});
  }

  const bool recurring_;
  std::array<ObjectState, kObjects> rows_{};
  std::array<std::vector<ObjectState>, kObjects> history_;
  std::vector<Event> queue_;
  bool overrun_ = false;
  size_t owed_ = kNone;
  size_t leaving_ = kNone;
  uint64_t comings_and_goings_ = 0;
  ObjectState last_state_ = 9;  // Those at the start are smaller.
};

// Follows what was seen of an object, in the order in which it was seen: is it a way through the
// object's history that never leads back?
class Witness {
 public:
  // False if `state` was not there at, or after, what was seen last.
  bool Sees(const std::vector<ObjectState>& history, ObjectState state) {
    while (seen_ < history.size() && history[seen_] != state) ++seen_;
    return seen_ < history.size();
  }
  // What is seen now, `state`, has to be as new as `position` in the history.
  bool IsAsNewAs(const std::vector<ObjectState>& history, ObjectState state, size_t position) {
    if (seen_ < position) seen_ = position;
    return Sees(history, state);
  }

 private:
  size_t seen_ = 0;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_TESTING_MODEL_KERNEL_H_
