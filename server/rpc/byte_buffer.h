// Between encoded bytes, messages and gRPC's buffers.
#ifndef LINKVANE_SERVER_RPC_BYTE_BUFFER_H_
#define LINKVANE_SERVER_RPC_BYTE_BUFFER_H_

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <string>
#include <utility>
#include <vector>

namespace linkvane::server {

// Takes the bytes; they are not copied.
inline grpc::ByteBuffer ToBuffer(std::string bytes) {
  auto* const owned = new std::string(std::move(bytes));
  const grpc::Slice slice(
      owned->data(), owned->size(), [](void* held) { delete static_cast<std::string*>(held); },
      owned);
  return {&slice, 1};
}

inline grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message) {
  return ToBuffer(message.SerializeAsString());
}

// False if the bytes are no encoded message of that kind.
inline bool Parse(const grpc::ByteBuffer& buffer, google::protobuf::MessageLite& message) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return false;
  if (slices.size() == 1) {
    return message.ParseFromArray(slices[0].begin(), static_cast<int>(slices[0].size()));
  }
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return message.ParseFromString(bytes);
}

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_BYTE_BUFFER_H_
