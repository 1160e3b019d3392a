#include "client/command/watch.h"

#include <algorithm>
#include <optional>

#include "absl/strings/numbers.h"
#include "client/command/commands.h"
#include "client/command/event_text.h"
#include "client/command/filters.h"
#include "client/command/watch_stop.h"

namespace linkvane::command {
namespace {

absl::Status ReadTypes(const Invocation& invocation, v1::WatchRequest* request) {
  const auto types = invocation.List("type");
  if (!types.ok()) return types.status();
  for (const std::string& type : *types) {
    if (type == "interface" || type == "interfaces") {
      request->add_types(v1::RESOURCE_TYPE_INTERFACE);
    } else if (type == "addr" || type == "addrs") {
      request->add_types(v1::RESOURCE_TYPE_ADDR);
    } else {
      return BadValue("type", type, "interface or addr");
    }
  }
  return absl::OkStatus();
}

absl::Status ReadResume(const Invocation& invocation, v1::WatchRequest* request) {
  const auto resume = invocation.Value("resume");
  if (!resume.has_value()) {
    if (!invocation.Has("require-resume")) return absl::OkStatus();
    return absl::InvalidArgumentError("--require-resume needs --resume");
  }
  const size_t colon = resume->rfind(':');
  uint64_t number = 0;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(resume->substr(colon + 1), &number)) {
    return BadValue("resume", *resume, "a checkpoint, EPOCH:NUMBER");
  }
  request->mutable_resume_from()->set_epoch(resume->substr(0, colon));
  request->mutable_resume_from()->set_number(number);
  request->set_require_resume(invocation.Has("require-resume"));
  return absl::OkStatus();
}

absl::Status ReadBookmarkInterval(const Invocation& invocation, v1::WatchRequest* request) {
  const auto interval = invocation.Duration("bookmark-interval");
  if (!interval.ok() || !interval->has_value()) return interval.status();
  absl::Duration rest;
  request->mutable_bookmark_interval()->set_seconds(
      absl::IDivDuration(**interval, absl::Seconds(1), &rest));
  request->mutable_bookmark_interval()->set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
  return absl::OkStatus();
}

bool Watches(const v1::WatchRequest& request, v1::ResourceType type) {
  return request.types().empty() ||
         std::ranges::find(request.types(), type) != request.types().end();
}

absl::Status Show(const v1::WatchResponse& response, const std::vector<std::string>& fields,
                  Context& context) {
  if (!IsStructured(context.format)) {
    return context.out.Write(WatchText(response, fields, context.color));
  }
  const auto text = StreamedText(response, context.format);
  return text.ok() ? context.out.Write(*text) : text.status();
}

}  // namespace

absl::StatusOr<v1::WatchRequest> BuildWatchRequest(const Invocation& invocation,
                                                   const std::vector<std::string>& fields,
                                                   bool structured) {
  v1::WatchRequest request;
  if (absl::Status status = ReadTypes(invocation, &request); !status.ok()) return status;
  const bool interfaces = Watches(request, v1::RESOURCE_TYPE_INTERFACE);
  const bool addrs = Watches(request, v1::RESOURCE_TYPE_ADDR);
  if (absl::Status status = ReadInterfaceFilter(invocation, request.mutable_interface_filter());
      !status.ok()) {
    return status;
  }
  if (absl::Status status = ReadAddrFilter(invocation, request.mutable_addr_filter());
      !status.ok()) {
    return status;
  }
  // A filter of what is not watched says nothing, and --index is in both.
  if (!interfaces) request.clear_interface_filter();
  if (!addrs) request.clear_addr_filter();
  if (absl::Status status = ReadResume(invocation, &request); !status.ok()) return status;
  if (absl::Status status = ReadBookmarkInterval(invocation, &request); !status.ok()) {
    return status;
  }
  request.set_skip_snapshot(invocation.Has("no-snapshot"));
  request.set_include_previous(!structured || invocation.Has("previous"));

  std::vector<std::string> paths = fields;
  if (!structured) {
    if (addrs) paths = WithNames(paths, {"interface_name"});
    if (interfaces) paths = WithNames(paths, {"name"});
  }
  SetReadMask(paths, &request);
  return request;
}

absl::Status RunWatch(Context& context) {
  const auto fields = ReadFields(context.invocation);
  if (!fields.ok()) return fields.status();
  const auto request = BuildWatchRequest(context.invocation, *fields, IsStructured(context.format));
  if (!request.ok()) return request.status();

  std::optional<client::WatchStream> stream;  // outlives the thread that may cancel it
  WatchStop stop;                             // before gRPC starts its threads
  const auto client = client::Client::Connect(context.server);
  stream.emplace(client.Watch(*request));
  stop.Start(context.out.fd(), [&stream] { stream->Cancel(); });
  v1::WatchResponse response;
  while (stream->Next(&response)) {
    if (absl::Status status = Show(response, *fields, context); !status.ok()) {
      return status;
    }
  }
  const absl::Status why = stream->Finish();
  return stop.stopped() ? absl::OkStatus() : why;
}

}  // namespace linkvane::command
