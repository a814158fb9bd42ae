#pragma once
// Capture files that skboutput() writes, readable by tcpdump and Wireshark.

#include <cstdint>
#include <map>
#include <string>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/result.h"

namespace flowtap {

struct Packet {
  uint64_t unix_ns = 0;
  uint64_t length = 0;  // of the whole packet, of which `bytes` is a part
  Bytes bytes;
};

class CaptureFiles {
 public:
  // The file is made anew when the first packet for it comes, unless it holds something else.
  Status add(const std::string& path, const Packet& packet);

 private:
  std::map<std::string, Fd> files_;
};

}  // namespace flowtap
