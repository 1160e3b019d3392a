// Encoded fields that follow the rows of interfaces in an answer, by the interface's index.
#ifndef LINKVANE_SERVER_STATE_INDEXED_FIELDS_H_
#define LINKVANE_SERVER_STATE_INDEXED_FIELDS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace linkvane::server {

class IndexedFields {
 public:
  // To be filled by the caller; what is appended until the next call, or until Sort(), is the
  // interface's.
  std::string& Begin(int32_t index) {
    End();
    entries_.push_back({index, bytes_.size(), 0});
    return bytes_;
  }

  // To be called once, before the first Find(). Of an interface that was begun twice, the later one
  // counts.
  void Sort() {
    End();
    std::ranges::stable_sort(entries_, {}, &Entry::index);
  }

  // "" for an interface that has none.
  std::string_view Find(int32_t index) const {
    const auto it = std::ranges::upper_bound(entries_, index, {}, &Entry::index);
    if (it == entries_.begin() || std::prev(it)->index != index) return {};
    return std::string_view(bytes_).substr(std::prev(it)->start, std::prev(it)->size);
  }

  size_t bytes() const { return bytes_.size(); }

 private:
  struct Entry {
    int32_t index;
    size_t start;
    size_t size;
  };

  void End() {
    if (!entries_.empty()) entries_.back().size = bytes_.size() - entries_.back().start;
  }

  std::string bytes_;
  std::vector<Entry> entries_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_INDEXED_FIELDS_H_
