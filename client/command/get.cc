#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command/addrs.h"
#include "client/command/commands.h"
#include "client/command/field_text.h"
#include "client/command/filters.h"
#include "client/command/json.h"

namespace linkvane::command {
namespace {

absl::StatusOr<v1::GetInterfaceRequest> BuildRequest(const Context& context) {
  v1::GetInterfaceRequest request;
  const auto index = context.invocation.Number("index", 1);
  if (!index.ok()) return index.status();
  if (index->has_value() == !context.arguments.empty()) {
    return absl::InvalidArgumentError("'get' takes either the NAME of an interface or --index=N");
  }
  if (index->has_value()) {
    request.set_index(**index);
  } else {
    request.set_name(context.arguments.front());
  }
  const auto fields = ReadFields(context.invocation);
  if (!fields.ok()) return fields.status();
  SetReadMask(*fields, &request);
  request.set_consistency(ReadConsistency(context.invocation));
  // Counters always cost a question to the kernel, which is not wanted with --cached.
  request.set_include_stats(request.consistency() != v1::CONSISTENCY_CACHED);
  return request;
}

}  // namespace

absl::Status RunGet(Context& context) {
  const absl::StatusOr<v1::GetInterfaceRequest> request = BuildRequest(context);
  if (!request.ok()) return request.status();
  const auto client = client::Client::Connect(context.server);
  const auto response = client.GetInterface(*request, context.call);
  if (!response.ok()) return response.status();
  if (context.json) {
    const auto json = ToJson(response->interface(), JsonStyle::kIndented);
    return json.ok() ? context.out.Write(*json + "\n") : json.status();
  }
  std::string text;
  if (request->has_read_mask()) {
    const auto& paths = request->read_mask().paths();
    text = FieldLines(PickFields(response->interface(), {paths.begin(), paths.end()}));
  } else {
    text = FieldLines(AllFields(response->interface()));
    v1::ListAddrsRequest addrs_request;
    addrs_request.set_consistency(request->consistency());
    addrs_request.mutable_filter()->add_interface_indexes(response->interface().index());
    const auto addrs = client.ListAddrs(addrs_request, context.call);
    if (!addrs.ok()) return addrs.status();
    text += '\n';
    text += addrs->addrs().empty() ? "no addresses\n" : AddrTable(addrs->addrs(), absl::Now());
  }
  return context.out.Write(text);
}

}  // namespace linkvane::command
