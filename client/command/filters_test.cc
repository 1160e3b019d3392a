#include "client/command/filters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/command/watch.h"

namespace linkvane::command {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Invocation Parse(std::vector<std::string_view> words) { return *Invocation::Parse(words); }

TEST(FiltersTest, ReadsInterfaceFilters) {
  v1::InterfaceFilter filter;
  ASSERT_TRUE(ReadInterfaceFilter(Parse({"--name=eth*", "--name=a,b", "--index=3,4", "--kind=veth",
                                         "--master=br0", "--down", "--oper-state=lower-layer-down",
                                         "--hardware-address=02:00:00:00:00:01"}),
                                  &filter)
                  .ok());
  EXPECT_THAT(filter.names(), ElementsAre("eth*", "a,b"));
  EXPECT_THAT(filter.indexes(), ElementsAre(3, 4));
  EXPECT_THAT(filter.kinds(), ElementsAre("veth"));
  EXPECT_EQ(filter.master(), "br0");
  EXPECT_TRUE(filter.has_admin_up());
  EXPECT_FALSE(filter.admin_up());
  EXPECT_THAT(filter.oper_states(), ElementsAre(v1::OPER_STATE_LOWER_LAYER_DOWN));
  EXPECT_THAT(filter.hardware_addresses(), ElementsAre("02:00:00:00:00:01"));
}

TEST(FiltersTest, NothingGivenIsAnEmptyFilter) {
  v1::InterfaceFilter interfaces;
  v1::AddrFilter addrs;
  ASSERT_TRUE(ReadInterfaceFilter(Parse({}), &interfaces).ok());
  ASSERT_TRUE(ReadAddrFilter(Parse({}), &addrs).ok());
  EXPECT_THAT(interfaces.SerializeAsString(), IsEmpty());
  EXPECT_THAT(addrs.SerializeAsString(), IsEmpty());
}

TEST(FiltersTest, ReadsAddrFilters) {
  v1::AddrFilter filter;
  ASSERT_TRUE(ReadAddrFilter(Parse({"--interface=eth*", "--index=3", "-6", "--scope=global,link",
                                    "--within=fe80::/10"}),
                             &filter)
                  .ok());
  EXPECT_THAT(filter.interface_names(), ElementsAre("eth*"));
  EXPECT_THAT(filter.interface_indexes(), ElementsAre(3));
  EXPECT_EQ(filter.family(), v1::ADDRESS_FAMILY_IPV6);
  EXPECT_THAT(filter.scopes(), ElementsAre(v1::ADDR_SCOPE_GLOBAL, v1::ADDR_SCOPE_LINK));
  EXPECT_EQ(filter.within(), "fe80::/10");
}

TEST(FiltersTest, BothFamiliesAreAny) {
  v1::AddrFilter filter;
  ASSERT_TRUE(ReadAddrFilter(Parse({"-4", "--family=inet6"}), &filter).ok());
  EXPECT_EQ(filter.family(), v1::ADDRESS_FAMILY_UNSPECIFIED);
}

TEST(FiltersTest, NamesBadValuesAndTheGoodOnes) {
  v1::InterfaceFilter interfaces;
  v1::AddrFilter addrs;
  EXPECT_EQ(ReadAddrFilter(Parse({"--scope=earth"}), &addrs).message(),
            "--scope: 'earth' is not one of global, site, link, host, nowhere");
  EXPECT_EQ(ReadAddrFilter(Parse({"--family=ipx"}), &addrs).message(),
            "--family: 'ipx' is not ipv4 or ipv6");
  for (const std::string_view bad :
       {"--oper-state=unspecified", "--oper-state=OPER", "--index=0", "--index=eth0"}) {
    EXPECT_EQ(ReadInterfaceFilter(Parse({bad}), &interfaces).code(),
              absl::StatusCode::kInvalidArgument)
        << bad;
  }
  EXPECT_FALSE(ReadInterfaceFilter(Parse({"--up", "--down"}), &interfaces).ok());
}

TEST(FiltersTest, PutsNamesBeforeFieldsOnce) {
  EXPECT_THAT(WithNames({"mtu", "name"}, {"index", "name"}), ElementsAre("index", "name", "mtu"));
  EXPECT_THAT(WithNames({}, {"index", "name"}), IsEmpty());
}

TEST(WatchRequestTest, AsksForWhatAPersonNeeds) {
  const auto request = BuildWatchRequest(Parse({"--type=interface", "--index=3"}), {"mtu"}, false);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_THAT(request->types(), ElementsAre(v1::RESOURCE_TYPE_INTERFACE));
  EXPECT_TRUE(request->include_previous());
  EXPECT_THAT(request->read_mask().paths(), ElementsAre("name", "mtu"));
  EXPECT_THAT(request->interface_filter().indexes(), ElementsAre(3));
  EXPECT_FALSE(request->has_addr_filter());
}

TEST(WatchRequestTest, JsonAsksForNoMoreThanGiven) {
  const auto request = BuildWatchRequest(Parse({"--no-snapshot"}), {"mtu"}, true);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_THAT(request->types(), IsEmpty());
  EXPECT_FALSE(request->include_previous());
  EXPECT_TRUE(request->skip_snapshot());
  EXPECT_THAT(request->read_mask().paths(), ElementsAre("mtu"));
}

TEST(WatchRequestTest, ReadsResumeAndBookmarkInterval) {
  const auto request = BuildWatchRequest(
      Parse({"--resume=a:b:17", "--require-resume", "--bookmark-interval=1.5s"}), {}, true);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->resume_from().epoch(), "a:b");
  EXPECT_EQ(request->resume_from().number(), 17U);
  EXPECT_TRUE(request->require_resume());
  EXPECT_EQ(request->bookmark_interval().seconds(), 1);
  EXPECT_EQ(request->bookmark_interval().nanos(), 500000000);
  for (const std::string_view bad :
       {"--resume=17", "--resume=:17", "--resume=a:x", "--require-resume", "--type=route"}) {
    EXPECT_EQ(BuildWatchRequest(Parse({bad}), {}, true).status().code(),
              absl::StatusCode::kInvalidArgument)
        << bad;
  }
}

}  // namespace
}  // namespace linkvane::command
