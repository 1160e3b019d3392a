#include "server/state/testing/fence_play.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace linkvane::server {

std::string FencePlay::Run() {
  for (size_t object = 0; object < ModelKernel::kObjects; ++object) {
    const auto [known, real] = bounds_.starts[choices_.Choose(bounds_.starts.size())];
    kernel_.Start(object, known, real);
    if (known != kAbsent) table_.EventSays(object, known);
  }
  dumpers_.resize(bounds_.dumps.size() + (bounds_.question.has_value() ? 1 : 0));
  for (size_t i = 0; i < bounds_.dumps.size(); ++i) {
    dumpers_[i].agenda.push_back({true, bounds_.dumps[i]});
  }
  if (bounds_.question.has_value()) {
    dumpers_.back().agenda.push_back({false, {*bounds_.question}});
  }
  while (wrong_.empty() && !Ended()) {
    actions_.clear();
    CollectDumperActions();
    CollectKernelActions();
    if (actions_.empty()) {  // All that could follow is redundant.
      redundant_ = true;
      return "";
    }
    Action action = actions_[choices_.Choose(actions_.size())];
    if (action.step == Step::kRead || action.step == Step::kReadAndSay) {
      action.row = dumpers_[action.who].got.size();
    }
    story_.push_back(action);
    Act(action);
    if (action.step != Step::kSay) {
      table_is_new_ = action.step == Step::kReadEvents || action.step == Step::kReadEventsAndSay ||
                      action.step == Step::kBegin || action.step == Step::kFinish;
    }
    last_who_ =
        action.step == Step::kSay || action.step == Step::kReadEventsAndSay ? action.who : 0;
  }
  return wrong_.empty() ? wrong_ : absl::StrCat(wrong_, Story());
}

bool FencePlay::Ended() {
  for (const Dumper& dumper : dumpers_) {
    if (dumper.running || !dumper.agenda.empty()) return false;
  }
  if (kernel_.owes_event()) kernel_.SendOwedEvent();
  if (kernel_.owes_removal()) kernel_.RemoveLeaving();
  ReadEvents();
  if (!dumpers_.front().agenda.empty()) return false;  // For what was lost just now.
  // What came without an event has to be in the table only if a dump saw it.
  const bool all_told = AllTold();
  for (size_t object = 0; object < ModelKernel::kObjects; ++object) {
    const std::vector<ObjectState>& history = kernel_.History(object);
    const size_t known = all_told ? history.size() - 1 : newest_read_[object];
    if (!witnesses_[object].IsAsNewAs(history, InTable(object), known)) {
      Wrong("the table is not right at the end");
    }
  }
  return true;
}

bool FencePlay::AllTold() const {
  return std::ranges::find(bounds_.ops, Op::kSilent) == bounds_.ops.end();
}

void FencePlay::CollectKernelActions() {
  if (!bounds_.before_begin && story_.empty()) return;
  if (kernel_.owes_event()) Offer({Step::kSendOwedEvent});
  if (kernel_.owes_removal()) {
    // Not for ever: that is within the grace.
    if (dumpers_.front().begun >= 3 && !dumpers_.front().running) actions_.clear();
    Offer({Step::kRemoveLeaving});
  } else if (bounds_.grace > absl::ZeroDuration() && !second_passed_) {
    Offer({Step::kSecondPasses});
  }
  if (bounds_.overruns && !overrun_done_) Offer({Step::kOverrun});
  if (changes_left_ == 0) return;
  for (const Op op : bounds_.ops) {
    for (size_t object = 0; object < bounds_.objects; ++object) {
      if (!kernel_.Can(object, op)) continue;
      Offer({Step::kChange, object, op});
      if (op == Op::kLate) Offer({Step::kChange, object, op, /*removes=*/true});
    }
  }
}

void FencePlay::CollectDumperActions() {
  for (size_t i = 0; i < dumpers_.size(); ++i) {
    const Dumper& dumper = dumpers_[i];
    if (!dumper.running) {
      if (!dumper.agenda.empty()) Offer({Step::kBegin, i});
      continue;
    }
    const bool all_read = dumper.got.size() == dumper.job.objects.size();
    const bool all_said = dumper.said == dumper.got.size();
    if (!all_read) {
      if (all_said) Offer({Step::kReadAndSay, i});
      if (!Quiet()) Offer({Step::kRead, i});
    }
    if (!all_said) {
      Offer({Step::kSay, i});
      if (kernel_.has_news()) Offer({Step::kReadEventsAndSay, i});
    } else if (all_read) {
      Offer({Step::kFinish, i});
      if (bounds_.fails && !failed_) Offer({Step::kFail, i});
    }
  }
  if (kernel_.overrun()) Offer({Step::kReadEvents});
}

// Two neighbouring steps that do not see each other lead to the same whichever is first; only one
// order is played: what a dump says as early as possible, then changes (those of the first object
// first), then what ends or begins, reads last.
bool FencePlay::IsRedundant(const Action& next) const {
  const auto reads = [](Step step) { return step == Step::kRead || step == Step::kReadAndSay; };
  if (next.step == Step::kSay) return !table_is_new_ || next.who < last_who_;
  if (story_.empty()) return false;
  const Action& last = story_.back();
  switch (next.step) {
    case Step::kChange:
      if (next.op == Op::kLate || next.op == Op::kRemoveEarly) return false;
      if (last.step == Step::kChange && last.op != Op::kLate && last.op != Op::kRemoveEarly) {
        return last.who > next.who;
      }
      return reads(last.step) && dumpers_[last.who].job.objects[last.row] != next.who &&
             !bounds_.interrupts;
    case Step::kRead:
    case Step::kReadAndSay:
      return reads(last.step) && last.who > next.who;
    case Step::kReadEventsAndSay:
      return last.step == Step::kRead &&
             (last.who != next.who || dumpers_[next.who].said != last.row);
    case Step::kBegin:
    case Step::kFinish:
    case Step::kFail:
    case Step::kReadEvents:
      return last.step == Step::kRead;
    default:
      return false;
  }
}

bool FencePlay::Quiet() const {
  return dumpers_.size() == 1 && changes_left_ == 0 && !kernel_.has_news() &&
         !kernel_.owes_event() && !kernel_.owes_removal() && (!bounds_.overruns || overrun_done_);
}

void FencePlay::Act(const Action& action) {
  switch (action.step) {
    case Step::kChange:
      --changes_left_;
      return kernel_.Do(action.who, action.op, action.removes);
    case Step::kSendOwedEvent:
      return kernel_.SendOwedEvent();
    case Step::kRemoveLeaving:
      return kernel_.RemoveLeaving();
    case Step::kOverrun:
      overrun_done_ = true;
      return kernel_.Overrun();
    case Step::kSecondPasses:
      second_passed_ = true;
      now_ += absl::Seconds(1);
      return;
    case Step::kBegin:
      return Begin(dumpers_[action.who]);
    case Step::kRead:
      return Read(dumpers_[action.who]);
    case Step::kReadAndSay:
      Read(dumpers_[action.who]);
      return Say(dumpers_[action.who]);
    case Step::kReadEvents:
      return ReadEvents();
    case Step::kReadEventsAndSay:
      ReadEvents();
      return Say(dumpers_[action.who]);
    case Step::kSay:
      return Say(dumpers_[action.who]);
    case Step::kFinish:
      return Finish(dumpers_[action.who]);
    case Step::kFail: {
      Dumper& dumper = dumpers_[action.who];
      failed_ = true;
      dumper.running = false;
      table_.Abandon(dumper.id, now_);
      dumper.agenda.push_front(dumper.job);
      return;
    }
  }
}

void FencePlay::Begin(Dumper& dumper) {
  dumper.job = std::move(dumper.agenda.front());
  dumper.agenda.pop_front();
  ReadEvents();
  dumper.losses = losses_;
  dumper.id = table_.Begin(dumper.job.whole, now_);
  dumper.running = true;
  dumper.got.clear();
  dumper.got_at.clear();
  dumper.said = 0;
  dumper.interrupted = false;
  dumper.comings_and_goings = kernel_.comings_and_goings();
  for (size_t object = 0; object < ModelKernel::kObjects; ++object) {
    dumper.at_begin[object] = kernel_.History(object).size() - 1;
  }
  ++dumper.begun;
}

void FencePlay::Read(Dumper& dumper) {
  const bool interrupted = bounds_.interrupts && dumper.job.whole &&
                           kernel_.comings_and_goings() != dumper.comings_and_goings;
  if (interrupted) dumper.interrupted = true;
  const size_t object = dumper.job.objects[dumper.got.size()];
  ObjectState state = kernel_.Read(object);
  if (interrupted && state != kAbsent && choices_.Choose(2) == 1) state = kLeftOut;
  dumper.got.push_back(state);
  dumper.got_at.push_back(state == kLeftOut ? 0 : kernel_.History(object).size() - 1);
}

void FencePlay::Say(Dumper& dumper) {
  const size_t i = dumper.said++;
  const ObjectState state = dumper.got[i];
  if (state != kAbsent && state != kLeftOut) {
    table_.DumpSays(dumper.id, dumper.job.objects[i], state);
  }
}

void FencePlay::Finish(Dumper& dumper) {
  ReadEvents();
  if (!dumper.job.whole && dumper.losses != losses_) {
    table_.Abandon(dumper.id, now_);
    dumper.running = false;
    return;
  }
  in_interrupted_merge_ = dumper.interrupted;
  const std::vector<size_t>& objects = dumper.job.objects;
  const MergeOutcome<size_t> outcome = table_.Finish(
      dumper.id, {.interrupted = dumper.interrupted, .lost_events = dumper.losses != losses_},
      [&objects](size_t key) { return std::ranges::find(objects, key) != objects.end(); }, now_);
  in_interrupted_merge_ = false;
  dumper.running = false;

  const bool complete = dumper.losses == losses_ && (AllTold() || dumpers_.size() == 1);
  if (dumper.interrupted) {
    for (const size_t object : objects) {
      dumper.expected[object] = InTable(object) == kAbsent ? 0 : dumper.at_begin[object];
    }
  } else if (complete) {
    ExpectAsNewAs(objects, dumper.at_begin);
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    newest_read_[objects[i]] = std::max(newest_read_[objects[i]], dumper.got_at[i]);
  }
  const bool none_runs = std::ranges::none_of(dumpers_, &Dumper::running);
  if (none_runs && bounds_.grace == absl::ZeroDuration() && table_.tombstones() != 0) {
    Wrong("a tombstone is left that no dump needs");
  }
  for (const size_t object : outcome.unnamed) dumper.agenda.push_back({false, {object}});
  if (bounds_.interrupts && complete && (dumper.agenda.empty() || dumper.agenda.front().whole)) {
    ExpectAsNewAs(bounds_.dumps.front(), std::exchange(dumper.expected, {}));
  }
  if (dumper.interrupted || outcome.conflict || dumper.losses != losses_) AskForWhole();
}

void FencePlay::ExpectAsNewAs(const std::vector<size_t>& objects,
                              const std::array<size_t, ModelKernel::kObjects>& positions) {
  for (const size_t object : objects) {
    if (!witnesses_[object].IsAsNewAs(kernel_.History(object), InTable(object),
                                      positions[object])) {
      Wrong("after a dump, the table is older than the dump");
    }
  }
}

void FencePlay::ReadEvents() {
  const bool lost = kernel_.Drain([this](const ModelKernel::Event& event) {
    if (event.state == kAbsent) {
      table_.EventRemoves(event.object, now_);
    } else {
      table_.EventSays(event.object, event.state);
    }
  });
  if (!lost) return;
  ++losses_;
  AskForWhole();
}

std::string FencePlay::Story() const {
  static constexpr const char* kSteps[] = {
      "change",      "send the owed event", "remove what was announced",
      "overrun",     "a second passes",     "begin",
      "read",        "read and say",        "say",
      "read events", "read events and say", "finish",
      "fail"};
  static constexpr const char* kOps[] = {"add",  "modify",       "remove",
                                         "late", "remove early", "silent"};
  std::string story;
  for (size_t object = 0; object < ModelKernel::kObjects; ++object) {
    absl::StrAppend(&story, "\n  history of ", object, ":");
    for (const ObjectState state : kernel_.History(object)) absl::StrAppend(&story, " ", state);
    absl::StrAppend(&story, "; in the table: ", InTable(object));
  }
  for (const Action& action : story_) {
    absl::StrAppend(&story, "\n  ", kSteps[static_cast<size_t>(action.step)], " ", action.who);
    if (action.step != Step::kChange) continue;
    absl::StrAppend(&story, ": ", kOps[static_cast<size_t>(action.op)],
                    action.removes ? ", removed" : "");
  }
  return story;
}

}  // namespace linkvane::server
