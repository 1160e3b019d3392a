#include "client/command/table.h"

#include <algorithm>
#include <utility>

#include "client/command/text.h"

namespace linkvane::command {
namespace {

constexpr size_t kGap = 2;

struct Piece {
  std::string text;
  Ink ink;
};

size_t SpacesTo(const std::string& text, size_t width) {
  const size_t taken = DisplayWidth(text);
  return taken < width ? width - taken : 0;
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::AddRow(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

bool Table::IsShown(size_t column) const {
  return !columns_[column].only_if_filled ||
         std::ranges::any_of(rows_, [column](const auto& row) { return !row[column].empty(); });
}

Ink Table::InkOf(size_t column, const std::string& cell) const {
  const auto ink = columns_[column].ink;
  return ink == nullptr || cell.empty() ? Ink::kPlain : ink(cell);
}

std::string Table::Format(bool color) const {
  std::vector<std::vector<Piece>> lines(1 + rows_.size());
  std::vector<std::pair<size_t, bool>> layout;  // width, right
  for (size_t column = 0; column < columns_.size(); ++column) {
    if (!IsShown(column)) continue;
    lines[0].push_back({.text = columns_[column].title, .ink = Ink::kBold});
    size_t width = DisplayWidth(columns_[column].title);
    for (size_t row = 0; row < rows_.size(); ++row) {
      const std::string& cell = rows_[row][column];
      lines[row + 1].push_back({.text = cell.empty() ? "-" : cell, .ink = InkOf(column, cell)});
      width = std::max(width, DisplayWidth(lines[row + 1].back().text));
    }
    layout.emplace_back(width, columns_[column].right);
  }
  std::string result;
  for (const std::vector<Piece>& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      const auto [width, right] = layout[i];
      const std::string& text = line[i].text;
      if (i > 0) result.append(kGap, ' ');
      if (right) result.append(SpacesTo(text, width), ' ');
      result += Inked(text, line[i].ink, color);
      if (!right && i + 1 < line.size()) result.append(SpacesTo(text, width), ' ');
    }
    result += '\n';
  }
  return result;
}

void AppendPadded(std::string* line, const std::string& text, size_t width) {
  *line += text;
  line->append(SpacesTo(text, width), ' ');
}

}  // namespace linkvane::command
