// The server's log: one line a thing, on standard error.
#ifndef LINKVANE_SERVER_LOG_H_
#define LINKVANE_SERVER_LOG_H_

#include <string>
#include <string_view>

namespace linkvane::server {

enum class LogFormat { kText, kJson };

// `level` is "debug", "info", "warning" or "error". To be called once, before the first line. What
// the libraries have to say goes the same way.
void StartLog(std::string_view level, LogFormat format);

void LogDebug(std::string_view message);
void LogInfo(std::string_view message);
void LogWarning(std::string_view message);
void LogError(std::string_view message);

// A warning that may come often: told at most once in ten seconds for each `key`, with how often it
// was left out.
void LogRepeated(std::string_view key, std::string_view message);

// `text` as the content of a JSON string. Bytes that are not UTF-8 become U+FFFD.
std::string JsonEscaped(std::string_view text);

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_LOG_H_
