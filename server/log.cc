#include "server/log.h"

#include <spdlog/formatter.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
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
