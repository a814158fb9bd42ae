// opendir(3) and realpath(3); see directory.h.

#include "base/directory.h"

#include <dirent.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace flowtap {

namespace {
struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
}  // namespace

Result<std::vector<std::string>> names_in(const std::string& directory) {
  std::unique_ptr<DIR, CloseDirectory> open(::opendir(directory.c_str()));
  if (!open) return errno_error("cannot read '" + directory + "'");
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(open.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
    errno = 0;
  }
  if (errno != 0) return errno_error("cannot read '" + directory + "'");
  std::sort(names.begin(), names.end());
  return names;
}

std::string real_path(const std::string& path) {
  std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? real.get() : path;
}

}  // namespace flowtap
