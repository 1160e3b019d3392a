#include "server/options.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/state/text.h"

ABSL_FLAG(std::string, listen, "unix:/run/linkvane/linkvane.sock",
          "where to serve gRPC, separated by commas: unix:/path, HOST:PORT or [HOST]:PORT");
ABSL_FLAG(bool, allow_insecure_remote, false,
          "serve plaintext also on addresses that others can reach");
ABSL_FLAG(std::string, socket_mode, "0660", "mode of Unix sockets, octal");
ABSL_FLAG(std::string, socket_group, "", "group of Unix sockets; empty is the process' own");
ABSL_FLAG(std::string, node_name, "", "name of this node in answers; empty is the host's name");
ABSL_FLAG(int, pool_size, 8, "kernel connections kept for dumps and questions, 1 to 64");
ABSL_FLAG(
    int, event_buffer_bytes, 8 << 20,
    "wanted receive buffer for kernel events; without CAP_NET_ADMIN, net.core.rmem_max bounds it");
ABSL_FLAG(absl::Duration, audit_interval, absl::Seconds(60),
          "how often every table is compared with the kernel's, 100ms at least");
ABSL_FLAG(int, max_watchers, 1000, "open Watch streams at most");
ABSL_FLAG(absl::Duration, watch_stall_timeout, absl::Seconds(30),
          "end a Watch stream that takes nothing for this long");
ABSL_FLAG(absl::Duration, grace_period, absl::Seconds(5),
          "how long calls may take to end after SIGTERM");
ABSL_FLAG(std::string, log_level, "info", "debug, info, warning or error");
ABSL_FLAG(std::string, log_format, "text", "text or json");

namespace linkvane::server {
namespace {

// The flags, in the order in which --help shows them.
constexpr const char* kFlags[] = {"listen",
                                  "allow_insecure_remote",
                                  "socket_mode",
                                  "socket_group",
                                  "node_name",
                                  "pool_size",
                                  "event_buffer_bytes",
                                  "audit_interval",
                                  "max_watchers",
                                  "watch_stall_timeout",
                                  "grace_period",
                                  "log_level",
                                  "log_format"};

constexpr int kMostFlagfiles = 8;

absl::CommandLineFlag* FindFlag(std::string_view name) {
  for (const char* known : kFlags) {
    if (name == known) return absl::FindCommandLineFlag(ToAbsl(name));
  }
  return nullptr;
}

absl::Status Wrong(std::string_view flag, std::string_view value, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", ToAbsl(flag), "=", ToAbsl(value), ": ", ToAbsl(why)));
}

absl::Status Set(std::string_view name, std::string_view value, std::string_view where) {
  absl::CommandLineFlag* const flag = FindFlag(name);
  if (flag == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(ToAbsl(where), "there is no flag --", ToAbsl(name), "; see --help"));
  }
  std::string why;
  if (!flag->ParseFrom(ToAbsl(value), &why)) {
    return Wrong(name, value, why.empty() ? std::string("not a value of this flag") : why);
  }
  return absl::OkStatus();
}

absl::Status ReadArguments(const std::vector<std::string>& arguments, std::string_view where,
                           int depth, bool& help, bool& version);

absl::Status ReadFlagfile(const std::string& path, int depth, bool& help, bool& version) {
  if (depth >= kMostFlagfiles) {
    return Wrong("flagfile", path, "flag files name each other without an end");
  }
  std::ifstream file(path);
  std::vector<std::string> arguments;
  std::string line;
  while (std::getline(file, line)) {
    const std::string text(absl::StripAsciiWhitespace(line));
    if (!text.empty() && text.front() != '#') arguments.push_back(text);
  }
  // A directory can be opened, but not read.
  if (!file.is_open() || file.bad() || !file.eof()) {
    return Wrong("flagfile", path, "cannot be read");
  }
  return ReadArguments(arguments, path + ": ", depth + 1, help, version);
}

absl::Status ReadArguments(const std::vector<std::string>& arguments, std::string_view where,
                           int depth, bool& help, bool& version) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const size_t dashes = absl::StartsWith(argument, "--") ? 2 : 1;
    if (argument.size() <= dashes || argument.front() != '-') {
      return absl::InvalidArgumentError(
          absl::StrCat(ToAbsl(where), "\"", argument, "\" is no flag; see --help"));
    }
    const size_t equals = argument.find('=');
    std::string name =
        argument.substr(dashes, equals == std::string::npos ? equals : equals - dashes);
    if (equals == std::string::npos && (name == "help" || name == "h")) {
      help = true;
      continue;
    }
    if (equals == std::string::npos && name == "version") {
      version = true;
      continue;
    }
    std::string value;
    const absl::CommandLineFlag* const flag = FindFlag(name);
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (flag != nullptr && flag->IsOfType<bool>()) {
      value = "true";
    } else if (absl::StartsWith(name, "no") && FindFlag(name.substr(2)) != nullptr &&
               FindFlag(name.substr(2))->IsOfType<bool>()) {
      name = name.substr(2);
      value = "false";
    } else if (i + 1 < arguments.size() && (flag != nullptr || name == "flagfile")) {
      value = arguments[++i];
    } else if (flag != nullptr || name == "flagfile") {
      return absl::InvalidArgumentError(absl::StrCat(ToAbsl(where), "--", name, " needs a value"));
    }
    absl::Status status =
        name == "flagfile" ? ReadFlagfile(value, depth, help, version) : Set(name, value, where);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadEnvironment() {
  for (const char* name : kFlags) {
    const std::string variable = absl::StrCat("LINKVANE_", absl::AsciiStrToUpper(name));
    const char* const value = std::getenv(variable.c_str());
    if (value == nullptr) continue;
    if (const absl::Status status = Set(name, value, ""); !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("in the environment, ", variable, ": ", std::string(status.message())));
    }
  }
  return absl::OkStatus();
}

void PrintHelp() {
  std::printf(
      "linkvaned tells over gRPC what the network of this node looks like, and what changes in "
      "it.\n"
      "\n"
      "Usage: linkvaned [--FLAG=VALUE ...]\n"
      "\n"
      "Each flag can also be given in a file (--flagfile=PATH, one flag a line) or in the\n"
      "environment (LINKVANE_LISTEN for --listen, and so on).\n"
      "\n");
  for (const char* name : kFlags) {
    const absl::CommandLineFlag* const flag = FindFlag(name);
    const std::string value = flag->DefaultValue();
    std::printf("  --%s\n        %s%s\n", name, flag->Help().c_str(),
                value.empty() ? "" : absl::StrCat(" (", value, ")").c_str());
  }
  std::printf(
      "  --flagfile\n        read flags from this file\n"
      "  --help\n        print this, and exit\n"
      "  --version\n        print the version, and exit\n");
}

absl::StatusOr<mode_t> ReadMode(const std::string& text) {
  unsigned mode = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, mode, 8);
  if (error != std::errc() || rest != end || mode > 0777) {
    return Wrong("socket_mode", text, "want an octal mode like 0660");
  }
  return static_cast<mode_t>(mode);
}

absl::Status CheckNumber(const char* flag, int value, int least, int most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return Wrong(flag, std::to_string(value), absl::StrCat("want ", least, " to ", most));
}

absl::Status CheckDuration(const char* flag, absl::Duration value, absl::Duration least) {
  if (value >= least && value < absl::InfiniteDuration()) return absl::OkStatus();
  return Wrong(flag, absl::FormatDuration(value),
               absl::StrCat("want ", absl::FormatDuration(least), " at least"));
}

absl::StatusOr<Options> Check() {
  Options options;
  const std::string listen = absl::GetFlag(FLAGS_listen);
  for (const absl::string_view address : absl::StrSplit(listen, ',')) {
    if (address.empty()) return Wrong("listen", listen, "an address is empty");
    options.listen.emplace_back(address);
  }
  options.allow_insecure_remote = absl::GetFlag(FLAGS_allow_insecure_remote);
  absl::StatusOr<mode_t> mode = ReadMode(absl::GetFlag(FLAGS_socket_mode));
  if (!mode.ok()) return mode.status();
  options.socket_mode = *mode;
  options.socket_group = absl::GetFlag(FLAGS_socket_group);
  options.node_name = absl::GetFlag(FLAGS_node_name);
  options.audit_interval = absl::GetFlag(FLAGS_audit_interval);
  options.watch_stall_timeout = absl::GetFlag(FLAGS_watch_stall_timeout);
  options.grace_period = absl::GetFlag(FLAGS_grace_period);
  options.log_level = absl::GetFlag(FLAGS_log_level);
  options.event_buffer_bytes = absl::GetFlag(FLAGS_event_buffer_bytes);
  const int pool_size = absl::GetFlag(FLAGS_pool_size);
  const int max_watchers = absl::GetFlag(FLAGS_max_watchers);
  for (const absl::Status& status :
       {CheckNumber("pool_size", pool_size, 1, 64),
        CheckNumber("max_watchers", max_watchers, 1, 1'000'000),
        CheckNumber("event_buffer_bytes", options.event_buffer_bytes, 4096, 1 << 30),
        CheckDuration("audit_interval", options.audit_interval, absl::Milliseconds(100)),
        CheckDuration("watch_stall_timeout", options.watch_stall_timeout, absl::Milliseconds(100)),
        CheckDuration("grace_period", options.grace_period, absl::Milliseconds(100))}) {
    if (!status.ok()) return status;
  }
  options.pool_size = static_cast<size_t>(pool_size);
  options.max_watchers = static_cast<size_t>(max_watchers);
  if (options.log_level != "debug" && options.log_level != "info" &&
      options.log_level != "warning" && options.log_level != "error") {
    return Wrong("log_level", options.log_level, "want debug, info, warning or error");
  }
  const std::string format = absl::GetFlag(FLAGS_log_format);
  if (format != "text" && format != "json") return Wrong("log_format", format, "want text or json");
  options.log_format = format == "json" ? LogFormat::kJson : LogFormat::kText;
  return options;
}

}  // namespace

absl::StatusOr<std::optional<Options>> ReadOptions(const std::vector<std::string>& arguments) {
  bool help = false;
  bool version = false;
  if (const absl::Status status = ReadEnvironment(); !status.ok()) return status;
  if (const absl::Status status = ReadArguments(arguments, "", 0, help, version); !status.ok()) {
    return status;
  }
  if (help || version) {
    if (help) {
      PrintHelp();
    } else {
      std::printf("linkvaned %s\n", LINKVANE_VERSION);
    }
    return std::optional<Options>();
  }
  absl::StatusOr<Options> options = Check();
  if (!options.ok()) return options.status();
  return std::optional<Options>(*std::move(options));
}

}  // namespace linkvane::server
