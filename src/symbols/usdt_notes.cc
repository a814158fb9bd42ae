// Finds USDT probes. The macros of <sys/sdt.h> compile to a single nop and, in the section
// .note.stapsdt, one note per nop (addresses are 4 bytes wide in 32-bit files):
//
//   0          8          16            24
//   | address  | base     | semaphore   | provider NUL name NUL arguments NUL |
//
// `base` is where the linker had put the section .stapsdt.base; tools such as prelink move the
// program without correcting its notes, so that the section's present address tells by how much.
// The semaphore is a 16-bit counter: the program skips the probe while it is 0.
// Entry point: read_usdt_probes(). What the arguments mean depends on the processor (arch/arch.h).

#include "symbols/usdt_notes.h"

#include <string>
#include <unordered_map>

#include "arch/arch.h"

namespace flowtap {

static constexpr uint32_t kUsdtNoteType = 3;
static constexpr size_t kMostProbes = 100'000;  // a note takes 32 bytes or more, a probe hundreds

struct UsdtNote {
  uint64_t address = 0, base = 0, semaphore = 0;
  std::string_view provider, name, arguments;
};

// Cuts the text before the next NUL off `rest`.
static std::string_view take_string(std::string_view& rest) {
  size_t end = rest.find('\0');
  std::string_view text = rest.substr(0, end);
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  return text;
}

static std::optional<UsdtNote> read_note(Bytes content, bool is_64_bit) {
  size_t width = is_64_bit ? 8 : 4;
  if (content.size() < 3 * width) return std::nullopt;
  auto address = [&](size_t i) {
    return static_cast<uint64_t>(load_int(content.subspan(i * width), width, false));
  };
  UsdtNote note{.address = address(0), .base = address(1), .semaphore = address(2)};
  Bytes texts = content.subspan(3 * width);
  std::string_view rest(reinterpret_cast<const char*>(texts.data()), texts.size());
  note.provider = take_string(rest);
  note.name = take_string(rest);
  note.arguments = take_string(rest);
  if (note.provider.empty() || note.name.empty()) return std::nullopt;
  return note;
}

namespace {

// Addresses of symbols. All are read when the first is asked for: there may be many probes.
class SymbolAddresses {
 public:
  explicit SymbolAddresses(const ElfFile& file) : file_(file) {}

  std::optional<uint64_t> find(std::string_view name) {
    if (!is_read_) read();
    auto found = addresses_.find(std::string(name));
    if (found == addresses_.end()) return std::nullopt;
    return found->second;
  }

 private:
  void read() {
    is_read_ = true;
    (void)file_.visit_all_symbols([&](const ElfSymbol& symbol) {
      addresses_.emplace(symbol.name, symbol.address);  // the first of a name
    });
  }

  const ElfFile& file_;
  bool is_read_ = false;
  std::unordered_map<std::string, uint64_t> addresses_;
};

}  // namespace

static std::optional<UsdtProbe> probe_of(const ElfFile& file, const UsdtNote& note,
                                         const std::optional<ElfSection>& base,
                                         SymbolAddresses& symbols) {
  UsdtProbe probe{.provider = std::string(note.provider), .name = std::string(note.name)};
  uint64_t moved = base && note.base ? base->address - note.base : 0;
  probe.address = note.address + moved;
  std::optional<uint64_t> offset = file.offset_of(probe.address);
  if (!offset) return std::nullopt;
  probe.file_offset = *offset;
  if (note.semaphore) {
    std::optional<uint64_t> semaphore = file.offset_of(note.semaphore + moved);
    // Without its semaphore the probe would be placed and never reached.
    if (!semaphore) return std::nullopt;
    probe.semaphore_offset = *semaphore;
  }
  UsdtOperandContext context{probe.address,
                             [&](std::string_view name) { return symbols.find(name); }};
  probe.args = host_arch().usdt_arguments(note.arguments, context);
  return probe;
}

Result<std::vector<UsdtProbe>> read_usdt_probes(const ElfFile& file) {
  std::vector<UsdtProbe> probes;
  std::optional<ElfSection> base = file.section(".stapsdt.base");
  SymbolAddresses symbols(file);
  Status status = file.visit_notes(".note.stapsdt", [&](const ElfNote& elf_note) {
    if (elf_note.owner != "stapsdt" || elf_note.type != kUsdtNoteType) return;
    std::optional<UsdtNote> note = read_note(elf_note.content, file.is_64_bit());
    if (!note || probes.size() >= kMostProbes) return;
    if (std::optional<UsdtProbe> probe = probe_of(file, *note, base, symbols))
      probes.push_back(*probe);
  });
  if (!status) return status.error();
  if (probes.size() >= kMostProbes)
    return Error{"'" + file.path() + "' has more than " + std::to_string(kMostProbes) + " probes"};
  return probes;
}

}  // namespace flowtap
