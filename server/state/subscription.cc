#include "server/state/subscription.h"

#include <google/protobuf/field_mask.pb.h>

#include "linkvane/v1/types.pb.h"
#include "linkvane/v1/watch.pb.h"
#include "server/state/proto_time.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;

std::string EncodePaths(ResourceKind kind, const FieldSet& fields) {
  google::protobuf::FieldMask mask;
  for (uint32_t number = 0; number < fields.size(); ++number) {
    if (fields.test(number)) mask.add_paths(std::string(FieldName(kind, number)));
  }
  return mask.SerializeAsString();
}

}  // namespace

Subscription::Subscription(WatchOptions options, std::string epoch, std::string created)
    : options_(std::move(options)),
      epoch_(std::move(epoch)),
      created_(std::move(created)),
      resync_reason_(options_.resync_reason) {}

void Subscription::Begin(SnapshotPtr interfaces, SnapshotPtr addrs, uint64_t revision) {
  MutexLock lock(mutex_);
  interfaces_ = std::move(interfaces);
  addrs_ = std::move(addrs);
  position_ = 0;
  synced_at_ = revision;
  taken_ = revision;
  steps_.clear();
  dirty_.clear();
  dirty_gap_.reset();
  behind_ = false;
  if (phase_ == Phase::kWantsSnapshot) {
    resync_reason_ = pb::RESYNC_REASON_SNAPSHOT_EXPIRED;
    phase_ = Phase::kResync;
  }
}

void Subscription::Take(const ChangePtr& change) {
  MutexLock lock(mutex_);
  taken_ = change->revision;
  if (!change->is_loss() && !Wanted(*change)) return;
  if (!behind_) {
    steps_.push_back(change);
    if (steps_.size() <= kMostSteps) return;
    behind_ = true;
    for (const ChangePtr& step : steps_) Fold(*step);
    steps_.clear();
    return;
  }
  Fold(*change);
}

bool Subscription::Wanted(const Change& change) const {
  const Row& row = change.after != nullptr ? *change.after : *change.before;
  return row.kind == ResourceKind::kInterface ? options_.interfaces : options_.addrs;
}

bool Subscription::Visible(const RowPtr& row) const {
  if (row == nullptr) return false;
  if (row->kind == ResourceKind::kInterface) {
    return options_.interfaces &&
           options_.interface_filter.Match(static_cast<const InterfaceRow&>(*row));
  }
  return options_.addrs && options_.addr_filter.Match(static_cast<const AddrRow&>(*row));
}

void Subscription::Fold(const Change& change) {
  if (change.is_loss()) {
    if (!dirty_gap_.has_value()) dirty_gap_.emplace(change.revision - 1, change.revision);
    dirty_gap_->second = change.revision;
    return;
  }
  const bool before_visible = Visible(change.before);
  const bool after_visible = Visible(change.after);
  const auto it = dirty_.find(change.key());
  if (it == dirty_.end() && !before_visible && !after_visible) return;
  Dirty& dirty = it != dirty_.end() ? it->second : dirty_[change.key()];
  if (dirty.steps == 0 && before_visible) dirty.base = dirty.last_seen = change.before;
  if (after_visible && dirty.base != nullptr && change.after->uid == dirty.base->uid) {
    dirty.last_seen = change.after;
  }
  dirty.now = change.after;
  dirty.now_visible = after_visible;
  dirty.changed |= change.changed_fields();
  dirty.revision = change.revision;
  dirty.time = change.time;
  ++dirty.steps;
}

void Subscription::AddStep(const Change& change) {
  if (change.is_loss()) {
    batch_.push_back({.revision = change.revision, .from = change.revision - 1});
    return;
  }
  const bool before_visible = Visible(change.before);
  const bool after_visible = Visible(change.after);
  PendingEvent event{.revision = change.revision, .time = change.time};
  if (before_visible && after_visible) {
    event.type = pb::EVENT_TYPE_MODIFIED;
    event.row = change.after;
    event.previous = change.before;
    event.changed =
        MaskOf(*event.row)
            .Visible(change.changed_fields(), change.before->steady, change.after->steady);
    if (event.changed.none()) return;
  } else if (after_visible) {
    event.type = pb::EVENT_TYPE_ADDED;
    event.row = change.after;
  } else if (before_visible) {
    event.type = pb::EVENT_TYPE_REMOVED;
    event.row = change.before;
    event.left_filter = change.after != nullptr;
  } else {
    return;
  }
  batch_.push_back(std::move(event));
}

void Subscription::AddDirty() {
  if (dirty_gap_.has_value()) {
    batch_.push_back({.revision = dirty_gap_->second, .from = dirty_gap_->first});
    dirty_gap_.reset();
  }
  const auto same = [](const Dirty& dirty) {
    return dirty.base != nullptr && dirty.now != nullptr && dirty.base->uid == dirty.now->uid;
  };
  // Keys of addresses sort before keys of interfaces.
  for (const auto& [key, dirty] : dirty_) {
    if (dirty.base == nullptr || (dirty.now_visible && same(dirty))) continue;
    batch_.push_back({.type = pb::EVENT_TYPE_REMOVED,
                      .row = dirty.last_seen,
                      .revision = dirty.revision,
                      .time = dirty.time,
                      .coalesced = dirty.steps,
                      .left_filter = same(dirty)});
  }
  for (const ResourceKind kind : {ResourceKind::kInterface, ResourceKind::kAddr}) {
    for (const auto& [key, dirty] : dirty_) {
      if (!dirty.now_visible || dirty.now->kind != kind) continue;
      PendingEvent event{.type = pb::EVENT_TYPE_ADDED,
                         .row = dirty.now,
                         .revision = dirty.revision,
                         .time = dirty.time,
                         .coalesced = dirty.steps};
      if (same(dirty)) {
        event.type = pb::EVENT_TYPE_MODIFIED;
        event.previous = dirty.base;
        event.changed =
            MaskOf(*dirty.now).Visible(dirty.changed, dirty.base->steady, dirty.now->steady);
        if (event.changed.none()) continue;
      }
      batch_.push_back(std::move(event));
    }
  }
  dirty_.clear();
  behind_ = false;
}

void Subscription::FillBatch() {
  if (behind_) AddDirty();
  for (const ChangePtr& step : steps_) AddStep(*step);
  steps_.clear();
  batch_end_ = taken_;
}

bool Subscription::Next(std::string& out) {
  MutexLock lock(mutex_);
  switch (phase_) {
    case Phase::kCreated:
      AppendBytesField(pb::WatchResponse::kCreatedFieldNumber, created_, out);
      phase_ = resync_reason_ != 0      ? Phase::kResync
               : options_.skip_snapshot ? Phase::kSynced
                                        : Phase::kSnapshot;
      return true;
    case Phase::kResync: {
      pb::WatchResync resync;
      resync.set_reason(static_cast<pb::ResyncReason>(resync_reason_));
      AppendBytesField(pb::WatchResponse::kResyncFieldNumber, resync.SerializeAsString(), out);
      phase_ = Phase::kSnapshot;
      return true;
    }
    case Phase::kSnapshot:
      if (NextSnapshot(out)) return true;
      if (phase_ == Phase::kWantsSnapshot) return false;
      [[fallthrough]];
    case Phase::kSynced:
      interfaces_ = nullptr;
      addrs_ = nullptr;
      phase_ = Phase::kLive;
      AppendBytesField(pb::WatchResponse::kSyncedFieldNumber, "", out);
      AppendCheckpoint(synced_at_, out);
      return true;
    case Phase::kWantsSnapshot:
      return false;
    case Phase::kLive:
      return NextLive(out);
  }
  return false;
}

bool Subscription::NextSnapshot(std::string& out) {
  const bool expired =
      (options_.interfaces && interfaces_->expired) || (options_.addrs && addrs_->expired);
  if (expired) {
    interfaces_ = nullptr;
    addrs_ = nullptr;
    phase_ = Phase::kWantsSnapshot;
    return false;
  }
  const size_t interfaces = interfaces_->rows.size();
  const size_t total = interfaces + addrs_->rows.size();
  std::string events;
  while (position_ < total && events.size() < kBatchBytes) {
    const RowPtr& row = position_ < interfaces ? interfaces_->rows[position_]
                                               : addrs_->rows[position_ - interfaces];
    ++position_;
    if (!Visible(row)) continue;
    AppendEvent({.type = pb::EVENT_TYPE_ADDED,
                 .row = row,
                 .revision = row->revision,
                 .time = row->changed_at},
                events);
  }
  if (events.empty()) return false;
  AppendBytesField(pb::WatchResponse::kEventsFieldNumber, events, out);
  return true;
}

bool Subscription::NextLive(std::string& out) {
  if (batch_.empty()) FillBatch();
  if (batch_.empty()) return false;
  if (batch_.front().type == 0) {  // Without a checkpoint: what was lost is still to come.
    const PendingEvent& gap = batch_.front();
    std::string message;
    AppendBytesField(pb::WatchGap::kFromFieldNumber, EncodeRevision(gap.from), message);
    AppendBytesField(pb::WatchGap::kToFieldNumber, EncodeRevision(gap.revision), message);
    AppendBytesField(pb::WatchResponse::kGapFieldNumber, message, out);
    batch_.pop_front();
    return true;
  }
  std::string events;
  while (!batch_.empty() && batch_.front().type != 0 && events.size() < kBatchBytes) {
    AppendEvent(batch_.front(), events);
    batch_.pop_front();
  }
  AppendBytesField(pb::WatchResponse::kEventsFieldNumber, events, out);
  if (batch_.empty()) AppendCheckpoint(batch_end_, out);
  return true;
}

bool Subscription::wants_snapshot() const {
  MutexLock lock(mutex_);
  return phase_ == Phase::kWantsSnapshot;
}

bool Subscription::Bookmark(std::string& out) {
  MutexLock lock(mutex_);
  if (phase_ != Phase::kLive) return false;
  if (batch_.empty()) FillBatch();
  if (!batch_.empty()) return false;
  AppendBytesField(pb::WatchResponse::kBookmarkFieldNumber, "", out);
  AppendCheckpoint(batch_end_, out);
  return true;
}

std::string Subscription::EncodeRevision(uint64_t number) const {
  std::string revision;
  AppendBytesField(pb::Revision::kEpochFieldNumber, epoch_, revision);
  AppendVarintField(pb::Revision::kNumberFieldNumber, number, revision);
  return revision;
}

void Subscription::AppendCheckpoint(uint64_t number, std::string& out) const {
  AppendBytesField(pb::WatchResponse::kCheckpointFieldNumber, EncodeRevision(number), out);
}

std::string Subscription::EncodeResource(const Row& row) const {
  const uint32_t number = row.kind == ResourceKind::kInterface ? pb::Resource::kInterfaceFieldNumber
                                                               : pb::Resource::kAddrFieldNumber;
  std::string resource;
  const ReadMask& mask = MaskOf(row);
  if (mask.everything()) {
    AppendBytesField(number, row.wire, resource);
    return resource;
  }
  std::string cut;
  mask.Apply(row.wire, cut);
  AppendBytesField(number, cut, resource);
  return resource;
}

void Subscription::AppendEvent(const PendingEvent& event, std::string& events) const {
  std::string message;
  AppendVarintField(pb::Event::kTypeFieldNumber, static_cast<uint64_t>(event.type), message);
  AppendBytesField(pb::Event::kRevisionFieldNumber, EncodeRevision(event.revision), message);
  AppendBytesField(pb::Event::kTimeFieldNumber, ToProto(event.time).SerializeAsString(), message);
  AppendBytesField(pb::Event::kResourceFieldNumber, EncodeResource(*event.row), message);
  if (event.type == pb::EVENT_TYPE_MODIFIED) {
    AppendBytesField(pb::Event::kChangedFieldNumber, EncodePaths(event.row->kind, event.changed),
                     message);
    if (options_.include_previous && event.coalesced == 1) {
      AppendBytesField(pb::Event::kPreviousFieldNumber, EncodeResource(*event.previous), message);
    }
  }
  AppendVarintField(pb::Event::kCoalescedFieldNumber, event.coalesced, message);
  if (event.left_filter) AppendVarintField(pb::Event::kLeftFilterFieldNumber, 1, message);
  AppendBytesField(pb::WatchEvents::kEventsFieldNumber, message, events);
}

}  // namespace linkvane::server
