#include "netlink/addr.h"

#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <initializer_list>

#include "netlink/fake_socket.h"

namespace linkvane::netlink {
namespace {

std::vector<std::byte> Address(std::initializer_list<uint8_t> first, size_t size) {
  std::vector<std::byte> address(size);
  std::ranges::transform(first, address.begin(), [](uint8_t byte) { return std::byte{byte}; });
  return address;
}
const std::vector<std::byte> kOne = Address({10, 0, 0, 1}, 4);
const std::vector<std::byte> kTwo = Address({10, 0, 0, 2}, 4);
const std::vector<std::byte> kSix = Address({0xfe, 0x80}, 16);

std::vector<std::byte> Payload(uint8_t family, const FakeAttributes& attributes) {
  ifaddrmsg header{};
  header.ifa_family = family;
  header.ifa_prefixlen = 24;
  header.ifa_flags = IFA_F_PERMANENT;
  header.ifa_scope = RT_SCOPE_LINK;
  header.ifa_index = 7;
  std::vector<std::byte> payload;
  AppendBytes(payload, &header, sizeof(header));
  AppendBytes(payload, attributes.bytes().data(), attributes.bytes().size());
  return payload;
}

struct Decoded {
  std::vector<std::byte> payload;  // What `view` points into.
  bool ok;
  AddrView view;
  DecodeTally tally;
};
Decoded Decode(uint8_t family, const FakeAttributes& attributes) {
  Decoded decoded{.payload = Payload(family, attributes), .ok = false, .view = {}, .tally = {}};
  decoded.ok = DecodeAddr(decoded.payload, decoded.view, decoded.tally);
  return decoded;
}

bool Same(Bytes a, Bytes b) { return std::ranges::equal(a, b); }

TEST(DecodeAddrTest, ReadsTheHeader) {
  const Decoded decoded = Decode(AF_INET, FakeAttributes().Add(IFA_LOCAL, kOne));
  ASSERT_TRUE(decoded.ok);
  EXPECT_EQ(decoded.view.family, AF_INET);
  EXPECT_EQ(decoded.view.prefix_length, 24);
  EXPECT_EQ(decoded.view.scope, RT_SCOPE_LINK);
  EXPECT_EQ(decoded.view.index, 7);
  EXPECT_EQ(decoded.view.flags(), IFA_F_PERMANENT);
}

TEST(DecodeAddrTest, LocalIsTheAddressAndTheOtherThePeerWhereTheyDiffer) {
  const Decoded peer =
      Decode(AF_INET, FakeAttributes().Add(IFA_ADDRESS, kTwo).Add(IFA_LOCAL, kOne));
  ASSERT_TRUE(peer.ok);
  EXPECT_TRUE(Same(peer.view.local(), kOne));
  EXPECT_TRUE(Same(peer.view.peer(), kTwo));

  const Decoded none =
      Decode(AF_INET, FakeAttributes().Add(IFA_ADDRESS, kOne).Add(IFA_LOCAL, kOne));
  ASSERT_TRUE(none.ok);
  EXPECT_TRUE(Same(none.view.local(), kOne));
  EXPECT_TRUE(none.view.peer().empty());
}

TEST(DecodeAddrTest, AddressStandsAloneWithoutAPeer) {
  const Decoded decoded = Decode(AF_INET6, FakeAttributes().Add(IFA_ADDRESS, kSix));
  ASSERT_TRUE(decoded.ok);
  EXPECT_TRUE(Same(decoded.view.local(), kSix));
  EXPECT_TRUE(decoded.view.peer().empty());
}

TEST(DecodeAddrTest, FlagsOf32BitsStandOverTheHeaders) {
  const Decoded decoded =
      Decode(AF_INET, FakeAttributes().Add(IFA_LOCAL, kOne).Number<uint32_t>(IFA_FLAGS, 0x200));
  EXPECT_EQ(decoded.view.flags(), 0x200);
}

TEST(DecodeAddrTest, FailsWithoutAnAddressOfItsFamilysLength) {
  EXPECT_FALSE(Decode(AF_INET, {}).ok);
  EXPECT_FALSE(Decode(AF_INET, FakeAttributes().Add(IFA_ADDRESS, kSix)).ok);
  EXPECT_EQ(Decode(AF_INET, FakeAttributes().Add(IFA_ADDRESS, kSix)).tally.malformed, 1);
  EXPECT_FALSE(Decode(AF_INET6, FakeAttributes().Add(IFA_ADDRESS, kOne)).ok);
  EXPECT_FALSE(Decode(AF_INET, FakeAttributes().Add(IFA_ADDRESS, {})).ok);
  EXPECT_FALSE(Decode(AF_UNSPEC, FakeAttributes().Add(IFA_ADDRESS, {})).ok);
  EXPECT_FALSE(Decode(AF_PACKET, FakeAttributes().Add(IFA_ADDRESS, kOne)).ok);
}

TEST(DecodeAddrTest, FailsWithoutAWholeHeader) {
  const std::vector<std::byte> payload = Payload(AF_INET, {});
  AddrView view;
  DecodeTally tally;
  for (size_t size = 0; size < sizeof(ifaddrmsg); ++size) {
    EXPECT_FALSE(DecodeAddr(Bytes(payload).first(size), view, tally));
  }
}

TEST(DecodeAddrTest, ReadsTheRest) {
  const ifa_cacheinfo lifetime{.ifa_prefered = 1, .ifa_valid = 2, .cstamp = 3, .tstamp = 4};
  const Decoded decoded = Decode(AF_INET, FakeAttributes()
                                              .Add(IFA_LOCAL, kOne)
                                              .Add(IFA_BROADCAST, kTwo)
                                              .Text(IFA_LABEL, "eth0:1")
                                              .Number<uint32_t>(IFA_RT_PRIORITY, 50)
                                              .Number<uint8_t>(IFA_PROTO, 3)
                                              .Number(IFA_CACHEINFO, lifetime));
  ASSERT_TRUE(decoded.ok);
  EXPECT_TRUE(Same(decoded.view.broadcast.value_or(Bytes()), kTwo));
  EXPECT_EQ(decoded.view.label, "eth0:1");
  EXPECT_EQ(decoded.view.route_metric, 50);
  EXPECT_EQ(decoded.view.protocol, 3);
  ASSERT_TRUE(decoded.view.lifetime.has_value());
  EXPECT_EQ(decoded.view.lifetime->ifa_valid, 2);
  EXPECT_EQ(decoded.tally.malformed, 0);
}

TEST(NormalAddrTest, LifetimesAreNotCompared) {
  const auto normal = [](uint32_t valid, const char* label) {
    const ifa_cacheinfo lifetime{
        .ifa_prefered = valid, .ifa_valid = valid, .cstamp = 3, .tstamp = 4};
    std::vector<std::byte> out;
    const size_t compared = AppendNormalAddr(Payload(AF_INET, FakeAttributes()
                                                                  .Number(IFA_CACHEINFO, lifetime)
                                                                  .Add(IFA_LOCAL, kOne)
                                                                  .Text(IFA_LABEL, label)),
                                             out);
    AddrView view;
    DecodeTally tally;
    EXPECT_TRUE(DecodeAddr(out, view, tally));
    EXPECT_EQ(view.lifetime->ifa_valid, valid) << "kept all the same";
    out.resize(compared);
    return out;
  };
  EXPECT_EQ(normal(10, "a"), normal(9, "a"));
  EXPECT_NE(normal(10, "a"), normal(10, "b"));
}

TEST(NormalAddrTest, IsComparedWithoutMakingIt) {
  const std::vector<std::byte> payload =
      Payload(AF_INET, FakeAttributes().Add(IFA_LOCAL, kOne).Text(IFA_LABEL, "a"));
  std::vector<std::byte> normal;
  const size_t compared = AppendNormalAddr(payload, normal);
  EXPECT_TRUE(IsNormalAddr(payload, normal, compared));
  EXPECT_FALSE(
      IsNormalAddr(Payload(AF_INET, FakeAttributes().Add(IFA_LOCAL, kTwo)), normal, compared));
  EXPECT_FALSE(IsNormalAddr({}, normal, compared));
  EXPECT_FALSE(IsNormalAddr(payload, {}, 0));
}

TEST(AddrRequestTest, AsksForOneFamilyAndOneInterface) {
  Request request = AddrDumpRequest(AF_INET6, 7);
  EXPECT_TRUE(request.is_dump());
  EXPECT_EQ(request.type(), RTM_GETADDR);
  const ifaddrmsg header = *LoadStruct<ifaddrmsg>(request.Finish(1, 1).subspan(sizeof(nlmsghdr)));
  EXPECT_EQ(header.ifa_family, AF_INET6);
  EXPECT_EQ(header.ifa_index, 7);
}

}  // namespace
}  // namespace linkvane::netlink
