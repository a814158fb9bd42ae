// Unwind tables for programs; see unwind_tables.h, and types/unwind.h for the bytes. Way in: add().
//
// Rows go to the end of the last bank, and into a new one when it is full; nothing is ever taken
// away. A list of mappings is written whole to unused room before its process's entry leads there,
// so that a program sees the old list or the new one. When all room is used, every list is
// forgotten: who is still alive asks again.

#include "runtime/unwind_tables.h"

#include <bpf/bpf.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/page.h"
#include "load/maps.h"
#include "symbols/unwind_table.h"
#include "symbols/vdso.h"

namespace flowtap {

static constexpr size_t kMostWarnings = 20;

static Result<MappedMemory> map_all(int fd, size_t size) {
  return MappedMemory::open(fd, size, PROT_READ | PROT_WRITE, 0);
}

Result<UnwindTables> UnwindTables::open(const Image& image, std::span<const Fd> maps) {
  int fd = maps[static_cast<size_t>(image.unwind->mappings)].get();
  Result<MappedMemory> mappings = map_all(fd, kUnwindMappings * kUnwindMappingSize);
  if (!mappings) return mappings.error();
  return UnwindTables(image, maps, std::move(*mappings));
}

UnwindTables::UnwindTables(const Image& image, std::span<const Fd> maps, MappedMemory mappings)
    : processes_fd_(maps[static_cast<size_t>(image.unwind->processes)].get()),
      banks_fd_(maps[static_cast<size_t>(image.unwind->banks)].get()),
      bank_(image.maps[static_cast<size_t>(image.unwind->banks)]),
      mappings_(std::move(mappings)) {}

// --- files ----------------------------------------------------------------------------------

bool UnwindTables::make_room_for_rows() {
  if (rows_ < banks_.size() * kUnwindBankRows) return true;
  if (banks_.size() >= kUnwindBanks) return false;
  Result<Fd> bank = create_inner_array(bank_);
  if (!bank) return false;
  Result<MappedMemory> memory = map_all(bank->get(), kUnwindBankRows * kUnwindRowSize);
  uint32_t number = static_cast<uint32_t>(banks_.size());
  int fd = bank->get();
  if (!memory || ::bpf_map_update_elem(banks_fd_, &number, &fd, BPF_ANY) < 0) return false;
  banks_.push_back(std::move(*memory));
  return true;
}

// As many rows as the last bank has room for.
UnwindTables::Piece UnwindTables::store_piece(std::span<const UnwindRow> rows, uint64_t end) {
  uint32_t first = static_cast<uint32_t>(rows_ % kUnwindBankRows);
  size_t count = std::min<size_t>(rows.size(), kUnwindBankRows - first);
  std::span<std::byte> bank = banks_.back().bytes();
  for (size_t i = 0; i < count; i++) {
    store(bank, (first + i) * kUnwindRowSize, rows[i].address);
    store(bank, (first + i) * kUnwindRowSize + 4, rows[i].rule);
  }
  Piece piece{.begin = rows[0].address,
              .end = count < rows.size() ? rows[count].address : end,
              .row = static_cast<uint32_t>(rows_),
              .rows = static_cast<uint32_t>(count)};
  rows_ += count;
  return piece;
}

void UnwindTables::warn_of_the_end() {
  if (!std::exchange(has_left_out_, true))
    warnings_.push_back(std::string(why_reading_is_over()) +
                        ": some stacks are taken by frame pointers");
}

UnwindTables::Table UnwindTables::read_table(const ElfFile& file) {
  Table table;
  for (const ElfSegment& segment : file.segments())
    if (segment.is_executable) table.code.push_back(segment);
  Result<std::vector<UnwindRow>> rows = read_unwind_table(file);
  if (!rows && is_reading_over())
    warn_of_the_end();
  else if (!rows && warnings_.size() < kMostWarnings)
    warnings_.push_back("no unwind table for '" + file.path() + "': " + rows.error().message());
  if (!rows || rows->empty()) return table;
  uint64_t end = rows->back().address;  // its last row is that of no code
  for (std::span<const UnwindRow> rest = *rows; !rest.empty();) {
    if (!make_room_for_rows()) {
      is_full_ = true;
      break;
    }
    table.pieces.push_back(store_piece(rest, end));
    rest = rest.subspan(table.pieces.back().rows);
  }
  return table;
}

const UnwindTables::Table* UnwindTables::table_of(pid_t pid, const Mapping& mapping) {
  // A process of 32 bits has another vdso than ours.
  bool is_vdso = mapping.path == kVdso && mapping.begin > UINT32_MAX;
  if (!mapping.is_file() && !is_vdso) return nullptr;
  std::optional<FileIdentity> id = FileIdentity();
  if (!is_vdso) id = ProcessFiles(pid).identity_of_mapped(mapping);
  auto known = id ? tables_.find(*id) : tables_.end();
  if (known != tables_.end()) return &known->second;
  if (!is_reading_over()) return load_table(pid, mapping, id);
  warn_of_the_end();
  return nullptr;
}

const UnwindTables::Table* UnwindTables::load_table(pid_t pid, const Mapping& mapping,
                                                    const std::optional<FileIdentity>& known) {
  if (!mapping.is_file()) {
    Result<ElfFile> vdso = open_vdso();
    return vdso ? &tables_.emplace(FileIdentity(), read_table(*vdso)).first->second : nullptr;
  }
  Result<ForeignFile> file = ProcessFiles(pid).open_mapped(mapping, known);
  if (!file) return nullptr;
  auto [entry, is_new] = tables_.try_emplace(identity_of(file->info()));
  Result<ElfFile> elf = is_new ? ElfFile::read(std::move(*file)) : Error{};
  if (elf) entry->second = read_table(*elf);
  return &entry->second;
}

// --- processes ------------------------------------------------------------------------------

// The kernel maps whole pages, so a mapping may begin before the segment that it is for.
static std::optional<uint64_t> bias_of(const Mapping& mapping,
                                       const std::vector<ElfSegment>& code) {
  const uint64_t page = page_size();
  for (const ElfSegment& segment : code) {
    uint64_t first = segment.file_offset / page * page;
    if (mapping.file_offset < first ||
        mapping.file_offset >= segment.file_offset + segment.file_size)
      continue;
    return mapping.begin - (mapping.file_offset - segment.file_offset + segment.address);
  }
  return std::nullopt;
}

std::vector<UnwindTables::Entry> UnwindTables::entries_of(pid_t pid) {
  ReadingOfOthers reading;
  std::vector<Entry> entries;
  for (const Mapping& mapping : ProcessFiles(pid).executable_mappings()) {
    if (entries.size() >= kMostUnwindMappings) break;
    const Table* table = table_of(pid, mapping);
    std::optional<uint64_t> bias = table ? bias_of(mapping, table->code) : std::nullopt;
    if (!bias) continue;
    for (const Piece& piece : table->pieces) {
      Entry entry{.begin = std::max(mapping.begin, piece.begin + *bias),
                  .end = std::min(mapping.end, piece.end + *bias),
                  .bias = *bias,
                  .row = piece.row,
                  .rows = piece.rows};
      if (entry.begin < entry.end && entries.size() < kMostUnwindMappings) entries.push_back(entry);
    }
  }
  return entries;
}

void UnwindTables::forget_processes() {
  for (const auto& [pid, known] : known_) {
    uint32_t key = static_cast<uint32_t>(pid);
    ::bpf_map_delete_elem(processes_fd_, &key);
  }
  known_.clear();
  used_ = 0;
}

uint32_t UnwindTables::place(const std::vector<Entry>& entries) {
  if (entries.size() > kUnwindMappings - used_) forget_processes();
  uint32_t first = used_;
  for (const Entry& entry : entries) {
    std::span<std::byte> to = mappings_.bytes().subspan(used_++ * kUnwindMappingSize);
    store(to, 0, entry.begin);
    store(to, kUnwindEnd, entry.end);
    store(to, kUnwindBias, entry.bias);
    store(to, kUnwindFirst, entry.row);
    store(to, kUnwindRows, entry.rows);
  }
  return first;
}

bool UnwindTables::add(pid_t pid, std::optional<ProcessLayout> layout) {
  // Before the mappings: if it calls exec in between, the program sees that the list is not its.
  if (!layout) layout = ProcessFiles(pid).layout();
  std::vector<Entry> entries = entries_of(pid);
  if (entries.empty()) return false;
  auto known = known_.find(pid);
  if (known == known_.end() || known->second.entries != entries) {
    uint32_t first = place(entries);
    known = known_.insert_or_assign(pid, Known{first, std::move(entries)}).first;
  }
  std::byte value[kUnwindProcessSize] = {};
  store<uint32_t>(value, 0, known->second.first);
  store<uint32_t>(value, kUnwindMappingCount, static_cast<uint32_t>(known->second.entries.size()));
  store<uint64_t>(value, kUnwindStackStart, layout->stack_start);
  store<uint64_t>(value, kUnwindCodeEnd, layout->code_end);
  store<uint64_t>(value, kUnwindAskedAt, clock_ns(CLOCK_MONOTONIC));
  uint32_t key = static_cast<uint32_t>(pid);
  return ::bpf_map_update_elem(processes_fd_, &key, value, BPF_ANY) == 0;
}

}  // namespace flowtap
