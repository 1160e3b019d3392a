#include "server/rpc/get.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "linkvane/v1/network_state_service.pb.h"
#include "server/rpc/error.h"
#include "server/rpc/list.h"
#include "server/rpc/node.h"
#include "server/rpc/request_check.h"
#include "server/rpc/unary_call.h"
#include "server/state/proto_time.h"
#include "server/state/text.h"
#include "server/state/wire.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;

// The longest name of an interface, an alternative one, in bytes (ALTIFNAMSIZ - 1).
constexpr size_t kLongestName = 127;

struct Get {
  std::optional<int32_t> index;
  std::string name;
  ReadMask mask{ResourceKind::kInterface};
  bool fresh = true;
  bool stats = false;
  LiveValues::Wanted live;
};

std::optional<grpc::Status> Check(const pb::GetInterfaceRequest& request, Get& out) {
  if (auto status = CheckNetns(request.netns())) return status;
  switch (request.key_case()) {
    case pb::GetInterfaceRequest::kIndex:
      if (request.index() <= 0) {
        return Error(BadArgument{
            "index", absl::StrCat(request.index(), " is no index; indexes start at 1")});
      }
      out.index = request.index();
      break;
    case pb::GetInterfaceRequest::kName:
      if (request.name().empty() || request.name().size() > kLongestName ||
          request.name().find('\0') != std::string::npos) {
        return Error(BadArgument{"name", "a name has 1 to 127 bytes, none of them 0"});
      }
      out.name = request.name();
      break;
    case pb::GetInterfaceRequest::KEY_NOT_SET:
      return Error(BadArgument{"index", "index or name has to be set"});
  }
  out.stats = request.include_stats();
  out.live = {.vfs = request.include_vfs(), .ethtool = request.include_ethtool()};
  if (const auto bad = CheckConsistency(request.consistency(), LiveField(request), out.fresh)) {
    return Error(*bad);
  }
  if (const auto bad = CheckMask(request.read_mask(), out.mask)) return Error(*bad);
  return std::nullopt;
}

grpc::Status NoSuchInterface(const Get& get) {
  ErrorDetails details{.reason = "INTERFACE_NOT_FOUND"};
  if (get.index.has_value()) {
    details.metadata["index"] = absl::StrCat(*get.index);
    return Error(grpc::StatusCode::NOT_FOUND, absl::StrCat("no interface has index ", *get.index),
                 details);
  }
  details.metadata["name"] = get.name;
  return Error(grpc::StatusCode::NOT_FOUND,
               absl::StrCat("no interface is called \"", get.name, "\""), details);
}

// U+FFFD, which names that are not UTF-8 are shown with.
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

void Reply(const Node& node, UnaryCall& call, const Get& get, const Row& row,
           std::string_view stats, std::string_view live, uint64_t number, absl::Time observed_at) {
  std::string interface;
  get.mask.Apply(row.wire, interface);
  get.mask.Apply(stats, interface);
  get.mask.Apply(live, interface);
  pb::Revision revision;
  revision.set_epoch(node.observer.epoch());
  revision.set_number(number);
  std::string out;
  AppendBytesField(pb::GetInterfaceResponse::kInterfaceFieldNumber, interface, out);
  AppendBytesField(pb::GetInterfaceResponse::kRevisionFieldNumber, revision.SerializeAsString(),
                   out);
  AppendBytesField(pb::GetInterfaceResponse::kObservedAtFieldNumber,
                   ToProto(observed_at).SerializeAsString(), out);
  call.Reply(ToBuffer(std::move(out)));
}

// With `look`, also at the VLANs of bridges if those are in doubt.
void ReplyFresh(Node& node, UnaryCall& call, const Get& get, absl::Time deadline,
                bool look = true) {
  const absl::StatusOr<Observer::LinkAnswer> answer =
      get.index.has_value() ? node.observer.AskLink(*get.index, get.stats, deadline)
                            : node.observer.AskLink(get.name, get.stats, deadline);
  if (absl::IsNotFound(answer.status())) return call.Fail(NoSuchInterface(get));
  if (!answer.ok()) return call.Fail(Error(answer.status()));
  if (answer->report.conflict) node.refresher.LookAgain(TableId::kLinks);
  if (look && node.observer.vlans_in_doubt() && IsBridgeOrPort(answer->row->link)) {
    return node.refresher.Refresh(TableId::kBridgeVlans, false, deadline,
                                  [&node, &call, get, deadline](const Refresher::Result& result) {
                                    if (!result.status.ok()) return call.Fail(Error(result.status));
                                    ReplyFresh(node, call, get, deadline, /*look=*/false);
                                  });
  }
  auto reply = [&node, &call, get, answer = *answer](const LiveValues::Result& live) {
    if (!live.ok()) return call.Fail(Error(live.status()));
    const int32_t index = answer.row->link.index;
    const DumpReport& report = answer.report;
    Reply(node, call, get, *answer.row, report.stats == nullptr ? "" : report.stats->Find(index),
          *live == nullptr ? "" : (*live)->Find(index), answer.revision, report.observed_at);
  };
  if (!get.live.any()) return reply(nullptr);
  node.live_values.Read(get.live, {answer->row}, deadline, std::move(reply));
}

// Whether the interface has a name that is shown so.
bool IsShownAs(const InterfaceRow& row, std::string_view name) {
  bool found = ToUtf8(row.name()) == name;
  netlink::ForEachAltName(row.link, [&](std::string_view alternative) {
    found = found || ToUtf8(alternative) == name;
  });
  return found;
}

// By a name as it is shown, which is not what the kernel knows it by.
void ReplyShown(Node& node, UnaryCall& call, const Get& get, const Refresher::Result& result) {
  if (!result.status.ok()) return call.Fail(Error(result.status));
  std::vector<RowPtr> found;
  uint64_t revision = 0;
  node.observer.Read([&](NetworkState& state) {
    for (const RowPtr& row : state.Interfaces()->rows) {
      if (IsShownAs(static_cast<const InterfaceRow&>(*row), get.name)) found.push_back(row);
    }
    revision = state.revision();
  });
  if (found.empty()) return call.Fail(NoSuchInterface(get));
  if (found.size() > 1) {
    return call.Fail(Error(BadArgument{
        "name",
        absl::StrCat(found.size(), " interfaces have names that are shown so; use index")}));
  }
  auto reply = [&node, &call, get, row = found.front(), revision,
                result](const LiveValues::Result& live) {
    if (!live.ok()) return call.Fail(Error(live.status()));
    const int32_t index = static_cast<const InterfaceRow&>(*row).link.index;
    Reply(node, call, get, *row, result.stats == nullptr ? "" : result.stats->Find(index),
          *live == nullptr ? "" : (*live)->Find(index), revision, result.observed_at);
  };
  if (!get.live.any()) return reply(nullptr);
  node.live_values.Read(get.live, {found.front()}, call.deadline(), std::move(reply));
}

void ReplyCached(Node& node, UnaryCall& call, const Get& get, absl::Time observed_at) {
  InterfaceRowPtr row;
  uint64_t revision = 0;
  node.observer.Read([&](NetworkState& state) {
    row = get.index.has_value() ? state.FindInterface(*get.index) : state.FindInterface(get.name);
    revision = state.revision();
  });
  if (row == nullptr) return call.Fail(NoSuchInterface(get));
  Reply(node, call, get, *row, {}, {}, revision, observed_at);
}

}  // namespace

void GetInterface(Node& node, UnaryCall& call) {
  pb::GetInterfaceRequest request;
  if (!ParseRequest(call, request)) return;
  Get get;
  if (auto bad = Check(request, get)) return call.Fail(*bad);
  const absl::Time deadline = call.deadline();
  const bool fresh = get.fresh;
  if (get.name.find(kReplacement) != std::string::npos) {
    const bool stats = get.stats;
    auto reply_shown = [&node, &call, get = std::move(get)](const Refresher::Result& result) {
      ReplyShown(node, call, get, result);
    };
    if (!fresh) return node.refresher.WhenKnown(deadline, std::move(reply_shown));
    return node.refresher.Refresh(TableId::kLinks, stats, deadline, std::move(reply_shown));
  }
  auto reply = [&node, &call, get = std::move(get), deadline](const Refresher::Result& result) {
    if (!result.status.ok()) return call.Fail(Error(result.status));
    if (get.fresh) return ReplyFresh(node, call, get, deadline);
    ReplyCached(node, call, get, result.observed_at);
  };
  if (fresh) {
    node.refresher.WhenSynced(deadline, std::move(reply));
  } else {
    node.refresher.WhenKnown(deadline, std::move(reply));
  }
}

void GetServerInfo(Node& node, UnaryCall& call) {
  pb::GetServerInfoRequest request;
  if (!ParseRequest(call, request)) return;
  if (auto bad = CheckNetns(request.netns())) return call.Fail(*bad);

  pb::GetServerInfoResponse response;
  response.set_version(LINKVANE_VERSION);
  response.set_node_name(node.name);
  response.set_kernel_release(node.kernel_release);
  if (const auto cookie = node.observer.netns_cookie()) response.set_netns_cookie(*cookie);
  *response.mutable_started_at() = ToProto(node.started_at);

  pb::ServerCounts& counts = *response.mutable_counts();
  response.mutable_revision()->set_epoch(node.observer.epoch());
  node.observer.Read([&](NetworkState& state) {
    response.mutable_revision()->set_number(state.revision());
    counts.set_interfaces(state.interface_count());
    counts.set_addrs(state.addr_count());
    counts.set_malformed_attributes(state.malformed_attributes());
  });
  counts.set_watchers(node.subscriptions.size());
  counts.set_listings(node.pages.running());
  const Observer::Counts observed = node.observer.counts();
  counts.set_dumps(observed.dumps);
  counts.set_interrupted_dumps(observed.interrupted_dumps);
  counts.set_overruns(observed.overruns);
  counts.set_audit_differences(observed.audit_differences);
  counts.set_rows_encoded(RowsEncoded());

  pb::ServerLimits& limits = *response.mutable_limits();
  limits.set_max_watchers(node.subscriptions.most());
  limits.set_max_listings(PageStore::kMostListings);
  limits.set_max_response_bytes(kMostResponseBytes);
  limits.set_max_connections(node.max_connections);
  limits.set_pool_size(node.pool_size);
  *limits.mutable_audit_interval() = ToProto(node.audit_interval);

  for (const char* feature : {"interfaces", "addrs", "watch", "stats", "vfs", "ethtool"}) {
    response.add_features(feature);
  }
  call.Reply(ToBuffer(response));
}

}  // namespace linkvane::server
