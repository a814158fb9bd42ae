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

static int64_t written_ns(const struct stat& file) {
  return int64_t{file.st_mtim.tv_sec} * 1'000'000'000 + file.st_mtim.tv_nsec;
}

static std::string message(const AttachPoint& point, bool is_there, bool is_same) {
  if (!probe_row(point.kind).has(kUserSpace))
    return fmt::format("module '{}' was unloaded while it was traced", point.target);
  if (!is_there) return fmt::format("'{}' was deleted while it was traced", point.target);
  if (is_same)
    return fmt::format(
        "'{}' was written while it was traced: probes may be in the wrong places of its new code",
        point.target);
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
    seen_.push_back({.point = &point,
                     .path = std::move(path),
                     .device = status.st_dev,
                     .number = status.st_ino,
                     .written_ns = written_ns(status)});
}

void TracedFiles::report(const Sources& sources, Writer& writer) const {
  for (const Seen& seen : seen_) {
    struct stat now = {};
    bool is_there = ::stat(seen.path.c_str(), &now) == 0;
    bool is_same = is_there && now.st_dev == seen.device && now.st_ino == seen.number;
    bool is_user_space = probe_row(seen.point->kind).has(kUserSpace);
    if (is_same && (!is_user_space || written_ns(now) == seen.written_ns)) continue;
    ScriptPlace at(sources, seen.point->span);
    writer.runtime_error(at.place(), message(*seen.point, is_there, is_same));
  }
}

}  // namespace flowtap
