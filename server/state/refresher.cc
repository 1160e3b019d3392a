#include "server/state/refresher.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace linkvane::server {
namespace {

// How long the kernel may take for one dump. Nobody's deadline: others wait for the same dump.
constexpr absl::Duration kDumpTimeout = absl::Seconds(30);
// Another look after an interrupted or contradicted dump: when, and how often before it is left to
// the audit.
constexpr absl::Duration kFirstPause = absl::Milliseconds(20);
constexpr absl::Duration kLongestPause = absl::Seconds(2);
constexpr int kMostLooks = 8;
constexpr absl::Duration kFirstRepairPause = absl::Milliseconds(1);
constexpr absl::Duration kLongestRepairPause = absl::Milliseconds(100);

// What those hear who still wait, or come too late.
Refresher::Result Stopping() {
  return {.status = absl::CancelledError("the server is shutting down")};
}

}  // namespace

Refresher::Refresher(Observer& observer, absl::Duration audit_interval)
    : observer_(observer), audit_interval_(audit_interval), random_(std::random_device{}()) {}

Refresher::~Refresher() { Stop(); }

void Refresher::Start() {
  {
    MutexLock lock(mutex_);
    const absl::Time now = absl::Now();
    for (Table& table : tables_) table.next_audit = now + Jittered(audit_interval_);
    next_repair_ = now;
    repair_pause_ = kFirstRepairPause;
  }
  thread_ = std::thread([this] { Maintain(); });
}

void Refresher::Stop() {
  std::vector<Done> cancelled;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    for (Parked& parked : parked_) cancelled.push_back(std::move(parked.done));
    parked_.clear();
    for (Table& table : tables_) {
      for (Waiter& waiter : table.waiting) cancelled.push_back(std::move(waiter.done));
      table.waiting.clear();
    }
    wake_.NotifyAll();
  }
  for (const Done& done : cancelled) done(Stopping());
  if (thread_.joinable()) thread_.join();
}

void Refresher::Wake() {
  MutexLock lock(mutex_);
  woken_ = true;
  wake_.NotifyAll();
}

void Refresher::Refresh(TableId table, bool with_stats, absl::Time deadline, Done done) {
  if (table == TableId::kLinks) done = WithVlans(deadline, std::move(done));
  bool runs = false;
  {
    MutexLock lock(mutex_);
    Table& entry = tables_[static_cast<size_t>(table)];
    if (!stopping_) {
      entry.waiting.push_back({with_stats, deadline, std::move(done)});
      done = nullptr;
      runs = !entry.running;
      entry.running = true;
    }
  }
  if (done != nullptr) return done(Stopping());
  if (runs) RunGenerations(table);
}

void Refresher::RunGenerations(TableId table) {
  while (true) {
    std::vector<Waiter> generation;
    {
      MutexLock lock(mutex_);
      Table& entry = tables_[static_cast<size_t>(table)];
      if (entry.waiting.empty()) {
        entry.running = false;
        return;
      }
      // The generation is closed here; whoever comes from now on waits for the next dump.
      generation.swap(entry.waiting);
    }
    const bool with_stats = std::ranges::any_of(generation, &Waiter::with_stats);
    const absl::StatusOr<DumpReport> report =
        observer_.DumpTable(table, with_stats, absl::Now() + kDumpTimeout);
    Result result{.status = report.status()};
    if (report.ok()) {
      result.observed_at = report->observed_at;
      result.stats = report->stats;
    }
    {
      MutexLock lock(mutex_);
      Plan(tables_[static_cast<size_t>(table)],
           !report.ok() || report->interrupted || report->conflict);
    }
    const bool synced = observer_.synced();
    for (const Waiter& waiter : generation) {
      if (!report.ok() || synced) {
        waiter.done(result);
      } else {
        Park({waiter.deadline, result, waiter.done});
      }
    }
    if (synced) ReleaseParked();
  }
}

void Refresher::Plan(Table& table, bool again) {
  table.next_look = absl::InfiniteFuture();
  if (!again) {
    table.looks = 0;
    table.pause = kFirstPause;
    return;
  }
  if (table.looks == 0) table.pause = kFirstPause;
  if (++table.looks > kMostLooks) return;
  table.next_look = absl::Now() + table.pause;
  table.pause = std::min(table.pause * 2, kLongestPause);
  woken_ = true;
  wake_.NotifyAll();
}

void Refresher::RefreshAll(std::vector<TableId> tables, absl::Time deadline, Done done) {
  const TableId table = tables.back();
  tables.pop_back();
  if (tables.empty()) return Refresh(table, false, deadline, std::move(done));
  Refresh(
      table, false, deadline,
      [this, tables = std::move(tables), deadline, done = std::move(done)](const Result& result) {
        if (!result.status.ok()) return done(result);
        RefreshAll(tables, deadline, done);
      });
}

void Refresher::WhenKnown(absl::Time deadline, Done done) {
  if (observer_.known()) {
    return done({.status = absl::OkStatus(), .observed_at = observer_.last_read()});
  }
  WhenSynced(deadline, std::move(done));
}

Refresher::Done Refresher::WithVlans(absl::Time deadline, Done done) {
  return [this, deadline, done = std::move(done)](const Result& links) {
    if (!links.status.ok() || !observer_.vlans_in_doubt()) return done(links);
    // One look is enough, whatever happens meanwhile: what was before the caller came is in it.
    Refresh(TableId::kBridgeVlans, false, deadline, [links, done](const Result& vlans) {
      Result both = links;
      both.status = vlans.status;
      done(both);
    });
  };
}

void Refresher::LookAgain(TableId table) {
  MutexLock lock(mutex_);
  Plan(tables_[static_cast<size_t>(table)], /*again=*/true);
}

void Refresher::WhenSynced(absl::Time deadline, Done done) {
  if (observer_.synced()) return done({.status = absl::OkStatus(), .observed_at = absl::Now()});
  Park({deadline, {.status = absl::OkStatus(), .observed_at = absl::Now()}, std::move(done)});
}

void Refresher::Park(const Parked& parked) {
  bool stopping = false;
  {
    MutexLock lock(mutex_);
    stopping = stopping_;
    if (!stopping) {
      parked_.push_back(parked);
      woken_ = true;
      wake_.NotifyAll();
    }
  }
  if (stopping) return parked.done(Stopping());
  // The repair may have ended before it was parked.
  if (observer_.synced()) ReleaseParked();
}

void Refresher::ReleaseParked() {
  std::vector<Parked> released;
  {
    MutexLock lock(mutex_);
    released.swap(parked_);
  }
  for (const Parked& parked : released) parked.done(parked.result);
}

absl::Time Refresher::NextDue() {
  absl::Time due = observer_.synced() ? absl::InfiniteFuture() : next_repair_;
  for (const Table& table : tables_) due = std::min({due, table.next_audit, table.next_look});
  for (const Parked& parked : parked_) due = std::min(due, parked.deadline);
  return due;
}

absl::Duration Refresher::Jittered(absl::Duration interval) {
  return interval * std::uniform_real_distribution<double>(0.9, 1.1)(random_);
}

void Refresher::Maintain() {
  const auto ignore = [](const Result&) {};
  while (true) {
    std::vector<TableId> due;
    std::vector<Parked> late;
    bool repair = false;
    {
      MutexLock lock(mutex_);
      woken_ = false;
      while (!stopping_ && !woken_) {
        const absl::Time next = NextDue();
        if (next <= absl::Now()) break;
        wake_.WaitUntil(mutex_, next);
      }
      if (stopping_) return;
      const absl::Time now = absl::Now();
      for (size_t i = 0; i < kTables; ++i) {
        Table& table = tables_[i];
        if (std::min(table.next_audit, table.next_look) > now) continue;
        if (table.next_audit <= now) table.next_audit = now + Jittered(audit_interval_);
        table.next_look = absl::InfiniteFuture();
        due.push_back(static_cast<TableId>(i));
      }
      const auto kept = std::partition(parked_.begin(), parked_.end(), [now](const Parked& parked) {
        return parked.deadline > now;
      });
      late.assign(std::make_move_iterator(kept), std::make_move_iterator(parked_.end()));
      parked_.erase(kept, parked_.end());
      repair = !observer_.synced() && next_repair_ <= now;
    }
    for (const Parked& parked : late) {
      parked.done({.status = absl::UnavailableError(
                       "no uninterrupted dump of the kernel's tables before the deadline")});
    }
    if (observer_.vlans_in_doubt()) {
      Refresh(TableId::kBridgeVlans, false, absl::Now() + kDumpTimeout, ignore);
    }
    if (!observer_.AskDoubtful(absl::Now() + kDumpTimeout)) LookAgain(TableId::kLinks);
    for (const TableId table : due) Refresh(table, false, absl::InfiniteFuture(), ignore);
    if (repair) {
      // In the order in which rows depend on each other.
      for (const TableId table : observer_.Unclean()) {
        Refresh(table, false, absl::InfiniteFuture(), ignore);
      }
      MutexLock lock(mutex_);
      repair_pause_ =
          observer_.synced() ? kFirstRepairPause : std::min(repair_pause_ * 2, kLongestRepairPause);
      next_repair_ = observer_.synced() ? absl::InfinitePast() : absl::Now() + repair_pause_;
    }
  }
}

}  // namespace linkvane::server
