#include "server/rpc/list.h"

#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linkvane/v1/network_state_service.pb.h"
#include "server/rpc/error.h"
#include "server/rpc/node.h"
#include "server/rpc/request_check.h"
#include "server/rpc/unary_call.h"
#include "server/state/filter.h"
#include "server/state/proto_time.h"
#include "server/state/wire.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;

// The two responses are alike: the same fields have the same numbers.
constexpr uint32_t kRows = pb::ListInterfacesResponse::kInterfacesFieldNumber;
constexpr uint32_t kRevision = pb::ListInterfacesResponse::kRevisionFieldNumber;
constexpr uint32_t kObservedAt = pb::ListInterfacesResponse::kObservedAtFieldNumber;
constexpr uint32_t kNextPageToken = pb::ListInterfacesResponse::kNextPageTokenFieldNumber;
static_assert(kRows == pb::ListAddrsResponse::kAddrsFieldNumber);
static_assert(kRevision == pb::ListAddrsResponse::kRevisionFieldNumber);
static_assert(kObservedAt == pb::ListAddrsResponse::kObservedAtFieldNumber);
static_assert(kNextPageToken == pb::ListAddrsResponse::kNextPageTokenFieldNumber);

// Room for what follows the rows in a page.
constexpr size_t kTrailerBytes = 192;

// The arguments that both requests have, checked.
struct PageArguments {
  size_t most_rows = 0;
  size_t most_bytes = kDefaultResponseBytes;
  bool fresh = true;
  std::string token;
  std::string same;  // What has to be the same on every page, encoded.
};

template <typename Request>
std::optional<grpc::Status> CheckPage(const Request& request, const char* method,
                                      std::string_view live, PageArguments& out) {
  if (auto status = CheckNetns(request.netns())) return status;
  if (request.page_size() < 0) return Error(BadArgument{"page_size", "is negative"});
  if (request.max_response_bytes() < 0) {
    return Error(BadArgument{"max_response_bytes", "is negative"});
  }
  if (const auto bad = CheckConsistency(request.consistency(), live, out.fresh)) {
    return Error(*bad);
  }
  out.most_rows = request.page_size() == 0 ? SIZE_MAX : static_cast<size_t>(request.page_size());
  if (request.max_response_bytes() > 0) {
    out.most_bytes =
        std::min(static_cast<size_t>(request.max_response_bytes()), kMostResponseBytes);
  }
  out.token = request.page_token();
  Request same = request;
  same.clear_page_size();
  same.clear_max_response_bytes();
  same.clear_page_token();
  out.same = method + same.SerializeAsString();
  return std::nullopt;
}

// What follows the row's own bytes in an answer: counters, and what was read for it alone.
struct Additions {
  std::string_view stats;
  std::string_view live;
  size_t size() const { return stats.size() + live.size(); }
};
Additions AdditionsOf(const Listing& listing, const Row& row) {
  if (listing.stats == nullptr && listing.live == nullptr) return {};
  const int32_t index = static_cast<const InterfaceRow&>(row).link.index;
  Additions additions;
  if (listing.stats != nullptr) additions.stats = listing.stats->Find(index);
  if (listing.live != nullptr) additions.live = listing.live->Find(index);
  return additions;
}

// Appends rows from `position` on until the page is full. Returns where the next page begins.
size_t AppendRows(const Listing& listing, size_t position, const PageArguments& arguments,
                  std::string& out) {
  const size_t most = arguments.most_bytes - std::min(arguments.most_bytes, kTrailerBytes);
  const size_t end = position + std::min(arguments.most_rows, listing.rows.size() - position);
  std::string cut;
  const size_t first = position;
  for (; position < end; ++position) {
    const Row& row = *listing.rows[position];
    const Additions additions = AdditionsOf(listing, row);
    const bool whole = listing.mask.everything();
    if (!whole) {
      cut.clear();
      listing.mask.Apply(row.wire, cut);
      listing.mask.Apply(additions.stats, cut);
      listing.mask.Apply(additions.live, cut);
    }
    const size_t size = whole ? row.wire.size() + additions.size() : cut.size();
    if (position > first && out.size() + BytesFieldSize(kRows, size) > most) break;
    AppendVarint((kRows << 3) | 2, out);
    AppendVarint(size, out);
    if (whole) {
      out += row.wire;
      out += additions.stats;
      out += additions.live;
    } else {
      out += cut;
    }
  }
  return position;
}

void AppendTrailer(const Node& node, const Listing& listing, const std::string& next_token,
                   std::string& out) {
  pb::Revision revision;
  revision.set_epoch(node.observer.epoch());
  revision.set_number(listing.revision);
  AppendBytesField(kRevision, revision.SerializeAsString(), out);
  AppendBytesField(kObservedAt, ToProto(listing.observed_at).SerializeAsString(), out);
  if (!next_token.empty()) AppendBytesField(kNextPageToken, next_token, out);
}

// Room for rows, without a growing string on the way.
std::string PageBuffer(const Listing& listing, const PageArguments& arguments) {
  std::string out;
  out.reserve(std::min(listing.bytes, arguments.most_bytes) + 256);
  return out;
}

grpc::Status TooManyListings() {
  return Error(grpc::StatusCode::RESOURCE_EXHAUSTED,
               "too many listings of several pages are still being read; try again later",
               {.reason = "TOO_MANY_LISTINGS", .metadata = {}, .retry_delay = absl::Seconds(1)});
}

void ReplyFirstPage(Node& node, UnaryCall& call, const PageArguments& arguments,
                    const std::shared_ptr<Listing>& listing) {
  for (const RowPtr& row : listing->rows) listing->bytes += row->wire.size() + 8;
  if (listing->stats != nullptr) listing->bytes += listing->stats->bytes();
  if (listing->live != nullptr) listing->bytes += listing->live->bytes();
  std::string out = PageBuffer(*listing, arguments);
  const size_t next = AppendRows(*listing, 0, arguments, out);
  std::string token;
  if (next < listing->rows.size()) {
    if (call.TooLate()) {  // A listing that nobody continues would keep others out for a minute.
      return call.Fail(Error(absl::DeadlineExceededError("the deadline passed")));
    }
    listing->arguments = arguments.same;
    const uint64_t id = node.pages.Keep(listing, absl::Now());
    if (id == 0) return call.Fail(TooManyListings());
    token = node.pages.Token(id, next);
  }
  AppendTrailer(node, *listing, token, out);
  call.Reply(ToBuffer(std::move(out)));
}

void ReplyLaterPage(Node& node, UnaryCall& call, const PageArguments& arguments) {
  uint64_t id = 0;
  size_t position = 0;
  std::shared_ptr<const Listing> listing;
  switch (node.pages.Find(arguments.token, absl::Now(), id, listing, position)) {
    case PageStore::Found::kMalformed:
      return call.Fail(Error(BadArgument{"page_token", "not a token of this server"}));
    case PageStore::Found::kExpired:
      return call.Fail(Error(grpc::StatusCode::ABORTED,
                             "page_token: the listing is gone; start again with the first page",
                             {.reason = "PAGE_TOKEN_EXPIRED", .metadata = {}}));
    case PageStore::Found::kFound:
      break;
  }
  if (listing->arguments != arguments.same) {
    return call.Fail(Error(BadArgument{"page_token", "belongs to a request with other arguments"}));
  }
  std::string out = PageBuffer(*listing, arguments);
  const size_t next = AppendRows(*listing, position, arguments, out);
  std::string token;
  if (next < listing->rows.size()) {
    token = node.pages.Token(id, next);
  } else {
    node.pages.Finished(id);
  }
  AppendTrailer(node, *listing, token, out);
  call.Reply(ToBuffer(std::move(out)));
}

// Takes the matching rows of a snapshot.
template <typename RowType, typename Filter>
void TakeRows(const SnapshotPtr& snapshot, const std::optional<Filter>& filter,
              std::vector<RowPtr>& out) {
  if (!filter.has_value()) {
    out = snapshot->rows;
    return;
  }
  std::ranges::copy_if(snapshot->rows, std::back_inserter(out), [&filter](const RowPtr& row) {
    return filter->Match(static_cast<const RowType&>(*row));
  });
}

// What is known once the request has been checked.
template <typename Filter>
struct List {
  PageArguments page;
  std::optional<Filter> filter;
  ReadMask mask;
};

template <typename Filter, typename Request>
std::optional<grpc::Status> CheckFilterAndMask(const Request& request, List<Filter>& out) {
  if (request.has_filter()) {
    out.filter.emplace();
    if (const auto bad = Filter::Compile(request.filter(), "filter", *out.filter)) {
      return Error(*bad);
    }
  }
  if (const auto bad = CheckMask(request.read_mask(), out.mask)) return Error(*bad);
  return std::nullopt;
}

void ReplyInterfaces(Node& node, UnaryCall& call, const List<InterfaceFilter>& list,
                     LiveValues::Wanted wanted, const Refresher::Result& result) {
  if (!result.status.ok()) return call.Fail(Error(result.status));
  auto listing = std::make_shared<Listing>();
  listing->mask = list.mask;
  listing->stats = result.stats;
  listing->observed_at = result.observed_at;
  SnapshotPtr snapshot;
  node.observer.Read([&](NetworkState& state) {
    snapshot = state.Interfaces();
    listing->revision = state.revision();
  });
  TakeRows<InterfaceRow>(snapshot, list.filter, listing->rows);
  if (!wanted.any()) return ReplyFirstPage(node, call, list.page, listing);
  node.live_values.Read(wanted, listing->rows, call.deadline(),
                        [&node, &call, page = list.page, listing](const LiveValues::Result& live) {
                          if (!live.ok()) return call.Fail(Error(live.status()));
                          listing->live = *live;
                          ReplyFirstPage(node, call, page, listing);
                        });
}

void ReplyAddrs(Node& node, UnaryCall& call, const List<AddrFilter>& list,
                const Refresher::Result& result) {
  if (!result.status.ok()) return call.Fail(Error(result.status));
  auto listing = std::make_shared<Listing>();
  listing->mask = list.mask;
  listing->observed_at = result.observed_at;
  SnapshotPtr snapshot;
  node.observer.Read([&](NetworkState& state) {
    snapshot = state.Addrs();
    listing->revision = state.revision();
  });
  TakeRows<AddrRow>(snapshot, list.filter, listing->rows);
  ReplyFirstPage(node, call, list.page, listing);
}

std::vector<TableId> TablesOf(const List<AddrFilter>& list) {
  const uint8_t family = list.filter.has_value() ? list.filter->family() : uint8_t{AF_UNSPEC};
  if (family == AF_INET) return {TableId::kAddrs4};
  if (family == AF_INET6) return {TableId::kAddrs6};
  return {TableId::kAddrs4, TableId::kAddrs6};
}

// Asks for the addresses of one interface only: the kernel filters.
absl::Status AskOneInterface(Node& node, const std::vector<TableId>& tables, int32_t index,
                             absl::Time deadline) {
  for (const TableId table : tables) {
    const absl::StatusOr<DumpReport> report = node.observer.AskAddrs(table, index, deadline);
    // The kernel knows no such interface: then it has no addresses.
    if (absl::IsNotFound(report.status())) return absl::OkStatus();
    if (!report.ok()) return report.status();
    if (report->interrupted || report->conflict) node.refresher.LookAgain(table);
  }
  return absl::OkStatus();
}

// Asks for the interfaces of one master or one kind only, where the filter allows it: the kernel
// filters. False if a dump of all is needed.
absl::StatusOr<bool> AskSomeInterfaces(Node& node, const InterfaceFilter& filter,
                                       absl::Time deadline) {
  netlink::LinkDumpFilter asked{.master = std::nullopt, .kind = filter.only_kind()};
  if (filter.master().has_value()) {
    node.observer.Read([&](NetworkState& state) {
      const InterfaceRowPtr master = state.FindInterface(*filter.master());
      if (master != nullptr && master->name() == *filter.master()) {
        asked.master = master->link.index;
      }
    });
    if (!asked.master.has_value()) return false;
  }
  if (!asked.master.has_value() && !asked.kind.has_value()) return false;
  return node.observer.AskLinks(asked, deadline);
}

}  // namespace

void ListInterfaces(Node& node, UnaryCall& call) {
  pb::ListInterfacesRequest request;
  if (!ParseRequest(call, request)) return;
  List<InterfaceFilter> list{.page = {}, .filter = {}, .mask = ReadMask(ResourceKind::kInterface)};
  if (auto bad = CheckPage(request, "ListInterfaces", LiveField(request), list.page)) {
    return call.Fail(*bad);
  }
  if (auto bad = CheckFilterAndMask(request, list)) return call.Fail(*bad);
  if (!list.page.token.empty()) return ReplyLaterPage(node, call, list.page);

  const absl::Time deadline = call.deadline();
  const bool fresh = list.page.fresh;
  const std::optional<InterfaceFilter> some = list.filter;
  const LiveValues::Wanted wanted{.vfs = request.include_vfs(),
                                  .ethtool = request.include_ethtool()};
  auto reply = [&node, &call, wanted, list = std::move(list)](const Refresher::Result& result) {
    ReplyInterfaces(node, call, list, wanted, result);
  };
  if (!fresh) return node.refresher.WhenKnown(deadline, std::move(reply));
  if (some.has_value() && !request.include_stats() && node.observer.synced() &&
      !node.observer.vlans_in_doubt()) {
    const absl::StatusOr<bool> asked = AskSomeInterfaces(node, *some, deadline);
    // Events may have been lost meanwhile.
    if (asked.ok() && *asked) return node.refresher.WhenSynced(deadline, std::move(reply));
  }
  node.refresher.Refresh(TableId::kLinks, request.include_stats(), deadline, std::move(reply));
}

void ListAddrs(Node& node, UnaryCall& call) {
  pb::ListAddrsRequest request;
  if (!ParseRequest(call, request)) return;
  List<AddrFilter> list{.page = {}, .filter = {}, .mask = ReadMask(ResourceKind::kAddr)};
  if (auto bad = CheckPage(request, "ListAddrs", {}, list.page)) return call.Fail(*bad);
  if (auto bad = CheckFilterAndMask(request, list)) return call.Fail(*bad);
  if (!list.page.token.empty()) return ReplyLaterPage(node, call, list.page);

  const absl::Time deadline = call.deadline();
  const bool fresh = list.page.fresh;
  const std::vector<TableId> tables = TablesOf(list);
  const std::optional<int32_t> only =
      list.filter.has_value() ? list.filter->only_interface() : std::nullopt;
  auto reply = [&node, &call, list = std::move(list)](const Refresher::Result& result) {
    ReplyAddrs(node, call, list, result);
  };
  if (!fresh) return node.refresher.WhenKnown(deadline, std::move(reply));
  if (!only.has_value()) return node.refresher.RefreshAll(tables, deadline, std::move(reply));
  node.refresher.WhenSynced(deadline, [&node, tables, only, deadline,
                                       reply = std::move(reply)](const Refresher::Result& synced) {
    Refresher::Result result{.status = synced.status, .observed_at = absl::Now()};
    if (result.status.ok()) result.status = AskOneInterface(node, tables, *only, deadline);
    if (!result.status.ok()) return reply(result);
    node.refresher.WhenSynced(deadline, reply);  // Events may have been lost meanwhile.
  });
}

}  // namespace linkvane::server
