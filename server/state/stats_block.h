// The counters of all links, as one dump had them, encoded to follow each row's own bytes.
#ifndef LINKVANE_SERVER_STATE_STATS_BLOCK_H_
#define LINKVANE_SERVER_STATE_STATS_BLOCK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "netlink/link.h"
#include "netlink/message.h"
#include "server/state/interface_row.h"

namespace linkvane::server {

class StatsBlock {
 public:
  // Takes the counters out of link messages.
  void Add(std::span<const netlink::Message> messages) {
    for (const netlink::Message& message : messages) {
      netlink::LinkView link;
      netlink::DecodeTally tally;
      if (!netlink::DecodeLink(message.payload, link, tally) || !netlink::IsAboutLink(link) ||
          !link.stats64.has_value()) {
        continue;
      }
      const size_t start = bytes_.size();
      AppendStatsField(netlink::LoadLinkStats(*link.stats64), bytes_);
      entries_.push_back({link.index, start, bytes_.size() - start});
    }
  }

  // To be called once, before the first Find(). Of a link that was said twice, the later word
  // counts.
  void Sort() { std::ranges::stable_sort(entries_, {}, &Entry::index); }

  // The encoded field `stats` of an Interface; "" for a link that was not in the dump.
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
  std::string bytes_;
  std::vector<Entry> entries_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_STATS_BLOCK_H_
