// A row of the interface table.
#ifndef LINKVANE_SERVER_STATE_INTERFACE_ROW_H_
#define LINKVANE_SERVER_STATE_INTERFACE_ROW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "netlink/bridge_vlan.h"
#include "netlink/link.h"
#include "server/state/fenced_table.h"
#include "server/state/row.h"

namespace linkvane::server {

// What the kernel says of a link, in the form that is kept (netlink::AppendNormalLink).
struct LinkStatement {
  netlink::Bytes message;
  size_t steady_size = 0;
};

// The same, owned.
class KeptLink {
 public:
  explicit KeptLink(const LinkStatement& statement)
      : message_(statement.message.begin(), statement.message.end()),
        steady_size_(statement.steady_size) {}
  LinkStatement statement() const { return {message_, steady_size_}; }

 private:
  std::vector<std::byte> message_;
  size_t steady_size_;
};

// Names that the row shows but that belong to other rows. Raw bytes; unset while not known.
struct LinkNames {
  std::optional<std::string> master;
  std::optional<std::string> link;
  bool operator==(const LinkNames&) const = default;
};

// The VLANs of a bridge or a port, from a table of their own. Null for none.
using BridgeVlans = std::shared_ptr<const std::vector<netlink::BridgeVlan>>;

class InterfaceRow : public Row {
 public:
  explicit InterfaceRow(const LinkStatement& statement) : message(statement) {}

  KeptLink message;
  netlink::LinkView link;  // Of `message`.
  LinkNames names;
  BridgeVlans vlans;

  std::string_view name() const { return link.name.value_or(std::string_view()); }
};

using InterfaceRowPtr = std::shared_ptr<const InterfaceRow>;

// What distinguishes a version of an object besides what the kernel says of it.
struct RowIdentity {
  std::string uid;
  uint64_t revision = 0;
  absl::Time changed_at;
};

// Makes a row and encodes it.
InterfaceRowPtr MakeInterfaceRow(const LinkStatement& statement, LinkNames names,
                                 RowIdentity identity, BridgeVlans vlans = nullptr);

// Whether the link is a bridge, or a port of one: only these show VLANs.
bool IsBridgeOrPort(const netlink::LinkView& link);

// The key of an interface's row.
std::string InterfaceKey(int32_t index);

// Compares what the kernel says with what it said.
Comparison CompareLink(const InterfaceRow& row, const LinkStatement& statement);

// Whether, after a loss of events, `statement` tells of another interface than the row with the
// same index: the kind differs, a carrier counter fell, or both name and link-layer address differ.
bool IsOtherIncarnation(const InterfaceRow& row, const LinkStatement& statement);

// Appends the field `stats` of an Interface, so that it can follow the row's own bytes.
void AppendStatsField(const netlink::LinkStats& stats, std::string& out);

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_INTERFACE_ROW_H_
