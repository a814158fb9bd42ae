// The files of -o and --plot; see output_file.h. O_TRUNC would empty them at once.

#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace flowtap {

static bool is_named_pipe(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
}

Result<OutputFile> OutputFile::open(const std::string& path) {
  // Opening a named pipe would wait for somebody who reads it.
  constexpr int kHow = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  OutputFile file;
  file.path_ = path;
  file.fd_ = Fd(::open(path.c_str(), kHow | O_CREAT | O_EXCL, kPrivateFile));
  file.is_made_ = file.valid();
  if (!file.valid()) file.fd_ = Fd(::open(path.c_str(), kHow | O_CREAT, kPrivateFile));
  if (!file.valid() && errno == ENXIO && is_named_pipe(path))
    return Error{fmt::format("nobody reads the named pipe '{}'", path)};
  if (!file.valid()) return errno_error(fmt::format("cannot write '{}'", path));
  ::fcntl(file.fd(), F_SETFL, ::fcntl(file.fd(), F_GETFL) & ~O_NONBLOCK);
  return file;
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(is_made_, other.is_made_);
  return *this;
}

OutputFile::~OutputFile() {
  struct stat info;
  if (is_made_ && ::fstat(fd(), &info) == 0 && info.st_size == 0) ::unlink(path_.c_str());
}

bool OutputFile::is_same(const OutputFile& other) const {
  struct stat one, two;
  if (!valid() || !other.valid() || ::fstat(fd(), &one) != 0 || ::fstat(other.fd(), &two) != 0)
    return false;
  return S_ISREG(one.st_mode) && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

}  // namespace flowtap
