// The counters of all links, as one dump had them, encoded to follow each row's own bytes.
#ifndef LINKVANE_SERVER_STATE_STATS_BLOCK_H_
#define LINKVANE_SERVER_STATE_STATS_BLOCK_H_

#include <span>

#include "netlink/link.h"
#include "netlink/message.h"
#include "server/state/indexed_fields.h"
#include "server/state/interface_row.h"

namespace linkvane::server {

class StatsBlock : public IndexedFields {
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
      AppendStatsField(netlink::LoadLinkStats(*link.stats64), Begin(link.index));
    }
  }
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_STATS_BLOCK_H_
