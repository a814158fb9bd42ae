// Reads /proc/PID. Ways in: parse_maps() and ProcessFiles. A line of /proc/PID/maps:
//
//   7f1c2e228000-7f1c2e37d000 r-xp 00028000 fe:01 1573    /usr/lib/libc.so.6
//   begin        end          perm offset   device inode  path
//
// A mapping without a path is anonymous memory, where just-in-time compilers put their code.

#include "symbols/process_maps.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <charconv>

#include "base/text.h"

namespace flowtap {

// Cuts the word before the next blank off `line`.
static std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

static std::optional<uint64_t> number_of(std::string_view text, int base) {
  uint64_t value = 0;
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// "AAA-BBB" or "AA:BB", in hex.
static bool parse_pair(std::string_view text, char separator, uint64_t& first, uint64_t& second) {
  size_t middle = text.find(separator);
  if (middle == text.npos) return false;
  std::optional<uint64_t> a = number_of(text.substr(0, middle), 16);
  std::optional<uint64_t> b = number_of(text.substr(middle + 1), 16);
  first = a.value_or(0);
  second = b.value_or(0);
  return a && b;
}

static std::optional<Mapping> parse_line(std::string_view line) {
  Mapping mapping;
  uint64_t major = 0, minor = 0;
  std::string_view range = take_word(line), rights = take_word(line), offset = take_word(line),
                   device = take_word(line), inode = take_word(line);
  if (rights.size() < 3 || rights[2] != 'x') return std::nullopt;
  if (!parse_pair(range, '-', mapping.begin, mapping.end)) return std::nullopt;
  if (!parse_pair(device, ':', major, minor)) return std::nullopt;
  mapping.file_offset = number_of(offset, 16).value_or(0);
  mapping.inode = number_of(inode, 10).value_or(0);
  mapping.device = makedev(static_cast<unsigned>(major), static_cast<unsigned>(minor));
  std::string_view path = trim(line);
  static constexpr std::string_view kDeleted = " (deleted)";
  mapping.is_deleted = path.ends_with(kDeleted);
  if (mapping.is_deleted) path.remove_suffix(kDeleted.size());
  mapping.path = path;
  return mapping;
}

std::vector<Mapping> parse_maps(std::string_view text) {
  std::vector<Mapping> mappings;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    if (std::optional<Mapping> mapping = parse_line(text.substr(0, end)))
      mappings.push_back(std::move(*mapping));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return mappings;
}

std::vector<Mapping> ProcessFiles::executable_mappings() const {
  std::optional<std::string> text = read_file(directory_ + "/maps");
  return text ? parse_maps(*text) : std::vector<Mapping>();
}

// "4711 (name) S 1 ...": fields are counted from 1, and the name may hold anything.
ProcessLayout parse_layout(std::string_view stat) {
  constexpr size_t kState = 3, kCodeEnd = 27, kStackStart = 28;
  size_t name_end = stat.rfind(')');
  if (name_end == stat.npos) return {};
  std::string_view rest = trim(stat.substr(name_end + 1));
  ProcessLayout layout;
  for (size_t field = kState; field <= kStackStart; field++) {
    std::optional<uint64_t> value = number_of(take_word(rest), 10);
    if (field == kCodeEnd) layout.code_end = value.value_or(0);
    if (field == kStackStart) layout.stack_start = value.value_or(0);
  }
  return layout;
}

ProcessLayout ProcessFiles::layout() const {
  return parse_layout(read_file(directory_ + "/stat").value_or(""));
}

static bool is_same_file(const std::string& a, const std::string& b) {
  struct stat first, second;
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool ProcessFiles::shares_our_root() const {
  return is_same_file(directory_ + "/root", "/") &&
         is_same_file(directory_ + "/ns/mnt", proc_ + "/self/ns/mnt");
}

// The status line "NSpid: 4711 12 1" lists the id in each namespace, innermost last.
pid_t ProcessFiles::inner_pid() const {
  std::string text = read_file(directory_ + "/status").value_or("");
  size_t begin = text.find("NSpid:");
  if (begin == text.npos) return pid_;
  std::string_view line = std::string_view(text).substr(begin, text.find('\n', begin) - begin);
  line = trim(line);
  std::string_view last = line.substr(line.find_last_of(" \t:") + 1);
  return static_cast<pid_t>(number_of(last, 10).value_or(static_cast<uint64_t>(pid_)));
}

// The kernel keeps a link to each mapped file, by the range of its mapping.
std::string ProcessFiles::link_to_mapped(const Mapping& mapping) const {
  auto hex = [](uint64_t value) {
    char text[17];
    auto [end, error] = std::to_chars(text, text + sizeof text, value, 16);
    return std::string(text, end);
  };
  return directory_ + "/map_files/" + hex(mapping.begin) + "-" + hex(mapping.end);
}

static bool exists(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

static bool has_inode(const std::string& path, uint64_t inode) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && info.st_ino == inode;
}

std::string ProcessFiles::file_of(const Mapping& mapping) const {
  if (mapping.is_deleted) return link_to_mapped(mapping);
  std::string inside = path_from_here(mapping.path);
  // The path in the list is one of ours if we can reach the file (the process is in a chroot), and
  // it is all there is once the process has ended. The inode alone is compared: overlay file
  // systems show one device in the list and another to stat().
  bool is_ours = !has_inode(inside, mapping.inode) && has_inode(mapping.path, mapping.inode);
  if (is_ours) return mapping.path;
  // A chroot in another mount namespace: no path leads there, neither from its root nor from ours.
  std::string link = link_to_mapped(mapping);
  return !exists(inside) && exists(link) ? link : inside;
}

}  // namespace flowtap
