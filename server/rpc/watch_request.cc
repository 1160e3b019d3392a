#include "server/rpc/watch_request.h"

#include <google/protobuf/field_mask.pb.h>

#include "absl/strings/str_cat.h"
#include "linkvane/v1/watch.pb.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/error.h"
#include "server/rpc/request_check.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;

std::optional<BadArgument> CheckTypes(const pb::WatchRequest& request, WatchOptions& out) {
  if (request.types().empty()) return std::nullopt;
  out.interfaces = false;
  out.addrs = false;
  for (const int type : request.types()) {
    if (type == pb::RESOURCE_TYPE_INTERFACE) {
      out.interfaces = true;
    } else if (type == pb::RESOURCE_TYPE_ADDR) {
      out.addrs = true;
    } else {
      const std::string name = pb::ResourceType_IsValid(type)
                                   ? pb::ResourceType_Name(static_cast<pb::ResourceType>(type))
                                   : absl::StrCat(type);
      return BadArgument{"types", absl::StrCat(name, " is not served by this version")};
    }
  }
  return std::nullopt;
}

// A path has to exist in one of the watched types.
std::optional<BadArgument> CheckPaths(const google::protobuf::FieldMask& mask, WatchOptions& out) {
  if (mask.paths().empty()) return std::nullopt;
  out.interface_mask.Restrict();
  out.addr_mask.Restrict();
  for (const std::string& path : mask.paths()) {
    const bool in_interface = out.interfaces && out.interface_mask.Add(path);
    const bool in_addr = out.addrs && out.addr_mask.Add(path);
    if (!in_interface && !in_addr) {
      return BadArgument{"read_mask", absl::StrCat("unknown path \"", path, "\"")};
    }
  }
  return std::nullopt;
}

std::optional<BadArgument> CheckInterval(const pb::WatchRequest& request, absl::Duration& out) {
  if (!request.has_bookmark_interval()) return std::nullopt;
  const auto& given = request.bookmark_interval();
  const absl::Duration interval = absl::Seconds(given.seconds()) + absl::Nanoseconds(given.nanos());
  if (interval < kShortestBookmarkInterval) {
    return BadArgument{"bookmark_interval",
                       absl::StrCat(absl::FormatDuration(interval), " is shorter than 100ms")};
  }
  out = interval;
  return std::nullopt;
}

std::optional<BadArgument> CheckArguments(const pb::WatchRequest& request, WatchArguments& out) {
  WatchOptions& options = out.options;
  if (auto bad = CheckTypes(request, options)) return bad;
  if (auto bad = InterfaceFilter::Compile(request.interface_filter(), "interface_filter",
                                          options.interface_filter)) {
    return bad;
  }
  if (auto bad = AddrFilter::Compile(request.addr_filter(), "addr_filter", options.addr_filter)) {
    return bad;
  }
  if (auto bad = CheckPaths(request.read_mask(), options)) return bad;
  if (auto bad = CheckInterval(request, out.bookmark_interval)) return bad;
  if (request.require_resume() && !request.has_resume_from()) {
    return BadArgument{"require_resume", "needs resume_from"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<grpc::Status> CheckWatch(const grpc::ByteBuffer& request, WatchArguments& out) {
  pb::WatchRequest message;
  if (!Parse(request, message)) {
    return Error(BadArgument{"request", "not an encoded message of this method"});
  }
  if (auto status = CheckNetns(message.netns())) return status;
  if (const auto bad = CheckArguments(message, out)) return Error(*bad);
  out.options.include_previous = message.include_previous();
  out.options.skip_snapshot = message.skip_snapshot();
  if (message.has_resume_from()) {
    out.resume = ResumePoint{.epoch = message.resume_from().epoch(),
                             .number = message.resume_from().number(),
                             .required = message.require_resume()};
  }
  return std::nullopt;
}

std::optional<grpc::Status> CheckResume(const ResumePoint& resume, const std::string& epoch,
                                        uint64_t revision, WatchOptions& options) {
  const char* reason = "REVISION_COMPACTED";
  options.resync_reason = pb::RESYNC_REASON_REVISION_COMPACTED;
  if (resume.epoch != epoch) {
    reason = "EPOCH_CHANGED";
    options.resync_reason = pb::RESYNC_REASON_EPOCH_CHANGED;
  } else if (resume.number > revision) {
    reason = "REVISION_AHEAD";
    options.resync_reason = pb::RESYNC_REASON_REVISION_AHEAD;
  }
  if (!resume.required) return std::nullopt;
  return Error(
      grpc::StatusCode::OUT_OF_RANGE,
      "resume_from: the changes after this revision are not known here",
      {.reason = reason,
       .metadata = {
           {"field", "resume_from"}, {"epoch", epoch}, {"revision", absl::StrCat(revision)}}});
}

}  // namespace linkvane::server
