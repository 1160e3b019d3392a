#include "server/log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <spdlog/formatter.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "netlink/mutex.h"
#include "server/state/text.h"

namespace linkvane::server {
namespace {

spdlog::string_view_t View(std::string_view text) { return {text.data(), text.size()}; }

// Control characters would let whoever names an interface write lines of their own.
std::string Cleaned(std::string_view text) {
  std::string clean;
  for (const char c : ToUtf8(text)) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte == 0x7f) {
      absl::StrAppend(&clean, "\\x", absl::Hex(byte, absl::kZeroPad2));
    } else {
      clean += c;
    }
  }
  return clean;
}

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const std::string line = absl::StrCat(
        R"({"time":")",
        absl::FormatTime(absl::RFC3339_full, absl::FromChrono(message.time), absl::UTCTimeZone()),
        R"(","level":")",
        std::string(spdlog::level::to_string_view(message.level).data(),
                    spdlog::level::to_string_view(message.level).size()),
        R"(","message":")",
        JsonEscaped(std::string_view(message.payload.data(), message.payload.size())), "\"}\n");
    out.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }
};

// One time is enough to know of it; a client could have them say it thousands of times a second.
void LogProtobuf(google::protobuf::LogLevel level, const char* /*file*/, int /*line*/,
                 const std::string& message) {
  if (level >= google::protobuf::LOGLEVEL_WARNING) LogRepeated("protobuf", message);
}
void LogGrpc(gpr_log_func_args* args) {
  if (args->severity == GPR_LOG_SEVERITY_ERROR) LogRepeated("grpc", args->message);
}

}  // namespace

std::string JsonEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : ToUtf8(text)) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      escaped += '\\';
      escaped += c;
    } else if (byte < 0x20) {
      absl::StrAppend(&escaped, "\\u00", absl::Hex(byte, absl::kZeroPad2));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void StartLog(std::string_view level, LogFormat format) {
  auto logger = std::make_shared<spdlog::logger>("linkvaned",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (format == LogFormat::kJson) {
    logger->set_formatter(std::make_unique<JsonFormatter>());
  } else {
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  }
  logger->set_level(spdlog::level::from_str(std::string(level)));
  logger->flush_on(spdlog::level::debug);
  // A full disk or a closed pipe stops nothing.
  logger->set_error_handler([](const std::string&) {});
  spdlog::set_default_logger(std::move(logger));
  google::protobuf::SetLogHandler(LogProtobuf);
  gpr_set_log_function(LogGrpc);
}

void LogRepeated(std::string_view key, std::string_view message) {
  struct Told {
    absl::Time last = absl::InfinitePast();
    uint64_t left_out = 0;
  };
  static auto* const mutex = new Mutex;
  static auto* const told_by_key = new std::map<std::string, Told, std::less<>>;
  uint64_t left_out = 0;
  {
    MutexLock lock(*mutex);
    auto found = told_by_key->find(key);
    if (found == told_by_key->end()) found = told_by_key->emplace(key, Told{}).first;
    Told& told = found->second;
    const absl::Time now = absl::Now();
    if (now < told.last + absl::Seconds(10)) {
      ++told.left_out;
      return;
    }
    left_out = std::exchange(told.left_out, 0);
    told.last = now;
  }
  LogWarning(left_out == 0
                 ? std::string(message)
                 : absl::StrCat(ToAbsl(message), " (and ", left_out, " more like it before)"));
}

void LogDebug(std::string_view message) {
  spdlog::default_logger_raw()->log(spdlog::level::debug, View(Cleaned(message)));
}
void LogInfo(std::string_view message) {
  spdlog::default_logger_raw()->log(spdlog::level::info, View(Cleaned(message)));
}
void LogWarning(std::string_view message) {
  spdlog::default_logger_raw()->log(spdlog::level::warn, View(Cleaned(message)));
}
void LogError(std::string_view message) {
  spdlog::default_logger_raw()->log(spdlog::level::err, View(Cleaned(message)));
}

}  // namespace linkvane::server
