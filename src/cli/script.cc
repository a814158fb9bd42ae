// Reading scripts and imports; see script.h.

#include "cli/script.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"

namespace flowtap {

namespace fs = std::filesystem;

static Result<std::string> read_text(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return Error{fmt::format("cannot read '{}'", path), EISDIR};
  std::optional<std::string> text = read_file(path);
  if (!text) return errno_error(fmt::format("cannot read '{}'", path));
  if (text->find('\0') != std::string::npos)
    return Error{fmt::format("'{}' is not a script: it holds bytes that are no text", path), 0,
                 "a program is traced by a script that names it: uprobe:FILE:FUNCTION { ... }"};
  return *text;
}

bool is_file(const std::string& name) {
  std::error_code error;
  return fs::is_regular_file(name, error);
}

Result<ScriptText> read_script(const Options& options) {
  if (options.tool) return ScriptText{options.tool->path, options.tool->text, options.tool->folder};
  if (options.program) return ScriptText{"stdin", *options.program, "."};
  bool is_stdin = options.script == "-";
  Result<std::string> text = read_text(is_stdin ? "/dev/stdin" : options.script);
  if (!text.ok()) return text.error();
  std::string folder = fs::path(options.script).parent_path().string();
  return ScriptText{is_stdin ? "stdin" : options.script, std::move(*text),
                    folder.empty() ? "." : folder};
}

// Anybody could put a script into such a directory, and flowtap runs as root.
Status refuse_world_writable(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return errno_error(fmt::format("cannot import '{}'", path));
  if (S_ISDIR(info.st_mode) && (info.st_mode & S_IWOTH))
    return Error{fmt::format("cannot import '{}': everybody may write to this directory", path), 0,
                 "take that right away with: chmod o-w"};
  return Done{};
}

Result<std::vector<std::pair<std::string, std::string>>> read_import(const std::string& folder,
                                                                     const std::string& path) {
  fs::path where = fs::path(path).is_absolute() ? fs::path(path) : fs::path(folder) / path;
  if (Status status = refuse_world_writable(where.string()); !status.ok()) return status.error();
  std::vector<std::string> names;
  if (fs::is_directory(where)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(where))
      if (entry.path().extension() == ".bt" || entry.path().extension() == ".h")
        names.push_back(entry.path().string());
    std::sort(names.begin(), names.end());
  } else {
    std::string extension = where.extension().string();
    if (extension != ".bt" && extension != ".h")
      return Error{
          fmt::format("cannot import '{}': only scripts (.bt), C definitions (.h) and directories "
                      "can be imported",
                      path)};
    names.push_back(where.string());
  }
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& name : names) {
    Result<std::string> text = read_text(name);
    if (!text.ok()) return text.error();
    files.emplace_back(name, std::move(*text));
  }
  return files;
}

}  // namespace flowtap
