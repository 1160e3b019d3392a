#include "client/command/options.h"

#include <algorithm>
#include <array>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

constexpr auto kOptions = std::to_array<OptionSpec>({
    {"name", "GLOB", "interfaces of this name or alternative name", '\0', "interfaces watch"},
    {"index", "N", "this interface, or its addresses", '\0', "interfaces addrs get watch"},
    {"kind", "KIND", "interfaces of this kind (veth, bridge, ...)", '\0', "interfaces watch"},
    {"master", "NAME", "ports of this bridge, bond or VRF", '\0', "interfaces watch"},
    {"up", "", "interfaces that are administratively up", '\0', "interfaces watch"},
    {"down", "", "interfaces that are administratively down", '\0', "interfaces watch"},
    {"oper-state", "STATE",
     "interfaces in this operational state: up, down, unknown, dormant, testing, "
     "lower-layer-down, not-present",
     '\0', "interfaces watch"},
    {"hardware-address", "ADDR", "interfaces with this link-layer address", '\0',
     "interfaces watch"},
    {"interface", "GLOB", "addresses of interfaces of this name", '\0', "addrs watch"},
    {"ipv4", "", "IPv4 addresses only", '4', "addrs watch"},
    {"ipv6", "", "IPv6 addresses only", '6', "addrs watch"},
    {"family", "FAMILY", "the same: ipv4 or ipv6", '\0', "addrs watch"},
    {"scope", "SCOPE", "addresses of this scope: global, site, link, host, nowhere", '\0',
     "addrs watch"},
    {"within", "CIDR", "addresses within this prefix", '\0', "addrs watch"},
    {"type", "TYPE", "watch only this: interface or addr", '\0', "watch"},
    {"fields", "A,B.C", "only these fields, by their names in the JSON output", '\0',
     "interfaces addrs get watch"},
    {"stats", "", "with counters", '\0', "interfaces get"},
    {"vfs", "", "with virtual functions", '\0', "interfaces get"},
    {"ethtool", "", "with speed, duplex and connector, as drivers tell them", '\0',
     "interfaces get"},
    {"cached", "", "the server's table as it is, without asking the kernel", '\0',
     "interfaces addrs get"},
    {"page-size", "N", "ask for N objects at a time", '\0', "interfaces addrs"},
    {"previous", "", "with -o json or yaml, also the object before each change", '\0', "watch"},
    {"no-snapshot", "", "only changes from now on, not the present state", '\0', "watch"},
    {"resume", "EPOCH:NUMBER", "go on after this checkpoint", '\0', "watch"},
    {"require-resume", "", "fail if the server cannot go on there", '\0', "watch"},
    {"bookmark-interval", "DURATION", "how often the server gives a sign of life", '\0', "watch"},
    {"server", "ADDR",
     "the server: unix:/path, host:port; default $LINKVANE_SERVER, else "
     "unix:/run/linkvane/linkvane.sock",
     's', ""},
    {"output", "FORMAT",
     "table (default), json or yaml; of interfaces and addrs also wide, with more "
     "columns, of get with everything",
     'o', ""},
    {"color", "WHEN", "auto (default: on a terminal, unless $NO_COLOR is set), always or never",
     '\0', ""},
    {"timeout", "DURATION", "give up after this time (10s)", '\0', "interfaces addrs get info"},
    {"help", "", "show help", 'h', ""},
    {"version", "", "show the version", 'V', ""},
});

const OptionSpec* Find(std::string_view name) {
  const auto* found = std::ranges::find(kOptions, name, &OptionSpec::name);
  return found == kOptions.end() ? nullptr : found;
}

const OptionSpec* FindShort(char name) {
  const auto* found = std::ranges::find(kOptions, name, &OptionSpec::short_name);
  return found == kOptions.end() ? nullptr : found;
}

absl::Status UsageError(const std::string& message) { return absl::InvalidArgumentError(message); }

}  // namespace

std::span<const OptionSpec> AllOptions() { return kOptions; }

bool Takes(std::string_view command, const OptionSpec& option) {
  if (option.commands.empty()) return true;
  const std::vector<std::string> commands = absl::StrSplit(ToAbsl(option.commands), ' ');
  return std::ranges::find(commands, command) != commands.end();
}

absl::Status BadValue(std::string_view option, std::string_view value, std::string_view what) {
  return UsageError(
      absl::StrCat("--", ToAbsl(option), ": '", ToAbsl(value), "' is not ", ToAbsl(what)));
}

absl::StatusOr<Invocation> Invocation::Parse(std::span<const std::string_view> words) {
  Invocation result;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!IsUtf8(word)) {
      return UsageError(absl::StrCat(
          "'", ToAbsl(word),
          "' is not UTF-8; a name that is not can be given as it is shown, or use --index"));
    }
    if (word == "--") {
      for (++i; i < words.size(); ++i) result.words_.emplace_back(words[i]);
      break;
    }
    if (word.size() < 2 || word[0] != '-') {
      result.words_.emplace_back(word);
      continue;
    }
    const bool is_long = word[1] == '-';
    std::optional<std::string_view> value;
    const OptionSpec* option = nullptr;
    std::string_view written = word;
    if (is_long) {
      if (const size_t equals = word.find('='); equals != std::string_view::npos) {
        value = word.substr(equals + 1);
        written = word.substr(0, equals);
      }
      option = Find(written.substr(2));
    } else {
      option = FindShort(word[1]);
      written = word.substr(0, 2);
      if (word.size() > 2) value = word.substr(2);
    }
    if (option == nullptr) return UsageError(absl::StrCat("unknown option ", ToAbsl(written)));
    if (option->value.empty() && value.has_value()) {
      // "-46" would be two options; nobody needs it.
      return UsageError(is_long ? absl::StrCat(ToAbsl(written), " takes no value")
                                : absl::StrCat("unknown option ", ToAbsl(word)));
    }
    if (!option->value.empty() && !value.has_value()) {
      if (i + 1 == words.size()) {
        return UsageError(absl::StrCat(ToAbsl(written), " needs a value: ", ToAbsl(option->value)));
      }
      value = words[++i];
    }
    result.options_.emplace_back(option->name, value.value_or(""));
  }
  return result;
}

absl::Status Invocation::CheckOptions(std::string_view command) const {
  for (const auto& [name, value] : options_) {
    if (!Takes(command, *Find(name))) {
      return UsageError(absl::StrCat("'", ToAbsl(command), "' takes no option --", ToAbsl(name)));
    }
  }
  return absl::OkStatus();
}

bool Invocation::Has(std::string_view option) const {
  return std::ranges::find(options_, option, [](const auto& given) { return given.first; }) !=
         options_.end();
}

std::vector<std::string> Invocation::Values(std::string_view option) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : options_) {
    if (name == option) values.push_back(value);
  }
  return values;
}

absl::StatusOr<std::vector<std::string>> Invocation::List(std::string_view option) const {
  std::vector<std::string> parts;
  for (const std::string& value : Values(option)) {
    for (const absl::string_view part : absl::StrSplit(value, ',')) {
      parts.emplace_back(absl::StripAsciiWhitespace(part));
      if (parts.back().empty()) return BadValue(option, value, "a list: a part of it is empty");
    }
  }
  return parts;
}

std::optional<std::string> Invocation::Value(std::string_view option) const {
  std::vector<std::string> values = Values(option);
  if (values.empty()) return std::nullopt;
  return std::move(values.back());
}

absl::StatusOr<std::optional<int32_t>> Invocation::Number(std::string_view option,
                                                          int32_t min) const {
  const std::optional<std::string> value = Value(option);
  if (!value.has_value()) return std::optional<int32_t>();
  int32_t number = 0;
  if (!absl::SimpleAtoi(*value, &number) || number < min) {
    return BadValue(option, *value, absl::StrCat("a number of at least ", min));
  }
  return std::optional<int32_t>(number);
}

absl::StatusOr<std::optional<absl::Duration>> Invocation::Duration(std::string_view option) const {
  const std::optional<std::string> value = Value(option);
  if (!value.has_value()) return std::optional<absl::Duration>();
  absl::Duration duration;
  double seconds = 0;
  if (absl::SimpleAtod(*value, &seconds)) {
    duration = seconds > 0 ? absl::Seconds(seconds) : absl::ZeroDuration();  // NaN is not
  } else if (!absl::ParseDuration(*value, &duration)) {
    duration = absl::ZeroDuration();
  }
  if (!(duration > absl::ZeroDuration())) {
    return BadValue(option, *value, "a duration such as 10s, 500ms or 1m30s");
  }
  return std::optional<absl::Duration>(duration);
}

}  // namespace linkvane::command
