// Paths of cgroups. Way in: CgroupPaths::find(). The kernel has no lookup by id for user space,
// so the mounted hierarchies are walked, and walked again when an id is not known, at most once a
// second, or a twentieth of the time where there are many groups: a group may be younger than the
// last walk, or gone for good.

#include "runtime/cgroup_paths.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/interrupt.h"
#include "base/text.h"
#include "kernel/machine.h"

namespace flowtap {

static constexpr size_t kMostPlaces = 200'000;

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
    // Users may make as many groups as they like below their own.
    if (places_.size() >= kMostPlaces || is_reading_over()) return;
    std::error_code ignored;
    if (!entry->is_directory(ignored)) continue;
    std::string path = entry->path().string();
    places_.emplace(id_of(path), Place{hierarchy, path.substr(root.size())});
  }
}

void CgroupPaths::walk_all() {
  ReadingOfOthers reading;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  places_.clear();
  for (const std::string& line : split(read_file(mounts_).value_or(""), '\n')) {
    std::vector<std::string> words = split(line, ' ');
    if (words.size() < 3) continue;
    if (words[2] == "cgroup2") walk("unified", words[1]);
    if (words[2] == "cgroup") walk(words[1].substr(words[1].rfind('/') + 1), words[1]);
  }
  walked_at_ = std::chrono::steady_clock::now();
  pause_ = std::max<std::chrono::steady_clock::duration>(std::chrono::seconds(1),
                                                         20 * (walked_at_ - begun));
}

std::string CgroupPaths::find(uint64_t id, std::string_view filter) {
  bool is_old = std::chrono::steady_clock::now() - walked_at_ > pause_;
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
