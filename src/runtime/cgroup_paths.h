#pragma once
// CgroupPaths: from a cgroup's id to where it is.

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace flowtap {

class CgroupPaths {
 public:
  // Tests pass another list of mounts.
  explicit CgroupPaths(std::string mounts = "/proc/self/mounts") : mounts_(std::move(mounts)) {}

  // "unified:/user.slice,cpu:/a": the paths in all hierarchies whose name matches the filter, a
  // glob; an empty one matches all. Empty for an id that is not known.
  std::string find(uint64_t id, std::string_view filter);

 private:
  struct Place {
    std::string hierarchy;  // "unified", or the controllers of an old one: "cpu,cpuacct"
    std::string path;
  };

  void walk_all();
  void walk(const std::string& hierarchy, const std::string& root);

  std::string mounts_;
  std::multimap<uint64_t, Place> places_;
  std::chrono::steady_clock::time_point walked_at_;
  std::chrono::steady_clock::duration pause_ = std::chrono::seconds(1);
};

}  // namespace flowtap
