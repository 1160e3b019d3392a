// A NetworkState that is fed by hand, and what it told.
#ifndef LINKVANE_SERVER_STATE_TESTING_STAGED_STATE_H_
#define LINKVANE_SERVER_STATE_TESTING_STAGED_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "linkvane/v1/addr.pb.h"
#include "linkvane/v1/interface.pb.h"
#include "server/state/change.h"
#include "server/state/network_state.h"
#include "server/state/testing/fake_messages.h"

namespace linkvane::server {

// One change in words: "+eth0", "~eth0: mtu, flags_raw", "-10.0.0.1/24 eth0", "gap".
std::string InWords(const Change& change);

linkvane::v1::Interface AsInterface(const Row& row);
linkvane::v1::Addr AsAddr(const Row& row);

class StagedState : public ChangeSink {
 public:
  void Event(const FakeLink& link) { Apply(FakeMessage(RTM_NEWLINK, link)); }
  void Event(const FakeAddr& addr) { Apply(FakeMessage(RTM_NEWADDR, addr)); }
  void EventGone(const FakeLink& link) { Apply(FakeMessage(RTM_DELLINK, link)); }
  void EventGone(const FakeAddr& addr) { Apply(FakeMessage(RTM_DELADDR, addr)); }
  // Tells VLANs: as a message of family AF_BRIDGE, of any type.
  void EventVlans(const FakeLink& link, uint16_t type = RTM_NEWLINK) {
    Apply(VlanMessage(link, type));
  }
  void Apply(const FakeMessage& message) { state_.ApplyEvent(message.message(), now_); }

  // Whole dumps at this moment; of addresses, one for each family.
  Merge DumpLinks(const std::vector<FakeLink>& links, bool interrupted = false);
  void DumpAddrs(const std::vector<FakeAddr>& addrs);
  Merge DumpVlans(const std::vector<FakeLink>& links, bool interrupted = false);
  static FakeMessage VlanMessage(const FakeLink& link, uint16_t type = RTM_NEWLINK);
  // All, after which events are complete.
  void Sync(const std::vector<FakeLink>& links, const std::vector<FakeAddr>& addrs = {});
  void Say(const RunningDump& dump, const FakeMessage& message);

  void Pass(absl::Duration time) {
    now_.wall += time;
    now_.monotonic += time;
  }
  const ReadTime& now() const { return now_; }

  // What was told since the last call.
  std::vector<ChangePtr> TakeChanges();
  std::vector<std::string> TakeWords();

  // The rows, in order, as messages of the contract.
  std::vector<linkvane::v1::Interface> Interfaces();
  std::vector<linkvane::v1::Addr> Addrs();
  linkvane::v1::Interface Interface(int32_t index);
  // The only address.
  linkvane::v1::Addr Addr();

  NetworkState& state() { return state_; }

  void Take(const ChangePtr& change) override { changes_.push_back(change); }

 private:
  std::vector<ChangePtr> changes_;
  NetworkState state_{"epoch", *this};
  ReadTime now_{absl::FromUnixSeconds(1'700'000'000), absl::Seconds(100'000)};
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_TESTING_STAGED_STATE_H_
