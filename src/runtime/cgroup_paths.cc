// Paths of cgroups. Way in: CgroupPaths::find(). The kernel has no lookup by id for user space,
// so the mounted hierarchies are walked, and walked again when an id is not known, at most once a
// second: a group may be younger than the last walk, or gone for good.

#include "runtime/cgroup_paths.h"

#include <sys/stat.h>

#include <filesystem>

#include "base/text.h"
#include "kernel/machine.h"

namespace flowtap {

static uint64_t id_of(const std::string& path) {
  std::optional<uint64_t> id = find_cgroup_id(path);
  if (id) return *id;
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

void CgroupPaths::walk(const std::string& hierarchy, const std::string& root) {
  places_.emplace(id_of(root), Place{hierarchy, "/"});
  std::error_code error;
  auto options = std::filesystem::directory_options::skip_permission_denied;
  std::filesystem::recursive_directory_iterator entry(root, options, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored)) continue;
    std::string path = entry->path().string();
    places_.emplace(id_of(path), Place{hierarchy, path.substr(root.size())});
  }
}

void CgroupPaths::walk_all() {
  places_.clear();
  for (const std::string& line : split(read_file(mounts_).value_or(""), '\n')) {
    std::vector<std::string> words = split(line, ' ');
    if (words.size() < 3) continue;
    if (words[2] == "cgroup2") walk("unified", words[1]);
    if (words[2] == "cgroup") walk(words[1].substr(words[1].rfind('/') + 1), words[1]);
  }
  walked_at_ = std::chrono::steady_clock::now();
}

std::string CgroupPaths::find(uint64_t id, std::string_view filter) {
  bool is_old = std::chrono::steady_clock::now() - walked_at_ > std::chrono::seconds(1);
  if (!places_.contains(id) && (is_old || places_.empty())) walk_all();
  std::string out;
  auto [begin, end] = places_.equal_range(id);
  for (auto found = begin; found != end; ++found) {
    const Place& place = found->second;
    if (!filter.empty() && !glob_match(filter, place.hierarchy)) continue;
    if (!out.empty()) out += ',';
    out.append(place.hierarchy).append(":").append(place.path);
  }
  return out;
}

}  // namespace flowtap
