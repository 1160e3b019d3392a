// One way in which dumps, events and changes of a ModelKernel can overtake each other, played
// against a FencedTable as the Observer and the Refresher use it.
//
// What is checked on the way: each object is seen in the order of its history (nothing older after
// something newer, no removal that never was), an interrupted dump removes nothing, an
// uninterrupted one leaves the table as new as when it began, and no tombstone outlives its use. At
// the end, once all events are read and all dumps that were called for are done, the table is what
// the kernel is.
//
// Left out, since it makes no difference: changes before the first dump (they are its start), and
// reading events at other times than right before a row is said (nothing but that looks at the
// table).
#ifndef LINKVANE_SERVER_STATE_TESTING_FENCE_PLAY_H_
#define LINKVANE_SERVER_STATE_TESTING_FENCE_PLAY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "server/state/fenced_table.h"
#include "server/state/testing/choices.h"
#include "server/state/testing/model_kernel.h"

namespace linkvane::server {

// How much is played.
struct FenceBounds {
  // Changes that the kernel makes at most, in each order and of each of these kinds.
  int changes = 0;
  size_t objects = ModelKernel::kObjects;  // That change.
  std::vector<Op> ops;
  // What each object can be at the start: what the table has, what the kernel has.
  std::vector<std::pair<ObjectState, ObjectState>> starts = {{kAbsent, kAbsent}, {1, 1}};
  // Dumps that run at the same time: the objects of each whole one.
  std::vector<std::vector<size_t>> dumps = {{0, 1}};
  // And a question about this object.
  std::optional<size_t> question;
  bool recurring = false;     // States come back.
  bool interrupts = false;    // The kernel flags interrupted dumps, and may leave out rows of them.
  bool overruns = false;      // Once, at any time.
  bool fails = false;         // A dump may fail at its end, once, and is asked for again.
  bool before_begin = false;  // Changes also before the first dump.
  absl::Duration grace;       // The table's.
};

class FencePlay {
 public:
  FencePlay(const FenceBounds& bounds, Choices& choices)
      : bounds_(bounds),
        choices_(choices),
        kernel_(bounds.recurring),
        changes_left_(bounds.changes) {}

  // Plays to the end; empty, or what went wrong and after which steps.
  std::string Run();
  // Whether another way is the same but for the order of steps that do not see each other.
  bool redundant() const { return redundant_; }

 private:
  enum class Step : uint8_t {
    kChange,
    kSendOwedEvent,
    kRemoveLeaving,
    kOverrun,
    kSecondPasses,
    kBegin,
    kRead,
    kReadAndSay,
    kSay,
    kReadEvents,
    kReadEventsAndSay,
    kFinish,
    kFail
  };
  struct Action {
    Step step;
    size_t who = 0;  // An object, or a dumper.
    Op op = Op::kAdd;
    bool removes = false;
    size_t row = 0;  // Of a read: which of the dump's.
  };
  struct Traits {
    using Key = size_t;
    using Row = ObjectState;
    using Statement = ObjectState;
    struct Kept {
      explicit Kept(ObjectState said) : state(said) {}
      ObjectState statement() const { return state; }
      ObjectState state;
    };
    Comparison Compare(Row row, Statement said) const {
      return row == said ? Comparison::kSame : Comparison::kDiffers;
    }
    Row Put(Key key, const Row* /*old*/, Statement said, Comparison /*comparison*/) {
      play->Sees(key, said);
      return said;
    }
    void Removed(Key key, Row /*old*/) { play->Sees(key, kAbsent); }
    FencePlay* play;
  };
  struct Job {
    bool whole;
    std::vector<size_t> objects;
  };
  // Whoever runs dumps, one after the other.
  struct Dumper {
    std::deque<Job> agenda;
    Job job;
    bool running = false;
    uint64_t id = 0;
    std::vector<ObjectState> got;
    std::vector<size_t> got_at;  // Positions in the objects' histories.
    size_t said = 0;
    bool interrupted = false;
    uint64_t comings_and_goings = 0;
    uint64_t losses = 0;
    std::array<size_t, ModelKernel::kObjects> at_begin{};
    // After an interrupted dump: what the answers to the questions have to bring at least.
    std::array<size_t, ModelKernel::kObjects> expected{};
    int begun = 0;
  };
  static constexpr ObjectState kLeftOut = -1;

  void Offer(const Action& action) {
    if (!IsRedundant(action)) actions_.push_back(action);
  }
  bool IsRedundant(const Action& next) const;
  void CollectKernelActions();
  void CollectDumperActions();
  void Act(const Action& action);
  void Begin(Dumper& dumper);
  void Read(Dumper& dumper);
  void Say(Dumper& dumper);
  void Finish(Dumper& dumper);
  // Whether the table has of each object at least what it was at that position of its history.
  void ExpectAsNewAs(const std::vector<size_t>& objects,
                     const std::array<size_t, ModelKernel::kObjects>& positions);
  void ReadEvents();
  bool Ended();
  // Whether every change makes an event.
  bool AllTold() const;
  // Whether nothing can come any more that a table has not seen.
  bool Quiet() const;

  void Sees(size_t object, ObjectState state) {
    if (in_interrupted_merge_ && state == kAbsent) Wrong("an interrupted dump removed an object");
    if (!witnesses_[object].Sees(kernel_.History(object), state)) {
      Wrong("the table went back in time, or to what never was");
    }
  }
  ObjectState InTable(size_t object) const {
    const ObjectState* row = table_.Find(object);
    return row == nullptr ? kAbsent : *row;
  }
  void AskForWhole() {
    std::deque<Job>& agenda = dumpers_.front().agenda;
    for (const Job& job : agenda) {
      if (job.whole) return;
    }
    agenda.push_back({true, bounds_.dumps.front()});
  }
  void Wrong(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }
  std::string Story() const;

  const FenceBounds& bounds_;
  Choices& choices_;
  ModelKernel kernel_;
  Traits traits_{this};
  FencedTable<Traits> table_{traits_, bounds_.grace};
  std::array<Witness, ModelKernel::kObjects> witnesses_;
  // The newest that a merged dump has read of each object.
  std::array<size_t, ModelKernel::kObjects> newest_read_{};
  std::vector<Dumper> dumpers_;
  std::vector<Action> actions_;
  std::vector<Action> story_;
  std::string wrong_;
  absl::Time now_ = absl::UnixEpoch();
  int changes_left_;
  uint64_t losses_ = 0;
  bool overrun_done_ = false;
  bool failed_ = false;
  bool second_passed_ = false;
  bool in_interrupted_merge_ = false;
  bool table_is_new_ = false;  // The last step, but for rows said since, changed the table.
  size_t last_who_ = 0;        // Whose row was said last.
  bool redundant_ = false;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_TESTING_FENCE_PLAY_H_
