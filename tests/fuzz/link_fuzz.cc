// Any bytes as the payload of a link message: decoded, compared, kept, and encoded as an Interface.
#include <google/protobuf/util/json_util.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "linkvane/v1/interface.pb.h"
#include "netlink/link.h"
#include "netlink/vf.h"
#include "server/state/interface_row.h"
#include "server/state/values.h"
#include "server/state/wire.h"

namespace linkvane {
namespace {

void Demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "link_fuzz: %s\n", what);
  std::abort();
}

// What the kept form of a message says, as an Interface.
std::string Encoded(netlink::Bytes normal, size_t compared) {
  const server::InterfaceRowPtr row =
      server::MakeInterfaceRow({normal, compared}, {}, {.uid = "uid", .revision = 1});
  v1::Interface interface;
  Demand(interface.ParseFromString(row->wire), "an encoded interface cannot be parsed");
  std::string json;
  Demand(google::protobuf::util::MessageToJsonString(interface, &json).ok(),
         "an encoded interface has no JSON");
  return row->wire;
}

void ReadVirtualFunctions(const netlink::LinkView& link) {
  const netlink::VfList list = netlink::ReadVfs(link);
  Demand(list.functions.size() + list.unread == link.num_vf.value_or(0), "functions are missing");
  for (const netlink::Bytes function : list.functions) {
    std::string message;
    server::SeenAttributes seen;
    netlink::DecodeTally tally;
    server::AppendValues(function, netlink::VfRules(), seen, tally, message);
    Demand(v1::Vf().ParseFromString(message), "an encoded virtual function cannot be parsed");
  }
}

void Try(netlink::Bytes payload) {
  netlink::LinkView link;
  netlink::DecodeTally tally;
  if (!netlink::DecodeLink(payload, link, tally)) return;
  ReadVirtualFunctions(link);

  std::vector<std::byte> normal;
  const size_t compared = netlink::AppendNormalLink(payload, normal);
  Demand(compared <= normal.size(), "the compared part is longer than the whole");
  Demand(netlink::IsNormalLink(payload, normal, compared), "a message differs from itself");
  std::vector<std::byte> again;
  Demand(netlink::AppendNormalLink(normal, again) == compared && again == normal,
         "the kept form of a kept form is another");
  const std::string encoded = Encoded(normal, compared);
  Demand(server::DifferentFields(encoded, Encoded(again, compared)).none(),
         "the same message was encoded otherwise");
}

}  // namespace
}  // namespace linkvane

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  linkvane::Try(std::as_bytes(std::span(data, size)));
  return 0;
}
