// Reading scripts and imports; see script_files.h.

#include "cli/script_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>

#include "base/directory.h"
#include "base/fd.h"
#include "cli/trusted_path.h"

namespace flowtap {

namespace fs = std::filesystem;

// Larger than any C header of a whole kernel.
static constexpr size_t kMostBytes = 16 << 20;

// What cannot be a script, or nullptr. Pipes without a name are those of the shell.
static const char* unreadable_kind(const struct stat& info, int fd) {
  struct statfs system;
  bool has_name = fd < 0 || ::fstatfs(fd, &system) != 0 || system.f_type != PIPEFS_MAGIC;
  if (S_ISFIFO(info.st_mode) && has_name) return "a named pipe";
  if (S_ISSOCK(info.st_mode)) return "a socket";
  if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)) return "a device";
  return nullptr;
}

// Waits for the writer of a pipe, unless a signal ends us.
static Result<std::string> read_all(int fd, const std::string& name) {
  std::string text;
  char part[65536];
  while (true) {
    ssize_t length = ::read(fd, part, sizeof part);
    if (length == 0) return text;
    if (length > 0) {
      text.append(part, static_cast<size_t>(length));
    } else if (errno == EAGAIN) {
      pollfd more{.fd = fd, .events = POLLIN};
      ::poll(&more, 1, -1);
    } else if (errno != EINTR) {
      return errno_error(fmt::format("cannot read '{}'", name));
    }
    if (text.size() > kMostBytes)
      return Error{fmt::format("'{}' is longer than {} MB", name, kMostBytes >> 20)};
  }
}

static Result<std::string> read_bytes(const std::string& path) {
  if (path == "/dev/stdin") return read_all(STDIN_FILENO, path);
  // A named pipe would block here until somebody writes to it.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  Error failed = errno_error(fmt::format("cannot read '{}'", path));
  struct stat info;
  bool is_there = (fd.valid() ? ::fstat(fd.get(), &info) : ::stat(path.c_str(), &info)) == 0;
  if (const char* kind = is_there ? unreadable_kind(info, fd.get()) : nullptr)
    return Error{fmt::format("'{}' is {}, not a script", path, kind), 0,
                 "'-' as file name reads standard input"};
  if (!fd.valid()) return failed;
  return read_all(fd.get(), path);
}

Result<std::string> read_text(const std::string& path) {
  Result<std::string> text = read_bytes(path);
  if (!text) return text.error();
  if (text->find('\0') != std::string::npos)
    return Error{fmt::format("'{}' is a binary file, not a script", path), 0,
                 "a program is traced by a script that names it: uprobe:FILE:FUNCTION { ... }"};
  return text;
}

bool is_file(const std::string& name) {
  std::error_code error;
  return fs::is_regular_file(name, error);
}

// Imports are relative to `folder`.
static Script parse_in(const std::string& folder, bool must_be_safe, ScriptText text) {
  text.import = [&](const std::string& path) {
    return read_tool_import(folder, path, must_be_safe);
  };
  return parse_script(text);
}

Script parse_tool(const ToolFile& tool, std::vector<std::string> parameters) {
  ScriptText text{.name = tool.path, .text = tool.text, .parameters = std::move(parameters)};
  bool is_of_user = !tool.folder.empty();
  return parse_in(tool.folder, is_of_user, std::move(text));
}

Result<Script> read_script(const Options& options) {
  if (options.tool) return parse_tool(*options.tool, options.parameters);
  ScriptText script{.name = "stdin", .text = "", .parameters = options.parameters};
  if (options.program) {
    script.text = *options.program;
    return parse_in(".", false, std::move(script));
  }
  bool is_stdin = options.script == "-";
  Result<std::string> text = read_text(is_stdin ? "/dev/stdin" : options.script);
  if (!text) return text.error();
  if (!is_stdin) script.name = options.script;
  script.text = std::move(*text);
  std::string folder = fs::path(options.script).parent_path().string();
  return parse_in(folder.empty() ? "." : folder, false, std::move(script));
}

// Anybody could put a script into such a directory, and flowtap runs as root.
static Status refuse_world_writable(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return errno_error(fmt::format("cannot import '{}'", path));
  if (S_ISDIR(info.st_mode) && (info.st_mode & S_IWOTH))
    return Error{fmt::format("cannot import '{}': this directory is world-writable", path)};
  return Done{};
}

Result<std::vector<std::pair<std::string, std::string>>> read_import(const std::string& folder,
                                                                     const std::string& path,
                                                                     bool must_be_safe) {
  fs::path where = fs::path(path).is_absolute() ? fs::path(path) : fs::path(folder) / path;
  if (Status status = refuse_world_writable(where.string()); !status) return status.error();
  auto can_be_imported = [](const fs::path& file) {
    return file.extension() == ".bt" || file.extension() == ".h";
  };
  std::vector<std::string> names;
  std::error_code error;
  if (fs::is_directory(where, error)) {
    Result<std::vector<std::string>> entries = names_in(where.string());
    if (!entries) return entries.error();
    for (const std::string& name : *entries)
      if (can_be_imported(name)) names.push_back((where / name).string());
  } else {
    if (!can_be_imported(where))
      return Error{
          fmt::format("cannot import '{}': only scripts (.bt), C definitions (.h) and directories "
                      "can be imported",
                      path)};
    names.push_back(where.string());
  }
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& name : names) {
    if (must_be_safe)
      if (Status status = refuse_what_others_can_change(name); !status)
        return Error{fmt::format("cannot import '{}': {}", name, status.error().message())};
    Result<std::string> text = read_text(name);
    if (!text) return text.error();
    files.emplace_back(name, std::move(*text));
  }
  return files;
}

}  // namespace flowtap
