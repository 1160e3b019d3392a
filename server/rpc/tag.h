// What a completion queue gives back when an operation has ended.
#ifndef LINKVANE_SERVER_RPC_TAG_H_
#define LINKVANE_SERVER_RPC_TAG_H_

namespace linkvane::server {

class Tag {
 public:
  virtual ~Tag() = default;
  // On a completion-queue thread, once. `ok` is false if the operation did not take place.
  virtual void Proceed(bool ok) = 0;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_RPC_TAG_H_
