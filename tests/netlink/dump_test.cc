// Dumps and gets against the running kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "netlink/addr.h"
#include "netlink/connection.h"
#include "netlink/error.h"
#include "netlink/link.h"
#include "tests/netlink/network_namespace.h"

namespace linkvane::netlink {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// What a dump of links told, copied.
struct Link {
  std::string name;
  std::string kind;
  std::vector<std::string> alternative_names;
};
struct LinkDump {
  DumpOutcome outcome;
  std::map<int32_t, Link> links;
  size_t first_datagram = 0;
  uint64_t malformed = 0;
};

class DumpTest : public NetworkNamespaceTest {
 protected:
  static std::unique_ptr<Connection> Open(bool prime = true) {
    absl::StatusOr<std::unique_ptr<Socket>> socket = OpenSocket({.protocol = NETLINK_ROUTE});
    EXPECT_TRUE(socket.ok()) << socket.status();
    absl::StatusOr<std::unique_ptr<Connection>> connection =
        Connection::Make(*std::move(socket), prime);
    EXPECT_TRUE(connection.ok()) << connection.status();
    return *std::move(connection);
  }

  static LinkDump DumpLinks(Connection& connection, Request request = LinkDumpRequest()) {
    LinkDump dump;
    const auto take = [&](std::span<const Message> messages) {
      if (dump.first_datagram == 0) {
        // From the first header to the last payload's end.
        dump.first_datagram =
            static_cast<size_t>(messages.back().payload.data() - messages.front().payload.data()) +
            messages.back().payload.size() + sizeof(nlmsghdr);
      }
      for (const Message& message : messages) {
        LinkView view;
        DecodeTally tally;
        EXPECT_TRUE(DecodeLink(message.payload, view, tally));
        dump.malformed += tally.malformed;
        Link link{.name = std::string(view.name.value_or("")),
                  .kind = std::string(view.kind.value_or("")),
                  .alternative_names = {}};
        ForEachAltName(view,
                       [&](std::string_view name) { link.alternative_names.emplace_back(name); });
        EXPECT_TRUE(dump.links.emplace(view.index, std::move(link)).second) << "named twice";
      }
    };
    const absl::StatusOr<DumpOutcome> outcome = connection.Dump(request, take, Soon());
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_TRUE(connection.healthy());
    dump.outcome = outcome.value_or(DumpOutcome());
    return dump;
  }

  static std::set<std::string> Names(const LinkDump& dump) {
    std::set<std::string> names;
    for (const auto& [index, link] : dump.links) names.insert(link.name);
    return names;
  }

  // `count` bridges, and as many pairs.
  static void MakeLinks(int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) {
      const std::string n = std::to_string(i);
      lines += "link add va" + n + " type veth peer name vb" + n + "\n";
      lines += "link add br" + n + " type bridge\n";
    }
    Ip(lines);
  }
};

TEST_F(DumpTest, ListsAllLinksOfTheNamespace) {
  Ip("link add br0 type bridge\nlink add va type veth peer name vb\n");
  const std::unique_ptr<Connection> connection = Open();
  const LinkDump dump = DumpLinks(*connection);
  EXPECT_EQ(Names(dump), (std::set<std::string>{"lo", "br0", "va", "vb"}));
  EXPECT_EQ(dump.malformed, 0);
  EXPECT_FALSE(dump.outcome.interrupted);
  EXPECT_EQ(dump.outcome.messages, 4);
}

TEST_F(DumpTest, KernelFiltersByKindAndByMaster) {
  Ip("link add br0 type bridge\nlink add br1 type bridge\n"
     "link add va type veth peer name vb\nlink set va master br0\n");
  const std::unique_ptr<Connection> connection = Open();
  EXPECT_EQ(Names(DumpLinks(*connection, LinkDumpRequest({.kind = "bridge"}))),
            (std::set<std::string>{"br0", "br1"}));
  int32_t master = 0;
  for (const auto& [index, link] : DumpLinks(*connection).links) {
    if (link.name == "br0") master = index;
  }
  EXPECT_EQ(Names(DumpLinks(*connection, LinkDumpRequest({.master = master}))),
            (std::set<std::string>{"va"}));
}

TEST_F(DumpTest, PrimedConnectionNeedsAFractionOfTheDatagrams) {
  MakeLinks(100);
  const std::unique_ptr<Connection> primed = Open();
  const std::unique_ptr<Connection> unprimed = Open(/*prime=*/false);
  const LinkDump few = DumpLinks(*primed);
  const LinkDump many = DumpLinks(*unprimed);
  std::cout << "datagrams of 301 links: primed " << few.outcome.datagrams << " (first of "
            << few.first_datagram << " bytes), unprimed " << many.outcome.datagrams << " (first of "
            << many.first_datagram << " bytes)\n";
  EXPECT_EQ(few.links.size(), 301);
  EXPECT_EQ(Names(few), Names(many));
  EXPECT_GT(many.outcome.datagrams, 4 * few.outcome.datagrams);
  EXPECT_GT(few.first_datagram, 16 << 10) << "from the first one on";
  EXPECT_LT(many.first_datagram, 8 << 10);

  // Exact reads do not undo it.
  EXPECT_LE(DumpLinks(*primed).outcome.datagrams, few.outcome.datagrams);
  EXPECT_GT(DumpLinks(*primed).first_datagram, 16 << 10);
}

TEST_F(DumpTest, LinkLargerThanAChunkHidesNoOther) {
  std::string lines;
  for (int i = 0; i < 6; ++i) lines += "link add br" + std::to_string(i) + " type bridge\n";
  constexpr int kNames = 60;
  for (int i = 0; i < kNames; ++i) {
    const std::string number = std::to_string(100 + i);
    lines += "link property add dev br2 altname " + std::string(107, 'n') + number + "\n";
  }
  Ip(lines);
  for (const bool prime : {true, false}) {
    const std::unique_ptr<Connection> connection = Open(prime);
    const LinkDump dump = DumpLinks(*connection);
    EXPECT_EQ(Names(dump), (std::set<std::string>{"lo", "br0", "br1", "br2", "br3", "br4", "br5"}));
    for (const auto& [index, link] : dump.links) {
      if (link.name != "br2") continue;
      ASSERT_EQ(link.alternative_names.size(), kNames);
      EXPECT_EQ(link.alternative_names.front(), std::string(107, 'n') + "100");
      EXPECT_EQ(link.alternative_names.back(), std::string(107, 'n') + "159");
    }
  }

  // What the mask is for. Nothing is claimed of the kernel here: it may have learned better.
  Request without_mask(RTM_GETLINK, NLM_F_DUMP);
  without_mask.Header(ifinfomsg{});
  const std::unique_ptr<Connection> unprimed = Open(/*prime=*/false);
  std::cout << "without IFLA_EXT_MASK this kernel lists "
            << DumpLinks(*unprimed, without_mask).links.size() << " of 7 links\n";
}

TEST_F(DumpTest, AddressesOfOneInterfaceOrOfAll) {
  Ip("link add br0 type bridge\nlink set lo up\nlink set br0 up\n"
     "address add 192.0.2.1/24 dev br0\naddress add 10.0.0.1 peer 10.0.0.2 dev br0\n"
     "address add 2001:db8::1/64 dev br0 nodad\n");
  const std::unique_ptr<Connection> connection = Open();
  int32_t bridge = 0;
  for (const auto& [index, link] : DumpLinks(*connection).links) {
    if (link.name == "br0") bridge = index;
  }
  const auto dump = [&](uint8_t family, int32_t index) {
    std::vector<int32_t> interfaces;
    Request request = AddrDumpRequest(family, index);
    const auto take = [&](std::span<const Message> messages) {
      for (const Message& message : messages) {
        AddrView view;
        DecodeTally tally;
        EXPECT_TRUE(DecodeAddr(message.payload, view, tally));
        EXPECT_EQ(view.family, family);
        EXPECT_EQ(tally.malformed, 0);
        interfaces.push_back(view.index);
      }
    };
    const absl::StatusOr<DumpOutcome> outcome = connection->Dump(request, take, Soon());
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return interfaces;
  };
  EXPECT_THAT(dump(AF_INET, 0), UnorderedElementsAre(1, bridge, bridge));
  EXPECT_THAT(dump(AF_INET, bridge), ElementsAre(bridge, bridge));
  EXPECT_THAT(dump(AF_INET6, 1), ElementsAre(1));
  EXPECT_THAT(dump(AF_INET6, bridge), ::testing::Contains(bridge));
}

TEST_F(DumpTest, RefusalLeavesTheConnectionUsable) {
  const std::unique_ptr<Connection> connection = Open();
  Request nobody = AddrDumpRequest(AF_INET, 99999);
  const absl::Status refused = connection
                                   ->Dump(
                                       nobody, [](std::span<const Message>) {}, Soon())
                                   .status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kNotFound) << refused;
  EXPECT_EQ(ErrnoOf(refused), ENODEV);

  // A header that strict checking does not let pass.
  Request bad(RTM_GETLINK, NLM_F_DUMP);
  bad.Header(ifinfomsg{.ifi_index = 1});
  const absl::Status invalid = connection
                                   ->Dump(
                                       bad, [](std::span<const Message>) {}, Soon())
                                   .status();
  EXPECT_EQ(invalid.code(), absl::StatusCode::kInvalidArgument) << invalid;
  EXPECT_NE(KernelMessageOf(invalid), "") << "the kernel's own words";

  EXPECT_TRUE(connection->healthy());
  EXPECT_EQ(Names(DumpLinks(*connection)), (std::set<std::string>{"lo"}));
}

TEST_F(DumpTest, GetsALinkByIndexAndByEitherName) {
  Ip("link add br0 type bridge\nlink property add dev br0 altname short\n"
     "link property add dev br0 altname " +
     std::string(120, 'x') + "\n");
  const std::unique_ptr<Connection> connection = Open();
  const auto get = [&](Request request) {
    int32_t found = 0;
    const auto take = [&](std::span<const Message> messages) {
      ASSERT_EQ(messages.size(), 1);
      LinkView view;
      DecodeTally tally;
      EXPECT_TRUE(DecodeLink(messages[0].payload, view, tally));
      found = view.index;
    };
    const absl::Status status = connection->Get(request, take, Soon());
    EXPECT_TRUE(status.ok() || found == 0) << status;
    return status.ok() ? found : -ErrnoOf(status);
  };
  const int32_t bridge = get(LinkGetRequest("br0"));
  EXPECT_GT(bridge, 0);
  EXPECT_EQ(get(LinkGetRequest(bridge)), bridge);
  EXPECT_EQ(get(LinkGetRequest("short")), bridge);
  EXPECT_EQ(get(LinkGetRequest(std::string(120, 'x'))), bridge);
  EXPECT_EQ(get(LinkGetRequest("none")), -ENODEV);
  EXPECT_EQ(get(LinkGetRequest(std::string(121, 'x'))), -ENODEV);
  EXPECT_EQ(get(LinkGetRequest(99999)), -ENODEV);
  EXPECT_EQ(get(LinkGetRequest(std::string(128, 'x'))), -ERANGE);
  EXPECT_EQ(get(LinkGetRequest(std::string(9999, 'x'))), -ERANGE);
  EXPECT_EQ(get(LinkGetRequest("")), -ENODEV);
  EXPECT_TRUE(connection->healthy());
}

TEST_F(DumpTest, NormalFormOfAnUntouchedLinkIsTheSameInTwoDumps) {
  MakeLinks(20);
  const std::unique_ptr<Connection> connection = Open();
  const auto normal = [&] {
    std::map<int32_t, std::vector<std::byte>> forms;
    Request request = LinkDumpRequest();
    const auto take = [&](std::span<const Message> messages) {
      for (const Message& message : messages) {
        std::vector<std::byte> form;
        form.resize(AppendNormalLink(message.payload, form));
        forms.emplace(LoadStruct<ifinfomsg>(message.payload)->ifi_index, form);
      }
    };
    EXPECT_TRUE(connection->Dump(request, take, Soon()).ok());
    return forms;
  };
  EXPECT_EQ(normal(), normal());
}

}  // namespace
}  // namespace linkvane::netlink
