// The tables of interfaces and addresses, their revision, and the changes they go through.
//
// Knows messages but no sockets, and has no lock: the Observer, which owns it, calls it with its
// own lock held. What one call changes is one step to readers.
//
// Rows show names that belong to other rows (a master's, a lower device's, an address' interface),
// so a rename changes every row that shows the name, and an address whose interface is not known
// stays hidden until the interface comes. The VLANs of bridges and their ports have a table of
// their own, since the kernel tells them apart from the links, but are shown in the rows of
// interfaces, and so a change of them is one of the interface. Changes are told in causal order: an
// interface is added before its addresses and removed after them.
#ifndef LINKVANE_SERVER_STATE_NETWORK_STATE_H_
#define LINKVANE_SERVER_STATE_NETWORK_STATE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "netlink/bridge_vlan.h"
#include "netlink/message.h"
#include "server/state/addr_row.h"
#include "server/state/change.h"
#include "server/state/fenced_table.h"
#include "server/state/interface_row.h"
#include "server/state/snapshot.h"

namespace linkvane::server {

// What one dump request reads whole.
//
// The VLANs of bridges are dumped at the start, after a loss of events, when they are in doubt, and
// in audits. A fresh answer about interfaces needs no more: every other change of VLANs makes an
// event before the request for it returns, and events are read around the dump of the links.
enum class TableId : uint8_t { kLinks, kAddrs4, kAddrs6, kBridgeVlans };
inline constexpr size_t kTables = 4;

// A dump, or a targeted question, that is running.
struct RunningDump {
  TableId table = TableId::kLinks;
  uint64_t id = 0;
  // The interface that a targeted question is about: its row, or the addresses on it. Unset for a
  // whole dump, and for a question whose silence proves nothing.
  std::optional<int32_t> interface_index;
  bool whole = true;
  uint64_t link_removals = 0;  // That had been seen when it began.
};

// What a merge did, and what it leaves to be done: see MergeOutcome.
struct Merge {
  bool conflict = false;
  // The dump has to count as interrupted although the kernel did not say so.
  bool interrupted = false;
  uint64_t changes = 0;
  // Interfaces to be asked about, or whose addresses are to be asked for, since the dump was
  // interrupted and did not name a row that is there.
  std::vector<int32_t> unnamed;
};

class NetworkState {
 public:
  // `epoch` goes into every uid. `sink` hears of every change.
  NetworkState(std::string epoch, ChangeSink& sink);

  // Applies an event; one that is not about a link or an address is ignored.
  void ApplyEvent(const netlink::Message& message, const ReadTime& read);

  // Kernel events were lost: told as a change. Until Repaired(), a link event may be about another
  // interface with the same index.
  void NoteLoss(absl::Time now);
  void Repaired() { lossy_ = false; }

  // A dump: begins at the fence, says what it reads, and ends in a merge (or is abandoned). The
  // caller has applied all events that had come before Begin, and before Finish.
  RunningDump BeginDump(TableId table, absl::Time now);
  // A question about one interface, or the addresses on one. Several may run at a time.
  RunningDump BeginQuestion(TableId table, std::optional<int32_t> interface_index, absl::Time now);
  void DumpSays(const RunningDump& dump, std::span<const netlink::Message> messages,
                const ReadTime& read);
  Merge FinishDump(const RunningDump& dump, DumpFlaws flaws, absl::Time now);
  void AbandonDump(const RunningDump& dump, absl::Time now);

  // How often so far a link's event meant that VLANs may have changed of which no event tells: a
  // bridge came, or has another vlan_default_pvid. They have to be dumped.
  uint64_t vlan_doubts() const { return vlan_doubts_; }

  // The number of changes so far.
  uint64_t revision() const { return revision_; }
  const std::string& epoch() const { return epoch_; }

  // Made when asked for, and shared until the table changes.
  SnapshotPtr Interfaces();
  SnapshotPtr Addrs();

  // Null if there is none. By name or alternative name.
  InterfaceRowPtr FindInterface(int32_t index) const;
  InterfaceRowPtr FindInterface(std::string_view name) const;

  // Interfaces of which the last event does not tell how they are now: they have to be asked for.
  bool has_doubtful() const { return !doubtful_.empty(); }
  std::vector<int32_t> TakeDoubtful();

  size_t interface_count() const { return interfaces_.slots().size(); }
  size_t addr_count() const { return addrs_.slots().size(); }
  uint64_t malformed_attributes() const { return tally_.malformed; }

 private:
  struct InterfaceTraits {
    using Key = int32_t;
    using Row = InterfaceRowPtr;
    using Statement = LinkStatement;
    using Kept = KeptLink;
    Comparison Compare(const Row& row, const Statement& statement) const {
      return CompareLink(*row, statement);
    }
    Row Put(Key key, const Row* old, const Statement& statement, Comparison comparison) {
      return state->PutInterface(key, old, statement, comparison);
    }
    void Removed(Key key, const Row& old) { state->InterfaceRemoved(key, old); }
    NetworkState* state;
  };
  struct AddrTraits {
    using Key = AddrKey;
    using Row = AddrRowPtr;
    using Statement = AddrStatement;
    using Kept = KeptAddr;
    Comparison Compare(const Row& row, const Statement& statement) const {
      return CompareAddr(*row, statement);
    }
    Row Put(const Key& key, const Row* old, const Statement& statement, Comparison comparison) {
      return state->PutAddr(key, old, statement, comparison);
    }
    void Removed(const Key& /*key*/, const Row& old) {
      if (!old->hidden()) state->Tell(old, nullptr);
    }
    NetworkState* state;
  };

  struct BridgeVlanTraits {
    using Key = int32_t;
    using Row = BridgeVlans;  // Never null.
    using Statement = std::span<const netlink::BridgeVlan>;
    class Kept {
     public:
      explicit Kept(Statement statement) : vlans_(statement.begin(), statement.end()) {}
      Statement statement() const { return vlans_; }

     private:
      std::vector<netlink::BridgeVlan> vlans_;
    };
    Comparison Compare(const Row& row, Statement statement) const {
      return std::ranges::equal(*row, statement) ? Comparison::kSame : Comparison::kDiffers;
    }
    Row Put(Key key, const Row* /*old*/, Statement statement, Comparison /*comparison*/) {
      state->unsettled_vlans_.insert(key);
      return std::make_shared<const std::vector<netlink::BridgeVlan>>(statement.begin(),
                                                                      statement.end());
    }
    void Removed(Key key, const Row& /*old*/) { state->unsettled_vlans_.insert(key); }
    NetworkState* state;
  };

  InterfaceRowPtr PutInterface(int32_t index, const InterfaceRowPtr* old,
                               const LinkStatement& statement, Comparison comparison);
  void InterfaceRemoved(int32_t index, const InterfaceRowPtr& old);
  AddrRowPtr PutAddr(const AddrKey& key, const AddrRowPtr* old, const AddrStatement& statement,
                     Comparison comparison);

  // The statement of a message; false if it is not about a link (an address) of ours.
  bool StateLink(const netlink::Message& message, int32_t& index, LinkStatement& statement);
  bool StateAddr(const netlink::Message& message, const ReadTime& read, AddrKey& key,
                 AddrStatement& statement);
  // Into `vlans_`.
  bool StateBridgeVlans(const netlink::Message& message, int32_t& index);

  Merge FinishVlanDump(const RunningDump& dump, DumpFlaws flaws);
  // What the row of an interface shows of them.
  BridgeVlans VlansFor(int32_t index, const netlink::LinkView& link) const;
  // What follows for VLANs from what is told of a link.
  void NoteBridge(int32_t index, const netlink::LinkView* before, const netlink::LinkView& after);
  // Brings the rows of interfaces up to date whose VLANs changed.
  void SettleVlans();

  LinkNames NamesFor(const netlink::LinkView& link) const;
  void Relate(int32_t index, const netlink::LinkView& link, bool add);
  // Notes which interfaces an event leaves in doubt.
  void DoubtPeer(int32_t index);
  void DoubtDependants(int32_t index);
  void IndexNames(int32_t index, const InterfaceRow& row, bool add);
  // Brings the rows up to date that show the name of an interface that came, went or was renamed.
  void SettleNames();
  std::vector<AddrKey> AddrKeysOf(int32_t interface_index) const;

  std::string NewUid();
  // The identity of a row whose change is told next.
  RowIdentity Next(std::string uid) const { return {std::move(uid), revision_ + 1, now_}; }
  void Tell(RowPtr before, RowPtr after);

  const std::string epoch_;
  ChangeSink& sink_;
  InterfaceTraits interface_traits_{this};
  AddrTraits addr_traits_{this};
  BridgeVlanTraits bridge_vlan_traits_{this};
  FencedTable<InterfaceTraits> interfaces_;
  FencedTable<AddrTraits> addrs_;
  FencedTable<BridgeVlanTraits> bridge_vlans_;
  absl::flat_hash_map<std::string, int32_t> by_name_;
  // For each interface, those whose rows show its name.
  absl::flat_hash_map<int32_t, absl::btree_set<int32_t>> dependants_;
  absl::btree_set<int32_t> unsettled_names_;
  absl::btree_set<int32_t> doubtful_;
  absl::btree_set<int32_t> unsettled_vlans_;
  SnapshotCache interface_snapshots_;
  SnapshotCache addr_snapshots_;
  uint64_t revision_ = 0;
  uint64_t uids_ = 0;
  uint64_t link_removals_ = 0;  // Announced: of links, and of ports from bridges.
  uint64_t vlan_doubts_ = 0;
  bool lossy_ = true;     // Nothing is known yet.
  bool merging_ = false;  // In FinishDump().
  absl::Time now_;        // Of the present call.
  netlink::DecodeTally tally_;
  std::vector<std::byte> scratch_;
  std::vector<netlink::BridgeVlan> vlans_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_NETWORK_STATE_H_
