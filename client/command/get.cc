#include <algorithm>
#include <vector>

#include "client/command/commands.h"
#include "client/command/field_text.h"
#include "client/command/filters.h"
#include "client/command/interface_text.h"

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
  // All there is to know, unless less is asked for. With --cached, the kernel is not to be asked.
  const bool everything = fields->empty() && !context.invocation.Has("cached");
  const auto wanted = [&](const char* option, std::initializer_list<std::string_view> names) {
    return everything || context.invocation.Has(option) || NamesAny(*fields, names);
  };
  request.set_include_stats(wanted("stats", {"stats"}));
  request.set_include_vfs(wanted("vfs", {"vfs", "unread_vfs"}));
  request.set_include_ethtool(wanted("ethtool", {"ethtool"}));
  return request;
}

}  // namespace

absl::Status RunGet(Context& context) {
  const absl::StatusOr<v1::GetInterfaceRequest> request = BuildRequest(context);
  if (!request.ok()) return request.status();
  const auto client = client::Client::Connect(context.server);
  const auto response = client.GetInterface(*request, context.call);
  if (!response.ok()) return response.status();
  const v1::Interface& interface = response->interface();
  if (IsStructured(context.format)) {
    const auto text = ObjectText(interface, context.format);
    return text.ok() ? context.out.Write(*text) : text.status();
  }
  if (request->has_read_mask()) {
    const auto& paths = request->read_mask().paths();
    return context.out.Write(FieldLines(PickFields(interface, {paths.begin(), paths.end()})));
  }
  v1::ListAddrsRequest addrs_request;
  addrs_request.set_consistency(request->consistency());
  addrs_request.mutable_filter()->add_interface_indexes(interface.index());
  const auto addrs = client.ListAddrs(addrs_request, context.call);
  if (!addrs.ok()) return addrs.status();
  const Detail detail = context.format == Format::kWide ? Detail::kFull : Detail::kBrief;
  return context.out.Write(InterfaceText(interface, addrs->addrs(),
                                         {.detail = detail,
                                          .color = context.color,
                                          .width = context.out.Width(),
                                          .now = absl::Now()}));
}

}  // namespace linkvane::command
