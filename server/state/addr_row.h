// A row of the address table.
#ifndef LINKVANE_SERVER_STATE_ADDR_ROW_H_
#define LINKVANE_SERVER_STATE_ADDR_ROW_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "netlink/addr.h"
#include "server/state/fenced_table.h"
#include "server/state/interface_row.h"
#include "server/state/row.h"

namespace linkvane::server {

// When something was read, on both clocks: lifetimes and time stamps of addresses count from then.
struct ReadTime {
  absl::Time wall;
  absl::Duration monotonic;  // CLOCK_MONOTONIC.

  static ReadTime Now();
};

// What the kernel says of an address, in the form that is kept (netlink::AppendNormalAddr).
struct AddrStatement {
  netlink::Bytes message;
  size_t steady_size = 0;
  ReadTime read;
};

// The same, owned.
class KeptAddr {
 public:
  explicit KeptAddr(const AddrStatement& statement)
      : message_(statement.message.begin(), statement.message.end()),
        steady_size_(statement.steady_size),
        read_(statement.read) {}
  AddrStatement statement() const { return {message_, steady_size_, read_}; }

 private:
  std::vector<std::byte> message_;
  size_t steady_size_;
  ReadTime read_;
};

// Of an IPv4 address: interface, address, prefix length and peer. Of an IPv6 address: interface and
// address, the rest is zero. Sorts by interface, then IPv4 first.
struct AddrKey {
  int32_t interface_index = 0;
  uint8_t family = 0;
  std::array<std::byte, 16> address{};
  uint8_t prefix_length = 0;
  std::array<std::byte, 16> peer{};

  auto operator<=>(const AddrKey&) const = default;

  template <typename H>
  friend H AbslHashValue(H h, const AddrKey& key) {
    h = H::combine(std::move(h), key.interface_index, key.family, key.prefix_length);
    h = H::combine_contiguous(std::move(h), reinterpret_cast<const uint8_t*>(key.address.data()),
                              key.address.size());
    return H::combine_contiguous(std::move(h), reinterpret_cast<const uint8_t*>(key.peer.data()),
                                 key.peer.size());
  }
};

AddrKey KeyOf(const netlink::AddrView& addr);

// Points in time, where the kernel tells any.
struct AddrTimes {
  std::optional<absl::Time> preferred_until;
  std::optional<absl::Time> valid_until;
  std::optional<absl::Time> created_at;
  std::optional<absl::Time> updated_at;
};

class AddrRow : public Row {
 public:
  explicit AddrRow(const AddrStatement& statement) : message(statement) {}

  KeptAddr message;
  netlink::AddrView addr;  // Of `message`.
  AddrTimes times;
  // The interface's name, raw; unset while the interface is not known. Then the row is hidden.
  std::optional<std::string> interface_name;

  bool hidden() const { return !interface_name.has_value(); }
};

using AddrRowPtr = std::shared_ptr<const AddrRow>;

// Makes a row, and encodes it unless it is hidden. `previous` is the version before, of the same
// incarnation; null if there is none.
AddrRowPtr MakeAddrRow(const AddrStatement& statement, std::optional<std::string> interface_name,
                       RowIdentity identity, const AddrRow* previous);

// Compares what the kernel says with what it said. Lifetimes that only ran down are the same.
Comparison CompareAddr(const AddrRow& row, const AddrStatement& statement);

// Whether `statement` tells of an address made later than the row's.
bool IsOtherIncarnation(const AddrRow& row, const AddrStatement& statement);

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_ADDR_ROW_H_
