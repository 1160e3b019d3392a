#ifndef LINKVANE_CLIENT_COMMAND_OPTIONS_H_
#define LINKVANE_CLIENT_COMMAND_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace linkvane::command {

// One option of the command line.
struct OptionSpec {
  std::string_view name;      // "name", written --name
  std::string_view value;     // what its value is called in the help, "GLOB"; empty: takes none
  std::string_view help;      // one line
  char short_name = '\0';     // 'o', written -o
  std::string_view commands;  // the commands that take it, "interfaces watch"; empty: all
};

// Every option of linkvane, in the order of the help. An option means the same in all commands that
// take it, so it may stand before the command.
std::span<const OptionSpec> AllOptions();

// True if `command` takes the option.
bool Takes(std::string_view command, const OptionSpec& option);

// A command line taken apart. What is wrong with a value is found by whoever reads it; all errors
// are INVALID_ARGUMENT with a line for the user that names the option.
class Invocation {
 public:
  // Reads the words after the program's name: options and other words in any order, values as
  // `--opt=value`, `--opt value`, `-ovalue` or `-o value`; after `--` everything is a word.
  static absl::StatusOr<Invocation> Parse(std::span<const std::string_view> words);

  // The words that are not options: the command first.
  const std::vector<std::string>& words() const { return words_; }

  // Fails if an option was given that `command` does not take.
  absl::Status CheckOptions(std::string_view command) const;

  bool Has(std::string_view option) const;
  // All values in their order.
  std::vector<std::string> Values(std::string_view option) const;
  // All values, each split at commas, the parts stripped of spaces; an empty part is an error.
  absl::StatusOr<std::vector<std::string>> List(std::string_view option) const;
  // The last value.
  std::optional<std::string> Value(std::string_view option) const;
  // The last value as a number of at least `min`, or nothing.
  absl::StatusOr<std::optional<int32_t>> Number(std::string_view option, int32_t min) const;
  // The last value as a duration above 0 ("500ms", "1m30s", or seconds: "5"), or nothing.
  absl::StatusOr<std::optional<absl::Duration>> Duration(std::string_view option) const;

 private:
  std::vector<std::string> words_;
  std::vector<std::pair<std::string_view, std::string>> options_;  // names of AllOptions
};

// "--name: 'x' is not <what>", the form of every complaint about a value.
absl::Status BadValue(std::string_view option, std::string_view value, std::string_view what);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_OPTIONS_H_
