#ifndef LINKVANE_CLIENT_COMMAND_TABLE_H_
#define LINKVANE_CLIENT_COMMAND_TABLE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "client/command/ink.h"

namespace linkvane::command {

// Rows of text in aligned columns. Cells are shown as they are: escape what a stranger chose.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;                           // numbers
    bool only_if_filled = false;                  // left out where every cell is empty
    Ink (*ink)(std::string_view cell) = nullptr;  // of cells that are not empty; null for none
  };

  explicit Table(std::vector<Column> columns);

  // One cell a column; an empty one is shown as "-".
  void AddRow(std::vector<std::string> cells);

  // Titles and rows, a line each, without spaces at the end. With `color`, for a terminal.
  std::string Format(bool color = false) const;

 private:
  bool IsShown(size_t column) const;
  Ink InkOf(size_t column, const std::string& cell) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Adds `text` and spaces up to a width of `width`.
void AppendPadded(std::string* line, const std::string& text, size_t width);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_TABLE_H_
