#include "server/state/filter.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "linkvane/v1/addr.pb.h"
#include "linkvane/v1/interface.pb.h"
#include "server/state/network_state.h"
#include "server/state/subscriptions.h"
#include "server/state/testing/fake_messages.h"
#include "server/state/text.h"
#include "server/state/wire.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;

// The field that is refused, or "".
std::string Refused(const pb::InterfaceFilter& filter) {
  InterfaceFilter out;
  const auto bad = InterfaceFilter::Compile(filter, "filter", out);
  return bad.has_value() ? bad->field : "";
}
std::string Refused(const pb::AddrFilter& filter) {
  AddrFilter out;
  const auto bad = AddrFilter::Compile(filter, "filter", out);
  return bad.has_value() ? bad->field : "";
}

TEST(InterfaceFilterTest, RefusesWhatNoInterfaceCanHave) {
  pb::InterfaceFilter index;
  index.add_indexes(0);
  EXPECT_EQ(Refused(index), "filter.indexes");
  pb::InterfaceFilter name;
  name.add_names("");
  EXPECT_EQ(Refused(name), "filter.names");
  pb::InterfaceFilter state;
  state.add_oper_states(pb::OPER_STATE_UNSPECIFIED);
  EXPECT_EQ(Refused(state), "filter.oper_states");
  for (const char* text : {"", "1", "0g:00", "00:", ":00", "00-11", "00:11:2"}) {
    pb::InterfaceFilter address;
    address.add_hardware_addresses(text);
    EXPECT_EQ(Refused(address), "filter.hardware_addresses") << text;
  }
}

TEST(AddrFilterTest, RefusesWhatIsNoPrefix) {
  for (const char* text : {"", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0/8", "fe80::/129",
                           "fe80::/1x", "/8", "eth0", "10.0.0.0/8/8", "10.0.0.0/+8", "10.1.2.3"}) {
    pb::AddrFilter filter;
    filter.set_within(text);
    EXPECT_EQ(Refused(filter), "filter.within") << text;
  }
  for (const char* text : {"10.0.0.0/8", "10.1.2.3/32", "::/0", "fe80::/10", "0.0.0.0/0"}) {
    pb::AddrFilter filter;
    filter.set_within(text);
    EXPECT_EQ(Refused(filter), "") << text;
  }
}

class MatchTest : public ::testing::Test {
 protected:
  MatchTest() : state_("epoch", subscriptions_) {}

  AddrRowPtr AddrAt(const char* address) {
    Apply(FakeMessage(RTM_NEWLINK, FakeLink{.index = 2, .name = "eth0"}));
    Apply(FakeMessage(RTM_NEWADDR, FakeAddr{.index = 2, .address = address}));
    return std::static_pointer_cast<const AddrRow>(state_.Addrs()->rows.back());
  }
  bool Within(const AddrRowPtr& row, const char* prefix) {
    pb::AddrFilter filter;
    filter.set_within(prefix);
    AddrFilter out;
    EXPECT_FALSE(AddrFilter::Compile(filter, "filter", out).has_value());
    return out.Match(*row);
  }
  bool Named(const FakeLink& link, const char* pattern) {
    Apply(FakeMessage(RTM_NEWLINK, link));
    pb::InterfaceFilter filter;
    filter.add_names(pattern);
    InterfaceFilter out;
    EXPECT_FALSE(InterfaceFilter::Compile(filter, "filter", out).has_value());
    return out.Match(*state_.FindInterface(link.index));
  }
  void Apply(const FakeMessage& message) { state_.ApplyEvent(message.message(), ReadTime::Now()); }

  Subscriptions subscriptions_{1};
  NetworkState state_;
};

TEST_F(MatchTest, PrefixesEndAtAnyBit) {
  const AddrRowPtr row = AddrAt("10.1.128.255");
  EXPECT_TRUE(Within(row, "10.0.0.0/8"));
  EXPECT_TRUE(Within(row, "10.1.128.0/17"));
  EXPECT_FALSE(Within(row, "10.1.0.0/17"));
  EXPECT_TRUE(Within(row, "10.1.128.254/31"));
  EXPECT_FALSE(Within(row, "10.1.128.254/32"));
  EXPECT_TRUE(Within(row, "10.1.128.255/32"));
  EXPECT_TRUE(Within(row, "0.0.0.0/0"));
  EXPECT_FALSE(Within(row, "::/0"));
}

TEST_F(MatchTest, NamesAreExactOrGlobs) {
  const FakeLink link{.index = 3, .name = "eth10"};
  EXPECT_TRUE(Named(link, "eth10"));
  EXPECT_FALSE(Named(link, "eth1"));
  EXPECT_TRUE(Named(link, "eth*"));
  EXPECT_TRUE(Named(link, "eth1?"));
  EXPECT_TRUE(Named(link, "eth[1-3]0"));
  EXPECT_FALSE(Named(link, "veth*"));
  // Characters count, not bytes.
  EXPECT_TRUE(Named({.index = 5, .name = "\xe5\x90\x8d\xe5\x89\x8d"}, "??"));
  EXPECT_FALSE(Named({.index = 5, .name = "\xe5\x90\x8d\xe5\x89\x8d"}, "??????"));
  EXPECT_TRUE(Named({.index = 5, .name = "\xff\xfe"}, "??"));
  EXPECT_TRUE(Named({.index = 5, .name = "\xff\xc3\xa4"}, "??"));
  EXPECT_TRUE(Named({.index = 5, .name = "\xff"}, "\xef\xbf\xbd")) << "as clients see it";
  // A bracket that is never closed is no pattern, but may be a name.
  EXPECT_TRUE(Named({.index = 4, .name = "odd["}, "odd["));
}

TEST(GlobTest, MatchesAsAShellDoes) {
  const struct {
    const char* pattern;
    const char* text;
    bool matches;
  } kCases[] = {
      {"", "", true},        {"", "a", false},         {"*", "", true},
      {"a*", "a", true},     {"*a*b*", "xaxbx", true}, {"*a*b", "xaxbx", false},
      {"a**b", "ab", true},  {"[a-c]", "b", true},     {"[a-c]", "d", false},
      {"[!a-c]", "d", true}, {"[!a-c]", "b", false},   {"[]]", "]", true},
      {"[]", "[]", true},    {"[a", "[a", true},       {"[a-]", "-", true},
      {"[!]", "[!]", true},  {"?", "", false},         {"v*.1[0-9]", "vlan.17", true},
      {"*?", "", false},     {"\\*", "\\x", true},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Glob(c.pattern).Match(c.text), c.matches) << c.pattern << " " << c.text;
  }
}

TEST(GlobTest, ManyStarsTakeNoTimeToSpeakOf) {
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*a";
  EXPECT_FALSE(Glob(pattern + "b").Match(std::string(127, 'a')));
}

TEST(TextTest, WhatIsNoUtf8IsReplacedByteByByte) {
  const struct {
    const char* bytes;
    const char* text;
  } kCases[] = {
      {"eth0", "eth0"},
      {"\xc3\xa4", "\xc3\xa4"},
      {"\xff", "\xef\xbf\xbd"},
      {"a\x80z", "a\xef\xbf\xbdz"},
      {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                  // Overlong.
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // A surrogate.
      {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},  // Cut off.
      {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ToUtf8(c.bytes), c.text);
    EXPECT_EQ(IsUtf8(c.bytes), std::string(c.bytes) == c.text);
    EXPECT_TRUE(IsUtf8(ToUtf8(c.bytes)));
  }
}

TEST(WireTest, DifferentFieldsSeesAddedRemovedAndRepeatedOnes) {
  pb::Interface before;
  before.set_index(1);
  before.set_name("a");
  before.add_alt_names("x");
  before.add_alt_names("y");
  before.set_mtu(1500);
  pb::Interface after = before;
  EXPECT_TRUE(DifferentFields(before.SerializeAsString(), after.SerializeAsString()).none());
  after.mutable_alt_names()->SwapElements(0, 1);
  after.clear_mtu();
  after.set_group(0);
  const FieldSet different = DifferentFields(before.SerializeAsString(), after.SerializeAsString());
  EXPECT_EQ(different.count(), 3U);
  EXPECT_TRUE(different.test(pb::Interface::kAltNamesFieldNumber));
  EXPECT_TRUE(different.test(pb::Interface::kMtuFieldNumber));
  EXPECT_TRUE(different.test(pb::Interface::kGroupFieldNumber));
}

TEST(WireTest, AReaderEndsAtWhatIsNotWellFormed) {
  const std::string whole = [] {
    pb::Interface interface;
    interface.set_name("eth0");
    interface.set_mtu(300);
    return interface.SerializeAsString();
  }();
  for (size_t size = 0; size <= whole.size(); ++size) {
    const auto cut = std::make_unique<char[]>(size);  // Exactly sized, for the sanitizer to watch.
    std::copy_n(whole.data(), size, cut.get());
    WireReader reader(std::string_view(cut.get(), size));
    WireField field;
    size_t read = 0;
    while (reader.Next(field)) read += field.whole.size();
    EXPECT_LE(read, size);
  }
}

}  // namespace
}  // namespace linkvane::server
