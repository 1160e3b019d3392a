#include "server/state/filter.h"

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "linkvane/v1/addr.pb.h"
#include "linkvane/v1/interface.pb.h"
#include "server/state/text.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;

std::optional<BadArgument> Bad(std::string_view path, const char* field, std::string why) {
  return BadArgument{absl::StrCat(ToAbsl(path), ".", field), std::move(why)};
}

// The name of the first index that cannot be one.
template <typename Indexes>
std::optional<std::string> BadIndex(const Indexes& indexes) {
  for (const int32_t index : indexes) {
    if (index <= 0) return absl::StrCat(index, " is no index; indexes start at 1");
  }
  return std::nullopt;
}

template <typename Names>
std::optional<std::string> AddPatterns(const Names& names, NamePatterns& out) {
  for (const std::string& name : names) {
    if (name.empty()) return "a name is empty";
    out.Add(name);
  }
  return std::nullopt;
}

template <typename List, typename Value>
bool NoneOrIn(const List& list, const Value& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

std::optional<uint8_t> KernelScope(int scope) {
  switch (scope) {
    case pb::ADDR_SCOPE_GLOBAL:
      return RT_SCOPE_UNIVERSE;
    case pb::ADDR_SCOPE_SITE:
      return RT_SCOPE_SITE;
    case pb::ADDR_SCOPE_LINK:
      return RT_SCOPE_LINK;
    case pb::ADDR_SCOPE_HOST:
      return RT_SCOPE_HOST;
    case pb::ADDR_SCOPE_NOWHERE:
      return RT_SCOPE_NOWHERE;
    default:
      return std::nullopt;
  }
}

// Whether `address` begins with the first `length` bits of `prefix`.
bool HasPrefix(netlink::Bytes address, const std::vector<std::byte>& prefix, int length) {
  if (address.size() != prefix.size()) return false;
  const size_t whole = static_cast<size_t>(length) / 8;
  if (std::memcmp(address.data(), prefix.data(), whole) != 0) return false;
  const int rest = length % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<std::byte>(0xff << (8 - rest));
  return (address[whole] & mask) == (prefix[whole] & mask);
}

// "10.0.0.0/8", "fe80::/10".
bool ParsePrefix(const std::string& text, std::vector<std::byte>& address, int& length) {
  const size_t slash = text.find('/');
  const std::string host = text.substr(0, slash);
  const int family = host.find(':') != std::string::npos ? AF_INET6 : AF_INET;
  address.resize(family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr));
  if (host.size() != std::strlen(host.c_str()) ||
      inet_pton(family, host.c_str(), address.data()) != 1) {
    return false;
  }
  if (slash == std::string::npos) return false;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + slash + 1, end, length);
  return error == std::errc() && rest == end && length >= 0 &&
         length <= static_cast<int>(address.size()) * 8;
}

}  // namespace

void NamePatterns::Add(const std::string& pattern) {
  exact_.push_back(pattern);
  if (pattern.find_first_of("*?[") != std::string::npos) globs_.emplace_back(pattern);
}

bool NamePatterns::Match(std::string_view name) const {
  const std::string text = ToUtf8(name);  // As clients see it.
  return std::ranges::find(exact_, text) != exact_.end() ||
         std::ranges::any_of(globs_, [&text](const Glob& glob) { return glob.Match(text); });
}

std::optional<BadArgument> InterfaceFilter::Compile(const pb::InterfaceFilter& filter,
                                                    std::string_view path, InterfaceFilter& out) {
  if (const auto why = BadIndex(filter.indexes())) return Bad(path, "indexes", *why);
  out.indexes_.assign(filter.indexes().begin(), filter.indexes().end());
  if (const auto why = AddPatterns(filter.names(), out.names_)) return Bad(path, "names", *why);
  out.kinds_.assign(filter.kinds().begin(), filter.kinds().end());
  for (const std::string& text : filter.hardware_addresses()) {
    std::string raw;
    if (!ParseColonHex(text, raw)) {
      return Bad(path, "hardware_addresses",
                 absl::StrCat("\"", text, "\" is no link-layer address (want hex with colons)"));
    }
    out.hardware_addresses_.push_back(raw);
  }
  if (filter.has_master()) {
    if (filter.master().empty()) return Bad(path, "master", "the name is empty");
    out.master_ = filter.master();
  }
  if (filter.has_admin_up()) out.admin_up_ = filter.admin_up();
  for (const int state : filter.oper_states()) {
    if (!pb::OperState_IsValid(state) || state == pb::OPER_STATE_UNSPECIFIED) {
      return Bad(path, "oper_states", absl::StrCat(state, " is no operational state"));
    }
    out.oper_states_.push_back(static_cast<uint8_t>(state - 1));
  }
  return std::nullopt;
}

bool InterfaceFilter::Match(const InterfaceRow& row) const {
  const netlink::LinkView& link = row.link;
  if (!NoneOrIn(indexes_, link.index)) return false;
  if (!names_.empty() && !names_.Match(row.name())) {
    bool found = false;
    netlink::ForEachAltName(link,
                            [&](std::string_view name) { found = found || names_.Match(name); });
    if (!found) return false;
  }
  if (!kinds_.empty() && !(link.kind.has_value() && NoneOrIn(kinds_, *link.kind))) return false;
  if (!hardware_addresses_.empty()) {
    const netlink::Bytes raw = link.address.value_or(netlink::Bytes());
    if (!NoneOrIn(hardware_addresses_,
                  std::string_view(reinterpret_cast<const char*>(raw.data()), raw.size()))) {
      return false;
    }
  }
  if (master_.has_value() && row.names.master != master_) return false;
  if (admin_up_.has_value() && ((link.flags & IFF_UP) != 0) != *admin_up_) return false;
  return oper_states_.empty() ||
         (link.oper_state.has_value() && NoneOrIn(oper_states_, *link.oper_state));
}

std::optional<BadArgument> AddrFilter::Compile(const pb::AddrFilter& filter, std::string_view path,
                                               AddrFilter& out) {
  if (const auto why = BadIndex(filter.interface_indexes())) {
    return Bad(path, "interface_indexes", *why);
  }
  out.interface_indexes_.assign(filter.interface_indexes().begin(),
                                filter.interface_indexes().end());
  if (const auto why = AddPatterns(filter.interface_names(), out.interface_names_)) {
    return Bad(path, "interface_names", *why);
  }
  switch (filter.family()) {
    case pb::ADDRESS_FAMILY_UNSPECIFIED:
      break;
    case pb::ADDRESS_FAMILY_IPV4:
      out.family_ = AF_INET;
      break;
    case pb::ADDRESS_FAMILY_IPV6:
      out.family_ = AF_INET6;
      break;
    default:
      return Bad(path, "family",
                 absl::StrCat(static_cast<int>(filter.family()), " is no address family"));
  }
  for (const int scope : filter.scopes()) {
    const std::optional<uint8_t> kernel = KernelScope(scope);
    if (!kernel.has_value()) return Bad(path, "scopes", absl::StrCat(scope, " is no scope"));
    out.scopes_.push_back(*kernel);
  }
  if (filter.has_within()) {
    Prefix prefix;
    if (!ParsePrefix(filter.within(), prefix.address, prefix.length)) {
      return Bad(path, "within",
                 absl::StrCat("\"", filter.within(), "\" is no prefix in CIDR notation"));
    }
    out.within_ = std::move(prefix);
  }
  return std::nullopt;
}

bool AddrFilter::Match(const AddrRow& row) const {
  const netlink::AddrView& addr = row.addr;
  return NoneOrIn(interface_indexes_, addr.index) &&
         (interface_names_.empty() ||
          (row.interface_name.has_value() && interface_names_.Match(*row.interface_name))) &&
         (family_ == 0 || family_ == addr.family) && NoneOrIn(scopes_, addr.scope) &&
         (!within_.has_value() || HasPrefix(addr.local(), within_->address, within_->length));
}

}  // namespace linkvane::server
