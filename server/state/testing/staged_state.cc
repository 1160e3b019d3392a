#include "server/state/testing/staged_state.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/state/read_mask.h"
#include "server/state/text.h"

namespace linkvane::server {
namespace {

std::string Name(const Row& row) {
  if (row.kind == ResourceKind::kInterface) return AsInterface(row).name();
  const linkvane::v1::Addr addr = AsAddr(row);
  return absl::StrCat(addr.address(), "/", addr.prefix_length(), " ", addr.interface_name());
}

}  // namespace

linkvane::v1::Interface AsInterface(const Row& row) {
  linkvane::v1::Interface interface;
  EXPECT_EQ(row.kind, ResourceKind::kInterface);
  EXPECT_TRUE(interface.ParseFromString(row.wire));
  return interface;
}

linkvane::v1::Addr AsAddr(const Row& row) {
  linkvane::v1::Addr addr;
  EXPECT_EQ(row.kind, ResourceKind::kAddr);
  EXPECT_TRUE(addr.ParseFromString(row.wire));
  return addr;
}

std::string InWords(const Change& change) {
  if (change.is_loss()) return "gap";
  if (change.before == nullptr) return absl::StrCat("+", Name(*change.after));
  if (change.after == nullptr) return absl::StrCat("-", Name(*change.before));
  std::string words = absl::StrCat("~", Name(*change.after), ":");
  const FieldSet& changed = change.changed_fields();
  for (uint32_t number = 0; number < changed.size(); ++number) {
    if (!changed.test(number)) continue;
    absl::StrAppend(&words, " ", ToAbsl(FieldName(change.after->kind, number)));
  }
  return words;
}

Merge StagedState::DumpLinks(const std::vector<FakeLink>& links, bool interrupted) {
  const RunningDump dump = state_.BeginDump(TableId::kLinks, now_.wall);
  for (const FakeLink& link : links) Say(dump, FakeMessage(RTM_NEWLINK, link));
  return state_.FinishDump(dump, {.interrupted = interrupted}, now_.wall);
}

void StagedState::DumpAddrs(const std::vector<FakeAddr>& addrs) {
  for (const TableId table : {TableId::kAddrs4, TableId::kAddrs6}) {
    const uint8_t family = table == TableId::kAddrs4 ? AF_INET : AF_INET6;
    const RunningDump dump = state_.BeginDump(table, now_.wall);
    for (const FakeAddr& addr : addrs) {
      if (addr.family() == family) Say(dump, FakeMessage(RTM_NEWADDR, addr));
    }
    state_.FinishDump(dump, {}, now_.wall);
  }
}

Merge StagedState::DumpVlans(const std::vector<FakeLink>& links, bool interrupted) {
  const RunningDump dump = state_.BeginDump(TableId::kBridgeVlans, now_.wall);
  for (const FakeLink& link : links) {
    if (link.kind == "bridge" || link.slave_kind == "bridge") Say(dump, VlanMessage(link));
  }
  return state_.FinishDump(dump, {.interrupted = interrupted}, now_.wall);
}

FakeMessage StagedState::VlanMessage(const FakeLink& link, uint16_t type) {
  FakeLink told = link;
  told.family = AF_BRIDGE;
  return {type, told};
}

void StagedState::Sync(const std::vector<FakeLink>& links, const std::vector<FakeAddr>& addrs) {
  DumpLinks(links);
  DumpAddrs(addrs);
  DumpVlans(links);
  state_.Repaired();
}

void StagedState::Say(const RunningDump& dump, const FakeMessage& message) {
  const netlink::Message said = message.message();
  state_.DumpSays(dump, std::span(&said, 1), now_);
}

std::vector<ChangePtr> StagedState::TakeChanges() { return std::exchange(changes_, {}); }

std::vector<std::string> StagedState::TakeWords() {
  std::vector<std::string> words;
  for (const ChangePtr& change : TakeChanges()) words.push_back(InWords(*change));
  return words;
}

std::vector<linkvane::v1::Interface> StagedState::Interfaces() {
  std::vector<linkvane::v1::Interface> interfaces;
  for (const RowPtr& row : state_.Interfaces()->rows) interfaces.push_back(AsInterface(*row));
  return interfaces;
}

std::vector<linkvane::v1::Addr> StagedState::Addrs() {
  std::vector<linkvane::v1::Addr> addrs;
  for (const RowPtr& row : state_.Addrs()->rows) addrs.push_back(AsAddr(*row));
  return addrs;
}

linkvane::v1::Interface StagedState::Interface(int32_t index) {
  const InterfaceRowPtr row = state_.FindInterface(index);
  EXPECT_NE(row, nullptr) << "no interface " << index;
  return row == nullptr ? linkvane::v1::Interface() : AsInterface(*row);
}

linkvane::v1::Addr StagedState::Addr() {
  const std::vector<linkvane::v1::Addr> addrs = Addrs();
  EXPECT_EQ(addrs.size(), 1);
  return addrs.empty() ? linkvane::v1::Addr() : addrs.front();
}

}  // namespace linkvane::server
