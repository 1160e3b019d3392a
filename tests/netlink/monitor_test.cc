// Events of the running kernel.
#include "netlink/monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <poll.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "netlink/connection.h"
#include "netlink/link.h"
#include "tests/netlink/network_namespace.h"

namespace linkvane::netlink {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

class MonitorTest : public NetworkNamespaceTest {
 protected:
  static std::unique_ptr<Monitor> Open(const MonitorOptions& options) {
    absl::StatusOr<std::unique_ptr<Monitor>> monitor = Monitor::Open(options);
    EXPECT_TRUE(monitor.ok()) << monitor.status();
    return *std::move(monitor);
  }

  static bool Readable(const Monitor& monitor) {
    pollfd polled{monitor.fd(), POLLIN, 0};
    return poll(&polled, 1, 0) == 1;
  }

  // What a drain told of links: types and names. Events are queued before a change returns, so
  // nothing has to be waited for.
  struct Drained {
    DrainOutcome outcome;
    std::set<std::pair<int, std::string>> links;
    std::set<int> types;
  };
  static Drained Drain(Monitor& monitor) {
    Drained drained;
    const auto take = [&](std::span<const Message> messages) {
      for (const Message& message : messages) {
        drained.types.insert(message.type);
        if (message.type != RTM_NEWLINK && message.type != RTM_DELLINK) continue;
        LinkView view;
        DecodeTally tally;
        EXPECT_TRUE(DecodeLink(message.payload, view, tally));
        EXPECT_EQ(tally.malformed, 0);
        drained.links.emplace(message.type, std::string(view.name.value_or("")));
      }
    };
    const absl::StatusOr<DrainOutcome> outcome = monitor.Drain(take);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    drained.outcome = outcome.value_or(DrainOutcome());
    return drained;
  }
};

TEST_F(MonitorTest, TellsOfLinksThatComeAndGo) {
  const std::unique_ptr<Monitor> monitor = Open({.groups = {RTNLGRP_LINK}});
  EXPECT_FALSE(Readable(*monitor));
  Ip("link add br0 type bridge\n");
  EXPECT_TRUE(Readable(*monitor));
  Drained drained = Drain(*monitor);
  EXPECT_THAT(drained.links,
              Contains(std::pair(static_cast<int>(RTM_NEWLINK), std::string("br0"))));
  EXPECT_FALSE(drained.outcome.overrun);
  EXPECT_EQ(drained.outcome.ignored, 0);
  EXPECT_GT(drained.outcome.bytes, 500);

  Ip("link del br0\n");
  drained = Drain(*monitor);
  EXPECT_THAT(drained.links,
              Contains(std::pair(static_cast<int>(RTM_DELLINK), std::string("br0"))));
  EXPECT_EQ(Drain(*monitor).outcome.datagrams, 0);
}

TEST_F(MonitorTest, TellsOnlyOfItsGroups) {
  const std::unique_ptr<Monitor> links = Open({.groups = {RTNLGRP_LINK}});
  const std::unique_ptr<Monitor> addresses = Open({.groups = {RTNLGRP_IPV4_IFADDR}});
  const std::unique_ptr<Monitor> both = Open({.groups = {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR}});
  Ip("link add br0 type bridge\naddress add 192.0.2.1/24 dev br0\n");
  EXPECT_EQ(Drain(*links).types, std::set<int>{RTM_NEWLINK});
  EXPECT_EQ(Drain(*addresses).types, std::set<int>{RTM_NEWADDR});
  EXPECT_EQ(Drain(*both).types, (std::set<int>{RTM_NEWLINK, RTM_NEWADDR}));
}

TEST_F(MonitorTest, OverrunIsReportedOnceAndEventsComeAgainAfterIt) {
  const std::unique_ptr<Monitor> monitor =
      Open({.groups = {RTNLGRP_LINK}, .receive_buffer_bytes = 4096});
  std::string lines;
  for (int i = 0; i < 50; ++i) lines += "link add br" + std::to_string(i) + " type bridge\n";
  Ip(lines);
  const Drained overrun = Drain(*monitor);
  EXPECT_TRUE(overrun.outcome.overrun);
  EXPECT_LT(overrun.links.size(), 50) << "else nothing was lost, and nothing shown here";

  const Drained empty = Drain(*monitor);
  EXPECT_FALSE(empty.outcome.overrun);
  EXPECT_THAT(empty.links, IsEmpty());

  Ip("link add last type bridge\n");
  const Drained after = Drain(*monitor);
  EXPECT_THAT(after.links, Contains(std::pair(static_cast<int>(RTM_NEWLINK), std::string("last"))));
  EXPECT_FALSE(after.outcome.overrun);
}

TEST_F(MonitorTest, LargeBufferTakesWhatASmallOneLoses) {
  const std::unique_ptr<Monitor> monitor = Open({.groups = {RTNLGRP_LINK}});
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "link add br" + std::to_string(i) + " type bridge\n";
  Ip(lines);
  const Drained drained = Drain(*monitor);
  EXPECT_FALSE(drained.outcome.overrun);
  EXPECT_EQ(drained.links.size(), 100);
}

TEST_F(MonitorTest, EventAndDumpOfALinkHaveTheSameNormalForm) {
  const std::unique_ptr<Monitor> monitor = Open({.groups = {RTNLGRP_LINK}});
  Ip("link add br0 type bridge\nlink add ifb0 type ifb\nlink set ifb0 mtu 1400\n");
  std::map<int32_t, std::vector<std::byte>> events;
  const auto keep = [](std::map<int32_t, std::vector<std::byte>>& forms) {
    return [&forms](std::span<const Message> messages) {
      for (const Message& message : messages) {
        LinkView view;
        DecodeTally tally;
        if (!DecodeLink(message.payload, view, tally) || !TellsWholeLink(view)) continue;
        std::vector<std::byte>& form = forms[view.index];
        form.clear();
        form.resize(AppendNormalLink(message.payload, form));
      }
    };
  };
  ASSERT_TRUE(monitor->Drain(keep(events)).ok());
  ASSERT_EQ(events.size(), 2);

  absl::StatusOr<std::unique_ptr<Connection>> connection =
      Connection::Open({.protocol = NETLINK_ROUTE});
  ASSERT_TRUE(connection.ok()) << connection.status();
  std::map<int32_t, std::vector<std::byte>> dump;
  Request request = LinkDumpRequest();
  ASSERT_TRUE((*connection)->Dump(request, keep(dump), Soon()).ok());
  for (const auto& [index, form] : events) EXPECT_EQ(form, dump[index]) << index;
}

}  // namespace
}  // namespace linkvane::netlink
