// Puts a recorded dump of links ("main/link") into the tables, and writes the interfaces that a
// List would answer then to standard output: a serialized ListInterfacesResponse.
#include <cstdio>
#include <iostream>
#include <string>

#include "absl/time/time.h"
#include "linkvane/v1/network_state_service.pb.h"
#include "netlink/recording.h"
#include "server/state/network_state.h"

namespace linkvane::server {
namespace {

class NoSink : public ChangeSink {
 public:
  void Take(const ChangePtr& /*change*/) override {}
};

bool WriteInterfaces(const std::string& recording) {
  const auto datagrams = netlink::LoadRecording(recording);
  const ReadTime now{absl::FromUnixSeconds(1'700'000'000), absl::Seconds(100'000)};
  NoSink sink;
  NetworkState state("epoch", sink);
  const RunningDump dump = state.BeginDump(TableId::kLinks, now.wall);
  state.DumpSays(dump, netlink::MessagesOf(datagrams), now);
  state.FinishDump(dump, {}, now.wall);
  if (state.malformed_attributes() != 0) {
    std::fprintf(stderr, "attributes are malformed\n");
    return false;
  }

  linkvane::v1::ListInterfacesResponse response;
  for (const RowPtr& row : state.Interfaces()->rows) {
    if (!response.add_interfaces()->ParseFromString(row->wire)) return false;
  }
  return response.SerializeToOstream(&std::cout);
}

}  // namespace
}  // namespace linkvane::server

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: recorded_interfaces RECORDING\n");
    return 2;
  }
  return linkvane::server::WriteInterfaces(argv[1]) ? 0 : 1;
}
