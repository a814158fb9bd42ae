#pragma once
// ElfFile: the symbols, segments, notes and build id of a program or library.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/result.h"
#include "types/user_probe.h"

struct Elf;  // libelf's handle

namespace flowtap {

enum class SymbolKind : uint8_t { Function, Object };
enum class SymbolBinding : uint8_t { Local, Weak, Global };

struct ElfSymbol {
  std::string_view name;  // mangled, without the version: "memcpy", not "memcpy@@GLIBC_2.14"
  SymbolKind kind = SymbolKind::Function;
  SymbolBinding binding = SymbolBinding::Global;
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
  uint64_t address = 0;
  uint64_t file_offset = 0;
  uint64_t size = 0;
};

class ElfFile {
 public:
  static constexpr const char* kDebugDirectory = "/usr/lib/debug";

  static Result<ElfFile> open(const std::string& path);
  // An image that is no file, such as the vdso. `name` is for messages.
  static Result<ElfFile> from_memory(std::vector<char> image, std::string name);

  const std::string& path() const { return path_; }
  bool is_64_bit() const { return is_64_bit_; }
  uint16_t machine() const { return machine_; }  // EM_X86_64...
  // Linked to a fixed address: addresses in the file are those of the running process.
  bool has_fixed_address() const { return has_fixed_address_; }
  const std::vector<ElfSegment>& segments() const { return segments_; }
  const std::string& build_id() const { return build_id_; }  // in hex; empty when there is none

  std::optional<uint64_t> offset_of(uint64_t address) const;
  std::optional<uint64_t> code_offset(uint64_t address) const;
  std::optional<uint64_t> address_of(uint64_t file_offset) const;
  std::optional<ElfSection> section(std::string_view name) const;
  // Its bytes, as long as the ElfFile lives; empty when there is no such section or it has none.
  Bytes section_bytes(std::string_view name) const;

  // Functions and variables that this file defines: .symtab first, then .dynsym, so that most
  // are seen twice. Names live until the visitor returns.
  Status visit_symbols(const std::function<void(const ElfSymbol&)>& visit) const;
  // The same, with those of the separate debug file when this file has no .symtab of its own.
  Status visit_all_symbols(const std::function<void(const ElfSymbol&)>& visit,
                           const std::string& debug_directory = kDebugDirectory) const;
  // Notes of the section of this name. Views live as long as the ElfFile.
  Status visit_notes(std::string_view section,
                     const std::function<void(const ElfNote&)>& visit) const;

  // All functions, each once, by name.
  Result<std::vector<UserFunction>> functions() const;
  // A variable, for uaddr().
  std::optional<ElfSymbol> find_object(std::string_view name) const;

  bool has_symbol_table() const { return has_symbol_table_; }  // .symtab, not only .dynsym
  // Where distributions put the symbols they strip: DIRECTORY/.build-id/ab/cdef.debug
  std::string debug_path(const std::string& directory = kDebugDirectory) const;
  // That file, and those which the .gnu_debuglink of this one may mean, as far as they exist and
  // have the same build id: that of another build describes other code.
  std::vector<std::string> debug_files(const std::string& directory = kDebugDirectory) const;

 private:
  struct Close {
    void operator()(Elf* elf) const;
  };

  ElfFile() = default;
  Status read_headers(uint64_t file_size);
  Status read_segments();
  Status read_sections();
  Error error(const std::string& what) const;

  std::string path_;
  Fd fd_;
  std::vector<char> image_;
  std::unique_ptr<Elf, Close> elf_;
  bool is_64_bit_ = true;
  bool has_fixed_address_ = false;
  bool has_symbol_table_ = false;
  uint16_t machine_ = 0;
  std::vector<ElfSegment> segments_;
  std::string build_id_;
};

}  // namespace flowtap
