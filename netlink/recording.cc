#include "netlink/recording.h"

#include <linux/netlink.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace linkvane::netlink {

std::string LoadRecordingFile(std::string_view name) {
  const std::string path = std::string(LINKVANE_RECORDINGS "/").append(name);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "no such recording: %s\n", path.c_str());
    std::abort();
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::vector<std::byte>> LoadRecording(std::string_view name) {
  const std::string bytes = LoadRecordingFile(std::string(name) + ".nl");
  std::istringstream lengths(LoadRecordingFile(std::string(name) + ".len"));
  std::vector<std::vector<std::byte>> datagrams;
  size_t start = 0;
  for (size_t length; lengths >> length; start += NLMSG_ALIGN(length)) {
    if (length > bytes.size() - start) {
      std::fprintf(stderr, "a recording is shorter than its lengths\n");
      std::abort();
    }
    std::vector<std::byte>& datagram = datagrams.emplace_back(length);
    std::memcpy(datagram.data(), bytes.data() + start, length);
  }
  return datagrams;
}

std::vector<Message> MessagesOf(const std::vector<std::vector<std::byte>>& datagrams) {
  std::vector<Message> messages;
  for (const std::vector<std::byte>& datagram : datagrams) {
    MessageReader reader(datagram);
    Message message;
    while (reader.Next(message)) messages.push_back(message);
  }
  return messages;
}

}  // namespace linkvane::netlink
