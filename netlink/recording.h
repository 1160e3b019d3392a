// Recorded netlink traffic for tests; see tests/fixtures/README.md for what there is.
#ifndef LINKVANE_NETLINK_RECORDING_H_
#define LINKVANE_NETLINK_RECORDING_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "netlink/message.h"

namespace linkvane::netlink {

// The datagrams of a recording: "main/link", "events", ... Aborts if there is none.
std::vector<std::vector<std::byte>> LoadRecording(std::string_view name);

// The messages of all these datagrams, into which they point.
std::vector<Message> MessagesOf(const std::vector<std::vector<std::byte>>& datagrams);

// A file that stands beside the recordings, as it is: "main/link.json".
std::string LoadRecordingFile(std::string_view name);

}  // namespace linkvane::netlink

#endif  // LINKVANE_NETLINK_RECORDING_H_
