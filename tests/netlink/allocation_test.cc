// After the first dump, a dump allocates nothing. Counted by replacing the allocation functions of
// this whole program.
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "netlink/addr.h"
#include "netlink/connection_pool.h"
#include "netlink/link.h"
#include "netlink/monitor.h"
#include "tests/netlink/network_namespace.h"

namespace {

std::atomic<uint64_t> allocations = 0;

void* Allocate(size_t size) {
  ++allocations;
  void* const memory = std::malloc(size == 0 ? 1 : size);  // NOLINT
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }            // NOLINT
void operator delete[](void* memory) noexcept { std::free(memory); }          // NOLINT
void operator delete(void* memory, size_t) noexcept { std::free(memory); }    // NOLINT
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }  // NOLINT

namespace linkvane::netlink {
namespace {

class AllocationTest : public NetworkNamespaceTest {
 protected:
  // Dumps everything as the server does, through the pool, and looks at each attribute.
  static void DumpAll(ConnectionPool& pool) {
    absl::StatusOr<ConnectionPool::Lease> lease = pool.Acquire(Soon());
    ASSERT_TRUE(lease.ok()) << lease.status();
    uint64_t links = 0;
    Request link_request = LinkDumpRequest();
    absl::StatusOr<DumpOutcome> outcome = (*lease)->Dump(
        link_request,
        [&](std::span<const Message> messages) {
          for (const Message& message : messages) {
            LinkView view;
            DecodeTally tally;
            if (DecodeLink(message.payload, view, tally)) ++links;
            ForEachAltName(view, [](std::string_view) {});
            ForEachUnknown(view.attributes, LinkRules(),
                           [](std::span<const uint16_t>, const Attribute&) {});
          }
        },
        Soon());
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    ASSERT_EQ(links, 301);
    for (const uint8_t family : {AF_INET, AF_INET6}) {
      Request request = AddrDumpRequest(family);
      outcome = (*lease)->Dump(
          request,
          [](std::span<const Message> messages) {
            for (const Message& message : messages) {
              AddrView view;
              DecodeTally tally;
              ASSERT_TRUE(DecodeAddr(message.payload, view, tally));
            }
          },
          Soon());
      ASSERT_TRUE(outcome.ok()) << outcome.status();
    }
    Request one = LinkGetRequest(1);
    ASSERT_TRUE((*lease)
                    ->Get(
                        one, [](std::span<const Message>) {}, Soon())
                    .ok());
  }

  static void MakeLinks() {
    std::string lines = "link set lo up\n";
    for (int i = 0; i < 300; ++i) lines += "link add br" + std::to_string(i) + " type bridge\n";
    lines += "address add 192.0.2.1/24 dev br0\n";
    Ip(lines);
  }
};

TEST_F(AllocationTest, CounterCounts) {
  const uint64_t before = allocations;
  ::operator delete(::operator new(1));
  EXPECT_EQ(allocations, before + 1);
}

TEST_F(AllocationTest, DumpsAllocateNothingAfterTheFirst) {
  MakeLinks();
  ConnectionPool pool(1, [] { return Connection::Open({.protocol = NETLINK_ROUTE}); });
  DumpAll(pool);
  const uint64_t before = allocations;
  for (int i = 0; i < 10; ++i) DumpAll(pool);
  EXPECT_EQ(allocations, before);
}

TEST_F(AllocationTest, DrainsAllocateNothingAfterTheFirst) {
  const absl::StatusOr<std::unique_ptr<Monitor>> monitor = Monitor::Open({.groups = {1}});
  ASSERT_TRUE(monitor.ok()) << monitor.status();
  MakeLinks();
  ASSERT_GT((*monitor)->Drain([](std::span<const Message>) {})->datagrams, 0);
  Ip("link set br7 up\nlink del br7\n");
  const uint64_t before = allocations;
  const absl::StatusOr<DrainOutcome> outcome = (*monitor)->Drain([](std::span<const Message>) {});
  EXPECT_EQ(allocations, before);
  EXPECT_GT(outcome->datagrams, 0);
}

}  // namespace
}  // namespace linkvane::netlink
