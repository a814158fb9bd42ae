// The pcap format with nanoseconds. Way in: CaptureFiles::add(). A file is
//
//   | u32 magic | u16 2 | u16 4 | u32 0 | u32 0 | u32 most bytes | u32 1: Ethernet |
//   and per packet  | u32 seconds | u32 nanoseconds | u32 bytes | u32 length | bytes ... |

#include "runtime/capture_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace flowtap {
namespace {

constexpr uint32_t kMagic = 0xa1b23c4d, kMostBytes = 262144, kEthernet = 1;

void append(std::string& out, uint32_t word) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(word >> shift);
}

std::string file_header() {
  std::string out;
  for (uint32_t word : {kMagic, 4u << 16 | 2u, 0u, 0u, kMostBytes, kEthernet}) append(out, word);
  return out;
}

std::string packet_text(const Packet& packet) {
  std::string out;
  uint32_t captured = static_cast<uint32_t>(packet.bytes.size());
  append(out, static_cast<uint32_t>(packet.unix_ns / 1'000'000'000));
  append(out, static_cast<uint32_t>(packet.unix_ns % 1'000'000'000));
  append(out, captured);
  append(out, std::max(captured, static_cast<uint32_t>(packet.length)));
  out.append(reinterpret_cast<const char*>(packet.bytes.data()), packet.bytes.size());
  return out;
}

// A script needs no --unsafe for this, so it must not destroy anything: what is replaced is an
// earlier capture, or empty.
Result<Fd> open_capture(const std::string& path) {
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, kPrivateFile));
  struct stat info;
  if (!file.valid() || ::fstat(file.get(), &info) < 0)
    return errno_error(fmt::format("cannot write '{}'", path));
  bool is_file = S_ISREG(info.st_mode);
  uint32_t magic = 0;
  bool is_capture = ::pread(file.get(), &magic, sizeof magic, 0) == sizeof magic && magic == kMagic;
  if (S_ISBLK(info.st_mode) || (is_file && info.st_size > 0 && !is_capture))
    return Error{fmt::format("'{}' is no capture file and is left as it is", path)};
  if (is_file && ::ftruncate(file.get(), 0) < 0)
    return errno_error(fmt::format("cannot write '{}'", path));
  return file;
}

}  // namespace

Status CaptureFiles::add(const std::string& path, const Packet& packet) {
  std::string text;
  auto found = files_.find(path);
  if (found == files_.end()) {
    Result<Fd> file = open_capture(path);
    if (!file) return file.error();
    found = files_.emplace(path, std::move(*file)).first;
    text = file_header();
  }
  text += packet_text(packet);
  ssize_t written = ::write(found->second.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size()))
    return errno_error(fmt::format("cannot write to '{}'", path));
  return Done{};
}

}  // namespace flowtap
