// For tests of what a watcher is told, from the state's changes to the encoded messages.
#ifndef LINKVANE_SERVER_STATE_TESTING_WATCHED_STATE_TEST_H_
#define LINKVANE_SERVER_STATE_TESTING_WATCHED_STATE_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "linkvane/v1/interface.pb.h"
#include "linkvane/v1/watch.pb.h"
#include "server/state/network_state.h"
#include "server/state/subscription.h"
#include "server/state/subscriptions.h"
#include "server/state/testing/fake_messages.h"

namespace linkvane::server {

// An event in words: "+eth0", "-eth0 left", "~eth0 x3 mtu" (three steps, in which mtu changed).
inline std::string Describe(const linkvane::v1::Event& event) {
  std::string text = event.type() == linkvane::v1::EVENT_TYPE_ADDED     ? "+"
                     : event.type() == linkvane::v1::EVENT_TYPE_REMOVED ? "-"
                                                                        : "~";
  text += event.resource().has_interface() ? event.resource().interface().name()
                                           : event.resource().addr().address();
  if (event.coalesced() != 1) text += " x" + std::to_string(event.coalesced());
  if (event.left_filter()) text += " left";
  for (const std::string& path : event.changed().paths()) text += " " + path;
  return text;
}

class WatchedStateTest : public ::testing::Test {
 protected:
  WatchedStateTest() : state_("epoch", subscriptions_) {}

  void Put(const FakeLink& link) { Apply(FakeMessage(RTM_NEWLINK, link)); }
  void Remove(const FakeLink& link) { Apply(FakeMessage(RTM_DELLINK, link)); }
  void Put(const FakeAddr& addr) { Apply(FakeMessage(RTM_NEWADDR, addr)); }
  void Remove(const FakeAddr& addr) { Apply(FakeMessage(RTM_DELADDR, addr)); }

  void Apply(const FakeMessage& message) { state_.ApplyEvent(message.message(), ReadTime::Now()); }

  std::unique_ptr<Subscription> Watch(WatchOptions options = {}) {
    auto subscription = std::make_unique<Subscription>(std::move(options), "epoch", "");
    subscription->Begin(state_.Interfaces(), state_.Addrs(), state_.revision());
    EXPECT_TRUE(subscriptions_.Add(subscription.get(), {}));
    return subscription;
  }

  // To watch interfaces with such a name.
  static WatchOptions Named(const char* pattern) {
    linkvane::v1::InterfaceFilter filter;
    filter.add_names(pattern);
    WatchOptions options;
    EXPECT_FALSE(InterfaceFilter::Compile(filter, "filter", options.interface_filter).has_value());
    return options;
  }

  // All that is to be told now: events in words, other messages by their names.
  std::vector<std::string> Told(Subscription& subscription) {
    std::vector<std::string> told;
    while (true) {
      std::string bytes;
      if (!subscription.Next(bytes)) return told;
      linkvane::v1::WatchResponse response;
      EXPECT_TRUE(response.ParseFromString(bytes));
      ++responses_;
      if (response.has_events()) {
        EXPECT_LT(bytes.size(), 2 * Subscription::kBatchBytes);
        for (const linkvane::v1::Event& event : response.events().events()) {
          told.push_back(Describe(event));
          last_event_ = event;
        }
      } else {
        if (response.has_gap()) last_gap_ = response.gap();
        told.emplace_back(response.has_created()  ? "created"
                          : response.has_synced() ? "synced"
                          : response.has_resync() ? "resync"
                          : response.has_gap()    ? "gap"
                                                  : "bookmark");
      }
      if (response.has_checkpoint()) {
        EXPECT_GE(response.checkpoint().number(), checkpoint_);
        checkpoint_ = response.checkpoint().number();
        checkpoints_.push_back(told.size());
      }
    }
  }

  Subscriptions subscriptions_{1000};
  NetworkState state_;
  linkvane::v1::Event last_event_;
  linkvane::v1::WatchGap last_gap_;
  int responses_ = 0;
  uint64_t checkpoint_ = 0;
  std::vector<size_t> checkpoints_;  // Behind which of the things told.

  const FakeLink eth0_{.index = 2, .name = "eth0"};
  const FakeLink eth1_{.index = 3, .name = "eth1"};
  const FakeAddr addr_{.index = 2, .address = "192.0.2.1"};
  std::vector<SnapshotPtr> held_;
};

}  // namespace linkvane::server

#endif  // LINKVANE_SERVER_STATE_TESTING_WATCHED_STATE_TEST_H_
