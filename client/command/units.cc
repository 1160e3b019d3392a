#include "client/command/units.h"

#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

enum class Unit { kNone, kByte, kPacket, kSegment, kBits, kEthertype };

struct Rule {
  std::string_view ending;  // of a field's full name
  Unit unit;
};

// The first that fits holds.
constexpr auto kRules = std::to_array<Rule>({
    {".mtu", Unit::kByte},
    {"_mtu", Unit::kByte},
    {"_max_size", Unit::kByte},
    {"_bytes", Unit::kByte},
    {"_max_segs", Unit::kSegment},
    {"tx_queue_len", Unit::kPacket},
    {"_packets", Unit::kPacket},
    {".flags", Unit::kBits},
    {"flags_raw", Unit::kBits},
    {"_mask", Unit::kBits},
    {"mark", Unit::kBits},
    {".proto_down_reason", Unit::kBits},
    {".BridgeOptions.enabled_raw", Unit::kBits},
    {".BridgeOptions.known", Unit::kBits},
    {"vlan_protocol", Unit::kEthertype},
    {".Vlan.protocol", Unit::kEthertype},
});

Unit UnitOf(std::string_view full_name) {
  for (const Rule& rule : kRules) {
    if (full_name.ends_with(rule.ending)) return rule.unit;
  }
  return Unit::kNone;
}

std::string EthertypeText(uint64_t number) {
  std::string hex = absl::StrFormat("0x%04x", number);
  if (number == 0x8100) return absl::StrCat("802.1q (", hex, ")");
  if (number == 0x88a8) return absl::StrCat("802.1ad (", hex, ")");
  return hex;
}

std::string Counted(uint64_t number, std::string_view unit) {
  return absl::StrCat(number, " ", ToAbsl(unit), number == 1 ? "" : "s");
}

}  // namespace

std::string NumberText(const google::protobuf::FieldDescriptor& field, uint64_t number) {
  switch (UnitOf(field.full_name())) {
    case Unit::kNone:
      break;
    case Unit::kByte:
      return Counted(number, "byte");
    case Unit::kPacket:
      return Counted(number, "packet");
    case Unit::kSegment:
      return Counted(number, "segment");
    case Unit::kBits:
      return absl::StrFormat("0x%x", number);
    case Unit::kEthertype:
      return EthertypeText(number);
  }
  return absl::StrCat(number);
}

}  // namespace linkvane::command
