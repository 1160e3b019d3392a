#include "server/state/read_mask.h"

#include <google/protobuf/field_mask.pb.h>
#include <gtest/gtest.h>

#include <string>

#include "linkvane/v1/addr.pb.h"
#include "linkvane/v1/interface.pb.h"

namespace linkvane::server {
namespace {

namespace pb = ::linkvane::v1;

pb::Interface Sample() {
  pb::Interface interface;
  interface.set_uid("u");
  interface.set_index(7);
  interface.set_name("eth0");
  interface.set_mtu(1500);
  interface.mutable_stats()->set_rx_bytes(11);
  interface.mutable_stats()->set_tx_bytes(12);
  return interface;
}

pb::Interface Cut(const ReadMask& mask, const pb::Interface& interface) {
  std::string cut;
  mask.Apply(interface.SerializeAsString(), cut);
  pb::Interface out;
  EXPECT_TRUE(out.ParseFromString(cut));
  return out;
}

TEST(ReadMaskTest, WithoutPathsEverythingPasses) {
  const ReadMask mask(ResourceKind::kInterface);
  EXPECT_EQ(Cut(mask, Sample()).SerializeAsString(), Sample().SerializeAsString());
}

TEST(ReadMaskTest, KeyFieldsAndUidSurvive) {
  ReadMask mask(ResourceKind::kInterface);
  ASSERT_TRUE(mask.Add("mtu"));
  const pb::Interface cut = Cut(mask, Sample());
  EXPECT_EQ(cut.uid(), "u");
  EXPECT_EQ(cut.index(), 7);
  EXPECT_EQ(cut.mtu(), 1500U);
  EXPECT_EQ(cut.name(), "");
  EXPECT_FALSE(cut.has_stats());
}

TEST(ReadMaskTest, APathIntoAMessageTakesThatPart) {
  ReadMask mask(ResourceKind::kInterface);
  ASSERT_TRUE(mask.Add("stats.rx_bytes"));
  const pb::Interface cut = Cut(mask, Sample());
  EXPECT_EQ(cut.stats().rx_bytes(), 11U);
  EXPECT_FALSE(cut.stats().has_tx_bytes());
}

TEST(ReadMaskTest, UnknownPathsAreRefusedByName) {
  for (const char* path : {"", "nme", "name.x", "stats.", ".stats", "stats.rx", "flags.x",
                           "unknown_attributes.type", "name,mtu", "stats..rx_bytes"}) {
    google::protobuf::FieldMask paths;
    paths.add_paths(path);
    ReadMask mask(ResourceKind::kInterface);
    const absl::Status status = CompileMask(paths, mask);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << path;
    EXPECT_NE(std::string(status.message()).find(path), std::string::npos) << status;
  }
}

TEST(ReadMaskTest, OfAMessageTakenInPartThatPartHasToDiffer) {
  ReadMask mask(ResourceKind::kInterface);
  ASSERT_TRUE(mask.Add("stats.rx_bytes"));
  const pb::Interface before = Sample();
  pb::Interface after = Sample();
  after.mutable_stats()->set_tx_bytes(99);
  const auto visible = [&] {
    const std::string a = before.SerializeAsString();
    const std::string b = after.SerializeAsString();
    return mask.Visible(DifferentFields(a, b), a, b);
  };
  EXPECT_TRUE(visible().none());
  after.mutable_stats()->set_rx_bytes(99);
  EXPECT_TRUE(visible().test(pb::Interface::kStatsFieldNumber));
}

TEST(ReadMaskTest, PathsOfOneKindAreNoneOfTheOther) {
  ReadMask interface(ResourceKind::kInterface);
  ReadMask addr(ResourceKind::kAddr);
  EXPECT_TRUE(interface.Add("mtu"));
  EXPECT_FALSE(addr.Add("mtu"));
  EXPECT_TRUE(addr.Add("valid_until.seconds"));
}

TEST(ReadMaskTest, TheKeyOfAnAddressSurvives) {
  pb::Addr addr;
  addr.set_uid("u");
  addr.set_interface_index(7);
  addr.set_interface_name("eth0");
  addr.set_family(pb::ADDRESS_FAMILY_IPV4);
  addr.set_address("10.0.0.1");
  addr.set_prefix_length(32);
  addr.set_peer_address("10.0.0.2");
  addr.set_label("eth0:1");
  ReadMask mask(ResourceKind::kAddr);
  ASSERT_TRUE(mask.Add("label"));
  std::string cut;
  mask.Apply(addr.SerializeAsString(), cut);
  pb::Addr out;
  ASSERT_TRUE(out.ParseFromString(cut));
  addr.clear_interface_name();
  EXPECT_EQ(out.SerializeAsString(), addr.SerializeAsString());
}

TEST(ReadMaskTest, ARestrictedMaskWithoutPathsLeavesTheKey) {
  ReadMask mask(ResourceKind::kInterface);
  EXPECT_TRUE(mask.everything());
  mask.Restrict();
  EXPECT_FALSE(mask.everything());
  const pb::Interface cut = Cut(mask, Sample());
  EXPECT_EQ(cut.index(), 7);
  EXPECT_FALSE(cut.has_mtu());
}

TEST(ReadMaskTest, AWholeMessageWinsOverItsParts) {
  for (const bool whole_first : {true, false}) {
    ReadMask mask(ResourceKind::kInterface);
    ASSERT_TRUE(mask.Add(whole_first ? "stats" : "stats.rx_bytes"));
    ASSERT_TRUE(mask.Add(whole_first ? "stats.rx_bytes" : "stats"));
    EXPECT_TRUE(Cut(mask, Sample()).stats().has_tx_bytes()) << whole_first;
  }
}

TEST(ReadMaskTest, OnlyChangesOfWhatPassesAreVisible) {
  ReadMask mask(ResourceKind::kInterface);
  ASSERT_TRUE(mask.Add("mtu"));
  FieldSet changed;
  changed.set(pb::Interface::kMtuFieldNumber);
  changed.set(pb::Interface::kGroupFieldNumber);
  const FieldSet visible = mask.Visible(changed, "", "");
  EXPECT_EQ(visible.count(), 1);
  EXPECT_TRUE(visible.test(pb::Interface::kMtuFieldNumber));
}

TEST(ReadMaskTest, FieldsAreNamedByTheirNumbers) {
  EXPECT_EQ(FieldName(ResourceKind::kInterface, pb::Interface::kMtuFieldNumber), "mtu");
  EXPECT_EQ(FieldName(ResourceKind::kAddr, pb::Addr::kLabelFieldNumber), "label");
  EXPECT_EQ(FieldName(ResourceKind::kAddr, 250), "");
}

}  // namespace
}  // namespace linkvane::server
