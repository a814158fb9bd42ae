// Finds the files that a probe's target names. Ways in: find_binaries() and mapped_binaries().
//
//   with '/'        a path, or a pattern over paths
//   lib*, *.so*     a library: in the process if there is one, then the linker's cache, then the
//                   usual directories; a program in PATH otherwise
//   other names     a program in PATH, a library otherwise: 'c' is libc unless there is a program c
//
// Under /proc/PID/root lies another process's file system. The kernel follows the absolute links
// in it from *our* root, so links are followed here, by hand.

#include "symbols/find_binary.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>
#include <set>
#include <tuple>

#include "arch/arch.h"
#include "base/foreign_file.h"
#include "base/text.h"
#include "symbols/linker_cache.h"
#include "symbols/process_maps.h"

namespace flowtap {

BinaryPlaces BinaryPlaces::usual() {
  const char* path = std::getenv("PATH");
  BinaryPlaces places{
      .program_directories = split(path ? path : "/usr/local/bin:/usr/bin:/bin:/usr/sbin", ':'),
      .linker_cache = "/etc/ld.so.cache"};
  for (std::string_view folder : host_arch().library_folders)
    places.library_directories.emplace_back(folder);
  for (const char* folder : {"/lib", "/usr/lib", "/usr/local/lib"})
    places.library_directories.emplace_back(folder);
  return places;
}

// --- files ----------------------------------------------------------------------------------

static bool is_elf(const std::string& path) {
  static constexpr std::string_view kMagic = "\177ELF";
  Result<ForeignFile> file = ForeignFile::open(path);
  if (!file) return false;
  Result<std::vector<char>> start = file->read(0, kMagic.size());
  return start && std::string_view(start->data(), start->size()) == kMagic;
}

static std::optional<std::string> link_target(const std::string& path) {
  char text[PATH_MAX];
  ssize_t length = ::readlink(path.c_str(), text, sizeof text);
  if (length < 0) return std::nullopt;
  return std::string(text, static_cast<size_t>(length));
}

// The file that `path` means to a process whose root directory is `root`, as we can open it.
static std::string follow_links(const std::string& root, const std::string& path) {
  if (root.empty()) return path;
  static constexpr int kMostLinks = 40;  // as in the kernel
  int links = 0;
  std::string done;  // without links
  std::vector<std::string> ahead = split(path, '/');
  std::reverse(ahead.begin(), ahead.end());
  while (!ahead.empty()) {
    std::string part = std::move(ahead.back());
    ahead.pop_back();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      done.erase(std::min(done.rfind('/'), done.size()));
      continue;
    }
    std::optional<std::string> target = link_target(root + done + "/" + part);
    if (!target || ++links > kMostLinks) {
      done += "/" + part;
      continue;
    }
    if (target->starts_with('/')) done.clear();
    std::vector<std::string> parts = split(*target, '/');
    ahead.insert(ahead.end(), parts.rbegin(), parts.rend());
  }
  return root + done;
}

// Keeps the first of several paths to one file, as /bin/sh and /usr/bin/sh often are.
static std::vector<std::string> each_file_once(const std::vector<std::string>& paths) {
  std::vector<std::string> kept;
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const std::string& path : paths) {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) continue;
    if (seen.insert({info.st_dev, info.st_ino}).second) kept.push_back(path);
  }
  return kept;
}

// --- patterns -------------------------------------------------------------------------------

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

static std::vector<std::string> names_in(const std::string& directory, std::string_view pattern) {
  std::vector<std::string> names;
  std::unique_ptr<DIR, CloseDirectory> dir(::opendir(directory.c_str()));
  while (dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
    std::string_view name = entry->d_name;
    bool is_hidden = name.starts_with('.') && !pattern.starts_with('.');
    if (!is_hidden && glob_match(pattern, name)) names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The files that `pattern` matches below `root`; '*' does not reach across a '/'. While it grows,
// every path is one of the process and ends in '/', or is empty for our own directory.
static std::vector<std::string> expand_pattern(const std::string& root, std::string_view pattern) {
  std::vector<std::string> paths = {pattern.starts_with('/') ? "/" : ""};
  for (const std::string& part : split(pattern, '/')) {
    if (part.empty()) continue;
    std::vector<std::string> longer;
    for (const std::string& path : paths) {
      std::string directory = path.empty() ? "." : follow_links(root, path);
      std::vector<std::string> names = {part};
      if (has_glob(part)) names = names_in(directory, part);
      for (const std::string& name : names) longer.push_back(path + name + "/");
    }
    paths = std::move(longer);
  }
  for (std::string& path : paths) {
    path.pop_back();
    path = follow_links(root, path);
  }
  std::erase_if(paths, [](const std::string& path) { return !is_elf(path); });
  return paths;
}

// --- names ----------------------------------------------------------------------------------

static std::vector<std::string> find_programs(const std::string& root, std::string_view name,
                                              const BinaryPlaces& places) {
  std::vector<std::string> found;
  for (const std::string& directory : places.program_directories) {
    if (!directory.starts_with('/')) continue;  // would depend on where the user stands
    for (const std::string& match : names_in(follow_links(root, directory), name)) {
      std::string path = follow_links(root, directory + "/" + match);
      if (is_elf(path)) found.push_back(path);
    }
  }
  return found;
}

static std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

static std::vector<std::string> find_libraries(const std::string& root, std::string_view name,
                                               const BinaryPlaces& places) {
  std::vector<std::string> found;
  auto add = [&](const std::string& path) {
    std::string real = follow_links(root, path);
    if (is_elf(real)) found.push_back(real);
  };
  constexpr uint64_t kMostCacheBytes = 16 << 20;
  Result<ForeignFile> opened = ForeignFile::open(follow_links(root, places.linker_cache));
  Result<std::vector<char>> cache =
      opened ? opened->read_all(kMostCacheBytes) : Result<std::vector<char>>(opened.error());
  std::vector<CachedLibrary> known;
  if (cache) known = parse_linker_cache({cache->data(), cache->size()});
  for (const CachedLibrary& library : known)
    if (is_library_named(library.name, name)) add(library.path);
  if (!found.empty()) return found;
  for (const std::string& directory : places.library_directories)
    for (const std::string& file : names_in(follow_links(root, directory), std::string(name) + "*"))
      if (is_library_named(file, name)) add(directory + "/" + file);
  return found;
}

static bool looks_like_library(std::string_view name) {
  return name.starts_with("lib") || name.ends_with(".so") || name.find(".so.") != name.npos;
}

static std::vector<std::string> find_name(const std::string& root, std::string_view name,
                                          const BinaryPlaces& places) {
  bool library_first = looks_like_library(name);
  std::vector<std::string> found =
      library_first ? find_libraries(root, name, places) : find_programs(root, name, places);
  if (!found.empty()) return found;
  if (library_first) return find_programs(root, name, places);
  found = find_libraries(root, name, places);
  return found.empty() ? find_libraries(root, "lib" + std::string(name), places) : found;
}

// --- ways in --------------------------------------------------------------------------------

// What to put before the paths of a process.
static std::string root_of(const ProcessFiles& files) {
  return files.shares_our_root() ? "" : files.path_from_here("");
}

// Files by how /proc/PID/maps names them, in one list of a process or in several.
using SeenMappings = std::set<std::tuple<uint64_t, uint64_t, std::string>>;

// A process may map one file 65,000 times. `seen` has those of earlier processes; one that could
// not be opened through a process that was ending can be through another.
static std::vector<std::string> new_mapped_binaries(pid_t pid, const std::string& proc,
                                                    SeenMappings& seen) {
  ProcessFiles files(pid, proc);
  bool is_at_home = files.shares_our_root();
  SeenMappings tried;
  std::vector<std::string> paths;
  for (const Mapping& mapping : files.executable_mappings()) {
    if (!mapping.is_file()) continue;
    std::tuple key{mapping.device, mapping.inode, mapping.path};
    if (seen.contains(key) || !tried.insert(key).second) continue;
    bool needs_no_prefix = is_at_home && !mapping.is_deleted;
    std::string path = needs_no_prefix ? mapping.path : files.file_of(mapping);
    if (!is_elf(path)) continue;
    paths.push_back(path);
    seen.insert(std::move(key));
  }
  return paths;
}

Result<std::vector<std::string>> mapped_binaries(pid_t pid, const std::string& proc) {
  SeenMappings seen;
  std::vector<std::string> paths = new_mapped_binaries(pid, proc, seen);
  if (paths.empty())
    return Error{"process " + std::to_string(pid) + " does not exist, or may not be looked into"};
  return each_file_once(paths);
}

// The same for all processes that we may look into.
static Result<std::vector<std::string>> running_binaries(const std::string& proc) {
  std::vector<std::string> paths;
  SeenMappings seen;
  for (const std::string& name : names_in(proc, "*")) {
    std::optional<int64_t> pid = parse_number(name);
    if (!pid) continue;
    for (std::string& path : new_mapped_binaries(static_cast<pid_t>(*pid), proc, seen))
      paths.push_back(std::move(path));
  }
  if (paths.empty()) return Error{"no process may be looked into", 0, "run flowtap as root"};
  return each_file_once(paths);
}

static Result<std::vector<std::string>> find_path(const std::string& root,
                                                  std::string_view target) {
  std::string path(target);
  if (has_glob(target)) {
    std::vector<std::string> found =
        each_file_once(expand_pattern(target.starts_with('/') ? root : "", target));
    if (found.empty()) return Error{"no program or library matches '" + path + "'"};
    return found;
  }
  // Relative paths are the user's, so they start from our directory.
  if (target.starts_with('/')) path = follow_links(root, path);
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return errno_error("cannot find '" + path + "'");
  return std::vector<std::string>{path};
}

static std::vector<std::string> mapped_libraries(pid_t pid, const std::string& proc,
                                                 std::string_view name) {
  Result<std::vector<std::string>> mapped = mapped_binaries(pid, proc);
  if (!mapped) return {};
  std::erase_if(*mapped,
                [&](const std::string& path) { return !is_library_named(file_name(path), name); });
  return *mapped;
}

Result<std::vector<std::string>> find_binaries(std::string_view target, std::optional<pid_t> pid,
                                               const BinaryPlaces& places) {
  bool is_any = target.empty() || target == "*";
  if (is_any && pid) return mapped_binaries(*pid, places.proc);
  if (target.empty())
    return Error{"no binary is named", 0,
                 "write its path before the name, or choose a process with -p"};
  if (is_any) return running_binaries(places.proc);
  std::string root = pid ? root_of(ProcessFiles(*pid, places.proc)) : "";
  if (target.find('/') != target.npos) return find_path(root, target);
  std::vector<std::string> found;
  if (pid) found = mapped_libraries(*pid, places.proc, target);
  if (found.empty()) found = each_file_once(find_name(root, target, places));
  if (found.empty())
    return Error{"'" + std::string(target) + "' is neither a program in PATH nor a library", 0,
                 "write its path, such as './" + std::string(target) + "'"};
  return found;
}

}  // namespace flowtap
