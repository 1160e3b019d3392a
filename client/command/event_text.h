#ifndef LINKVANE_CLIENT_COMMAND_EVENT_TEXT_H_
#define LINKVANE_CLIENT_COMMAND_EVENT_TEXT_H_

#include <string>
#include <vector>

#include "linkvane/v1/watch.pb.h"

namespace linkvane::command {

// The lines that a person reads of one message of a Watch stream: one an event (time, what, type,
// name, details), one for synced, gap and resync, none for created and bookmark. `fields` are those
// of the stream's mask, empty for all: objects are described by them alone. With
// `color`, for a terminal.
std::string WatchText(const v1::WatchResponse& response, const std::vector<std::string>& fields,
                      bool color = false);

// What differs in a MODIFIED event: "oper_state: down -> up, flags: +running", and without the
// previous object "oper_state: up, flags: up,running". A kernel number beside a field that says the
// same in words is left out.
std::string ChangeText(const v1::Event& event);

}  // namespace linkvane::command

#endif  // LINKVANE_CLIENT_COMMAND_EVENT_TEXT_H_
