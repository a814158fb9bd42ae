// Walking a path from the root, as the kernel does. Entry point: refuse_what_others_can_change().
//
// Each part is looked at, and each link followed by its parts. Who can write to a directory can
// put another file in the place of any entry, so the directories matter as much as the file. In a
// sticky directory (/tmp) only the owner of an entry can do that, and the owner is checked.

#include "cli/trusted_path.h"

#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <deque>

#include "base/text.h"

namespace flowtap {

static constexpr int kMostLinks = 40;  // as in the kernel

static Status check_part(const std::string& part, const struct stat& info) {
  const char* hint = "give the script by its path to run it all the same: flowtap ./NAME.bt";
  bool is_ours = info.st_uid == 0 || info.st_uid == ::geteuid();
  if (!is_ours)
    return Error{fmt::format("'{}' belongs to user {}, who can change it", part, info.st_uid), 0,
                 hint};
  if (S_ISLNK(info.st_mode)) return Done{};  // their mode means nothing
  bool is_sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX);
  if (is_sticky || !(info.st_mode & (S_IWGRP | S_IWOTH))) return Done{};
  bool is_for_all = info.st_mode & S_IWOTH;
  return Error{fmt::format("'{}' is {}-writable", part, is_for_all ? "world" : "group"), 0,
               fmt::format("remove that permission: chmod {}-w {}", is_for_all ? "o" : "g", part)};
}

static Result<std::string> link_target(const std::string& link) {
  char target[PATH_MAX];
  ssize_t length = ::readlink(link.c_str(), target, sizeof target);
  if (length < 0) return errno_error(fmt::format("cannot read '{}'", link));
  return std::string(target, static_cast<size_t>(length));
}

static Result<std::string> absolute(const std::string& path) {
  if (path.starts_with("/")) return path;
  char directory[PATH_MAX];
  if (!::getcwd(directory, sizeof directory)) return errno_error("cannot find out where we are");
  return fmt::format("{}/{}", directory, path);
}

Status refuse_what_others_can_change(const std::string& path) {
  Result<std::string> whole = absolute(path);
  if (!whole) return whole.error();
  std::string at;  // without links and a slash at its end
  std::deque<std::string> rest;
  auto prepend = [&](const std::string& more) {
    std::vector<std::string> parts = split(more, '/');
    rest.insert(rest.begin(), parts.begin(), parts.end());
  };
  prepend(*whole);
  for (int links = 0; !rest.empty();) {
    std::string name = std::move(rest.front());
    rest.pop_front();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      at.resize(std::min(at.size(), at.rfind('/')));
      continue;
    }
    std::string part = at + "/" + name;
    struct stat info;
    if (::lstat(part.c_str(), &info) != 0)
      return errno_error(fmt::format("cannot read '{}'", part));
    if (Status status = check_part(part, info); !status) return status;
    if (!S_ISLNK(info.st_mode)) {
      at = part;
      continue;
    }
    Result<std::string> target = link_target(part);
    if (!target) return target.error();
    if (++links > kMostLinks) return Error{fmt::format("cannot read '{}'", path), ELOOP};
    if (target->starts_with("/")) at.clear();
    prepend(*target);
  }
  return Done{};
}

}  // namespace flowtap
