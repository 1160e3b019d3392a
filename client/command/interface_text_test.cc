#include "client/command/interface_text.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "absl/strings/str_cat.h"

namespace linkvane::command {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string Text(const v1::Interface& interface, const InterfaceTextOptions& options = {}) {
  return InterfaceText(interface, {}, options);
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Sets every field of a message, those inside as well, to a value of its own where its type has
// enough of them. Of the oneofs, only the fields in `chosen` are set.
class Filler {
 public:
  explicit Filler(std::set<const FieldDescriptor*> chosen) : chosen_(std::move(chosen)) {}

  void Fill(Message* message) {
    for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor& field = *message->GetDescriptor()->field(i);
      if (field.real_containing_oneof() == nullptr || chosen_.contains(&field)) {
        FillField(message, field);
      }
    }
  }

  // Text that the strings and numbers have, each to be found once at most.
  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  void FillField(Message* message, const FieldDescriptor& field) {
    using R = google::protobuf::Reflection;
    const R& r = *message->GetReflection();
    const auto set = [&](auto setter, auto adder, auto value) {
      field.is_repeated() ? (r.*adder)(message, &field, value)
                          : (r.*setter)(message, &field, value);
    };
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return set(&R::SetInt32, &R::AddInt32, static_cast<int32_t>(Number()));
      case FieldDescriptor::CPPTYPE_INT64:
        return set(&R::SetInt64, &R::AddInt64, static_cast<int64_t>(Number()));
      case FieldDescriptor::CPPTYPE_UINT32:
        return set(&R::SetUInt32, &R::AddUInt32, static_cast<uint32_t>(Number()));
      case FieldDescriptor::CPPTYPE_UINT64:
        return set(&R::SetUInt64, &R::AddUInt64, static_cast<uint64_t>(Number()));
      case FieldDescriptor::CPPTYPE_BOOL:
        return set(&R::SetBool, &R::AddBool, true);
      case FieldDescriptor::CPPTYPE_ENUM:
        return set(&R::SetEnumValue, &R::AddEnumValue, 1);
      case FieldDescriptor::CPPTYPE_STRING:
        tokens_.push_back(absl::StrCat("text-", Number(), "-"));
        return set(&R::SetString, &R::AddString, tokens_.back());
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Fill(field.is_repeated() ? r.AddMessage(message, &field)
                                        : r.MutableMessage(message, &field));
      default:
        FAIL() << field.full_name();
    }
  }

  int Number() {
    ++number_;
    tokens_.push_back(absl::StrCat(number_));
    return number_;
  }

  std::set<const FieldDescriptor*> chosen_;
  std::vector<std::string> tokens_;
  int number_ = 7654000;
};

// Takes each field away that is set in `part`, which is `whole` or inside it: the text must change.
void ExpectEachFieldMatters(const v1::Interface& whole, Message* part) {
  const InterfaceTextOptions options = {.detail = Detail::kFull};
  const std::string all = Text(whole, options);
  std::vector<const FieldDescriptor*> fields;
  part->GetReflection()->ListFields(*part, &fields);
  const std::unique_ptr<Message> saved(part->New());
  saved->CopyFrom(*part);
  for (const FieldDescriptor* field : fields) {
    const bool empty_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
                               field->message_type()->field_count() == 0;
    if (empty_message) continue;
    part->GetReflection()->ClearField(part, field);
    EXPECT_TRUE(Text(whole, options) != all) << field->full_name() << " is not shown";
    part->CopyFrom(*saved);
  }
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_repeated() &&
        field->message_type()->file()->package() != "google.protobuf") {
      ExpectEachFieldMatters(whole, part->GetReflection()->MutableMessage(part, field));
    }
  }
}

TEST(InterfaceTextTest, ShowsEveryFieldOfTheContractOnce) {
  const auto* details = v1::Interface::descriptor()->FindOneofByName("details");
  const auto* port = v1::Interface::descriptor()->FindOneofByName("port");
  ASSERT_NE(details, nullptr);
  ASSERT_NE(port, nullptr);
  for (int i = 0; i < std::max(details->field_count(), port->field_count()); ++i) {
    Filler filler(
        {details->field(i % details->field_count()), port->field(i % port->field_count())});
    v1::Interface interface;
    filler.Fill(&interface);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    const std::string text = Text(interface, {.detail = Detail::kFull});
    for (const std::string& token : filler.tokens()) EXPECT_LE(Count(text, token), 1) << token;
    ExpectEachFieldMatters(interface, &interface);
  }
}

v1::Interface Port() {
  v1::Interface interface;
  interface.set_index(4);
  interface.set_name("port0");
  interface.set_kind("veth");
  interface.set_hardware_type(1);
  interface.set_hardware_type_name("ether");
  interface.set_admin_up(true);
  interface.set_oper_state(v1::OPER_STATE_UP);
  interface.set_oper_state_raw(6);
  interface.set_mtu(1500);
  interface.set_min_mtu(68);
  interface.set_max_mtu(0);
  interface.set_link_index(7);
  interface.set_link_netns_id(3);
  interface.set_master_name("br\x1b");
  interface.set_master_index(2);
  interface.set_slave_kind("bridge");
  interface.mutable_bridge_port()->set_state(v1::BRIDGE_PORT_STATE_FORWARDING);
  interface.mutable_bridge_port()->set_state_raw(3);
  interface.mutable_xdp()->set_attached(v1::XDP_ATTACHED_NONE);
  return interface;
}

TEST(InterfaceTextTest, GroupsWhatBelongsTogether) {
  EXPECT_EQ(Text(Port()),
            "port0\n"
            "  index          4\n"
            "  kind           veth\n"
            "  hardware type  ether\n"
            "  link           index 7, namespace 3\n"
            "state\n"
            "  administrative state  up\n"
            "  operational state     up\n"
            "sizes and queues\n"
            "  mtu  1500 bytes (at least 68 bytes, at most any number)\n"
            "port of br\\x1b\n"
            "  master's kind   bridge\n"
            "  master's index  2\n"
            "  state           forwarding\n"
            "addresses\n"
            "  none\n");
}

TEST(InterfaceTextTest, ColorsHeadingsAndStates) {
  const std::string text = Text(Port(), {.color = true});
  EXPECT_THAT(text, StartsWith("\x1b[1mport0\x1b[0m\n"));
  EXPECT_THAT(text, HasSubstr("operational state     \x1b[32mup\x1b[0m\n"));
  EXPECT_THAT(text, HasSubstr("\x1b[1mport of br\\x1b\x1b[0m\n"));
}

TEST(InterfaceTextTest, LeavesRareCountersOutWhileTheyAre0) {
  v1::Interface interface = Port();
  interface.mutable_stats()->set_rx_bytes(7);
  interface.mutable_stats()->set_tx_bytes(0);
  interface.mutable_stats()->set_rx_errors(0);
  interface.mutable_stats()->set_collisions(1);
  interface.mutable_stats()->set_rx_fifo_errors(0);
  EXPECT_THAT(Text(interface), HasSubstr("counters\n"
                                         "  COUNTER     RECEIVED  TRANSMITTED\n"
                                         "  bytes              7            0\n"
                                         "  errors             0            -\n"
                                         "  collisions         -            1\n"
                                         "  all others 0\n"));
  EXPECT_THAT(Text(interface, {.detail = Detail::kFull}), HasSubstr("  fifo errors         0 "));
}

TEST(InterfaceTextTest, TellsHowMuchIsUnknown) {
  v1::Interface interface = Port();
  auto* unknown = interface.add_unknown_attributes();
  unknown->add_parents(26);
  unknown->set_type(9);
  unknown->set_data("\x01\xff");
  EXPECT_THAT(Text(interface), HasSubstr("unknown attributes\n  26.9=01ff\n"));
  interface.add_unknown_attributes()->set_data(std::string(33, '\x02'));
  EXPECT_THAT(Text(interface), HasSubstr("  2 with 35 bytes; -o wide shows them\n"));
  EXPECT_THAT(Text(interface, {.detail = Detail::kFull}), HasSubstr("  26.9  2 bytes\n    01ff\n"));
}

TEST(InterfaceTextTest, NamesTheFieldsOfANewerContract) {
  v1::Interface interface = Port();
  EXPECT_THAT(Text(interface), Not(HasSubstr("other\n")));
  v1::Interface::GetReflection()->MutableUnknownFields(&interface)->AddVarint(5001, 1);
  EXPECT_THAT(Text(interface), HasSubstr("other\n  fields of a newer version  5001\n"));
}

TEST(InterfaceTextTest, ShowsAddresses) {
  google::protobuf::RepeatedPtrField<v1::Addr> addrs;
  addrs.Add()->set_address("192.0.2.1");
  addrs[0].set_prefix_length(24);
  addrs[0].set_scope(v1::ADDR_SCOPE_GLOBAL);
  EXPECT_THAT(InterfaceText(Port(), addrs, {}),
              HasSubstr("addresses\n"
                        "  ADDRESS       SCOPE   FLAGS  LIFETIME\n"
                        "  192.0.2.1/24  global  -      forever\n"));
}

}  // namespace
}  // namespace linkvane::command
