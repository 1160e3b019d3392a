// What a row of any table is to those who only pass it on: a key, an identity and encoded bytes.
#ifndef LINKVANE_SERVER_STATE_ROW_H_
#define LINKVANE_SERVER_STATE_ROW_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace linkvane::server {

enum class ResourceKind : uint8_t { kInterface, kAddr };

// Immutable once it is made, so that snapshots, streams and listings share it.
class Row {
 public:
  virtual ~Row() = default;
  Row() = default;
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  ResourceKind kind = ResourceKind::kInterface;
  // The same for all versions of one object, unique over all kinds. Sorts as the table does.
  std::string key;
  // New for each incarnation.
  std::string uid;
  // The message of the contract (Interface, Addr), encoded. Made once. A message in it stands in
  // one piece, since not every decoder puts pieces together.
  std::string wire;
  // The same without what runs by itself, or may (unknown_attributes): where it differs is a
  // change.
  std::string steady;
  // Of the change that made this version, and when the server learned of it.
  uint64_t revision = 0;
  absl::Time changed_at;
};

using RowPtr = std::shared_ptr<const Row>;

// How many rows this process has encoded. For tests and GetServerInfo.
std::atomic<uint64_t>& RowsEncoded();

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_ROW_H_
