#include "client/command/addrs.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command/commands.h"
#include "client/command/field_text.h"
#include "client/command/filters.h"
#include "client/command/table.h"
#include "client/command/text.h"

namespace linkvane::command {
namespace {

std::string Left(const google::protobuf::Timestamp& until, absl::Time now) {
  return LifetimeText(absl::FromUnixSeconds(until.seconds()) + absl::Nanoseconds(until.nanos()) -
                      now);
}

std::string Flags(const v1::Addr& addr) {
  std::vector<std::string> flags;
  for (std::string& flag : FieldValues(addr, "flags")) {
    if (flag != "permanent") flags.push_back(std::move(flag));
  }
  return absl::StrJoin(flags, ",");
}

std::string Scope(const v1::Addr& addr) {
  return addr.scope() == v1::ADDR_SCOPE_UNSPECIFIED ? absl::StrCat(addr.scope_raw())
                                                    : FieldText(addr, "scope").value_or("");
}

// As the contract says who set an address (kernel: IFAPROT_).
std::string Protocol(uint32_t number) {
  switch (number) {
    case 1:
      return "loopback";
    case 2:
      return "router-advertisement";
    case 3:
      return "link-local";
    default:
      return absl::StrCat(number);
  }
}

absl::StatusOr<v1::ListAddrsRequest> BuildRequest(const Invocation& invocation) {
  v1::ListAddrsRequest request;
  absl::Status status = ReadAddrFilter(invocation, request.mutable_filter());
  if (!status.ok()) return status;
  const auto page_size = invocation.Number("page-size", 1);
  if (!page_size.ok()) return page_size.status();
  request.set_page_size(page_size->value_or(0));
  request.set_consistency(ReadConsistency(invocation));
  return request;
}

}  // namespace

std::string AddrTitle(const v1::Addr& addr) {
  std::string title = Escape(addr.address());
  if (addr.has_peer_address()) absl::StrAppend(&title, " peer ", Escape(addr.peer_address()));
  return absl::StrCat(title, "/", addr.prefix_length());
}

std::string AddrInterface(const v1::Addr& addr) {
  return addr.interface_name().empty() ? absl::StrCat("#", addr.interface_index())
                                       : Escape(addr.interface_name());
}

std::string AddrLifetime(const v1::Addr& addr, absl::Time now) {
  const std::string valid = addr.has_valid_until() ? Left(addr.valid_until(), now) : "forever";
  const std::string preferred =
      addr.has_preferred_until() ? Left(addr.preferred_until(), now) : "forever";
  return valid == preferred ? valid : absl::StrCat(valid, " (preferred ", preferred, ")");
}

std::string AddrTable(const google::protobuf::RepeatedPtrField<v1::Addr>& addrs, absl::Time now,
                      const AddrTableOptions& options) {
  std::vector<Table::Column> columns;
  if (!options.of_one_interface) columns = {{.title = "INTERFACE"}, {.title = "FAMILY"}};
  for (const char* title : {"ADDRESS", "SCOPE", "FLAGS", "LIFETIME"}) {
    columns.push_back({.title = title});
  }
  if (options.wide) {
    for (const char* title : {"BROADCAST", "LABEL", "PROTOCOL", "METRIC", "CREATED", "UPDATED"}) {
      columns.push_back({.title = title});
    }
  }
  Table table(std::move(columns));
  for (const v1::Addr& addr : addrs) {
    std::vector<std::string> cells;
    if (!options.of_one_interface) {
      cells = {AddrInterface(addr), FieldText(addr, "family").value_or("")};
    }
    cells.insert(cells.end(), {AddrTitle(addr), Scope(addr), Flags(addr), AddrLifetime(addr, now)});
    if (options.wide) {
      cells.push_back(FieldText(addr, "broadcast_address")
                          .value_or(FieldText(addr, "anycast_address").value_or("")));
      cells.push_back(FieldText(addr, "label").value_or(""));
      cells.push_back(addr.has_protocol() ? Protocol(addr.protocol()) : "");
      for (const char* path : {"route_metric", "created_at", "updated_at"}) {
        cells.push_back(FieldText(addr, path).value_or(""));
      }
    }
    table.AddRow(std::move(cells));
  }
  return table.Format(options.color);
}

absl::Status RunAddrs(Context& context) {
  absl::StatusOr<v1::ListAddrsRequest> request = BuildRequest(context.invocation);
  if (!request.ok()) return request.status();
  const absl::StatusOr<std::vector<std::string>> fields = ReadFields(context.invocation);
  if (!fields.ok()) return fields.status();
  const std::vector<std::string> shown =
      IsStructured(context.format)
          ? *fields
          : WithNames(*fields, {"interface_name", "address", "prefix_length"});
  SetReadMask(shown, &*request);
  const auto client = client::Client::Connect(context.server);
  const auto response = client.ListAddrs(*std::move(request), context.call);
  if (!response.ok()) return response.status();

  if (IsStructured(context.format)) {
    const absl::StatusOr<std::string> text = ListText(response->addrs(), context.format);
    return text.ok() ? context.out.Write(*text) : text.status();
  }
  if (!shown.empty()) {
    const auto& addrs = response->addrs();
    return context.out.Write(
        FieldTable({addrs.pointer_begin(), addrs.pointer_end()}, shown, context.color));
  }
  return context.out.Write(
      AddrTable(response->addrs(), absl::Now(),
                {.wide = context.format == Format::kWide, .color = context.color}));
}

}  // namespace linkvane::command
