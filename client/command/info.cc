#include "client/command/commands.h"
#include "client/command/field_text.h"

namespace linkvane::command {

absl::Status RunInfo(Context& context) {
  const auto client = client::Client::Connect(context.server);
  const auto response = client.GetServerInfo({}, context.call);
  if (!response.ok()) return response.status();
  if (!IsStructured(context.format)) {
    return context.out.Write(FieldLines(AllFields(*response)));
  }
  const auto text = ObjectText(*response, context.format);
  return text.ok() ? context.out.Write(*text) : text.status();
}

}  // namespace linkvane::command
