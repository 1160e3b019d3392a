#include "tests/netlink/network_namespace.h"

#include <sched.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace linkvane::netlink {

void NetworkNamespaceTest::SetUp() {
  if (unshare(CLONE_NEWNET) == 0) return;
  if (errno == EPERM) GTEST_SKIP() << "a network namespace needs root";
  FAIL() << "unshare: " << std::strerror(errno);
}

void NetworkNamespaceTest::Ip(const std::string& lines) {
  FILE* const ip = popen("PATH=$PATH:/usr/sbin:/sbin ip -batch -", "w");  // NOLINT(cert-env33-c)
  ASSERT_NE(ip, nullptr);
  EXPECT_EQ(std::fwrite(lines.data(), 1, lines.size(), ip), lines.size());
  ASSERT_EQ(pclose(ip), 0) << "ip failed on: " << lines.substr(0, 200);
}

}  // namespace linkvane::netlink
