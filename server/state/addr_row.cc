#include "server/state/addr_row.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "linkvane/v1/addr.pb.h"
#include "server/state/proto_time.h"
#include "server/state/text.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;

constexpr uint32_t kForever = 0xffffffff;  // INFINITY_LIFE_TIME.
// Lifetimes come in whole seconds and are read with some delay.
constexpr double kLifetimeTolerance = 2.0;

struct FlagName {
  uint32_t bit;
  pb::AddrFlag flag;
};
constexpr FlagName kFlags[] = {
    {IFA_F_NODAD, pb::ADDR_FLAG_NODAD},
    {IFA_F_OPTIMISTIC, pb::ADDR_FLAG_OPTIMISTIC},
    {IFA_F_DADFAILED, pb::ADDR_FLAG_DADFAILED},
    {IFA_F_HOMEADDRESS, pb::ADDR_FLAG_HOMEADDRESS},
    {IFA_F_DEPRECATED, pb::ADDR_FLAG_DEPRECATED},
    {IFA_F_TENTATIVE, pb::ADDR_FLAG_TENTATIVE},
    {IFA_F_PERMANENT, pb::ADDR_FLAG_PERMANENT},
    {IFA_F_MANAGETEMPADDR, pb::ADDR_FLAG_MANAGETEMPADDR},
    {IFA_F_NOPREFIXROUTE, pb::ADDR_FLAG_NOPREFIXROUTE},
    {IFA_F_MCAUTOJOIN, pb::ADDR_FLAG_MCAUTOJOIN},
    {IFA_F_STABLE_PRIVACY, pb::ADDR_FLAG_STABLE_PRIVACY},
};

pb::AddrScope ScopeOf(uint8_t kernel) {
  switch (kernel) {
    case RT_SCOPE_UNIVERSE:
      return pb::ADDR_SCOPE_GLOBAL;
    case RT_SCOPE_SITE:
      return pb::ADDR_SCOPE_SITE;
    case RT_SCOPE_LINK:
      return pb::ADDR_SCOPE_LINK;
    case RT_SCOPE_HOST:
      return pb::ADDR_SCOPE_HOST;
    case RT_SCOPE_NOWHERE:
      return pb::ADDR_SCOPE_NOWHERE;
    default:
      return pb::ADDR_SCOPE_UNSPECIFIED;
  }
}

// Whether a lifetime is what is left of an earlier one after `elapsed` seconds.
bool RanDown(uint32_t then, uint32_t now, double elapsed) {
  if (then == kForever || now == kForever) return then == now;
  return std::abs(std::max(0.0, then - elapsed) - now) <= kLifetimeTolerance;
}

// Whether the kernel set nothing anew between two readings, `elapsed` seconds apart.
bool SameLifetime(const ifa_cacheinfo& then, const ifa_cacheinfo& now, double elapsed) {
  return then.cstamp == now.cstamp && then.tstamp == now.tstamp &&
         RanDown(then.ifa_prefered, now.ifa_prefered, elapsed) &&
         RanDown(then.ifa_valid, now.ifa_valid, elapsed);
}

// A kernel time stamp, in hundredths of a second since boot modulo 2^32, as a point in time.
absl::Time WallTime(uint32_t stamp, const ReadTime& read) {
  const auto now = static_cast<uint32_t>(absl::ToInt64Milliseconds(read.monotonic) / 10);
  const uint32_t age = now - stamp;
  // The two clocks can differ a little: what looks like the future is now.
  return age > 0x7fffffff ? read.wall : read.wall - absl::Milliseconds(int64_t{10} * age);
}

// The kernel's times as points in time. What the kernel did not change since `previous` keeps its
// point, which another reading would shift a little.
AddrTimes TimesOf(const ifa_cacheinfo& lifetime, const ReadTime& read, const AddrRow* previous) {
  AddrTimes times;
  if (lifetime.ifa_prefered != kForever) {
    times.preferred_until = read.wall + absl::Seconds(lifetime.ifa_prefered);
  }
  if (lifetime.ifa_valid != kForever) {
    times.valid_until = read.wall + absl::Seconds(lifetime.ifa_valid);
  }
  times.created_at = WallTime(lifetime.cstamp, read);
  times.updated_at = WallTime(lifetime.tstamp, read);
  if (previous == nullptr || !previous->addr.lifetime.has_value()) return times;
  const ifa_cacheinfo& before = *previous->addr.lifetime;
  if (before.cstamp == lifetime.cstamp) times.created_at = previous->times.created_at;
  if (before.tstamp == lifetime.tstamp) times.updated_at = previous->times.updated_at;
  const double elapsed =
      absl::ToDoubleSeconds(read.monotonic - previous->message.statement().read.monotonic);
  if (SameLifetime(before, lifetime, elapsed)) {
    times.preferred_until = previous->times.preferred_until;
    times.valid_until = previous->times.valid_until;
  }
  return times;
}

void FillTimes(const AddrTimes& times, pb::Addr& out) {
  if (times.preferred_until.has_value()) {
    *out.mutable_preferred_until() = ToProto(*times.preferred_until);
  }
  if (times.valid_until.has_value()) *out.mutable_valid_until() = ToProto(*times.valid_until);
  if (times.created_at.has_value()) *out.mutable_created_at() = ToProto(*times.created_at);
  if (times.updated_at.has_value()) *out.mutable_updated_at() = ToProto(*times.updated_at);
}

void FillFlags(const netlink::AddrView& addr, pb::Addr& out) {
  const uint32_t flags = addr.flags();
  if ((flags & IFA_F_SECONDARY) != 0) {  // The same bit as IFA_F_TEMPORARY.
    out.add_flags(addr.family == AF_INET ? pb::ADDR_FLAG_SECONDARY : pb::ADDR_FLAG_TEMPORARY);
  }
  for (const FlagName& name : kFlags) {
    if ((flags & name.bit) != 0) out.add_flags(name.flag);
  }
  out.set_flags_raw(flags);
}

void FillTexts(const AddrRow& row, pb::Addr& out) {
  out.set_interface_name(ToUtf8(*row.interface_name));
  if (!IsUtf8(*row.interface_name)) out.set_raw_interface_name(*row.interface_name);
  if (row.addr.label.has_value()) {
    out.set_label(ToUtf8(*row.addr.label));
    if (!IsUtf8(*row.addr.label)) out.set_raw_label(std::string(*row.addr.label));
  }
}

void FillAddresses(const netlink::AddrView& addr, pb::Addr& out) {
  out.set_family(addr.family == AF_INET ? pb::ADDRESS_FAMILY_IPV4 : pb::ADDRESS_FAMILY_IPV6);
  out.set_address(IpText(addr.local()));
  out.set_prefix_length(addr.prefix_length);
  if (!addr.peer().empty()) out.set_peer_address(IpText(addr.peer()));
  if (addr.broadcast.has_value()) out.set_broadcast_address(IpText(*addr.broadcast));
  if (addr.anycast.has_value()) out.set_anycast_address(IpText(*addr.anycast));
}

void FillUnknown(const netlink::AddrView& addr, pb::Addr& out) {
  netlink::ForEachUnknown(
      addr.attributes, netlink::AddrRules(),
      [&out](std::span<const uint16_t> parents, const netlink::Attribute& attribute) {
        pb::UnknownAttribute& unknown = *out.add_unknown_attributes();
        unknown.set_type(attribute.type);
        unknown.set_data(attribute.payload.data(), attribute.payload.size());
        unknown.mutable_parents()->Add(parents.begin(), parents.end());
      });
}

std::string WireKey(const AddrKey& key) {
  std::string text = "a";
  for (int shift = 24; shift >= 0; shift -= 8) {
    text += static_cast<char>(static_cast<uint32_t>(key.interface_index) >> shift);
  }
  text += static_cast<char>(key.family);
  text.append(reinterpret_cast<const char*>(key.address.data()), key.address.size());
  text += static_cast<char>(key.prefix_length);
  text.append(reinterpret_cast<const char*>(key.peer.data()), key.peer.size());
  return text;
}

// Whether two runs of volatile attributes are equal but for the lifetimes.
bool SameVolatile(netlink::Bytes a, netlink::Bytes b) {
  netlink::AttributeReader reader_a(a);
  netlink::AttributeReader reader_b(b);
  netlink::Attribute attribute_a;
  netlink::Attribute attribute_b;
  while (true) {
    const bool more = reader_a.Next(attribute_a);
    if (more != reader_b.Next(attribute_b)) return false;
    if (!more) return true;
    if (attribute_a.type != attribute_b.type) return false;
    if (attribute_a.type != IFA_CACHEINFO &&
        !std::ranges::equal(attribute_a.payload, attribute_b.payload)) {
      return false;
    }
  }
}

}  // namespace

ReadTime ReadTime::Now() {
  timespec monotonic{};
  clock_gettime(CLOCK_MONOTONIC, &monotonic);
  return {absl::Now(), absl::DurationFromTimespec(monotonic)};
}

AddrKey KeyOf(const netlink::AddrView& addr) {
  AddrKey key{.interface_index = addr.index, .family = addr.family};
  std::ranges::copy(addr.local(), key.address.begin());
  if (addr.family == AF_INET) {
    key.prefix_length = addr.prefix_length;
    std::ranges::copy(addr.peer(), key.peer.begin());
  }
  return key;
}

AddrRowPtr MakeAddrRow(const AddrStatement& statement, std::optional<std::string> interface_name,
                       RowIdentity identity, const AddrRow* previous) {
  auto row = std::make_shared<AddrRow>(statement);
  netlink::DecodeTally tally;
  netlink::DecodeAddr(row->message.statement().message, row->addr, tally);
  row->kind = ResourceKind::kAddr;
  row->key = WireKey(KeyOf(row->addr));
  row->interface_name = std::move(interface_name);
  row->uid = std::move(identity.uid);
  row->revision = identity.revision;
  row->changed_at = identity.changed_at;
  const netlink::AddrView& addr = row->addr;
  if (addr.lifetime.has_value()) {
    row->times = TimesOf(*addr.lifetime, statement.read, previous);
  }
  if (row->hidden()) return row;

  thread_local pb::Addr out;  // Keeps its memory from one row to the next.
  out.Clear();
  out.set_uid(row->uid);
  out.set_interface_index(addr.index);
  FillTexts(*row, out);
  FillAddresses(addr, out);
  out.set_scope(ScopeOf(addr.scope));
  out.set_scope_raw(addr.scope);
  FillFlags(addr, out);
  FillTimes(row->times, out);
  if (addr.protocol.has_value()) out.set_protocol(*addr.protocol);
  if (addr.route_metric.has_value()) out.set_route_metric(*addr.route_metric);
  out.SerializeToString(&row->steady);
  FillUnknown(addr, out);
  out.SerializeToString(&row->wire);
  RowsEncoded().fetch_add(1, std::memory_order_relaxed);
  return row;
}

Comparison CompareAddr(const AddrRow& row, const AddrStatement& statement) {
  const AddrStatement old = row.message.statement();
  if (old.steady_size != statement.steady_size ||
      std::memcmp(old.message.data(), statement.message.data(), old.steady_size) != 0) {
    return Comparison::kDiffers;
  }
  netlink::AddrView now;
  netlink::DecodeTally tally;
  netlink::DecodeAddr(statement.message, now, tally);
  const double elapsed = absl::ToDoubleSeconds(statement.read.monotonic - old.read.monotonic);
  if (row.addr.lifetime.has_value() != now.lifetime.has_value() ||
      (now.lifetime.has_value() && !SameLifetime(*row.addr.lifetime, *now.lifetime, elapsed))) {
    return Comparison::kDiffers;
  }
  return SameVolatile(old.message.subspan(old.steady_size),
                      statement.message.subspan(statement.steady_size))
             ? Comparison::kSame
             : Comparison::kOnlyVolatile;
}

bool IsOtherIncarnation(const AddrRow& row, const AddrStatement& statement) {
  netlink::AddrView now;
  netlink::DecodeTally tally;
  if (!netlink::DecodeAddr(statement.message, now, tally)) return false;
  return row.addr.lifetime.has_value() && now.lifetime.has_value() &&
         row.addr.lifetime->cstamp != now.lifetime->cstamp;
}

}  // namespace linkvane::server
