#include "client/command/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>

#include "client/fake_server.h"

namespace linkvane::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A file in memory that takes an output.
class Captured {
 public:
  Captured() : fd_(memfd_create("output", MFD_CLOEXEC)) {}
  ~Captured() { close(fd_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  int fd() const { return fd_; }

  std::string Text() const {
    std::string text(static_cast<size_t>(lseek(fd_, 0, SEEK_END)), '\0');
    EXPECT_EQ(pread(fd_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }

 private:
  int fd_;
};

struct Result {
  int status;
  std::string out;
  std::string err;
};

Result RunWords(std::vector<std::string_view> words, std::string_view server_variable = "") {
  const Captured out_file;
  const Captured err_file;
  Output out(out_file.fd());
  Output err(err_file.fd());
  const int status = RunLinkvane(words, {.server = server_variable}, out, err);
  return {.status = status, .out = out_file.Text(), .err = err_file.Text()};
}

class CommandsTest : public testing::Test {
 protected:
  CommandsTest() {
    v1::Interface& lo = server_.interfaces.emplace_back();
    lo.set_index(1);
    lo.set_name("lo");
    lo.set_hardware_type_name("loopback");
    lo.set_admin_up(true);
    lo.set_oper_state(v1::OPER_STATE_UNKNOWN);
    lo.set_mtu(65536);
    v1::Interface& vlan = server_.interfaces.emplace_back();
    vlan.set_index(12);
    vlan.set_name("eth0.5");
    vlan.set_kind("vlan");
    vlan.set_link_index(2);
    vlan.set_link_name("eth0");
    vlan.set_master_index(3);
    vlan.set_master_name("br0");
    vlan.set_mtu(1500);
    vlan.set_hardware_address("02:00:00:00:00:01");
    vlan.mutable_stats()->set_rx_bytes(7);
    v1::Addr& addr = server_.addrs.emplace_back();
    addr.set_interface_index(1);
    addr.set_interface_name("lo");
    addr.set_family(v1::ADDRESS_FAMILY_IPV4);
    addr.set_address("127.0.0.1");
    addr.set_prefix_length(8);
    addr.set_scope(v1::ADDR_SCOPE_HOST);
    addr.add_flags(v1::ADDR_FLAG_PERMANENT);
  }

  Result RunHere(const std::vector<std::string_view>& words) {
    return RunWords(words, server_.target());
  }

  client::FakeServer server_;
};

TEST_F(CommandsTest, InterfacesAreATable) {
  const Result result = RunHere({"interfaces"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out,
            "INDEX  NAME         KIND      STATE         MTU  MASTER  ADDRESS\n"
            "    1  lo           loopback  unknown     65536  -       -\n"
            "   12  eth0.5@eth0  vlan      admin-down   1500  br0     02:00:00:00:00:01\n");
  EXPECT_EQ(server_.list_interfaces_requests().at(0).consistency(), v1::CONSISTENCY_FRESH);
}

TEST_F(CommandsTest, InterfacesShowCountersAndAlternativeNames) {
  server_.interfaces.at(0).add_alt_names("loop\x1b");
  const Result result = RunHere({"links", "--stats"});
  EXPECT_THAT(result.out, HasSubstr("RX-BYTES"));
  EXPECT_THAT(result.out, HasSubstr("loop\\x1b\n"));
  EXPECT_TRUE(server_.list_interfaces_requests().at(0).include_stats());
}

TEST_F(CommandsTest, FieldsAreColumnsWithTheNameInFront) {
  const Result result = RunHere({"interfaces", "--fields=mtu,stats.rx_bytes"});
  EXPECT_EQ(result.out,
            "INDEX  NAME      MTU  STATS.RX_BYTES\n"
            "    1  lo      65536               -\n"
            "   12  eth0.5   1500               7\n");
  const auto request = server_.list_interfaces_requests().at(0);
  EXPECT_THAT(request.read_mask().paths(), ElementsAre("index", "name", "mtu", "stats.rx_bytes"));
  EXPECT_TRUE(request.include_stats());
}

TEST_F(CommandsTest, JsonListsAreOneArray) {
  const Result result = RunHere({"-o", "json", "addrs", "--fields=address", "--cached"});
  EXPECT_EQ(result.out,
            "[\n"
            "{\"interface_index\":1,\"interface_name\":\"lo\",\"family\":\"ADDRESS_FAMILY_IPV4\","
            "\"address\":\"127.0.0.1\",\"prefix_length\":8,\"scope\":\"ADDR_SCOPE_HOST\","
            "\"flags\":[\"ADDR_FLAG_PERMANENT\"]}\n"
            "]\n");
  const auto request = server_.list_addrs_requests().at(0);
  EXPECT_THAT(request.read_mask().paths(), ElementsAre("address"));
  EXPECT_EQ(request.consistency(), v1::CONSISTENCY_CACHED);
  server_.addrs.clear();
  EXPECT_EQ(RunHere({"-o", "json", "addrs"}).out, "[]\n");
}

TEST_F(CommandsTest, AddrsAreATable) {
  EXPECT_EQ(RunHere({"addresses"}).out,
            "INTERFACE  FAMILY  ADDRESS      SCOPE  FLAGS  LIFETIME\n"
            "lo         ipv4    127.0.0.1/8  host   -      forever\n");
}

TEST_F(CommandsTest, GetShowsAnInterfaceAndItsAddresses) {
  const Result result = RunHere({"get", "lo"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("lo\n  index "));
  EXPECT_THAT(result.out, HasSubstr("operational state     unknown\n"));
  EXPECT_THAT(result.out, HasSubstr("127.0.0.1/8"));
  EXPECT_THAT(server_.list_addrs_requests().at(0).filter().interface_indexes(), ElementsAre(1));
}

TEST_F(CommandsTest, GetAsksForAllUnlessLessIsWanted) {
  struct Case {
    std::vector<std::string_view> words;
    bool stats, vfs, ethtool;
  };
  const std::vector<Case> cases = {{{"get", "lo"}, true, true, true},
                                   {{"get", "lo", "-ojson"}, true, true, true},
                                   {{"get", "lo", "--cached"}, false, false, false},
                                   {{"get", "lo", "--fields=mtu"}, false, false, false},
                                   {{"get", "lo", "--fields=mtu", "--vfs"}, false, true, false},
                                   {{"get", "lo", "--fields=stats.rx_bytes"}, true, false, false},
                                   {{"get", "lo", "--fields=ethtool"}, false, false, true}};
  for (const Case& each : cases) {
    EXPECT_EQ(RunHere(each.words).status, 0);
    const v1::GetInterfaceRequest request = server_.get_interface_requests().back();
    EXPECT_EQ(request.include_stats(), each.stats) << request.DebugString();
    EXPECT_EQ(request.include_vfs(), each.vfs) << request.DebugString();
    EXPECT_EQ(request.include_ethtool(), each.ethtool) << request.DebugString();
  }
}

TEST_F(CommandsTest, InterfacesWithWhatDriversTell) {
  server_.interfaces.at(0).mutable_ethtool()->set_speed_mbps(25000);
  server_.interfaces.at(0).mutable_ethtool()->set_duplex(v1::DUPLEX_MODE_FULL);
  const Result result = RunHere({"interfaces", "--ethtool", "--vfs"});
  EXPECT_THAT(result.out, HasSubstr("MBIT/S  DUPLEX"));
  EXPECT_THAT(result.out, HasSubstr("25000  full"));
  EXPECT_TRUE(server_.list_interfaces_requests().at(0).include_ethtool());
  EXPECT_TRUE(server_.list_interfaces_requests().at(0).include_vfs());
}

TEST_F(CommandsTest, ArgumentsAreText) {
  const Result result = RunHere({"get", "\xff\xfe"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("\\xff\\xfe' is not UTF-8"));
}

TEST_F(CommandsTest, WideTablesHaveMoreColumns) {
  server_.interfaces.at(1).mutable_vlan()->set_id(100);
  const Result interfaces = RunHere({"interfaces", "-o", "wide"});
  EXPECT_THAT(interfaces.out, HasSubstr("GROUP  QDISC  TXQLEN  ALIAS  ALTNAMES  DETAILS  PORT\n"));
  EXPECT_THAT(interfaces.out, HasSubstr(" id 100 "));
  EXPECT_THAT(RunHere({"addrs", "-owide"}).out,
              HasSubstr("LIFETIME  BROADCAST  LABEL  PROTOCOL  METRIC  CREATED  UPDATED\n"));
  EXPECT_THAT(RunHere({"info", "-o", "wide"}).err, HasSubstr("table, json or yaml"));
}

TEST_F(CommandsTest, YamlHasTheObjectsOfTheJson) {
  EXPECT_EQ(RunHere({"-o", "yaml", "addrs"}).out,
            "- interface_index: 1\n"
            "  interface_name: lo\n"
            "  family: ADDRESS_FAMILY_IPV4\n"
            "  address: \"127.0.0.1\"\n"
            "  prefix_length: 8\n"
            "  scope: ADDR_SCOPE_HOST\n"
            "  flags:\n"
            "    - ADDR_FLAG_PERMANENT\n");
  EXPECT_THAT(RunHere({"get", "lo", "-o", "yaml"}).out, StartsWith("index: 1\nname: lo\n"));
  EXPECT_THAT(RunHere({"info", "-o", "yaml"}).out, HasSubstr("node_name: node-a\n"));
  server_.addrs.clear();
  EXPECT_EQ(RunHere({"-o", "yaml", "addrs"}).out, "[]\n");
  server_.stream.resize(2);
  server_.stream.at(0).mutable_synced();
  server_.stream.at(1).mutable_bookmark();
  EXPECT_EQ(RunHere({"watch", "-o", "yaml"}).out, "---\nsynced: {}\n---\nbookmark: {}\n");
}

TEST_F(CommandsTest, ColorsOnlyWhereTheyAreWanted) {
  const std::string plain = RunHere({"interfaces"}).out;
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_EQ(RunHere({"interfaces", "--color=never"}).out, plain);
  const std::string colored = RunHere({"interfaces", "--color=always"}).out;
  EXPECT_THAT(colored, StartsWith("\x1b[1mINDEX\x1b[0m"));
  EXPECT_THAT(colored, HasSubstr("\x1b[31madmin-down\x1b[0m "));
  EXPECT_THAT(RunHere({"get", "lo", "--color=always"}).out, StartsWith("\x1b[1mlo\x1b[0m\n"));
  EXPECT_EQ(RunHere({"interfaces", "-ojson", "--color=always"}).out.find('\x1b'),
            std::string::npos);
}

TEST_F(CommandsTest, GetTakesANumberForANameUnlessToldOtherwise) {
  EXPECT_EQ(RunHere({"get", "12"}).status, 3);
  EXPECT_EQ(server_.get_interface_requests().at(0).name(), "12");
  const Result result = RunHere({"get", "--index=12", "-o", "json", "--cached"});
  EXPECT_THAT(result.out, HasSubstr("\"name\": \"eth0.5\""));
  EXPECT_EQ(server_.get_interface_requests().at(1).index(), 12);
  EXPECT_FALSE(server_.get_interface_requests().at(1).include_stats());
}

TEST_F(CommandsTest, WatchShowsTheStreamAndTheErrorThatEndsIt) {
  server_.stream.emplace_back().mutable_synced();
  server_.error = client::LinkvaneError(grpc::StatusCode::UNAVAILABLE, "shutting down", "SHUTDOWN");
  Result result = RunHere({"watch"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, StartsWith("--- in sync"));
  EXPECT_EQ(result.err, "linkvane: shutting down (SHUTDOWN)\n");
  result = RunHere({"watch", "-o", "json"});
  EXPECT_EQ(result.out, "{\"synced\":{}}\n");
}

TEST_F(CommandsTest, WatchEndsWellWhenNobodyReadsAnyMore) {
  std::signal(SIGPIPE, SIG_IGN);
  server_.stream.emplace_back().mutable_synced();
  server_.keep_stream = true;
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  close(pipe_ends[0]);
  Output out(pipe_ends[1]);
  const Captured err_file;
  Output err(err_file.fd());
  const std::vector<std::string_view> words = {"watch"};
  EXPECT_EQ(RunLinkvane(words, {.server = server_.target()}, out, err), 0);
  EXPECT_EQ(err_file.Text(), "");
  close(pipe_ends[1]);
}

TEST_F(CommandsTest, InfoShowsTheServer) {
  EXPECT_THAT(RunHere({"info"}).out, HasSubstr("node_name "));
  EXPECT_THAT(RunHere({"info", "-ojson"}).out, HasSubstr("\"node_name\": \"node-a\""));
}

TEST_F(CommandsTest, TheServerOptionOutweighsTheVariable) {
  const Result result = RunHere({"info", "--server=/nonexistent"});
  EXPECT_EQ(result.status, 5);
  EXPECT_THAT(result.err, HasSubstr("unix:/nonexistent"));
}

TEST_F(CommandsTest, GivesUpAfterTheTimeout) {
  server_.delay = absl::Milliseconds(300);
  const Result result = RunHere({"info", "--timeout=30ms"});
  EXPECT_EQ(result.status, 4);
  EXPECT_THAT(result.err, HasSubstr("within 30ms"));
}

TEST_F(CommandsTest, ArgumentsThatTheServerRefusesAreUsageErrors) {
  server_.error = client::LinkvaneError(grpc::StatusCode::INVALID_ARGUMENT,
                                        "filter.within: not a CIDR", "INVALID_FIELD");
  const Result result = RunHere({"addrs", "--within=x"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err, "linkvane: filter.within: not a CIDR (INVALID_FIELD)\n");
}

TEST(UsageTest, WrongUsageIsOneLineAndStatusTwo) {
  for (const std::vector<std::string_view>& words :
       std::vector<std::vector<std::string_view>>{{},
                                                  {"nope"},
                                                  {"help", "nope"},
                                                  {"info", "--nope"},
                                                  {"info", "--stats"},
                                                  {"info", "x"},
                                                  {"get"},
                                                  {"get", "a", "b"},
                                                  {"get", "a", "--index=1"},
                                                  {"info", "-o", "xml"},
                                                  {"info", "-o", "wide"},
                                                  {"info", "--color=red"},
                                                  {"info", "--timeout=0"},
                                                  {"info", "--server="},
                                                  {"interfaces", "--page-size=0"},
                                                  {"watch", "--timeout=1s"}}) {
    const Result result = RunWords(words, "unix:/nonexistent");
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("linkvane: "));
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
  }
}

TEST(UsageTest, HelpNamesAllCommandsAndOptions) {
  const Result general = RunWords({"--help"});
  EXPECT_EQ(general.status, 0);
  EXPECT_EQ(RunWords({"help"}).out, general.out);
  for (const Command& command : AllCommands()) {
    const std::string name(command.name);
    EXPECT_THAT(general.out, HasSubstr("\n  " + name));
    const Result help = RunWords({name, "-h"});
    EXPECT_EQ(help.status, 0);
    EXPECT_EQ(RunWords({"help", name}).out, help.out);
    for (const OptionSpec& option : AllOptions()) {
      if (!Takes(name, option)) continue;
      EXPECT_THAT(help.out, HasSubstr("--" + std::string(option.name)));
    }
  }
}

TEST(UsageTest, EveryOptionBelongsToCommandsThatExist) {
  for (const OptionSpec& option : AllOptions()) {
    bool taken = false;
    for (const Command& command : AllCommands()) taken |= Takes(command.name, option);
    EXPECT_TRUE(taken) << option.name;
  }
}

TEST(UsageTest, ShowsTheVersion) {
  EXPECT_THAT(RunWords({"version"}).out, StartsWith("linkvane "));
  EXPECT_EQ(RunWords({"--version"}).out, RunWords({"version"}).out);
}

}  // namespace
}  // namespace linkvane::command
