#include "server/state/read_mask.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/field_mask.pb.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "linkvane/v1/addr.pb.h"
#include "linkvane/v1/interface.pb.h"
#include "server/state/text.h"

namespace linkvane::server {
namespace {

const google::protobuf::Descriptor* DescriptorOf(ResourceKind kind) {
  return kind == ResourceKind::kInterface ? linkvane::v1::Interface::descriptor()
                                          : linkvane::v1::Addr::descriptor();
}

}  // namespace

ReadMask::ReadMask(ResourceKind kind) : descriptor_(DescriptorOf(kind)), kind_(kind) {}

void ReadMask::AddKeys() {
  using linkvane::v1::Addr;
  using linkvane::v1::Interface;
  if (kind_ == ResourceKind::kInterface) {
    for (const int number : {Interface::kUidFieldNumber, Interface::kIndexFieldNumber}) {
      root_.fields[static_cast<uint32_t>(number)].whole = true;
    }
    return;
  }
  for (const int number :
       {Addr::kUidFieldNumber, Addr::kInterfaceIndexFieldNumber, Addr::kFamilyFieldNumber,
        Addr::kAddressFieldNumber, Addr::kPrefixLengthFieldNumber, Addr::kPeerAddressFieldNumber}) {
    root_.fields[static_cast<uint32_t>(number)].whole = true;
  }
}

void ReadMask::Restrict() {
  if (!everything_) return;
  everything_ = false;
  AddKeys();
}

bool ReadMask::Add(std::string_view path) {
  const google::protobuf::Descriptor* level = descriptor_;
  std::vector<uint32_t> numbers;
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find('.', start), path.size());
    if (level == nullptr) return false;  // A scalar or a list has nothing inside.
    const auto* field = level->FindFieldByName(std::string(path.substr(start, end - start)));
    if (field == nullptr) return false;
    numbers.push_back(static_cast<uint32_t>(field->number()));
    level = field->is_repeated() ? nullptr : field->message_type();
    start = end + 1;
  }
  Restrict();
  Node* node = &root_;
  for (const uint32_t number : numbers) node = &node->fields[number];
  node->whole = true;
  return true;
}

void ReadMask::Apply(std::string_view wire, std::string& out) const {
  if (everything_) {
    out += wire;
  } else {
    Apply(root_, wire, out);
  }
}

void ReadMask::Apply(const Node& node, std::string_view wire, std::string& out) {
  WireReader reader(wire);
  WireField field;
  while (reader.Next(field)) {
    const auto it = node.fields.find(field.number);
    if (it == node.fields.end()) continue;
    if (it->second.whole) {
      out += field.whole;
    } else {
      std::string inner;
      Apply(it->second, field.value, inner);
      AppendBytesField(field.number, inner, out);
    }
  }
}

FieldSet ReadMask::Visible(const FieldSet& changed, std::string_view before,
                           std::string_view after) const {
  if (everything_) return changed;
  FieldSet visible;
  bool nested = false;
  for (const auto& [number, node] : root_.fields) {
    if (number < changed.size() && changed.test(number)) visible.set(number);
    nested = nested || !node.whole;
  }
  if (!nested || visible.none()) return visible;
  // Of a field that the mask takes in part, that part has to differ.
  std::string before_cut;
  std::string after_cut;
  Apply(before, before_cut);
  Apply(after, after_cut);
  return visible & DifferentFields(before_cut, after_cut);
}

absl::Status CompileMask(const google::protobuf::FieldMask& mask, ReadMask& out) {
  for (const std::string& path : mask.paths()) {
    if (!out.Add(path)) {
      return absl::InvalidArgumentError(absl::StrCat("unknown path \"", path, "\""));
    }
  }
  return absl::OkStatus();
}

std::string_view FieldName(ResourceKind kind, uint32_t number) {
  const auto* field = DescriptorOf(kind)->FindFieldByNumber(static_cast<int>(number));
  return field == nullptr ? std::string_view() : std::string_view(field->name());
}

}  // namespace linkvane::server
