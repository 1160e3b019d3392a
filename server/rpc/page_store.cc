#include "server/rpc/page_store.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"

namespace linkvane::server {
namespace {

// Tokens are "v1.EPOCH.ID.POSITION.CHECK", the numbers in hex. The check tells a token that
// somebody changed from one of ours; what it protects is no secret.
constexpr std::string_view kVersion = "v1";

// Takes the text up to the next dot (or the end) off `rest`.
std::string_view TakePart(std::string_view& rest) {
  const size_t dot = rest.find('.');
  const std::string_view part = rest.substr(0, dot);
  rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  return part;
}

bool ParseHex(std::string_view text, uint64_t& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, 16);
  return !text.empty() && error == std::errc() && rest == end;
}

// Mixes as the finalizer of SplitMix64 does.
uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

uint64_t PageStore::NewSecret() {
  std::random_device random;
  return (uint64_t{random()} << 32) | random();
}

uint64_t PageStore::Keep(std::shared_ptr<const Listing> listing, absl::Time now) {
  MutexLock lock(mutex_);
  ExpireLocked(now);
  const auto full = [&] {
    mutex_.AssertHeld();
    return entries_.size() >= kMostListings ||
           (!entries_.empty() && bytes_ + listing->bytes > kMostBytes);
  };
  for (auto it = entries_.begin(); it != entries_.end() && full();) {
    const auto next = std::next(it);
    if (it->second.finished) DropLocked(it);
    it = next;
  }
  if (full()) return 0;
  uint64_t id = 0;
  while (id == 0 || entries_.contains(id)) id = random_();
  bytes_ += listing->bytes;
  entries_[id] = {std::move(listing), now};
  return id;
}

std::string PageStore::Token(uint64_t id, size_t position) const {
  return absl::StrCat(std::string(kVersion), ".", epoch_, ".", absl::Hex(id), ".",
                      absl::Hex(position), ".", absl::Hex(Mix(Mix(id ^ secret_) + position)));
}

PageStore::Found PageStore::Find(std::string_view token, absl::Time now, uint64_t& id,
                                 std::shared_ptr<const Listing>& listing, size_t& position) {
  std::string_view rest = token;
  uint64_t place = 0;
  if (TakePart(rest) != kVersion) return Found::kMalformed;
  const std::string_view epoch = TakePart(rest);
  const std::string_view id_text = TakePart(rest);
  const std::string_view place_text = TakePart(rest);
  uint64_t check = 0;
  if (epoch.empty() || !ParseHex(id_text, id) || !ParseHex(place_text, place) ||
      !ParseHex(rest, check)) {
    return Found::kMalformed;
  }
  if (epoch != epoch_) return Found::kExpired;
  if (token != Token(id, place)) return Found::kMalformed;

  MutexLock lock(mutex_);
  ExpireLocked(now);
  const auto it = entries_.find(id);
  if (it == entries_.end()) return Found::kExpired;
  if (place >= it->second.listing->rows.size()) return Found::kMalformed;
  it->second.used = now;
  listing = it->second.listing;
  position = place;
  return Found::kFound;
}

void PageStore::Finished(uint64_t id) {
  MutexLock lock(mutex_);
  if (const auto it = entries_.find(id); it != entries_.end()) it->second.finished = true;
}

void PageStore::Expire(absl::Time now) {
  MutexLock lock(mutex_);
  ExpireLocked(now);
}

size_t PageStore::running() const {
  MutexLock lock(mutex_);
  return static_cast<size_t>(std::count_if(
      entries_.begin(), entries_.end(), [](const auto& entry) { return !entry.second.finished; }));
}

void PageStore::ExpireLocked(absl::Time now) {
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto next = std::next(it);
    if (now - it->second.used > kKeep) DropLocked(it);
    it = next;
  }
}

void PageStore::DropLocked(std::map<uint64_t, Entry>::iterator it) {
  bytes_ -= it->second.listing->bytes;
  entries_.erase(it);
}

}  // namespace linkvane::server
