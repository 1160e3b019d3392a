#ifndef LINKVANE_CLIENT_COMMAND_DETAILS_SUMMARY_H_
#define LINKVANE_CLIENT_COMMAND_DETAILS_SUMMARY_H_

#include <span>
#include <string>
#include <string_view>

#include "linkvane/v1/interface.pb.h"

namespace linkvane::command {

// What of a kind's settings a line of a table has room for.
struct Summary {
  std::string_view kind;    // the field of Interface with the settings, "vlan"
  std::string_view fields;  // in this order, separated by spaces; "id:vni" shows id as "vni",
                            // "state:" its value alone
};

std::span<const Summary> AllSummaries();

// The settings of its kind in a few words: "vni 42 remote 192.0.2.1". Of kinds without a summary of
// their own, the first three; empty where there are none.
std::string KindSummary(const v1::Interface& interface);

// The same of its settings as a port: "forwarding".
std::string PortSummary(const v1::Interface& interface);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_DETAILS_SUMMARY_H_
