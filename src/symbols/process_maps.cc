// Reads /proc/PID. Ways in: parse_maps() and ProcessFiles. A line of /proc/PID/maps:
//
//   7f1c2e228000-7f1c2e37d000 r-xp 00028000 fe:01 1573    /usr/lib/libc.so.6
//   begin        end          perm offset   device inode  path
//
// A mapping without a path is anonymous memory, where just-in-time compilers put their code.

#include "symbols/process_maps.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/fd.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "symbols/elf_file.h"

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

namespace {

// A process may have 65,530 mappings, and each may have a path of 4 KB.
constexpr size_t kMostMappings = 1 << 16, kMostPathBytes = 4 << 20;

struct MappingList {
  std::vector<Mapping> mappings;
  size_t path_bytes = 0;

  bool is_full() const { return mappings.size() >= kMostMappings || path_bytes >= kMostPathBytes; }
  // Whole lines; gives back what is left of the last one.
  std::string_view add(std::string_view text) {
    for (size_t end; !is_full() && (end = text.find('\n')) != text.npos;) {
      std::optional<Mapping> mapping = parse_line(text.substr(0, end));
      text.remove_prefix(end + 1);
      if (!mapping) continue;
      path_bytes += mapping->path.size();
      mappings.push_back(std::move(*mapping));
    }
    return text;
  }
};

}  // namespace

std::vector<Mapping> parse_maps(std::string_view text) {
  MappingList list;
  std::string_view rest = list.add(text);
  if (!rest.empty()) list.add(std::string(rest) + "\n");
  return std::move(list.mappings);
}

std::vector<Mapping> ProcessFiles::executable_mappings() const {
  Fd fd(::open((directory_ + "/maps").c_str(), O_RDONLY | O_CLOEXEC));
  MappingList list;
  std::string pending;
  char chunk[65536];
  ssize_t n;
  while (fd.valid() && !list.is_full() && !is_reading_over() &&
         (n = ::read(fd.get(), chunk, sizeof chunk)) > 0) {
    pending.append(chunk, static_cast<size_t>(n));
    pending.erase(0, pending.size() - list.add(pending).size());
  }
  return std::move(list.mappings);
}

// "4711 (name) S 1 ...": fields are counted from 1, and the name may hold anything.
ProcessImage parse_image(std::string_view stat) {
  constexpr size_t kState = 3, kStarted = 22, kCodeEnd = 27, kStackStart = 28;
  size_t name_end = stat.rfind(')');
  if (name_end == stat.npos) return {};
  std::string_view rest = trim(stat.substr(name_end + 1));
  ProcessImage image;
  for (size_t field = kState; field <= kStackStart; field++) {
    std::optional<uint64_t> value = number_of(take_word(rest), 10);
    if (field == kStarted) image.started = value.value_or(0);
    if (field == kCodeEnd) image.layout.code_end = value.value_or(0);
    if (field == kStackStart) image.layout.stack_start = value.value_or(0);
  }
  return image;
}

ProcessLayout parse_layout(std::string_view stat) { return parse_image(stat).layout; }

ProcessImage ProcessFiles::image() const {
  return parse_image(read_file(directory_ + "/stat").value_or(""));
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

// What stands behind "Name:" in a line of its own.
static std::string_view line_of(std::string_view status, std::string_view name) {
  size_t begin = 0;
  if (!status.starts_with(name)) begin = status.find("\n" + std::string(name));
  if (begin == status.npos) return {};
  std::string_view line = status.substr(begin + (begin > 0));
  return trim(line.substr(0, line.find('\n')).substr(name.size()));
}

// "Uid: 1000 1001 ...": the real and the effective one. "NSpid: 4711 12 1": the id in each
// namespace, innermost last.
ProcessStatus parse_status(std::string_view text) {
  static constexpr std::string_view kBlanks = " \t";
  ProcessStatus status;
  std::string_view uids = line_of(text, "Uid:"), pids = line_of(text, "NSpid:");
  uids.remove_prefix(std::min(uids.find_first_of(kBlanks), uids.size()));
  uids = trim(uids);
  if (std::optional<uint64_t> uid = number_of(uids.substr(0, uids.find_first_of(kBlanks)), 10))
    status.uid = static_cast<uid_t>(*uid);
  std::string_view last = pids.substr(pids.find_last_of(kBlanks) + 1);
  status.inner_pid = static_cast<pid_t>(number_of(last, 10).value_or(0));
  return status;
}

ProcessStatus ProcessFiles::status() const {
  ProcessStatus status = parse_status(read_file(directory_ + "/status").value_or(""));
  if (status.inner_pid == 0) status.inner_pid = pid_;
  return status;
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

std::vector<std::string> ProcessFiles::places_of(const Mapping& mapping) const {
  if (mapping.is_deleted) return {};
  return {path_from_here(mapping.path), mapping.path};
}

std::optional<FileIdentity> ProcessFiles::identity_of_mapped(const Mapping& mapping) const {
  struct stat info;
  if (::stat(link_to_mapped(mapping).c_str(), &info) == 0) return identity_of(info);
  for (const std::string& place : places_of(mapping))
    if (::stat(place.c_str(), &info) == 0 && info.st_ino == mapping.inode) return identity_of(info);
  return std::nullopt;
}

// Whether the file still has the content of the one that was known.
static bool is_still(const ForeignFile& file, const FileIdentity& known,
                     std::optional<uint64_t> symbols) {
  FileIdentity id = identity_of(file.info());
  if (id.is_unchanged(known)) return true;
  if (!symbols || !id.may_have_same_content(known)) return false;
  Result<ElfFile> elf = ElfFile::open(file.path());
  return elf && elf->identity() == id && elf->hash_of_symbols() == symbols;
}

Result<ForeignFile> ProcessFiles::open_mapped(const Mapping& mapping,
                                              const std::optional<FileIdentity>& known,
                                              std::optional<uint64_t> symbols) const {
  auto is_right = [&](const Result<ForeignFile>& file) {
    if (!file) return false;
    return known ? is_still(*file, *known, symbols) : file->info().st_ino == mapping.inode;
  };
  Result<ForeignFile> file = ForeignFile::open(link_to_mapped(mapping));
  if (file && (!known || is_right(file))) {
    // A number says nothing in a message, and debug files are beside the file itself.
    if (!mapping.is_deleted && !file->take_path(mapping.path))
      file->take_path(path_from_here(mapping.path));
    return file;
  }
  for (const std::string& place : places_of(mapping))
    if (file = ForeignFile::open(place); is_right(file)) return file;
  return Error{"'" + mapping.path + "' is not the file that was mapped", ENOENT};
}

std::optional<uint64_t> ProcessFiles::symbols_of_mapped(const Mapping& mapping,
                                                        const FileIdentity& known) const {
  Result<ForeignFile> file = open_mapped(mapping, known);
  Result<ElfFile> elf = file ? ElfFile::read(std::move(*file)) : file.error();
  std::optional<uint64_t> hash = elf ? elf->hash_of_symbols() : std::nullopt;
  // It may have been written to while we read.
  return identity_of_mapped(mapping) == known ? hash : std::nullopt;
}

}  // namespace flowtap
