// Tracefs. Way in: Tracefs::find(). Used to be found under debugfs, and still is on machines whose
// init scripts mount only that; since Linux 4.1 it is a file system of its own with a place in
// /sys. A container or a bare virtual machine may have neither, and root can mount it.

#include "kernel/tracefs.h"

#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "privileges/rights.h"

namespace flowtap {
namespace {

constexpr const char* kPlace = "/sys/kernel/tracing";
constexpr std::array<const char*, 2> kPlaces = {kPlace, "/sys/kernel/debug/tracing"};

bool is_tracefs(const std::string& directory) {
  return ::eaccess((directory + "/events").c_str(), F_OK) == 0;
}

// Names come from scripts: they must not leave the events directory.
bool is_plain(std::string_view name) {
  return !name.empty() && name.find('/') == std::string_view::npos && name.front() != '.';
}

// Lines of a text, without copying it.
template <typename Visit>  // inlined: the files have tens of thousands of lines
void each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    size_t end = text.find('\n');
    visit(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Result<Tracefs> Tracefs::find() {
  for (const char* place : kPlaces) {
    if (is_tracefs(place)) return Tracefs(place);
    if (errno == EACCES)
      return Error{fmt::format("cannot read '{}'", place), EACCES,
                   "run as root, or with CAP_DAC_READ_SEARCH"};
  }
  if (::mount("tracefs", kPlace, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0)
    return Tracefs(kPlace);
  if (errno == EBUSY) {
    if (is_tracefs(kPlace)) return Tracefs(kPlace);  // another process has just mounted it
    return Error{fmt::format("tracefs at '{}' is empty", kPlace), 0, permission_hint()};
  }
  return errno_error(fmt::format("cannot find or mount tracefs at '{}'", kPlace),
                     fmt::format("as root, run: mount -t tracefs tracefs {}", kPlace));
}

bool Tracefs::has_event(std::string_view category, std::string_view event) const {
  if (!is_plain(category) || !is_plain(event)) return false;
  // The `id` file is missing for what cannot be attached to, such as ftrace:function.
  return ::eaccess(fmt::format("{}/events/{}/{}/id", directory_, category, event).c_str(), F_OK) ==
         0;
}

std::vector<std::string> Tracefs::events(std::string_view category, std::string_view event) const {
  std::vector<std::string> names;
  if (!has_glob(category) && !has_glob(event)) {
    if (has_event(category, event)) names.push_back(fmt::format("{}:{}", category, event));
    return names;
  }
  std::optional<std::string> list = read_file(directory_ + "/available_events");
  if (!list) return names;
  each_line(*list, [&](std::string_view line) {
    size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    if (glob_match(category, line.substr(0, colon)) && glob_match(event, line.substr(colon + 1)))
      names.emplace_back(line);
  });
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> Tracefs::format(std::string_view category, std::string_view event) const {
  if (!is_plain(category) || !is_plain(event))
    return Error{fmt::format("no tracepoint '{}:{}'", category, event), ENOENT};
  std::string path = fmt::format("{}/events/{}/{}/format", directory_, category, event);
  std::optional<std::string> text = read_file(path);
  if (!text) return errno_error(fmt::format("cannot read '{}'", path));
  return *text;
}

// Lines are "function" or "function [module]"; newer kernels show gaps as __ftrace_invalid_*.
Status Tracefs::traceable_functions(const VisitFunction& visit) const {
  std::string path = directory_ + "/available_filter_functions";
  std::optional<std::string> list = read_file(path);
  if (!list) return errno_error(fmt::format("cannot read '{}'", path));
  each_line(*list, [&](std::string_view line) {
    if (line.empty() || line.starts_with("__ftrace_invalid_address__")) return;
    std::string_view function = line.substr(0, line.find_first_of(" \t"));
    size_t open = line.find('[');
    size_t close = line.find(']');
    bool has_module = open != std::string_view::npos && close != std::string_view::npos;
    visit(has_module ? line.substr(open + 1, close - open - 1) : "vmlinux", function);
  });
  return Done{};
}

}  // namespace flowtap
