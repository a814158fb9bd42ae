// Reads .eh_frame, which programs and libraries carry so that exceptions can be
// thrown through it. Way in: read_unwind_table(). The section is a list of entries:
//
//   | u32 length | u32 id | ...
//   id 0: a CIE, what several functions share: | u8 version | "zR" | code step | data step |
//         return register | length and bytes that the letters of the text ask for | instructions |
//   else: an FDE, one function; the id is the distance back to its CIE:
//         | first address | size | length and bytes of its own | instructions |
//
// The letters: R how addresses are written, P a function of the language with its own way of
// writing, L how the language's data is written, S a frame that the kernel made for a signal.
//
// Files come from anywhere: an entry that makes no sense is left out, and so is the rest of the
// section when the length of one does not fit.

#include "symbols/unwind_table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/interrupt.h"
#include "symbols/cfa_program.h"

namespace flowtap {
namespace {

// How a pointer is written: the low four bits say the form, the next three what it counts from.
constexpr uint8_t kAbsolute = 0x00, kRelative = 0x10, kFromMask = 0x70, kFormMask = 0x0f;
constexpr uint8_t kIndirect = 0x80, kOmitted = 0xff;

class SectionReader {
 public:
  SectionReader(Bytes section, uint64_t address, const UnwindRules& arch)
      : section_(section), address_(address), arch_(arch) {}

  Result<std::vector<UnwindRow>> run() {
    ByteReader in{section_};
    for (size_t entries = 0; !in.is_at_end(); entries++) {
      if (is_long()) break;
      if (entries % kEntriesBetweenLooks == 0 && is_reading_over())
        return Error{why_reading_is_over()};
      uint64_t length = in.fixed(4);
      if (length == UINT32_MAX) length = in.fixed(8);
      if (length == 0) break;
      size_t begin = in.at;
      Bytes entry = in.block(length);
      if (in.failed) break;
      take_entry(entry, begin);
    }
    if (is_long()) return Error{"its unwind information is too long"};
    return sorted();
  }

 private:
  bool is_long() const {
    return rows_.size() > kMostRows || frames_.size() > kMostFrames || executed_ > kMostExecuted;
  }

  // `begin` is where the entry's bytes begin in the section, with the id.
  void take_entry(Bytes entry, size_t begin) {
    ByteReader in{entry};
    uint64_t id = in.fixed(4);
    if (in.failed || id == 0) return;  // a CIE is read when a function names it
    if (id > begin) return;
    const std::optional<CfaFrame>& frame = frame_at(begin - id);
    if (!frame) return;
    std::optional<uint64_t> first = pointer(in, begin, frame->pointer_encoding);
    std::optional<uint64_t> size =
        pointer(in, begin, static_cast<uint8_t>(frame->pointer_encoding & kFormMask));
    if (frame->has_augmentation_data) in.block(in.uleb());
    if (in.failed || !first || !size) return;
    // Rows have room for 32 bits of an address, which is enough for all files but odd ones.
    if (*first > UINT32_MAX || *size == 0 || *size > UINT32_MAX - *first) return;
    CfaRange range{*first, *first + *size};
    executed_ += frame->initial.size() + (entry.size() - in.at);
    run_cfa_program(*frame, range, in.block(entry.size() - in.at),
                    [&](uint64_t address, uint32_t rule) { add(address, rule, true); });
    add(range.end, static_cast<uint32_t>(UnwindKind::None), false);
  }

  const std::optional<CfaFrame>& frame_at(size_t offset) {
    auto [found, is_new] = frames_.try_emplace(offset);
    if (is_new) found->second = read_frame(offset);
    return found->second;
  }

  // `offset` is where the length stands.
  std::optional<CfaFrame> read_frame(size_t offset) {
    ByteReader all{section_, offset};
    uint64_t length = all.fixed(4);
    if (length == UINT32_MAX) length = all.fixed(8);
    size_t begin = all.at;
    ByteReader in{all.block(length)};
    if (all.failed || in.fixed(4) != 0) return std::nullopt;
    uint64_t version = in.fixed(1);
    if (version != 1 && version != 3) return std::nullopt;
    std::string letters;
    while (char c = static_cast<char>(in.fixed(1))) {
      if (letters.size() >= kMostLetters) return std::nullopt;
      letters += c;
    }
    CfaFrame frame{.arch = &arch_};
    frame.code_step = in.uleb();
    frame.data_step = in.sleb();
    frame.return_register = version == 1 ? in.fixed(1) : in.uleb();
    if (!read_letters(letters, in, begin, frame) || in.failed) return std::nullopt;
    frame.initial = in.block(in.bytes.size() - in.at);
    // They are run again for every function: a file must not make us busy for hours.
    constexpr size_t kMostInitial = 512;
    if (frame.initial.size() > kMostInitial) return std::nullopt;
    return frame;
  }

  bool read_letters(std::string_view letters, ByteReader& in, size_t begin, CfaFrame& frame) {
    if (letters.empty()) return true;
    if (letters[0] != 'z') return false;
    frame.has_augmentation_data = true;
    uint64_t length = in.uleb();
    size_t end = in.at + std::min<uint64_t>(length, in.bytes.size());
    for (char letter : letters.substr(1)) {
      switch (letter) {
        case 'R': frame.pointer_encoding = static_cast<uint8_t>(in.fixed(1)); break;
        case 'L': in.fixed(1); break;
        case 'P': {
          // Only skipped, so it does not matter what it counts from or leads to.
          uint8_t encoding = static_cast<uint8_t>(in.fixed(1));
          if (encoding != kOmitted &&
              !pointer(in, begin, static_cast<uint8_t>(encoding & kFormMask)))
            return false;
          break;
        }
        case 'S': frame.is_signal = true; break;
        default: return false;
      }
    }
    if (in.failed || in.at > end) return false;
    in.at = end;
    return true;
  }

  // An address as the file has it. Nothing for ways of writing that no compiler uses here.
  std::optional<uint64_t> pointer(ByteReader& in, size_t begin, uint8_t encoding) {
    if (encoding == kOmitted || (encoding & kIndirect)) return std::nullopt;
    uint64_t here = address_ + begin + in.at;
    uint64_t value = 0;
    switch (encoding & kFormMask) {
      case 0x00:
      case 0x04:
      case 0x0c: value = in.fixed(8); break;
      case 0x01: value = in.uleb(); break;
      case 0x02: value = in.fixed(2); break;
      case 0x03: value = in.fixed(4); break;
      case 0x09: value = static_cast<uint64_t>(in.sleb()); break;
      case 0x0a: value = static_cast<uint64_t>(in.fixed_signed(2)); break;
      case 0x0b: value = static_cast<uint64_t>(in.fixed_signed(4)); break;
      default: return std::nullopt;
    }
    switch (encoding & kFromMask) {
      case kAbsolute: return value;
      case kRelative: return here + value;
      default: return std::nullopt;
    }
  }

  void add(uint64_t address, uint32_t rule, bool is_code) {
    if (!is_long()) rows_.push_back({{static_cast<uint32_t>(address), rule}, is_code});
  }

  // Where a function ends another may begin, whose row counts.
  std::vector<UnwindRow> sorted() {
    std::stable_sort(rows_.begin(), rows_.end(), [](const Added& a, const Added& b) {
      return a.row.address != b.row.address ? a.row.address < b.row.address : a.is_code < b.is_code;
    });
    std::vector<UnwindRow> out;
    for (size_t i = 0; i < rows_.size(); i++) {
      bool is_last = i + 1 == rows_.size() || rows_[i + 1].row.address != rows_[i].row.address;
      if (is_last && (out.empty() || out.back().rule != rows_[i].row.rule))
        out.push_back(rows_[i].row);
    }
    return out;
  }

  struct Added {
    UnwindRow row;
    bool is_code;
  };

  // Several times what the largest browsers have. Every function may name another description that
  // it shares, so that work is to be limited for each of them, too.
  static constexpr size_t kMostRows = 8'000'000, kMostExecuted = 512 << 20, kMostLetters = 8;
  static constexpr size_t kMostFrames = 10'000;
  static constexpr size_t kEntriesBetweenLooks = 4096;

  Bytes section_;
  uint64_t address_;
  const UnwindRules& arch_;
  size_t executed_ = 0;  // bytes of instructions
  std::vector<Added> rows_;
  std::map<size_t, std::optional<CfaFrame>> frames_;  // by where they begin
};

}  // namespace

Result<std::vector<UnwindRow>> parse_eh_frame(Bytes section, uint64_t address,
                                              const UnwindRules& arch) {
  return SectionReader(section, address, arch).run();
}

Result<std::vector<UnwindRow>> read_unwind_table(const ElfFile& file) {
  std::optional<ElfSection> section = file.section(".eh_frame");
  if (!section || !file.is_64_bit() || file.machine() != host_arch().elf_machine)
    return std::vector<UnwindRow>();
  constexpr uint64_t kMostBytes = 64 << 20;
  if (section->size > kMostBytes) return Error{"its unwind information is too long"};
  Result<std::vector<char>> bytes = file.section_bytes(".eh_frame");
  if (!bytes) return bytes.error();
  return parse_eh_frame(std::as_bytes(std::span(*bytes)), section->address, host_arch().unwind);
}

}  // namespace flowtap
