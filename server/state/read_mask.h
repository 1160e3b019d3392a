// A field mask, compiled for one kind of object and applied to its encoded bytes.
#ifndef LINKVANE_SERVER_STATE_READ_MASK_H_
#define LINKVANE_SERVER_STATE_READ_MASK_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/state/row.h"
#include "server/state/wire.h"

namespace google::protobuf {
class Descriptor;
class FieldMask;
}  // namespace google::protobuf

namespace linkvane::server {

// What a ReadMask may hold: everything, until paths are added.
class ReadMask {
 public:
  explicit ReadMask(ResourceKind kind);

  // Adds a path; false if the kind has no such field. Paths go through singular messages only.
  bool Add(std::string_view path);
  // Nothing but the key fields and uid, until paths are added.
  void Restrict();

  bool everything() const { return everything_; }

  // Appends `wire`, cut to the mask.
  void Apply(std::string_view wire, std::string& out) const;

  // The part of `changed` that this mask lets through, of two versions of a row.
  FieldSet Visible(const FieldSet& changed, std::string_view before, std::string_view after) const;

 private:
  struct Node {
    bool whole = false;  // The field with all that is in it.
    std::map<uint32_t, Node> fields;
  };
  static void Apply(const Node& node, std::string_view wire, std::string& out);
  void AddKeys();

  const google::protobuf::Descriptor* descriptor_;
  ResourceKind kind_;
  bool everything_ = true;
  Node root_;
};

// Compiles the mask of a request for one kind of object. INVALID_ARGUMENT names an unknown path.
absl::Status CompileMask(const google::protobuf::FieldMask& mask, ReadMask& out);

// The name of a top-level field of a kind's message.
std::string_view FieldName(ResourceKind kind, uint32_t number);

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_READ_MASK_H_
