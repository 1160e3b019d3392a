// ListInterfaces and ListAddrs.
#ifndef LINKVANE_SERVER_RPC_LIST_H_
#define LINKVANE_SERVER_RPC_LIST_H_

#include <cstddef>

namespace linkvane::server {

struct Node;
class UnaryCall;

// Where a page is cut unless the client says otherwise, and at most.
inline constexpr size_t kDefaultResponseBytes = size_t{3} << 20;
inline constexpr size_t kMostResponseBytes = size_t{32} << 20;

void ListInterfaces(Node& node, UnaryCall& call);
void ListAddrs(Node& node, UnaryCall& call);

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_LIST_H_
