// What a Linux 6.12 kernel told while many kinds of links were made, played through a monitor into
// the tables, in which there is then what a dump tells.
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "netlink/fake_socket.h"
#include "netlink/monitor.h"
#include "netlink/recording.h"
#include "server/state/network_state.h"
#include "server/state/testing/staged_state.h"

namespace linkvane::server {
namespace {

// Plays the events that came while the links of "main" were made, by a monitor.
void PlayEvents(StagedState& stage) {
  auto owned = std::make_unique<netlink::FakeSocket>();
  netlink::FakeSocket& socket = *owned;
  netlink::Monitor monitor(std::move(owned));
  for (const std::vector<std::byte>& datagram : netlink::LoadRecording("events")) {
    netlink::FakeDatagram copy;
    netlink::MessageReader reader(datagram);
    for (netlink::Message message; reader.Next(message);) {
      copy.Add(message.type, message.flags, message.payload);
    }
    socket.Enqueue({std::move(copy)});
  }
  const auto outcome = monitor.Drain([&stage](std::span<const netlink::Message> messages) {
    for (const netlink::Message& message : messages) {
      stage.state().ApplyEvent(message, stage.now());
    }
  });
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->datagrams, 993);
  EXPECT_EQ(outcome->ignored, 0);
  EXPECT_FALSE(outcome->overrun);
}

void Dump(StagedState& stage, TableId table, std::string_view recording) {
  const auto datagrams = netlink::LoadRecording(recording);
  const RunningDump dump = stage.state().BeginDump(table, stage.now().wall);
  stage.state().DumpSays(dump, netlink::MessagesOf(datagrams), stage.now());
  stage.state().FinishDump(dump, {}, stage.now().wall);
}

// Where two tables of links differ: "br0 bridge.gc_timer", or "lo" for a link that only one has.
std::set<std::string> Differences(StagedState& left, StagedState& right) {
  std::map<int32_t, linkvane::v1::Interface> rest;
  for (const auto& row : left.Interfaces()) rest[row.index()] = row;
  std::set<std::string> differences;
  for (linkvane::v1::Interface& row : right.Interfaces()) {
    const auto found = rest.find(row.index());
    if (found == rest.end()) {
      differences.insert(row.name());
      continue;
    }
    for (linkvane::v1::Interface* interface : {&row, &found->second}) {
      interface->clear_uid();
      interface->clear_unknown_attributes();
      // IPv6's state on a link makes no event.
      if (interface->has_ipv6()) {
        interface->mutable_ipv6()->clear_flags();
        interface->mutable_ipv6()->clear_conf();
        interface->mutable_ipv6()->clear_cacheinfo();
      }
    }
    std::string report;
    google::protobuf::util::MessageDifferencer differencer;
    differencer.ReportDifferencesToString(&report);
    if (!differencer.Compare(found->second, row)) {
      // "modified: bridge.gc_timer.seconds: 1 -> 2"
      for (const auto line : absl::StrSplit(report, '\n', absl::SkipEmpty())) {
        const std::vector<std::string> parts = absl::StrSplit(line, ": ");
        std::vector<std::string> path = absl::StrSplit(parts[1], '.');
        path.resize(std::min<size_t>(path.size(), 2));
        path.back().resize(std::min(path.back().size(), path.back().find('[')));
        differences.insert(absl::StrCat(row.name(), " ", absl::StrJoin(path, ".")));
      }
    }
    rest.erase(found);
  }
  for (const auto& [index, row] : rest) differences.insert(row.name());
  return differences;
}

// "br0 bridge.gc_timer" for each of the links and fields.
std::vector<std::string> Each(const std::vector<std::string>& links,
                              const std::vector<std::string>& fields) {
  std::vector<std::string> each;
  for (const std::string& link : links) {
    for (const std::string& field : fields) each.push_back(absl::StrCat(link, " ", field));
  }
  return each;
}

TEST(EventsReplayTest, AloneLeadToTheDumpButForWhatMakesNoEvent) {
  StagedState events;
  events.state().Repaired();
  PlayEvents(events);
  StagedState dump;
  Dump(dump, TableId::kLinks, "main/link-skipstats");
  Dump(dump, TableId::kBridgeVlans, "main/link-bridge-compressed");
  EXPECT_EQ(dump.Interfaces().size(), 101);

  std::set<std::string> untold = {"lo"};  // Older than the monitor.
  const auto add = [&untold](const std::vector<std::string>& differences) {
    untold.insert(differences.begin(), differences.end());
  };
  // These run by themselves.
  add(Each({"br0", "br2"}, {"bridge.gc_timer"}));
  add({"br0 bridge.fdb_n_learned", "br0 bridge.mcast_querier_state"});
  add(Each({"ve0", "ve2"}, {"bridge_port.mcast_n_groups"}));
  // Of a port's settings and state the kernel tells in messages of family AF_BRIDGE only.
  add(Each({"dbr2", "ve0", "ve2"}, {"bridge_port.state", "bridge_port.state_raw"}));
  for (const char* field : {"cost", "designated_port", "guard", "id", "isolated", "learning",
                            "mcast_flood", "mode", "neigh_suppress", "priority", "unicast_flood"}) {
    add({absl::StrCat("ve2 bridge_port.", field)});
  }
  add({"vxt bridge_port.vlan_tunnel"});
  // A bridge comes with a VLAN; that makes no event until it has another one.
  add({"br1 bridge.vlans"});
  // LACP talked on.
  add(Each({"ds2", "ds3"},
           {"bond_port.ad_actor_oper_port_state", "bond_port.ad_actor_oper_port_state_raw",
            "bond_port.ad_churn_actor_state", "bond_port.ad_churn_actor_state_raw",
            "bond_port.ad_churn_partner_state", "bond_port.ad_churn_partner_state_raw"}));
  add(Each({"ds3"}, {"bond_port.ad_aggregator_id", "bond_port.ad_partner_oper_port_state_raw"}));
  // A carrier that is lost while the link is down.
  add(Each({"eth0", "eth1", "ipvl0", "ipvt0", "tap0", "vx6"},
           {"carrier", "carrier_changes", "carrier_down_count"}));
  add(Each({"vx6"}, {"proto_down", "proto_down_reason"}));
  // The first of a pair is told before the second one is there.
  add(Each({"nc1", "nk0", "nkC", "vxc1"}, {"link_index", "link_name"}));
  add(Each({"nk0", "nkC"}, {"netkit.peer_policy", "netkit.peer_scrub", "netkit.peer_scrub_raw"}));
  // Some settings of a new link are set after it was told, and what a program does to its tun
  // device is not told at all.
  add({"sit0 sit.proto", "sit0 sit.ttl"});
  add(Each({"sit0", "sit2"}, {"sit.sixrd_prefix", "sit.sixrd_prefixlen"}));
  add(Each({"tap0"}, {"tun.num_queues", "tun.persist"}));
  add(Each({"erspan0", "gre0", "gretap0", "ip_vti0", "tunl0"}, {"mtu"}));
  add(Each({"d2", "dh2"}, {"promiscuity"}));
  add({"br0 tso_max_size", "d2 qdisc"});
  // As texts, of which a failure shows just the lines that differ.
  EXPECT_EQ(absl::StrJoin(Differences(events, dump), "\n"), absl::StrJoin(untold, "\n"));
}

}  // namespace
}  // namespace linkvane::server
