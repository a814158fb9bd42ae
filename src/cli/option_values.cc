// Setters of options; see option_values.h.

#include "cli/option_values.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <regex.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>

#include "base/fd.h"
#include "base/text.h"
#include "plot/plot_check.h"

namespace flowtap {

static constexpr const char* kStages[] = {"all", "ast", "types", "ir", "bpf", "maps"};

Status set_dump(Options& options, const std::string&, const std::string& text) {
  for (const std::string& stage : split(text, ',')) {
    bool known = std::any_of(std::begin(kStages), std::end(kStages),
                             [&](const char* name) { return stage == name; });
    if (!known)
      return Error{fmt::format("'{}' is not a stage", stage), 0,
                   "the stages are ast, types, ir, bpf, maps and all"};
    options.dump.push_back(stage);
  }
  return Done{};
}

Status set_buffering(Options& options, const std::string& shown, const std::string& text) {
  if (text == "line")
    options.buffering = Buffering::Line;
  else if (text == "full")
    options.buffering = Buffering::Full;
  else if (text == "none")
    options.buffering = Buffering::None;
  else
    return Error{fmt::format("{} takes 'line', 'full' or 'none', found '{}'", shown, text)};
  return Done{};
}

Status set_format(Options& options, const std::string&, const std::string& text) {
  for (const OutputFormat& format : kFormats)
    if (text == format.name) {
      options.format = &format;
      return Done{};
    }
  std::vector<std::string> names = split(kFormatNames, '|');
  std::string last = std::move(names.back());
  names.pop_back();
  return Error{fmt::format("there is no output format '{}'", text), 0,
               fmt::format("the formats are {} and {}", join(names, ", "), last)};
}

namespace {

Result<int> parse_pid(const std::string& shown, const std::string& text) {
  std::optional<int64_t> pid = parse_number(text);
  if (!pid || *pid < 1 || *pid > 0x400000)
    return Error{fmt::format("{} takes a process id, found '{}'", shown, text)};
  return static_cast<int>(*pid);
}

}  // namespace

Status set_pid(Options& options, const std::string& shown, const std::string& text) {
  Result<int> pid = parse_pid(shown, text);
  if (!pid) return pid.error();
  options.pid = *pid;
  return Done{};
}

Status add_dwarf_pid(Options& options, const std::string& shown, const std::string& text) {
  Result<int> pid = parse_pid(shown, text);
  if (!pid) return pid.error();
  options.dwarf_pids.push_back(*pid);
  return Done{};
}

Status set_max_keys(Options& options, const std::string& shown, const std::string& text) {
  std::optional<int64_t> number = parse_number(text);
  if (!number || *number < 1 || *number > UINT32_MAX)
    return Error{fmt::format("{} takes a positive whole number, found '{}'", shown, text)};
  options.max_keys = static_cast<uint64_t>(*number);
  return Done{};
}

Status set_probe_filter(Options& options, const std::string&, const std::string& text) {
  regex_t compiled;
  if (::regcomp(&compiled, text.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
    return Error{fmt::format("'{}' is not a regular expression", text)};
  ::regfree(&compiled);
  options.probe_filter = text;
  return Done{};
}

Status add_unused_features(Options& options, const std::string&, const std::string& text) {
  for (const std::string& name : split(text, ',')) {
    const FeatureRow* row = find_feature(name);
    if (!row || !row->can_be_unused)
      return Error{fmt::format("'{}' is not a feature that can be left unused", name), 0,
                   fmt::format("the features are {}", optional_features())};
    options.unused.add(row->feature);
  }
  return Done{};
}

Status set_mode(Options& options, const std::string&, const std::string& text) {
  if (text != "test" && text != "bench")
    return Error{fmt::format("there is no mode '{}'", text), 0, "the modes are test and bench"};
  Mode mode = text == "test" ? Mode::Test : Mode::Bench;
  if (options.mode != Mode::Trace && options.mode != mode)
    return Error{"--test and --bench cannot be used together"};
  options.mode = mode;
  return Done{};
}

Status add_comm_filter(Options& options, const std::string& shown, const std::string& text) {
  if (text.find_first_of("\"\\\n") != std::string::npos)
    return Error{fmt::format("{} cannot take '{}'", shown, text)};
  options.add_filter(fmt::format("comm == \"{}\"", text));
  return Done{};
}

Status add_cgroup_filter(Options& options, const std::string&, const std::string& inode) {
  options.add_filter(fmt::format("cgroup == {}", inode));
  return Done{};
}

Status set_plot_file(Options& options, const std::string&, const std::string& text) {
  options.plot_file = text;
  return check_plot_file(text);
}

Result<std::string> port_number(const std::string& text) {
  std::optional<int64_t> number = parse_number(text);
  if (!number || *number < 1 || *number > UINT16_MAX)
    return Error{fmt::format("'{}' is not a port: it is a number from 1 to {}", text, UINT16_MAX)};
  return std::to_string(*number);
}

// The inode of its file.
Result<std::string> namespace_inode(const std::string& text) {
  bool is_pid = parse_number(text).has_value();
  bool is_path = text.find('/') != std::string::npos;
  std::string path = is_pid    ? fmt::format("/proc/{}/ns/net", text)
                     : is_path ? text
                               : "/run/netns/" + text;
  struct stat info;
  struct statfs system;
  const char* hint = "give a process id, a name that 'ip netns' lists, or a file";
  if (::stat(path.c_str(), &info) != 0 || ::statfs(path.c_str(), &system) != 0)
    return errno_error(fmt::format("cannot find the network namespace '{}'", text), hint);
  Fd file;
  if (system.f_type == NSFS_MAGIC) file = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || ::ioctl(file.get(), NS_GET_NSTYPE) != CLONE_NEWNET)
    return Error{fmt::format("'{}' is not a network namespace", text), 0, hint};
  return std::to_string(info.st_ino);
}

// The inode of its directory.
Result<std::string> cgroup_inode(const std::string& path) {
  struct stat info;
  struct statfs system;
  const char* hint = "give its directory, e.g. /sys/fs/cgroup/system.slice";
  if (::stat(path.c_str(), &info) != 0 || ::statfs(path.c_str(), &system) != 0)
    return errno_error(fmt::format("cannot find the cgroup '{}'", path), hint);
  if (system.f_type != CGROUP2_SUPER_MAGIC)
    return Error{fmt::format("'{}' is not a directory of cgroup v2", path), 0, hint};
  return std::to_string(info.st_ino);
}

}  // namespace flowtap
