// GetInterface and GetServerInfo.
#ifndef LINKVANE_SERVER_RPC_GET_H_
#define LINKVANE_SERVER_RPC_GET_H_

namespace linkvane::server {

struct Node;
class UnaryCall;

void GetInterface(Node& node, UnaryCall& call);
void GetServerInfo(Node& node, UnaryCall& call);

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_GET_H_
