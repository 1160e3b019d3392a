#include "server/state/filter.h"

#include <gtest/gtest.h>
#include <linux/if.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <string>

#include "linkvane/v1/addr.pb.h"
#include "linkvane/v1/interface.pb.h"
#include "server/state/network_state.h"
#include "server/state/subscriptions.h"
#include "server/state/testing/fake_messages.h"

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
  // Of interface 3, and of the last address.
  bool Matches(const pb::InterfaceFilter& filter) {
    InterfaceFilter out;
    EXPECT_FALSE(InterfaceFilter::Compile(filter, "filter", out).has_value());
    return out.Match(*state_.FindInterface(3));
  }
  bool Matches(const pb::AddrFilter& filter) {
    AddrFilter out;
    EXPECT_FALSE(AddrFilter::Compile(filter, "filter", out).has_value());
    return out.Match(static_cast<const AddrRow&>(*state_.Addrs()->rows.back()));
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

TEST_F(MatchTest, PrefixesOfIpv6EndAtAnyBit) {
  const AddrRowPtr row = AddrAt("2001:db8:8000::1");
  EXPECT_TRUE(Within(row, "2001:db8::/32"));
  EXPECT_TRUE(Within(row, "2001:db8:8000::/33"));
  EXPECT_FALSE(Within(row, "2001:db8::/33"));
  EXPECT_TRUE(Within(row, "2001:db8:f000::/33")) << "what is behind the prefix does not count";
  EXPECT_TRUE(Within(row, "2001:db8:8000::/127"));
  EXPECT_FALSE(Within(row, "2001:db8:8000::/128"));
  EXPECT_TRUE(Within(row, "2001:db8:8000::1/128"));
  EXPECT_TRUE(Within(row, "::/0"));
  EXPECT_FALSE(Within(row, "0.0.0.0/0"));
}

TEST_F(MatchTest, EveryCriterionOfInterfacesHasToBeMet) {
  const FakeLink link{.index = 3,
                      .name = "eth3",
                      .flags = IFF_UP,
                      .alt_names = {"uplink"},
                      .kind = "veth",
                      .master = 9,
                      .oper_state = 6};
  Apply(FakeMessage(RTM_NEWLINK, FakeLink{.index = 9, .name = "br0"}));
  Apply(FakeMessage(RTM_NEWLINK, link));
  using Filter = pb::InterfaceFilter;
  const struct {
    const char* what;
    void (*add)(Filter& filter, bool meets);
  } kCriteria[] = {
      {"index", [](Filter& f, bool meets) { f.add_indexes(meets ? 3 : 4); }},
      {"name", [](Filter& f, bool meets) { f.add_names(meets ? "eth*" : "wan"); }},
      {"alternative name", [](Filter& f, bool meets) { f.add_names(meets ? "up????" : "up"); }},
      {"kind", [](Filter& f, bool meets) { f.add_kinds(meets ? "veth" : "vet"); }},
      {"address",
       [](Filter& f, bool meets) {
         f.add_hardware_addresses(meets ? "02:00:00:00:00:01" : "02:00:00:00:00");
       }},
      {"master", [](Filter& f, bool meets) { f.set_master(meets ? "br0" : "br1"); }},
      {"admin up", [](Filter& f, bool meets) { f.set_admin_up(meets); }},
      {"oper state",
       [](Filter& f, bool meets) {
         f.add_oper_states(meets ? pb::OPER_STATE_UP : pb::OPER_STATE_DOWN);
       }},
  };
  Filter all;
  for (const auto& criterion : kCriteria) {
    criterion.add(all, true);
    EXPECT_TRUE(Matches(all)) << criterion.what;
    Filter none = all;
    criterion.add(none, false);
    // One more in a list is enough; a single value has to be the right one.
    const bool is_list = none.master() == all.master() && none.admin_up() == all.admin_up();
    EXPECT_EQ(Matches(none), is_list) << criterion.what;
    Filter alone;
    criterion.add(alone, false);
    EXPECT_FALSE(Matches(alone)) << criterion.what;
  }
}

TEST_F(MatchTest, EveryCriterionOfAddressesHasToBeMet) {
  Apply(FakeMessage(RTM_NEWLINK, FakeLink{.index = 3, .name = "eth3"}));
  const FakeAddr addr{.index = 3, .address = "fe80::1", .scope = RT_SCOPE_LINK};
  Apply(FakeMessage(RTM_NEWADDR, addr));
  using Filter = pb::AddrFilter;
  const struct {
    const char* what;
    void (*add)(Filter& filter, bool meets);
  } kCriteria[] = {
      {"index", [](Filter& f, bool meets) { f.add_interface_indexes(meets ? 3 : 4); }},
      {"name", [](Filter& f, bool meets) { f.add_interface_names(meets ? "*3" : "eth4"); }},
      {"family",
       [](Filter& f, bool meets) {
         f.set_family(meets ? pb::ADDRESS_FAMILY_IPV6 : pb::ADDRESS_FAMILY_IPV4);
       }},
      {"scope",
       [](Filter& f, bool meets) {
         f.add_scopes(meets ? pb::ADDR_SCOPE_LINK : pb::ADDR_SCOPE_GLOBAL);
       }},
      {"within", [](Filter& f, bool meets) { f.set_within(meets ? "fe80::/10" : "fec0::/10"); }},
  };
  Filter all;
  for (const auto& criterion : kCriteria) {
    criterion.add(all, true);
    EXPECT_TRUE(Matches(all)) << criterion.what;
    Filter alone;
    criterion.add(alone, false);
    EXPECT_FALSE(Matches(alone)) << criterion.what;
  }
}

TEST(AddrFilterTest, RefusesWhatNoAddressCanHave) {
  pb::AddrFilter index;
  index.add_interface_indexes(-1);
  EXPECT_EQ(Refused(index), "filter.interface_indexes");
  pb::AddrFilter name;
  name.add_interface_names("");
  EXPECT_EQ(Refused(name), "filter.interface_names");
  pb::AddrFilter scope;
  scope.add_scopes(pb::ADDR_SCOPE_UNSPECIFIED);
  EXPECT_EQ(Refused(scope), "filter.scopes");
  pb::AddrFilter family;
  family.set_family(static_cast<pb::AddressFamily>(99));
  EXPECT_EQ(Refused(family), "filter.family");
}

TEST(AddrFilterTest, TellsWhatTheKernelCanBeAskedLessOf) {
  pb::AddrFilter filter;
  AddrFilter any;
  ASSERT_FALSE(AddrFilter::Compile(filter, "filter", any).has_value());
  EXPECT_EQ(any.family(), 0);
  EXPECT_EQ(any.only_interface(), std::nullopt);
  filter.set_family(pb::ADDRESS_FAMILY_IPV6);
  filter.add_interface_indexes(7);
  AddrFilter one;
  ASSERT_FALSE(AddrFilter::Compile(filter, "filter", one).has_value());
  EXPECT_EQ(one.family(), AF_INET6);
  EXPECT_EQ(one.only_interface(), 7);
  filter.add_interface_indexes(8);
  AddrFilter two;
  ASSERT_FALSE(AddrFilter::Compile(filter, "filter", two).has_value());
  EXPECT_EQ(two.only_interface(), std::nullopt);
}

}  // namespace
}  // namespace linkvane::server
