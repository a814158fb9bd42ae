// Reading files of others; see foreign_file.h. Entry points: ForeignFile::open(), read().
//
// The path is first opened with O_PATH, which neither waits for the writer of a pipe nor asks the
// driver of a device, and only then, through that descriptor, for reading: what a link leads to may
// be replaced at any moment (opening /dev/watchdog, for one, reboots the machine). O_NONBLOCK is
// for a regular file, too: its owner may hold a lease on it, which makes others wait.

#include "base/foreign_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/interrupt.h"

namespace flowtap {

bool FileIdentity::is_unchanged(const FileIdentity& other) const {
  return may_have_same_content(other) && changed_ns == other.changed_ns;
}

bool FileIdentity::may_have_same_content(const FileIdentity& other) const {
  return inode == other.inode && size == other.size && written_ns == other.written_ns;
}

static int64_t in_ns(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileIdentity identity_of(const struct stat& info) {
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = static_cast<uint64_t>(info.st_size),
          .changed_ns = in_ns(info.st_ctim),
          .written_ns = in_ns(info.st_mtim)};
}

Result<ForeignFile> ForeignFile::open(const std::string& path, Links links) {
  ForeignFile file;
  file.path_ = path;
  int no_links = links == Links::Refuse ? O_NOFOLLOW : 0;
  Fd place(::open(path.c_str(), O_PATH | O_CLOEXEC | no_links));
  if (!place.valid() || ::fstat(place.get(), &file.info_) != 0)
    return errno_error("cannot open '" + path + "'");
  if (!S_ISREG(file.info_.st_mode)) return Error{"'" + path + "' is not a regular file"};
  constexpr int kHow = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  file.fd_ = Fd(::open(("/proc/self/fd/" + std::to_string(place.get())).c_str(), kHow));
  // Without /proc there is only the path.
  if (!file.fd_.valid() && errno == ENOENT) file.fd_ = Fd(::open(path.c_str(), kHow | no_links));
  if (!file.fd_.valid() || ::fstat(file.fd_.get(), &file.info_) != 0)
    return errno_error("cannot open '" + path + "'");
  if (!S_ISREG(file.info_.st_mode)) return Error{"'" + path + "' is not a regular file"};
  return file;
}

bool ForeignFile::take_path(const std::string& path) {
  struct stat info;
  bool is_same = ::stat(path.c_str(), &info) == 0 && info.st_dev == info_.st_dev &&
                 info.st_ino == info_.st_ino;
  if (is_same) path_ = path;
  return is_same;
}

Result<std::vector<char>> ForeignFile::read(uint64_t offset, uint64_t size) const {
  constexpr uint64_t kPiece = 1 << 20;
  if (offset > this->size() || size > this->size() - offset)
    return Error{"'" + path_ + "' is truncated"};
  std::vector<char> bytes(size);
  for (uint64_t done = 0; done < size;) {
    if (is_reading_over())
      return Error{"'" + path_ + "' was not read to its end: " + why_reading_is_over()};
    ssize_t n = ::pread(fd_.get(), bytes.data() + done, std::min(size - done, kPiece),
                        static_cast<off_t>(offset + done));
    if (n < 0) return errno_error("cannot read '" + path_ + "'");
    if (n == 0) return Error{"'" + path_ + "' was truncated while it was read"};
    done += static_cast<uint64_t>(n);
  }
  return bytes;
}

Result<std::vector<char>> ForeignFile::read_all(uint64_t limit) const {
  if (size() > limit)
    return Error{"'" + path_ + "' has more than " + std::to_string(limit >> 20) + " MB"};
  return read(0, size());
}

}  // namespace flowtap
