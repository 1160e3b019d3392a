// Writes what was recorded of a real kernel as seeds: a file for each distinct payload of a link
// message. Usage: linkvane_make_seeds DIRECTORY
#include <linux/rtnetlink.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "netlink/message.h"
#include "netlink/recording.h"

namespace {

// Longer ones slow a fuzzer down, and teach it nothing.
constexpr size_t kLongest = 4096;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  std::set<std::vector<std::byte>> seen;
  for (const char* name :
       {"main/link", "main/link-nomask", "ns1/link", "ns2/link", "events", "vf2-get"}) {
    const auto datagrams = linkvane::netlink::LoadRecording(name);
    for (const linkvane::netlink::Message& message : linkvane::netlink::MessagesOf(datagrams)) {
      if (message.type != RTM_NEWLINK && message.type != RTM_DELLINK) continue;
      std::vector<std::byte> payload(message.payload.begin(), message.payload.end());
      if (payload.size() > kLongest || !seen.insert(payload).second) continue;
      std::ofstream file(directory / std::to_string(seen.size()), std::ios::binary);
      file.write(reinterpret_cast<const char*>(payload.data()),
                 static_cast<std::streamsize>(payload.size()));
      if (!file.flush()) {
        std::fprintf(stderr, "cannot write to %s\n", directory.c_str());
        return 1;
      }
    }
  }
  return seen.empty() ? 1 : 0;
}
