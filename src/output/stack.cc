// Stack traces. Ways in: append_stack(), append_symbol(). One line per frame, by mode:
//
//           vfs_read+25                                         bpftrace: 8 blanks
//   <tab>ffffffff81f0536a vfs_read+25 (module)                  perf
//   ffffffff81f0536a                                            raw
//   135afc8c6d1b9e02356cce218bf0109c3687ad9f 0x2feb0            build id and offset in that file
//   do_syscall_64;ksys_read;vfs_read                            folded: all frames in one line
//
// The value carries the pid because user addresses mean something only within a process.

#include "output/stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "output/decode.h"
#include "types/layout.h"

namespace flowtap {

static constexpr std::string_view kFrameIndent = "        ";

namespace {

struct StackPrinter {
  std::string& out;
  const Type& type;
  const ValueContext& context;
  StackIndent indent;
  uint32_t pid = 0;

  std::optional<Symbol> symbol_of(uint64_t address) const {
    return is(type, Kind::KStack) ? context.symbolizer.kernel_symbol(address)
                                  : context.symbolizer.user_symbol(pid, address);
  }
  void name(const std::optional<Symbol>& symbol, uint64_t address) const;
  void bpftrace_frame(uint64_t address) const;
  void perf_frame(uint64_t address) const;
  void folded_frame(uint64_t address) const;
  void build_id_frame(const BuildIdFrame& frame) const;
  void frame(Bytes bytes) const;
};

void StackPrinter::name(const std::optional<Symbol>& symbol, uint64_t address) const {
  if (symbol && !symbol->name.empty())  // of a stripped binary only the file is known
    fmt::format_to(std::back_inserter(out), "{}+{}", symbol->name, symbol->offset);
  else
    fmt::format_to(std::back_inserter(out), "{:#x}", address);
}

void StackPrinter::bpftrace_frame(uint64_t address) const {
  if (indent == StackIndent::Frames) out += kFrameIndent;
  name(symbol_of(address), address);
}

void StackPrinter::perf_frame(uint64_t address) const {
  std::optional<Symbol> symbol = symbol_of(address);
  fmt::format_to(std::back_inserter(out), "\t{:x} ", address);
  name(symbol, address);
  // Every frame names its file: readers of this format drop those that do not.
  std::string_view module = !symbol                   ? "[unknown]"
                            : !symbol->module.empty() ? std::string_view(symbol->module)
                            : is(type, Kind::KStack)  ? "[kernel.kallsyms]"
                                                      : "[unknown]";
  out.append(" (").append(module).append(")");
}

// Without the offset: a flame graph is about functions.
void StackPrinter::folded_frame(uint64_t address) const {
  std::optional<Symbol> symbol = symbol_of(address);
  if (symbol && !symbol->name.empty())
    out += symbol->name;
  else if (symbol && !symbol->module.empty())
    fmt::format_to(std::back_inserter(out), "[{}]", symbol->module);
  else
    out += "[unknown]";
}

void StackPrinter::build_id_frame(const BuildIdFrame& frame) const {
  if (frame.status == BuildIdStatus::Valid) {
    for (std::byte byte : frame.build_id)
      fmt::format_to(std::back_inserter(out), "{:02x}", std::to_integer<int>(byte));
    out += ' ';
  }
  fmt::format_to(std::back_inserter(out), "{:#x}", frame.offset);
}

void StackPrinter::frame(Bytes bytes) const {
  switch (type->stack_mode) {
    case StackMode::Bpftrace: return bpftrace_frame(load<uint64_t>(bytes));
    case StackMode::Perf: return perf_frame(load<uint64_t>(bytes));
    case StackMode::Raw:
      fmt::format_to(std::back_inserter(out), "{:x}", load<uint64_t>(bytes));
      return;
    case StackMode::BuildId: return build_id_frame(decode_build_id_frame(bytes));
    case StackMode::Folded: return folded_frame(load<uint64_t>(bytes));
  }
}

}  // namespace

bool has_stack(const Type& type) {
  if (is(type, Kind::KStack) || is(type, Kind::UStack)) return true;
  return std::any_of(type->fields.begin(), type->fields.end(),
                     [](const Field& field) { return has_stack(field.type); });
}

void append_stack(std::string& out, const Type& type, Bytes bytes, const ValueContext& context,
                  StackIndent indent) {
  uint32_t frame_size =
      type->stack_mode == StackMode::BuildId ? kBuildIdFrameSize : kStackFrameSize;
  uint32_t frames = std::min(load<uint32_t>(bytes), type->stack_limit);
  StackPrinter printer{out, type, context, indent, load<uint32_t>(bytes, kStackPid)};
  if (type->stack_mode == StackMode::Folded) {
    for (uint32_t i = frames; i-- > 0;) {
      printer.frame(bytes.subspan(kStackHeader + i * frame_size, frame_size));
      if (i > 0) out += ';';
    }
    return;
  }
  out += '\n';
  for (uint32_t i = 0; i < frames; i++) {
    printer.frame(bytes.subspan(kStackHeader + i * frame_size, frame_size));
    out += '\n';
  }
}

void append_symbol(std::string& out, const Type& type, Bytes bytes, const ValueContext& context) {
  uint64_t address = load<uint64_t>(bytes);
  uint32_t known = is(type, Kind::USym) ? load<uint32_t>(bytes, kUSymName) : 0;
  if (known) {
    out += context.symbolizer.demangle(context.string_at(known - 1));
    return;
  }
  std::optional<Symbol> symbol =
      is(type, Kind::KSym)
          ? context.symbolizer.kernel_symbol(address)
          : context.symbolizer.user_symbol(load<uint32_t>(bytes, kUSymPid), address);
  if (symbol && !symbol->name.empty())
    out += symbol->name;
  else if (address == 0)
    out += '0';
  else
    fmt::format_to(std::back_inserter(out), "{:#x}", address);
}

}  // namespace flowtap
