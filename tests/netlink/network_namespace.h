// A network namespace for each test.
#ifndef LINKVANE_TESTS_NETLINK_NETWORK_NAMESPACE_H_
#define LINKVANE_TESTS_NETLINK_NETWORK_NAMESPACE_H_

#include <gtest/gtest.h>

#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace linkvane::netlink {

// Moves the test's thread into a new, empty namespace before each test; threads that it starts are
// in it too. It goes with the last socket in it. The test is skipped where that is not allowed.
class NetworkNamespaceTest : public ::testing::Test {
 protected:
  void SetUp() override;

  // Runs `ip -batch` on these lines; the test fails where one of them fails.
  static void Ip(const std::string& lines);

  // Far enough for anything that is expected to happen.
  static absl::Time Soon() { return absl::Now() + absl::Seconds(30); }
};

}  // namespace linkvane::netlink

#endif  // LINKVANE_TESTS_NETLINK_NETWORK_NAMESPACE_H_
