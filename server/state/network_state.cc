#include "server/state/network_state.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "netlink/addr.h"
#include "netlink/link.h"
#include "server/state/text.h"

namespace linkvane::server {
namespace {

bool Contains(TableId table, const AddrKey& key) {
  return key.family == (table == TableId::kAddrs4 ? AF_INET : AF_INET6);
}

}  // namespace

// Links and addresses are unlinked before their removal is announced, so a dump that begins after
// the event cannot show them any more: no grace is needed.
NetworkState::NetworkState(std::string epoch, ChangeSink& sink)
    : epoch_(std::move(epoch)),
      sink_(sink),
      interfaces_(interface_traits_, absl::ZeroDuration()),
      addrs_(addr_traits_, absl::ZeroDuration()),
      bridge_vlans_(bridge_vlan_traits_, absl::ZeroDuration()) {}

void NetworkState::ApplyEvent(const netlink::Message& message, const ReadTime& read) {
  now_ = read.wall;
  LinkStatement link;
  int32_t index = 0;
  AddrStatement addr;
  AddrKey key;
  switch (message.type) {
    case RTM_NEWLINK:
      if (StateLink(message, index, link)) {
        interfaces_.EventSays(index, link);
        DoubtPeer(index);
      } else if (StateBridgeVlans(message, index)) {
        bridge_vlans_.EventSays(index, vlans_);
        // It does not tell the whole of the link.
        if (FindInterface(index) != nullptr) doubtful_.insert(index);
      }
      break;
    case RTM_SETLINK:  // After RTM_NEWVLAN.
      if (StateBridgeVlans(message, index)) bridge_vlans_.EventSays(index, vlans_);
      break;
    case RTM_DELLINK: {
      ++link_removals_;
      if (StateBridgeVlans(message, index)) {
        // Maybe the port is about to leave, maybe some VLANs are gone. Its link's own event tells.
        bridge_vlans_.EventSays(index, vlans_);
        break;
      }
      netlink::LinkView view;
      if (netlink::DecodeLink(message.payload, view, tally_) && netlink::IsAboutLink(view)) {
        DoubtDependants(view.index);
        interfaces_.EventRemoves(view.index, now_);
      }
      break;
    }
    case RTM_NEWADDR:
      if (StateAddr(message, read, key, addr)) addrs_.EventSays(key, addr);
      break;
    case RTM_DELADDR:
      if (StateAddr(message, read, key, addr)) addrs_.EventRemoves(key, now_);
      break;
    default:
      break;
  }
  SettleNames();
  SettleVlans();
}

// Of a pair, the end that is made first is announced before the other exists, without a peer, and
// not again when it has one.
void NetworkState::DoubtPeer(int32_t index) {
  const InterfaceRowPtr row = FindInterface(index);
  if (row == nullptr || row->link.link != 0 || row->link.link_netns_id.has_value()) return;
  const std::string_view kind = row->link.kind.value_or("");
  if (kind == "veth" || kind == "vxcan" || kind == "netkit") doubtful_.insert(index);
}

// When the other end moves to another namespace, or a lower device does, nothing is announced of
// those that stay.
void NetworkState::DoubtDependants(int32_t index) {
  const auto found = dependants_.find(index);
  if (found == dependants_.end()) return;
  for (const int32_t dependant : found->second) {
    const InterfaceRowPtr row = FindInterface(dependant);
    if (row != nullptr && row->link.link == index) doubtful_.insert(dependant);
  }
}

std::vector<int32_t> NetworkState::TakeDoubtful() {
  std::vector<int32_t> indexes(doubtful_.begin(), doubtful_.end());
  doubtful_.clear();
  return indexes;
}

void NetworkState::NoteLoss(absl::Time now) {
  now_ = now;
  lossy_ = true;
  Tell(nullptr, nullptr);
}

RunningDump NetworkState::BeginDump(TableId table, absl::Time now) {
  RunningDump dump{.table = table, .link_removals = link_removals_};
  if (table == TableId::kLinks) {
    dump.id = interfaces_.Begin(/*whole=*/true, now);
  } else if (table == TableId::kBridgeVlans) {
    dump.id = bridge_vlans_.Begin(/*whole=*/true, now);
  } else {
    dump.id = addrs_.Begin(/*whole=*/true, now);
  }
  return dump;
}

RunningDump NetworkState::BeginQuestion(TableId table, std::optional<int32_t> interface_index,
                                        absl::Time now) {
  return {.table = table,
          .id = table == TableId::kLinks ? interfaces_.Begin(/*whole=*/false, now)
                                         : addrs_.Begin(/*whole=*/false, now),
          .interface_index = interface_index,
          .whole = false};
}

void NetworkState::DumpSays(const RunningDump& dump, std::span<const netlink::Message> messages,
                            const ReadTime& read) {
  now_ = read.wall;
  for (const netlink::Message& message : messages) {
    if (dump.table == TableId::kLinks) {
      LinkStatement statement;
      int32_t index = 0;
      if (message.type == RTM_NEWLINK && StateLink(message, index, statement)) {
        interfaces_.DumpSays(dump.id, index, statement);
      }
    } else if (dump.table == TableId::kBridgeVlans) {
      int32_t index = 0;
      if (message.type == RTM_NEWLINK && StateBridgeVlans(message, index)) {
        bridge_vlans_.DumpSays(dump.id, index, vlans_);
      }
    } else {
      AddrStatement statement;
      AddrKey key;
      if (message.type == RTM_NEWADDR && StateAddr(message, read, key, statement) &&
          Contains(dump.table, key)) {
        addrs_.DumpSays(dump.id, key, statement);
      }
    }
  }
}

Merge NetworkState::FinishDump(const RunningDump& dump, DumpFlaws flaws, absl::Time now) {
  now_ = now;
  merging_ = true;
  const auto asked_for = [&dump](int32_t index) {
    return dump.whole || dump.interface_index == index;
  };
  Merge merge;
  if (dump.table == TableId::kLinks) {
    MergeOutcome<int32_t> outcome = interfaces_.Finish(dump.id, flaws, asked_for, now);
    merge = {.conflict = outcome.conflict,
             .changes = outcome.changes,
             .unnamed = std::move(outcome.unnamed)};
  } else if (dump.table == TableId::kBridgeVlans) {
    merge = FinishVlanDump(dump, flaws);
  } else {
    const MergeOutcome<AddrKey> outcome = addrs_.Finish(
        dump.id, flaws,
        [&](const AddrKey& key) {
          return Contains(dump.table, key) && asked_for(key.interface_index);
        },
        now);
    merge = {.conflict = outcome.conflict, .changes = outcome.changes};
    for (const AddrKey& key : outcome.unnamed) {  // Sorted by interface.
      if (merge.unnamed.empty() || merge.unnamed.back() != key.interface_index) {
        merge.unnamed.push_back(key.interface_index);
      }
    }
  }
  SettleNames();
  SettleVlans();
  merging_ = false;
  return merge;
}

Merge NetworkState::FinishVlanDump(const RunningDump& dump, DumpFlaws flaws) {
  // The kernel finds its way back into this dump by counting, and does not flag it: a device that
  // went may have hidden another one.
  flaws.interrupted = flaws.interrupted || dump.link_removals != link_removals_;
  const uint64_t before = revision_;
  const MergeOutcome<int32_t> outcome = bridge_vlans_.Finish(
      dump.id, flaws, [](int32_t /*index*/) { return true; }, now_);
  SettleVlans();
  Merge merge{.conflict = outcome.conflict, .changes = revision_ - before};
  // Every bridge and every port is named, even if it has no VLAN. So if none is missing, nothing
  // was hidden.
  merge.interrupted =
      flaws.interrupted && (!outcome.unnamed.empty() ||
                            std::ranges::any_of(interfaces_.slots(), [this](const auto& entry) {
                              return IsBridgeOrPort(entry.second.row->link) &&
                                     bridge_vlans_.Find(entry.first) == nullptr;
                            }));
  return merge;
}

void NetworkState::AbandonDump(const RunningDump& dump, absl::Time now) {
  if (dump.table == TableId::kLinks) {
    interfaces_.Abandon(dump.id, now);
  } else if (dump.table == TableId::kBridgeVlans) {
    bridge_vlans_.Abandon(dump.id, now);
  } else {
    addrs_.Abandon(dump.id, now);
  }
}

SnapshotPtr NetworkState::Interfaces() {
  return interface_snapshots_.Get(interfaces_.version(), [this](std::vector<RowPtr>& rows) {
    rows.reserve(interfaces_.slots().size());
    for (const auto& [index, slot] : interfaces_.slots()) rows.push_back(slot.row);
  });
}

SnapshotPtr NetworkState::Addrs() {
  return addr_snapshots_.Get(addrs_.version(), [this](std::vector<RowPtr>& rows) {
    rows.reserve(addrs_.slots().size());
    // Slots are sorted by interface and family; within these, by the kernel's order.
    std::vector<std::pair<uint64_t, RowPtr>> group;
    const auto flush = [&] {
      std::ranges::sort(group, {}, &std::pair<uint64_t, RowPtr>::first);
      for (auto& [order, row] : group) rows.push_back(std::move(row));
      group.clear();
    };
    const AddrKey* previous = nullptr;
    for (const auto& [key, slot] : addrs_.slots()) {
      if (previous != nullptr &&
          (previous->interface_index != key.interface_index || previous->family != key.family)) {
        flush();
      }
      previous = &key;
      if (!slot.row->hidden()) group.emplace_back(slot.order, slot.row);
    }
    flush();
  });
}

InterfaceRowPtr NetworkState::FindInterface(int32_t index) const {
  const InterfaceRowPtr* row = interfaces_.Find(index);
  return row == nullptr ? nullptr : *row;
}

InterfaceRowPtr NetworkState::FindInterface(std::string_view name) const {
  const auto it = by_name_.find(ToAbsl(name));
  return it == by_name_.end() ? nullptr : FindInterface(it->second);
}

InterfaceRowPtr NetworkState::PutInterface(int32_t index, const InterfaceRowPtr* old,
                                           const LinkStatement& statement, Comparison comparison) {
  netlink::LinkView link;
  netlink::DecodeLink(statement.message, link, tally_);
  const LinkNames names = NamesFor(link);
  NoteBridge(index, old == nullptr ? nullptr : &(*old)->link, link);
  const BridgeVlans vlans = VlansFor(index, link);
  if (old != nullptr && comparison == Comparison::kOnlyVolatile) {
    const InterfaceRow& row = **old;
    return MakeInterfaceRow(statement, names, {row.uid, row.revision, row.changed_at}, vlans);
  }

  // An event tells of another interface only by the removal that precedes it, unless that was lost.
  const bool other = old != nullptr && (merging_ || lossy_) && IsOtherIncarnation(**old, statement);
  if (other) {
    for (const AddrKey& key : AddrKeysOf(index)) {
      const AddrRowPtr row = *addrs_.Find(key);
      if (row->hidden()) continue;
      Tell(row, nullptr);
      addrs_.Replace(key, MakeAddrRow(row->message.statement(), std::nullopt, {}, row.get()));
    }
    InterfaceRemoved(index, *old);
  }
  const bool known = old != nullptr && !other;
  InterfaceRowPtr row =
      MakeInterfaceRow(statement, names, Next(known ? (*old)->uid : NewUid()), vlans);
  if (known) {
    Relate(index, (*old)->link, /*add=*/false);
    IndexNames(index, **old, /*add=*/false);
  }
  Relate(index, row->link, /*add=*/true);
  IndexNames(index, *row, /*add=*/true);
  if (!known || (*old)->name() != row->name()) unsettled_names_.insert(index);
  Tell(known ? *old : nullptr, row);
  return row;
}

void NetworkState::InterfaceRemoved(int32_t index, const InterfaceRowPtr& old) {
  if (interfaces_.Find(index) == nullptr) {
    // Gone, not replaced: its addresses go with it, before it.
    for (const AddrKey& key : AddrKeysOf(index)) addrs_.EventRemoves(key, now_);
    bridge_vlans_.EventRemoves(index, now_);
  }
  Relate(index, old->link, /*add=*/false);
  IndexNames(index, *old, /*add=*/false);
  unsettled_names_.insert(index);
  Tell(old, nullptr);
}

AddrRowPtr NetworkState::PutAddr(const AddrKey& key, const AddrRowPtr* old,
                                 const AddrStatement& statement, Comparison comparison) {
  const InterfaceRowPtr* interface = interfaces_.Find(key.interface_index);
  std::optional<std::string> name;
  if (interface != nullptr) name = std::string((*interface)->name());
  if (old != nullptr && comparison == Comparison::kOnlyVolatile) {
    const AddrRow& row = **old;
    return MakeAddrRow(statement, std::move(name), {row.uid, row.revision, row.changed_at}, &row);
  }
  const bool was_visible = old != nullptr && !(*old)->hidden();
  const bool other = old != nullptr && IsOtherIncarnation(**old, statement);
  if (other && was_visible) Tell(*old, nullptr);
  const bool known = old != nullptr && !other;
  AddrRowPtr row = MakeAddrRow(statement, std::move(name), Next(known ? (*old)->uid : NewUid()),
                               known ? old->get() : nullptr);
  if (!row->hidden()) Tell(known && was_visible ? *old : nullptr, row);
  return row;
}

bool NetworkState::StateLink(const netlink::Message& message, int32_t& index,
                             LinkStatement& statement) {
  netlink::LinkView view;
  if (!netlink::DecodeLink(message.payload, view, tally_) || !netlink::TellsWholeLink(view)) {
    return false;
  }
  scratch_.clear();
  statement.steady_size = netlink::AppendNormalLink(message.payload, scratch_);
  statement.message = scratch_;
  index = view.index;
  return true;
}

bool NetworkState::StateAddr(const netlink::Message& message, const ReadTime& read, AddrKey& key,
                             AddrStatement& statement) {
  netlink::AddrView view;
  if (!netlink::DecodeAddr(message.payload, view, tally_)) return false;
  scratch_.clear();
  statement.steady_size = netlink::AppendNormalAddr(message.payload, scratch_);
  statement.message = scratch_;
  statement.read = read;
  key = KeyOf(view);
  return true;
}

bool NetworkState::StateBridgeVlans(const netlink::Message& message, int32_t& index) {
  return netlink::DecodeBridgeVlans(message.payload, index, vlans_, tally_);
}

BridgeVlans NetworkState::VlansFor(int32_t index, const netlink::LinkView& link) const {
  const BridgeVlans* vlans = IsBridgeOrPort(link) ? bridge_vlans_.Find(index) : nullptr;
  return vlans == nullptr || (*vlans)->empty() ? nullptr : *vlans;
}

void NetworkState::NoteBridge(int32_t index, const netlink::LinkView* before,
                              const netlink::LinkView& after) {
  if (!IsBridgeOrPort(after)) {
    // It left its bridge. When it enters another one, an event tells its VLANs there.
    if (bridge_vlans_.Find(index) != nullptr) bridge_vlans_.EventRemoves(index, now_);
    return;
  }
  const std::optional<uint16_t> now = netlink::DefaultPvid(after.attributes);
  const std::optional<uint16_t> then =
      before == nullptr ? std::nullopt : netlink::DefaultPvid(before->attributes);
  if (now != then) ++vlan_doubts_;
}

void NetworkState::SettleVlans() {
  for (const int32_t index : std::exchange(unsettled_vlans_, {})) {
    const InterfaceRowPtr* row = interfaces_.Find(index);
    if (row == nullptr) continue;
    const InterfaceRowPtr before = *row;
    const BridgeVlans vlans = VlansFor(index, before->link);
    if (vlans == before->vlans) continue;
    if (vlans != nullptr && before->vlans != nullptr && *vlans == *before->vlans) continue;
    const InterfaceRowPtr after =
        MakeInterfaceRow(before->message.statement(), before->names, Next(before->uid), vlans);
    interfaces_.Replace(index, after);
    Tell(before, after);
  }
}

LinkNames NetworkState::NamesFor(const netlink::LinkView& link) const {
  const auto name_of = [this](int32_t index) -> std::optional<std::string> {
    const InterfaceRowPtr* row = interfaces_.Find(index);
    if (row == nullptr) return std::nullopt;
    return std::string((*row)->name());
  };
  LinkNames names;
  if (link.master.has_value()) names.master = name_of(*link.master);
  // With IFLA_LINK_NETNSID, the index belongs to another namespace.
  if (link.link.has_value() && !link.link_netns_id.has_value()) names.link = name_of(*link.link);
  return names;
}

void NetworkState::Relate(int32_t index, const netlink::LinkView& link, bool add) {
  const auto relate = [&](std::optional<int32_t> to) {
    if (!to.has_value()) return;
    if (add) {
      dependants_[*to].insert(index);
      return;
    }
    const auto it = dependants_.find(*to);
    if (it == dependants_.end()) return;
    it->second.erase(index);
    if (it->second.empty()) dependants_.erase(it);
  };
  relate(link.master);
  if (!link.link_netns_id.has_value()) relate(link.link);
}

void NetworkState::IndexNames(int32_t index, const InterfaceRow& row, bool add) {
  const auto enter = [&](std::string_view name) {
    if (add) {
      by_name_[ToAbsl(name)] = index;
      return;
    }
    const auto it = by_name_.find(ToAbsl(name));
    // Another interface may have taken the name already.
    if (it != by_name_.end() && it->second == index) by_name_.erase(it);
  };
  enter(row.name());
  netlink::ForEachAltName(row.link, enter);
}

void NetworkState::SettleNames() {
  while (!unsettled_names_.empty()) {
    const int32_t index = *unsettled_names_.begin();
    unsettled_names_.erase(unsettled_names_.begin());

    if (const auto it = dependants_.find(index); it != dependants_.end()) {
      for (const int32_t dependant : it->second) {
        const InterfaceRowPtr* old = interfaces_.Find(dependant);
        if (old == nullptr) continue;
        LinkNames names = NamesFor((*old)->link);
        if (names == (*old)->names) continue;
        const InterfaceRowPtr before = *old;
        InterfaceRowPtr after = MakeInterfaceRow(before->message.statement(), std::move(names),
                                                 Next(before->uid), before->vlans);
        interfaces_.Replace(dependant, after);
        Tell(before, after);
      }
    }

    const InterfaceRowPtr* interface = interfaces_.Find(index);
    if (interface == nullptr) continue;
    const std::string name((*interface)->name());
    for (const AddrKey& key : AddrKeysOf(index)) {
      const AddrRowPtr before = *addrs_.Find(key);
      if (before->interface_name == name) continue;
      AddrRowPtr after = MakeAddrRow(before->message.statement(), name,
                                     Next(before->hidden() ? NewUid() : before->uid), before.get());
      addrs_.Replace(key, after);
      Tell(before->hidden() ? nullptr : before, after);
    }
  }
}

std::vector<AddrKey> NetworkState::AddrKeysOf(int32_t interface_index) const {
  std::vector<AddrKey> keys;
  for (auto it = addrs_.slots().lower_bound(AddrKey{.interface_index = interface_index});
       it != addrs_.slots().end() && it->first.interface_index == interface_index; ++it) {
    keys.push_back(it->first);
  }
  return keys;
}

std::string NetworkState::NewUid() { return absl::StrCat(epoch_, "-", absl::Hex(++uids_)); }

void NetworkState::Tell(RowPtr before, RowPtr after) {
  auto change = std::make_shared<Change>();
  change->revision = ++revision_;
  change->time = now_;
  change->before = std::move(before);
  change->after = std::move(after);
  sink_.Take(change);
}

}  // namespace linkvane::server
