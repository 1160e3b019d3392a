// Recorded messages, cut at each length and with each byte flipped. What is read must stay
// inside the message: the checks below say so, and the address sanitizer, for each case is an
// allocation of exactly its size. Under that sanitizer all messages are taken, otherwise one of
// each shape. In the middle of the longest ones, which repeat the same structure hundreds of times,
// only some places are damaged, unless LINKVANE_TEST_EXHAUSTIVE is set (then it takes long).
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "netlink/addr.h"
#include "netlink/link.h"
#include "netlink/message.h"
#include "netlink/recording.h"

namespace linkvane::netlink {
namespace {

// Bytes in an allocation of just their size.
class ExactCopy {
 public:
  explicit ExactCopy(Bytes bytes)
      : data_(std::make_unique<std::byte[]>(bytes.size())), size_(bytes.size()) {
    if (size_ != 0) std::memcpy(data_.get(), bytes.data(), size_);
  }
  Bytes bytes() const { return {data_.get(), size_}; }
  std::byte& operator[](size_t i) { return data_[i]; }
  size_t size() const { return size_; }

 private:
  std::unique_ptr<std::byte[]> data_;
  size_t size_;
};

// Whether what a decoder returned lies inside what it was given, and can be read.
class Bounds {
 public:
  explicit Bounds(Bytes whole) : whole_(whole) {}

  void Check(Bytes part) {
    if (part.empty()) return;
    ok_ = ok_ && part.data() >= whole_.data() &&
          part.data() + part.size() <= whole_.data() + whole_.size();
    if (ok_) sum_ += static_cast<unsigned>(part.front()) + static_cast<unsigned>(part.back());
  }
  void Check(std::string_view part) { Check(std::as_bytes(std::span(part))); }
  template <typename T>
  void Check(const std::optional<T>& part) {
    if (part.has_value()) Check(*part);
  }
  bool ok() const { return ok_; }
  unsigned sum() const { return sum_; }

 private:
  Bytes whole_;
  bool ok_ = true;
  unsigned sum_ = 0;
};

// Everything that is done with a message, on a payload that may be anything. False if something
// lay outside.
bool ReadAsLink(Bytes payload, std::vector<std::byte>& scratch) {
  Bounds bounds(payload);
  LinkView view;
  DecodeTally tally;
  const bool decoded = DecodeLink(payload, view, tally);
  for (const auto& text : {view.name, view.alias, view.qdisc, view.kind, view.slave_kind}) {
    bounds.Check(text);
  }
  for (const auto& bytes : {view.address, view.broadcast, view.properties, view.stats64}) {
    bounds.Check(bytes);
  }
  bounds.Check(view.attributes);
  ForEachAltName(view, [&](std::string_view name) { bounds.Check(name); });
  const bool sane = LoadLinkStats(view.stats64.value_or(Bytes())).count <= LinkStats::kMax &&
                    view.address.value_or(Bytes()).size() <= 32;
  ForEachUnknown(view.attributes, LinkRules(),
                 [&](std::span<const uint16_t>, const Attribute& attribute) {
                   bounds.Check(attribute.whole);
                 });
  scratch.clear();
  const size_t compared = AppendNormalLink(payload, scratch);
  // Not more than it was made of, but for padding and one more header of IFLA_LINKINFO.
  const bool bounded = compared <= scratch.size() && scratch.size() <= payload.size() + 16;
  // The normal form is read back, but by its own length.
  if (decoded) {
    Bounds normal_bounds(scratch);
    if (!DecodeLink(scratch, view, tally)) return false;
    normal_bounds.Check(view.attributes);
    normal_bounds.Check(view.name);
    if (!normal_bounds.ok()) return false;
  }
  return bounds.ok() && bounded && sane;
}

bool ReadAsAddr(Bytes payload, std::vector<std::byte>& scratch) {
  Bounds bounds(payload);
  AddrView view;
  DecodeTally tally;
  const bool decoded = DecodeAddr(payload, view, tally);
  for (const auto& bytes : {view.ifa_address, view.ifa_local, view.broadcast, view.anycast}) {
    bounds.Check(bytes);
  }
  bounds.Check(view.label);
  bounds.Check(view.local());
  bounds.Check(view.peer());
  const bool sane = !decoded || view.local().size() == (view.family == AF_INET ? 4U : 16U);
  ForEachUnknown(view.attributes, AddrRules(),
                 [&](std::span<const uint16_t>, const Attribute& attribute) {
                   bounds.Check(attribute.whole);
                 });
  scratch.clear();
  const size_t compared = AppendNormalAddr(payload, scratch);
  return bounds.ok() && sane && compared <= scratch.size() && scratch.size() <= payload.size() + 3;
}

bool ReadAs(uint16_t type, Bytes payload, std::vector<std::byte>& scratch) {
  switch (type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
      return ReadAsLink(payload, scratch);
    case RTM_NEWADDR:
    case RTM_DELADDR:
      return ReadAsAddr(payload, scratch);
    default:
      return true;
  }
}

// Whether a byte belongs to an attribute, and not to the padding between two.
template <typename View>
bool InAttribute(const std::byte* byte, Bytes message, Bytes attributes,
                 const AttributeRules<View>& rules) {
  AttributeReader reader(attributes);
  Attribute attribute;
  while (reader.Next(attribute)) {
    const std::byte* const payload = attribute.payload.data();
    if (byte < attribute.whole.data() || byte >= payload + attribute.payload.size()) continue;
    const AttributeRules<View>* nested = FindRule(attribute.type, rules, message).nested;
    return nested == nullptr || byte < payload ||
           InAttribute(byte, message, attribute.payload, *nested);
  }
  return false;
}

// Whether the quick comparison with a normal form says what making one and comparing says. Only
// padding, which the kernel zeroes, may differ unseen.
bool ComparesAlike(uint16_t type, Bytes payload, const std::byte* flipped,
                   const std::vector<std::byte>& normal, size_t compared,
                   std::vector<std::byte>& scratch) {
  scratch.clear();
  const bool link = type == RTM_NEWLINK || type == RTM_DELLINK;
  const size_t made =
      link ? AppendNormalLink(payload, scratch) : AppendNormalAddr(payload, scratch);
  const bool same = made == compared && scratch == normal;
  const bool quick =
      link ? IsNormalLink(payload, normal, compared) : IsNormalAddr(payload, normal, compared);
  if (same == quick) return true;
  const size_t header = link ? sizeof(ifinfomsg) : sizeof(ifaddrmsg);
  const Bytes attributes = payload.subspan(header);
  return quick && flipped >= payload.data() + header &&
         !(link ? InAttribute(flipped, attributes, attributes, LinkRules())
                : InAttribute(flipped, attributes, attributes, AddrRules()));
}

// A whole datagram, whose messages may be anything.
bool ReadDatagram(Bytes datagram, std::vector<std::byte>& scratch) {
  Bounds bounds(datagram);
  MessageReader reader(datagram);
  Message message;
  while (reader.Next(message)) {
    bounds.Check(message.payload);
    if (!ReadAs(message.type, message.payload, scratch)) return false;
  }
  return bounds.ok();
}

// The same without a look into the messages.
bool Walk(Bytes datagram) {
  Bounds bounds(datagram);
  MessageReader reader(datagram);
  Message message;
  while (reader.Next(message)) bounds.Check(message.payload);
  return bounds.ok();
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool kEveryMessage = true;
#else
constexpr bool kEveryMessage = false;
#endif

// The places to damage: all of a message of usual size; of one with many virtual functions, whose
// entries are all alike, its ends and a sample between.
std::vector<size_t> Positions(size_t size) {
  static const size_t kUsual = std::getenv("LINKVANE_TEST_EXHAUSTIVE") == nullptr ? 8192 : SIZE_MAX;
  constexpr size_t kEdge = 512;
  constexpr size_t kStride = 251;
  std::vector<size_t> positions;
  size_t step = 1;
  for (size_t i = 0; i < size; i += step) {
    positions.push_back(i);
    step = size <= kUsual || i < kEdge || i + kEdge >= size ? 1 : kStride;
  }
  return positions;
}

constexpr const char* kRecordings[] = {"main/link",
                                       "main/link-skipstats",
                                       "main/link-nomask",
                                       "main/link-bridge",
                                       "main/link-bridge-compressed",
                                       "main/link-bridge-mst",
                                       "main/addr",
                                       "main/addr4",
                                       "main/addr6",
                                       "ns1/link",
                                       "ns1/link-skipstats",
                                       "ns1/link-nomask",
                                       "ns1/link-bridge",
                                       "ns1/addr",
                                       "ns1/addr4",
                                       "ns1/addr6",
                                       "ns2/link",
                                       "ns2/link-skipstats",
                                       "ns2/link-nomask",
                                       "ns2/link-bridge",
                                       "ns2/addr",
                                       "ns2/addr4",
                                       "ns2/addr6",
                                       "events",
                                       "vf2",
                                       "vf2-get",
                                       "vf106",
                                       "vf106-get",
                                       "vf200",
                                       "vf200-get",
                                       "vf220",
                                       "vf220-get",
                                       "vf222",
                                       "vf222-get",
                                       "vf500",
                                       "vf500-get"};

// Which attributes a message has, in their order. Messages that have them in common differ in
// values and in the length of texts only, of which the damage done below makes more.
template <typename View>
void AppendShape(Bytes message, Bytes attributes, const AttributeRules<View>& rules,
                 std::vector<uint16_t>& shape) {
  AttributeReader reader(attributes);
  Attribute attribute;
  while (reader.Next(attribute)) {
    shape.push_back(attribute.type);
    const AttributeRules<View>* nested = FindRule(attribute.type, rules, message).nested;
    if (nested != nullptr) AppendShape(message, attribute.payload, *nested, shape);
    if (attribute.type == IFLA_PROP_LIST) AppendShape(message, attribute.payload, rules, shape);
  }
}

std::vector<uint16_t> ShapeOf(const Message& message) {
  std::vector<uint16_t> shape = {message.type, static_cast<uint16_t>(message.payload.front())};
  if (message.type == RTM_NEWLINK || message.type == RTM_DELLINK) {
    const Bytes attributes = message.payload.subspan(sizeof(ifinfomsg));
    AppendShape(attributes, attributes, LinkRules(), shape);
  } else {
    const Bytes attributes = message.payload.subspan(sizeof(ifaddrmsg));
    AppendShape(attributes, attributes, AddrRules(), shape);
  }
  return shape;
}

struct Sample {
  uint16_t type;
  std::vector<std::byte> payload;
};

// Recorded messages about links and addresses: all that are different, or one of each shape.
const std::vector<Sample>& Samples() {
  static const auto* const samples = [] {
    auto* const found = new std::vector<Sample>;
    std::set<std::vector<uint16_t>> shapes;
    std::set<std::pair<uint16_t, std::vector<std::byte>>> seen;
    for (const char* name : kRecordings) {
      const std::vector<std::vector<std::byte>> datagrams = LoadRecording(name);
      for (const Message& message : MessagesOf(datagrams)) {
        if (message.type < RTM_NEWLINK || message.type > RTM_DELADDR) continue;
        Sample sample{message.type, {message.payload.begin(), message.payload.end()}};
        if (!seen.insert({sample.type, sample.payload}).second) continue;
        if (!kEveryMessage && !shapes.insert(ShapeOf(message)).second) continue;
        found->push_back(std::move(sample));
      }
    }
    return found;
  }();
  return *samples;
}

TEST(CorruptionTest, WholeDatagramsStayInside) {
  std::vector<std::byte> scratch;
  for (const char* name : kRecordings) {
    for (const std::vector<std::byte>& datagram : LoadRecording(name)) {
      ASSERT_TRUE(ReadDatagram(ExactCopy(datagram).bytes(), scratch)) << name;
    }
  }
}

TEST(CorruptionTest, PayloadsCutAtEachLengthStayInside) {
  std::vector<std::byte> scratch;
  ASSERT_GT(Samples().size(), 50);
  for (const Sample& sample : Samples()) {
    for (const size_t size : Positions(sample.payload.size())) {
      const ExactCopy cut(Bytes(sample.payload).first(size));
      ASSERT_TRUE(ReadAs(sample.type, cut.bytes(), scratch)) << size;
    }
  }
}

TEST(CorruptionTest, PayloadsWithEachByteFlippedStayInside) {
  std::vector<std::byte> scratch;
  for (const Sample& sample : Samples()) {
    ExactCopy flipped(sample.payload);
    std::vector<std::byte> normal;
    const size_t compared = sample.type <= RTM_DELLINK ? AppendNormalLink(flipped.bytes(), normal)
                                                       : AppendNormalAddr(flipped.bytes(), normal);
    ASSERT_TRUE(ComparesAlike(sample.type, flipped.bytes(), nullptr, normal, compared, scratch));
    for (const size_t i : Positions(flipped.size())) {
      // All bits, and one: a length that is a little wrong is worse than one that is far out.
      for (const std::byte bits : {std::byte{0xff}, std::byte{1} << (i % 8)}) {
        flipped[i] ^= bits;
        ASSERT_TRUE(ReadAs(sample.type, flipped.bytes(), scratch)) << i;
        ASSERT_TRUE(ComparesAlike(sample.type, flipped.bytes(), flipped.bytes().data() + i, normal,
                                  compared, scratch))
            << i;
        flipped[i] ^= bits;
      }
    }
  }
}

// Of the headers of messages only the walk over a datagram knows.
TEST(CorruptionTest, DatagramsCutOrFlippedAtEachHeaderStayInside) {
  for (const char* name : kRecordings) {
    for (const std::vector<std::byte>& datagram : LoadRecording(name)) {
      ExactCopy flipped(datagram);
      MessageReader reader(datagram);
      Message message;
      while (reader.Next(message)) {
        const auto payload = static_cast<size_t>(message.payload.data() - datagram.data());
        for (size_t i = payload - sizeof(nlmsghdr); i < payload; ++i) {
          const ExactCopy cut(Bytes(datagram).first(i));
          ASSERT_TRUE(Walk(cut.bytes())) << name << " " << i;
          flipped[i] ^= std::byte{0xff};
          ASSERT_TRUE(Walk(flipped.bytes())) << name << " " << i;
          flipped[i] ^= std::byte{0xff};
        }
      }
    }
  }
}

}  // namespace
}  // namespace linkvane::netlink
