// Finding tools; see tool_files.h.

#include "cli/tool_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/directory.h"
#include "base/text.h"
#include "cli/script_files.h"
#include "cli/trusted_path.h"

namespace flowtap {

namespace fs = std::filesystem;

namespace {

struct EmbeddedFile {
  std::string_view name;    // "tcplife.bt", "lib/tcp.bt"
  std::string_view packed;  // by gzip(1)
};
#include "embedded_tools.h"

const EmbeddedFile* find_embedded(std::string_view name) {
  for (const EmbeddedFile& file : kEmbeddedFiles)
    if (file.name == name) return &file;
  return nullptr;
}

// What was packed when the program was built cannot be damaged.
std::string text_of(const EmbeddedFile& file) {
  constexpr int kGzip = 16 + MAX_WBITS;
  std::string_view end = file.packed.substr(file.packed.size() - 4);  // the size of the text
  std::string text(load<uint32_t>(std::as_bytes(std::span(end))), '\0');
  z_stream stream = {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.packed.data()));
  stream.avail_in = static_cast<uInt>(file.packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  CHECK(::inflateInit2(&stream, kGzip) == Z_OK);
  CHECK(::inflate(&stream, Z_FINISH) == Z_STREAM_END);
  ::inflateEnd(&stream);
  return text;
}

std::string embedded_path(const EmbeddedFile& file) { return "tools/" + std::string(file.name); }

ToolFile embedded_tool(const EmbeddedFile& file) {
  return {.name = fs::path(file.name).stem().string(),
          .path = embedded_path(file),
          .text = text_of(file),
          .folder = ""};
}

std::optional<ToolFile> find_embedded_tool(const std::string& name) {
  const EmbeddedFile* file = find_embedded(name + ".bt");
  return file ? std::optional<ToolFile>(embedded_tool(*file)) : std::nullopt;
}

bool is_tool_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

bool is_library(const EmbeddedFile& file) { return file.name.find('/') != std::string_view::npos; }

}  // namespace

std::vector<std::string> tool_directories() {
  std::vector<std::string> directories;
  if (const char* own = std::getenv("FLOWTAP_TOOLS"))
    for (const std::string& directory : split(own, ':'))
      if (!directory.empty()) directories.push_back(directory);
  if (const char* home = std::getenv("HOME"); home && *home)
    directories.push_back(std::string(home) + "/.config/flowtap/tools");
  return directories;
}

Result<std::optional<ToolFile>> find_tool(const std::string& name) {
  if (!is_tool_name(name)) return std::optional<ToolFile>();
  for (const std::string& directory : tool_directories()) {
    std::string path = directory + "/" + name + ".bt";
    std::error_code error;
    if (!fs::is_regular_file(path, error)) continue;
    if (Status status = refuse_what_others_can_change(path); !status)
      return Error{fmt::format("cannot run tool '{}': {}", name, status.error().message()), 0,
                   status.error().hint};
    Result<std::string> text = read_text(path);
    if (!text) return text.error();
    return std::optional<ToolFile>({name, path, std::move(*text), directory});
  }
  return find_embedded_tool(name);
}

std::vector<ToolFile> all_tools() {
  std::vector<std::string> names;
  for (const std::string& directory : tool_directories()) {
    Result<std::vector<std::string>> entries = names_in(directory);
    if (!entries) continue;  // usually there is none
    for (const fs::path name : *entries)
      if (name.extension() == ".bt") names.push_back(name.stem().string());
  }
  for (const EmbeddedFile& file : kEmbeddedFiles)
    if (!is_library(file)) names.push_back(fs::path(file.name).stem().string());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<ToolFile> tools;
  for (const std::string& name : names) {
    Result<std::optional<ToolFile>> found = find_tool(name);
    std::optional<ToolFile> tool = found ? *found : find_embedded_tool(name);
    if (tool) tools.push_back(std::move(*tool));
  }
  return tools;
}

Result<std::vector<std::pair<std::string, std::string>>> read_tool_import(const std::string& folder,
                                                                          const std::string& path,
                                                                          bool must_be_safe) {
  std::error_code error;
  bool is_beside = !folder.empty() && fs::exists(fs::path(folder) / path, error);
  const EmbeddedFile* file = is_beside ? nullptr : find_embedded(path);
  if (!file) return read_import(folder.empty() ? "." : folder, path, must_be_safe);
  return std::vector<std::pair<std::string, std::string>>{{embedded_path(*file), text_of(*file)}};
}

}  // namespace flowtap
