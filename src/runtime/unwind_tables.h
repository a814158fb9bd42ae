#pragma once
// UnwindTables: what programs search to unwind stacks without frame pointers. Filled process by
// process, when asked; the tables of a file are read once and shared.

#include <sys/types.h>

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "bpf/image.h"
#include "read/mapped_memory.h"
#include "symbols/elf_file.h"
#include "symbols/process_maps.h"
#include "types/unwind.h"

namespace flowtap {

class UnwindTables {
 public:
  // The image's maps, which live longer.
  static Result<UnwindTables> open(const Image& image, std::span<const Fd> maps);

  // Notes what the process has mapped now. False when it has gone, or nothing mapped has a table.
  // `layout` is what the program knows it by; without one, what it has now.
  bool add(pid_t pid, std::optional<ProcessLayout> layout = std::nullopt);

  uint64_t rows() const { return rows_; }
  bool is_full() const { return is_full_; }  // tables were left out for lack of room
  // Files without a table that should have one, each once, with the reason.
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }

 private:
  UnwindTables(const Image& image, std::span<const Fd> maps, MappedMemory mappings);

  // Rows of a file that lie side by side in one bank, for the addresses of the file.
  struct Piece {
    uint64_t begin = 0, end = 0;
    uint32_t row = 0, rows = 0;
  };
  struct Table {
    std::vector<Piece> pieces;
    std::vector<ElfSegment> code;
  };
  struct Entry {
    uint64_t begin = 0, end = 0, bias = 0;
    uint32_t row = 0, rows = 0;
    bool operator==(const Entry&) const = default;
  };
  struct Known {
    uint32_t first = 0;
    std::vector<Entry> entries;
  };

  std::vector<Entry> entries_of(pid_t pid);
  const Table* table_of(pid_t pid, const Mapping& mapping);
  void warn_of_the_end();  // of reading
  Table read_table(const ElfFile& file);
  const Table* load_table(pid_t pid, const Mapping& mapping,
                          const std::optional<FileIdentity>& known);
  Piece store_piece(std::span<const UnwindRow> rows, uint64_t end);
  bool make_room_for_rows();
  uint32_t place(const std::vector<Entry>& entries);
  void forget_processes();

  int processes_fd_, banks_fd_;
  MapDef bank_;
  MappedMemory mappings_;
  uint32_t used_ = 0;  // mappings
  std::map<pid_t, Known> known_;
  std::map<FileIdentity, Table> tables_;  // the vdso's is all zeros
  std::vector<std::string> warnings_;
  bool has_left_out_ = false;  // files, since reading is over
  std::vector<MappedMemory> banks_;
  uint64_t rows_ = 0;
  bool is_full_ = false;
};

}  // namespace flowtap
