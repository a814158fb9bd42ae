// Comparing files by device and inode number; see traced_files.h.

#include "runtime/traced_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "builtins/probes.h"
#include "runtime/places.h"

namespace flowtap {

// Where to see that a probe's carrier is still there; empty when it cannot go away.
static std::string path_of(const AttachPoint& point) {
  const ProbeRow& row = probe_row(point.kind);
  // Paths of a process go with it.
  if (row.has(kUserSpace)) return point.target.starts_with("/proc/") ? "" : point.target;
  bool is_in_module = row.has(kHasFunc) && !point.target.empty() && point.target != "vmlinux";
  return is_in_module ? "/sys/module/" + point.target : "";
}

static std::string message(const AttachPoint& point, bool is_there) {
  if (!probe_row(point.kind).has(kUserSpace))
    return fmt::format("module '{}' was unloaded while it was traced", point.target);
  if (!is_there) return fmt::format("'{}' was deleted while it was traced", point.target);
  return fmt::format(
      "'{}' was replaced while it was traced: processes that started since then were not seen",
      point.target);
}

void TracedFiles::note(const AttachPoint& point) {
  std::string path = path_of(point);
  for (const Seen& seen : seen_)
    if (seen.path == path) return;
  struct stat status = {};
  if (!path.empty() && ::stat(path.c_str(), &status) == 0)
    seen_.push_back({&point, std::move(path), status.st_dev, status.st_ino});
}

void TracedFiles::report(const Sources& sources, Writer& writer) const {
  for (const Seen& seen : seen_) {
    struct stat now = {};
    bool is_there = ::stat(seen.path.c_str(), &now) == 0;
    if (is_there && now.st_dev == seen.device && now.st_ino == seen.number) continue;
    ScriptPlace at(sources, seen.point->span);
    writer.runtime_error(at.place(), message(*seen.point, is_there));
  }
}

}  // namespace flowtap
