// The table that says, for each attribute of a kind of message, what it is called, where its value
// goes (or how it is to be understood) and whether it runs by itself. Decoding, comparing and the
// search for what this version does not know all follow the same table, so adding an attribute is
// one line in it.
#ifndef LINKVANE_NETLINK_ATTRIBUTE_RULES_H_
#define LINKVANE_NETLINK_ATTRIBUTE_RULES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "netlink/attribute.h"
#include "netlink/value_format.h"

namespace linkvane::netlink {

// Whether a difference in an attribute is a change of the object.
enum class Volatility : uint8_t {
  kSteady,    // It is.
  kVolatile,  // It is not: the value runs by itself (a timer, an age). Kept, and refreshed when
              // read.
  kTransient  // It is not, and the value is not kept: counters, and what belongs to one event only.
};

template <typename View>
class AttributeRules;

template <typename View>
struct AttributeRule {
  uint16_t type = 0;
  std::string_view name;  // The kernel's: "IFLA_MTU".
  Volatility volatility = Volatility::kSteady;
  // Puts the payload into the view. False if the payload is not what the rule expects; then the
  // view is left as it was. Null for what is known but not read.
  bool (*read)(View& view, Bytes payload) = nullptr;
  // For an attribute that holds attributes: their rules. Its own volatility does not count.
  const AttributeRules<View>* nested = nullptr;
  // For one whose rules depend on the rest of the message (all attributes of which it is given):
  // finds them. Null if this version has none; then the attribute counts as unknown.
  const AttributeRules<View>* (*select)(Bytes message) = nullptr;
  // For a value that is not read into the view: how to understand it.
  ValueFormat format = {};

  bool holds_attributes() const { return nested != nullptr || select != nullptr; }
};

// Rules by attribute number. Meant for constexpr tables.
template <typename View>
class AttributeRules {
 public:
  static constexpr size_t kTypes = 128;

  constexpr AttributeRules() = default;
  template <size_t N>
  constexpr explicit AttributeRules(const AttributeRule<View> (&rules)[N]) : rules_(rules) {
    static_assert(N < 255);
    for (size_t i = 0; i < N; ++i) positions_[rules[i].type] = static_cast<uint8_t>(i + 1);
  }

  constexpr const AttributeRule<View>* Find(uint16_t type) const {
    if (type >= kTypes || positions_[type] == 0) return nullptr;
    return &rules_[positions_[type] - 1];
  }
  constexpr std::span<const AttributeRule<View>> all() const { return rules_; }

 private:
  std::span<const AttributeRule<View>> rules_;
  std::array<uint8_t, kTypes> positions_{};
};

// The rule for an attribute and, if it holds attributes, the rules for those. No rule for what this
// version does not know.
template <typename View>
struct FoundRule {
  const AttributeRule<View>* rule = nullptr;
  const AttributeRules<View>* nested = nullptr;
};

template <typename View>
FoundRule<View> FindRule(uint16_t type, const AttributeRules<View>& rules, Bytes message) {
  FoundRule<View> found{rules.Find(type)};
  if (found.rule == nullptr) return found;
  found.nested = found.rule->nested;
  if (found.rule->select != nullptr) {
    found.nested = found.rule->select(message);
    if (found.nested == nullptr) found.rule = nullptr;
  }
  return found;
}

// Counts what a decoder met that was not as expected.
struct DecodeTally {
  uint64_t malformed = 0;  // Attributes of a wrong length, and runs that ended too early.
};

// Reads `attributes` into `view` by `rules`. Never fails. Where an attribute repeats, the first
// sound one wins (that is up to the readers, see ReadInto).
template <typename View>
void DecodeAttributes(Bytes attributes, const AttributeRules<View>& rules, View& view,
                      DecodeTally& tally) {
  AttributeReader reader(attributes);
  Attribute attribute;
  while (reader.Next(attribute)) {
    const AttributeRule<View>* rule = rules.Find(attribute.type);
    if (rule == nullptr) continue;
    if (rule->read != nullptr && !rule->read(view, attribute.payload)) ++tally.malformed;
    // What has a format is decoded by whoever wants it.
    if (rule->nested != nullptr && rule->format.shape == ValueFormat::Shape::kNone) {
      DecodeAttributes(attribute.payload, *rule->nested, view, tally);
    }
  }
  if (reader.malformed()) ++tally.malformed;
}

// Calls `visit(std::span<const uint16_t> parents, const Attribute&)` for each attribute that has no
// rule, at any depth that the rules reach. Two levels of nesting are the most that rtnetlink's
// links need; eight are allowed.
template <typename View, typename Visit>
void ForEachUnknown(Bytes attributes, const AttributeRules<View>& rules, Visit&& visit) {
  struct Walk {
    Bytes message;
    std::array<uint16_t, 8> parents{};
    void Step(Bytes run, const AttributeRules<View>& level, size_t depth, Visit& call) {
      AttributeReader reader(run);
      Attribute attribute;
      while (reader.Next(attribute)) {
        const auto [rule, nested] = FindRule(attribute.type, level, message);
        if (rule == nullptr) {
          call(std::span<const uint16_t>(parents.data(), depth), attribute);
        } else if (nested != nullptr && depth < parents.size()) {
          parents[depth] = attribute.type;
          Step(attribute.payload, *nested, depth + 1, call);
        }
      }
    }
  };
  Walk{.message = attributes}.Step(attributes, rules, 0, visit);
}

namespace internal {
template <typename View>
void AppendSelected(Bytes message, Bytes attributes, const AttributeRules<View>& rules,
                    Volatility wanted, std::vector<std::byte>& out) {
  const auto append = [&out](Bytes bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
    out.resize((out.size() + 3) & ~size_t{3});
  };
  // Wanted neighbours are copied in one go, with the padding between them, which the kernel zeroes.
  Bytes run;
  const auto append_run = [&] {
    if (!run.empty()) append(run);
    run = Bytes();
  };
  AttributeReader reader(attributes);
  Attribute attribute;
  while (reader.Next(attribute)) {
    const auto [rule, nested] = FindRule(attribute.type, rules, message);
    if (nested != nullptr) {
      append_run();
      const size_t start = out.size();
      append(attribute.whole.first(attribute.whole.size() - attribute.payload.size()));
      const size_t header_end = out.size();
      AppendSelected(message, attribute.payload, *nested, wanted, out);
      if (out.size() == header_end) {
        out.resize(start);
        continue;
      }
      // Only the padding of the last member can go beyond what 16 bits hold.
      const auto length = static_cast<uint16_t>(std::min<size_t>(out.size() - start, UINT16_MAX));
      std::memcpy(out.data() + start, &length, sizeof(length));
    } else if ((rule == nullptr ? Volatility::kVolatile : rule->volatility) != wanted) {
      append_run();
    } else if (run.empty()) {
      run = attribute.whole;
    } else {
      run = Bytes(run.data(), attribute.whole.data() + attribute.whole.size());
    }
  }
  append_run();
}
}  // namespace internal

// Appends to `out` those of `attributes` whose volatility is `wanted`, padded, in their order; of
// an attribute that holds attributes, one with the wanted members, or none if there are none. What
// has no rule counts as volatile.
template <typename View>
void AppendSelected(Bytes attributes, const AttributeRules<View>& rules, Volatility wanted,
                    std::vector<std::byte>& out) {
  internal::AppendSelected(attributes, attributes, rules, wanted, out);
}

namespace internal {
// What is still to be matched of a run of bytes.
struct Unmatched {
  Bytes rest;
  void Skip(size_t size) { rest = rest.subspan(std::min((size + 3) & ~size_t{3}, rest.size())); }
  bool Take(Bytes expected) {
    const size_t size = expected.size();
    if (rest.size() < size) return false;
    // Most attributes are numbers of 32 bits, and a compiler compares 8 bytes without a call.
    const bool same = size == 8 ? std::memcmp(rest.data(), expected.data(), 8) == 0
                                : std::memcmp(rest.data(), expected.data(), size) == 0;
    if (!same) return false;
    Skip(size);
    return true;
  }
};

template <typename View>
bool MatchSelected(Bytes message, Bytes attributes, const AttributeRules<View>& rules,
                   Unmatched& steady, Unmatched& unsteady) {
  AttributeReader reader(attributes);
  Attribute attribute;
  while (reader.Next(attribute)) {
    const auto [rule, nested] = FindRule(attribute.type, rules, message);
    const Volatility volatility = rule == nullptr ? Volatility::kVolatile : rule->volatility;
    if (nested != nullptr) {
      // Each part has a header of its own, if it has any member.
      const size_t header = attribute.whole.size() - attribute.payload.size();
      Unmatched inner[] = {steady, unsteady};
      inner[0].Skip(header);
      inner[1].Skip(header);
      const size_t before[] = {inner[0].rest.size(), inner[1].rest.size()};
      if (!MatchSelected(message, attribute.payload, *nested, inner[0], inner[1])) return false;
      Unmatched* const outer[] = {&steady, &unsteady};
      for (size_t i = 0; i < 2; ++i) {
        if (inner[i].rest.size() == before[i]) continue;
        const size_t size = outer[i]->rest.size() - inner[i].rest.size();
        const auto length = static_cast<uint16_t>(std::min<size_t>(size, UINT16_MAX));
        if (std::memcmp(outer[i]->rest.data(), &length, sizeof(length)) != 0 ||
            std::memcmp(outer[i]->rest.data() + sizeof(length),
                        attribute.whole.data() + sizeof(length), header - sizeof(length)) != 0) {
          return false;
        }
        *outer[i] = inner[i];
      }
    } else if (volatility != Volatility::kTransient) {
      Unmatched& part = volatility == Volatility::kSteady ? steady : unsteady;
      if (!part.Take(attribute.whole)) return false;
    }
  }
  return true;
}
}  // namespace internal

// Whether AppendSelected() would give just `steady` and `unsteady` for the steady and the volatile
// ones. One walk that writes nothing: to find that nothing has changed, which is the usual case.
template <typename View>
bool SelectedAre(Bytes attributes, const AttributeRules<View>& rules, Bytes steady,
                 Bytes unsteady) {
  internal::Unmatched first{steady};
  internal::Unmatched second{unsteady};
  return internal::MatchSelected(attributes, attributes, rules, first, second) &&
         first.rest.empty() && second.rest.empty();
}

namespace internal {
template <typename T>
struct MemberOf;
template <typename View, typename Value>
struct MemberOf<std::optional<Value> View::*> {
  using ViewType = View;
  using ValueType = Value;
};
}  // namespace internal

// The reader for a member that is an optional number, text or run of bytes. A value that is there
// already stays: the first of a repeated attribute wins.
template <auto kMember>
bool ReadInto(typename internal::MemberOf<decltype(kMember)>::ViewType& view, Bytes payload) {
  using Value = typename internal::MemberOf<decltype(kMember)>::ValueType;
  std::optional<Value>& member = view.*kMember;
  if constexpr (std::is_integral_v<Value>) {
    const std::optional<Value> value = LoadNumber<Value>(payload);
    if (!value.has_value()) return false;
    if (!member.has_value()) member = value;
  } else if constexpr (std::is_same_v<Value, std::string_view>) {
    if (payload.empty()) return false;
    if (!member.has_value()) member = LoadText(payload);
  } else if constexpr (std::is_same_v<Value, Bytes>) {
    if (!member.has_value()) member = payload;
  } else {
    const std::optional<Value> value = LoadStruct<Value>(payload);
    if (!value.has_value()) return false;
    if (!member.has_value()) member = value;
  }
  return true;
}

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_ATTRIBUTE_RULES_H_
