#include "client/command/interfaces.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command/commands.h"
#include "client/command/details_summary.h"
#include "client/command/field_text.h"
#include "client/command/filters.h"
#include "client/command/ink.h"
#include "client/command/table.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

std::string AltNames(const v1::Interface& interface) {
  std::vector<std::string> names;
  for (const std::string& name : interface.alt_names()) names.push_back(Escape(name));
  return absl::StrJoin(names, ",");
}

absl::StatusOr<v1::ListInterfacesRequest> BuildRequest(const Invocation& invocation) {
  v1::ListInterfacesRequest request;
  absl::Status status = ReadInterfaceFilter(invocation, request.mutable_filter());
  if (!status.ok()) return status;
  const auto page_size = invocation.Number("page-size", 1);
  if (!page_size.ok()) return page_size.status();
  request.set_page_size(page_size->value_or(0));
  request.set_consistency(ReadConsistency(invocation));
  request.set_include_stats(invocation.Has("stats"));
  request.set_include_vfs(invocation.Has("vfs"));
  request.set_include_ethtool(invocation.Has("ethtool"));
  return request;
}

}  // namespace

std::string InterfaceTitle(const v1::Interface& interface) {
  std::string title =
      interface.name().empty() ? absl::StrCat("#", interface.index()) : Escape(interface.name());
  if (!interface.link_name().empty()) {
    absl::StrAppend(&title, "@", Escape(interface.link_name()));
  } else if (interface.link_index() > 0 &&
             (interface.has_link_netns_id() || interface.link_index() != interface.index())) {
    absl::StrAppend(&title, "@if", interface.link_index());
  }
  return title;
}

std::string InterfaceState(const v1::Interface& interface) {
  if (!interface.admin_up()) return "admin-down";
  return FieldText(interface, "oper_state").value_or("up");
}

std::string InterfaceKind(const v1::Interface& interface) {
  return Escape(interface.kind().empty() ? interface.hardware_type_name() : interface.kind());
}

std::string InterfaceTable(const google::protobuf::RepeatedPtrField<v1::Interface>& interfaces,
                           const InterfaceTableOptions& options) {
  constexpr const char* kCounters[] = {"stats.rx_bytes", "stats.rx_packets", "stats.tx_bytes",
                                       "stats.tx_packets"};
  std::vector<Table::Column> columns = {{.title = "INDEX", .right = true},
                                        {.title = "NAME"},
                                        {.title = "KIND"},
                                        {.title = "STATE", .ink = StateInk},
                                        {.title = "MTU", .right = true},
                                        {.title = "MASTER"},
                                        {.title = "ADDRESS"}};
  if (options.stats) {
    for (const char* title : {"RX-BYTES", "RX-PACKETS", "TX-BYTES", "TX-PACKETS"}) {
      columns.push_back({.title = title, .right = true});
    }
  }
  if (options.ethtool) {
    columns.insert(columns.end(), {{.title = "MBIT/S", .right = true}, {.title = "DUPLEX"}});
  }
  if (options.wide) {
    columns.insert(columns.end(), {{.title = "GROUP", .right = true},
                                   {.title = "QDISC"},
                                   {.title = "TXQLEN", .right = true},
                                   {.title = "ALIAS"}});
  }
  columns.push_back({.title = "ALTNAMES", .only_if_filled = !options.wide});
  if (options.wide) columns.insert(columns.end(), {{.title = "DETAILS"}, {.title = "PORT"}});
  Table table(std::move(columns));
  for (const v1::Interface& interface : interfaces) {
    std::string master = Escape(interface.master_name());
    if (master.empty() && interface.master_index() > 0) {
      master = absl::StrCat("#", interface.master_index());
    }
    std::vector<std::string> cells = {absl::StrCat(interface.index()),
                                      InterfaceTitle(interface),
                                      InterfaceKind(interface),
                                      InterfaceState(interface),
                                      FieldText(interface, "mtu").value_or(""),
                                      std::move(master),
                                      Escape(interface.hardware_address())};
    if (options.stats) {
      for (const char* path : kCounters) cells.push_back(FieldText(interface, path).value_or(""));
    }
    if (options.ethtool) {
      for (const char* path : {"ethtool.speed_mbps", "ethtool.duplex"}) {
        cells.push_back(FieldText(interface, path).value_or(""));
      }
    }
    if (options.wide) {
      for (const char* path : {"group", "qdisc", "tx_queue_len", "alias"}) {
        cells.push_back(FieldText(interface, path).value_or(""));
      }
    }
    cells.push_back(AltNames(interface));
    if (options.wide) {
      cells.insert(cells.end(), {KindSummary(interface), PortSummary(interface)});
    }
    table.AddRow(std::move(cells));
  }
  return table.Format(options.color);
}

absl::Status RunInterfaces(Context& context) {
  absl::StatusOr<v1::ListInterfacesRequest> request = BuildRequest(context.invocation);
  if (!request.ok()) return request.status();
  const absl::StatusOr<std::vector<std::string>> fields = ReadFields(context.invocation);
  if (!fields.ok()) return fields.status();
  const std::vector<std::string> shown =
      IsStructured(context.format) ? *fields : WithNames(*fields, {"index", "name"});
  SetReadMask(shown, &*request);
  // Who names it wants to see it.
  if (NamesAny(*fields, {"stats"})) request->set_include_stats(true);
  if (NamesAny(*fields, {"vfs", "unread_vfs"})) request->set_include_vfs(true);
  if (NamesAny(*fields, {"ethtool"})) request->set_include_ethtool(true);
  const auto client = client::Client::Connect(context.server);
  const auto response = client.ListInterfaces(*std::move(request), context.call);
  if (!response.ok()) return response.status();

  if (IsStructured(context.format)) {
    const absl::StatusOr<std::string> text = ListText(response->interfaces(), context.format);
    return text.ok() ? context.out.Write(*text) : text.status();
  }
  if (!shown.empty()) {
    const auto& interfaces = response->interfaces();
    return context.out.Write(
        FieldTable({interfaces.pointer_begin(), interfaces.pointer_end()}, shown, context.color));
  }
  return context.out.Write(
      InterfaceTable(response->interfaces(), {.stats = context.invocation.Has("stats"),
                                              .ethtool = context.invocation.Has("ethtool"),
                                              .wide = context.format == Format::kWide,
                                              .color = context.color}));
}

}  // namespace linkvane::command
