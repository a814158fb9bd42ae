#pragma once
// ElfFile: the symbols, segments, notes and build id of a program or library.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/foreign_file.h"
#include "base/result.h"
#include "types/user_probe.h"

namespace flowtap {

enum class SymbolKind : uint8_t { Function, Object };
enum class SymbolBinding : uint8_t { Local, Weak, Global };

struct ElfSymbol {
  std::string_view name;  // mangled, without the version: "memcpy", not "memcpy@@GLIBC_2.14"
  SymbolKind kind = SymbolKind::Function;
  SymbolBinding binding = SymbolBinding::Global;
  bool is_resolver = false;  // STT_GNU_IFUNC
  uint64_t address = 0;
  uint64_t size = 0;
};

// A part of the file that is mapped when the program runs.
struct ElfSegment {
  uint64_t address = 0;
  uint64_t file_offset = 0;
  uint64_t file_size = 0;
  bool is_executable = false;
};

struct ElfNote {
  std::string_view owner;
  uint32_t type = 0;
  Bytes content;
};

struct ElfSection {
  uint32_t name = 0;  // where it stands among the names of sections
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0;
  uint64_t file_offset = 0;
  uint64_t size = 0;
  uint32_t link = 0;
};

// Far more than any program has. Whoever is traced writes the numbers in a file, and must not
// decide what memory and time we spend on it.
inline constexpr uint64_t kMostElfHeaders = 10'000;  // sections, or segments
inline constexpr uint64_t kMostElfSegments = 256;    // that are mapped
inline constexpr uint64_t kMostElfNoteBytes = 16 << 20;
inline constexpr uint64_t kMostSectionBytes = 256 << 20;  // read at once
inline constexpr uint64_t kMostElfSymbols = 2'000'000;
inline constexpr uint64_t kLongestElfName = 64 << 10;
inline constexpr uint64_t kMostElfNameBytes = 128 << 20;  // of all symbols, also where they share

class ElfFile {
 public:
  static constexpr const char* kDebugDirectory = "/usr/lib/debug";

  static Result<ElfFile> open(const std::string& path);
  static Result<ElfFile> read(ForeignFile file);
  // An image that is no file, such as the vdso. `name` is for messages.
  static Result<ElfFile> from_memory(std::vector<char> image, std::string name);

  const std::string& path() const { return path_; }
  // Of an image: all zeros.
  FileIdentity identity() const { return file_ ? identity_of(file_->info()) : FileIdentity(); }
  bool is_64_bit() const { return is_64_bit_; }
  uint16_t machine() const { return machine_; }  // that of the header: EM_...
  // Linked to a fixed address: addresses in the file are those of the running process.
  bool has_fixed_address() const { return has_fixed_address_; }
  const std::vector<ElfSegment>& segments() const { return segments_; }
  const std::string& build_id() const { return build_id_; }  // in hex; empty when there is none

  std::optional<uint64_t> offset_of(uint64_t address) const;
  std::optional<uint64_t> code_offset(uint64_t address) const;
  std::optional<uint64_t> address_of(uint64_t file_offset) const;
  const std::vector<ElfSection>& sections() const { return sections_; }
  std::string_view name_of(const ElfSection& section) const;
  std::optional<ElfSection> section(std::string_view name) const;
  // Its bytes as they are in the file; none when there is no such section, or it has none.
  Result<std::vector<char>> section_bytes(std::string_view name) const;
  // For libraries that want the whole image of from_memory(), without a section they must not see.
  std::span<char> image() { return image_; }
  void hide_section(std::string_view name);
  // Any bytes of the file.
  Result<std::vector<char>> bytes(uint64_t file_offset, uint64_t size) const;
  // As many of them as there are.
  std::vector<char> bytes_at(uint64_t file_offset, uint64_t most) const;

  // Functions and variables that this file defines: .symtab first, then .dynsym, so that most
  // are seen twice. Names live until the visitor returns. An error when some are left out, after
  // the others were visited.
  Status visit_symbols(const std::function<void(const ElfSymbol&)>& visit) const;
  // The same, with those of the separate debug file when this file has no .symtab of its own.
  Status visit_all_symbols(const std::function<void(const ElfSymbol&)>& visit,
                           const std::string& debug_directory = kDebugDirectory) const;
  // Of all that names of addresses come from. Not the build id alone: it is the same for programs
  // that differ in names only. None when that is too much to read for it.
  std::optional<uint64_t> hash_of_symbols() const;
  // Notes of the section of this name. Views live until the visitor returns.
  Status visit_notes(std::string_view section,
                     const std::function<void(const ElfNote&)>& visit) const;

  // All functions that can be read, or those of one name; each once, by name, and what is wrong
  // with the others.
  struct Functions {
    std::vector<UserFunction> found;
    Status status = Done{};
  };
  Functions functions(std::string_view name = {}) const;
  // A variable, for uaddr().
  std::optional<ElfSymbol> find_object(std::string_view name) const;

  bool has_symbol_table() const { return has_symbol_table_; }  // .symtab, not only .dynsym
  // Where distributions put the symbols they strip: DIRECTORY/.build-id/ab/cdef.debug
  std::string debug_path(const std::string& directory = kDebugDirectory) const;
  // That file, and those which the .gnu_debuglink of this one may mean, as far as they exist, have
  // the same build id (that of another build describes other code), and belong to root or to the
  // owner of this one.
  std::vector<std::string> debug_files(const std::string& directory = kDebugDirectory) const;

 private:
  struct SymbolReader;

  ElfFile() = default;
  uint64_t size() const { return file_ ? file_->size() : image_.size(); }
  Status read_headers();
  template <typename Class>  // the two layouts of the same structs
  Status read_headers_of();
  template <typename Class>
  Status read_segments(uint64_t offset, uint64_t count);
  template <typename Class>
  Status read_sections(uint64_t offset, uint64_t count);
  Status read_names(uint32_t names);
  Error error(const std::string& what) const;

  std::string path_;
  std::optional<ForeignFile> file_;
  std::vector<char> image_;  // without a file
  bool is_64_bit_ = true;
  bool has_fixed_address_ = false;
  bool has_symbol_table_ = false;
  uint16_t machine_ = 0;
  std::vector<ElfSegment> segments_;
  std::vector<ElfSection> sections_;
  std::vector<char> section_names_;
  uint64_t names_offset_ = 0;  // of them in the file
  std::string build_id_;
};

}  // namespace flowtap
