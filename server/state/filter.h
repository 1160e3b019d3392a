// The filters of requests, checked once and then applied to rows.
#ifndef LINKVANE_SERVER_STATE_FILTER_H_
#define LINKVANE_SERVER_STATE_FILTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/state/addr_row.h"
#include "server/state/glob.h"
#include "server/state/interface_row.h"

namespace linkvane::v1 {
class AddrFilter;
class InterfaceFilter;
}  // namespace linkvane::v1

namespace linkvane::server {

// An argument that is not what the contract asks for.
struct BadArgument {
  std::string field;  // As a path in the request: "filter.within".
  std::string why;
};

// Names, each exact or a glob pattern.
class NamePatterns {
 public:
  void Add(const std::string& pattern);
  bool Match(std::string_view name) const;
  bool empty() const { return exact_.empty(); }

 private:
  std::vector<std::string> exact_;
  std::vector<Glob> globs_;
};

class InterfaceFilter {
 public:
  // `path` is the filter's field in the request, for errors.
  static std::optional<BadArgument> Compile(const linkvane::v1::InterfaceFilter& filter,
                                            std::string_view path, InterfaceFilter& out);
  bool Match(const InterfaceRow& row) const;

  // What the kernel can be asked for less of: one master, or one kind.
  const std::optional<std::string>& master() const { return master_; }
  std::optional<std::string_view> only_kind() const {
    if (kinds_.size() != 1) return std::nullopt;
    return kinds_.front();
  }

 private:
  std::vector<int32_t> indexes_;
  NamePatterns names_;
  std::vector<std::string> kinds_;
  std::vector<std::string> hardware_addresses_;  // Raw.
  std::optional<std::string> master_;
  std::optional<bool> admin_up_;
  std::vector<uint8_t> oper_states_;  // The kernel's numbers.
};

class AddrFilter {
 public:
  static std::optional<BadArgument> Compile(const linkvane::v1::AddrFilter& filter,
                                            std::string_view path, AddrFilter& out);
  bool Match(const AddrRow& row) const;

  // What the kernel can be asked for less of: the family (0 for any), and the interface if it is
  // just one.
  uint8_t family() const { return family_; }
  std::optional<int32_t> only_interface() const {
    if (interface_indexes_.size() != 1) return std::nullopt;
    return interface_indexes_.front();
  }

 private:
  std::vector<int32_t> interface_indexes_;
  NamePatterns interface_names_;
  uint8_t family_ = 0;
  std::vector<uint8_t> scopes_;  // The kernel's numbers.
  struct Prefix {
    std::vector<std::byte> address;
    int length = 0;
  };
  std::optional<Prefix> within_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_FILTER_H_
