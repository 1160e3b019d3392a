#include "client/command/commands.h"
#include "client/command/field_text.h"
#include "client/command/json.h"

namespace linkvane::command {

absl::Status RunInfo(Context& context) {
  const auto client = client::Client::Connect(context.server);
  const auto response = client.GetServerInfo({}, context.call);
  if (!response.ok()) return response.status();
  if (!context.json) return context.out.Write(FieldLines(AllFields(*response)));
  const auto json = ToJson(*response, JsonStyle::kIndented);
  return json.ok() ? context.out.Write(*json + "\n") : json.status();
}

}  // namespace linkvane::command
