// Looking at one instruction as the kernel does, and as the processor does; see x86_probe_site.h.
// The names are those of Linux: good_insns_64, branch_setup_xol_ops() and what follows there.

#include "arch/x86_probe_site.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "arch/x86_length.h"

namespace flowtap {

namespace {

enum class Encoding : uint8_t { Legacy, Vex, Evex, Xop, Rex2 };

struct Instruction {
  Encoding encoding = Encoding::Legacy;
  uint8_t map = 0;  // 1: after 0f; of three-byte opcodes 2 and 3
  uint8_t opcode = 0;
  uint8_t modrm = 0;  // or whatever follows the opcode
  bool has_66 = false;
  bool extends_rm = false;  // REX.B
  uint8_t refused_prefix = 0;

  bool is_vector() const { return encoding == Encoding::Vex || encoding == Encoding::Evex; }
  uint8_t reg() const { return modrm >> 3 & 7; }
};

class Reader {
 public:
  Reader(Bytes code, bool is_64_bit) : code_(code), is_64_bit_(is_64_bit) {}

  std::optional<Instruction> read() {
    uint8_t byte = take_prefixes();
    if (is_64_bit_ && (byte & 0xf0) == 0x40) {
      found_.extends_rm = byte & 1;
      byte = next();
    }
    take_opcode(byte);
    if (is_cut_) return std::nullopt;
    found_.modrm = next();  // may be absent, as the code behind is
    return found_;
  }

 private:
  uint8_t next() {
    is_cut_ |= at_ >= code_.size();
    return is_cut_ ? 0 : static_cast<uint8_t>(code_[at_++]);
  }
  uint8_t peek() const { return at_ < code_.size() ? static_cast<uint8_t>(code_[at_]) : 0; }

  uint8_t take_prefixes() {
    for (;;) {
      uint8_t byte = next();
      switch (byte) {
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0xf0: found_.refused_prefix = byte; break;
        case 0x66: found_.has_66 = true; break;
        case 0x64:
        case 0x65:
        case 0x67:
        case 0xf2:
        case 0xf3: break;
        default: return byte;
      }
      if (is_cut_) return 0;
    }
  }

  // In 32-bit code these prefixes are instructions of their own when their operand is in memory.
  bool begins_vector() const { return is_64_bit_ || peek() >= 0xc0; }

  void take_opcode(uint8_t byte) {
    found_.opcode = byte;
    if (byte == 0x0f) return take_two_byte_opcode();
    if (byte == 0xc5 && begins_vector()) return take_vector(Encoding::Vex, 1, 1);
    if (byte == 0xc4 && begins_vector()) return take_vector(Encoding::Vex, peek() & 0x1f, 2);
    if (byte == 0x62 && begins_vector()) return take_vector(Encoding::Evex, peek() & 7, 3);
    if (byte == 0x8f && (peek() & 0x1f) >= 8) return take_vector(Encoding::Xop, peek() & 0x1f, 2);
    if (byte == 0xd5 && is_64_bit_) found_.encoding = Encoding::Rex2;
  }

  void take_two_byte_opcode() {
    found_.map = 1;
    found_.opcode = next();
    if (found_.opcode != 0x38 && found_.opcode != 0x3a) return;
    found_.map = found_.opcode == 0x38 ? 2 : 3;
    found_.opcode = next();
  }

  void take_vector(Encoding encoding, uint8_t map, int more) {
    found_.encoding = encoding;
    found_.map = map;
    for (int i = 0; i < more; i++) next();
    found_.opcode = next();
  }

  Bytes code_;
  bool is_64_bit_;
  size_t at_ = 0;
  bool is_cut_ = false;
  Instruction found_;
};

// --- what the kernel makes of an opcode ---------------------------------------------------------

bool is_among(uint8_t opcode, std::string_view list) {
  return list.find(static_cast<char>(opcode)) != list.npos;
}

bool is_short_jump(uint8_t opcode) { return opcode >= 0x70 && opcode <= 0x7f; }

// branch_setup_xol_ops() emulates the first; the others are executed elsewhere, but afterwards the
// flags (popf) or the instruction pointer (returns, calls and jumps) are not set right.
bool is_taken_for_another(const Instruction& found) {
  bool is_indirect_branch = found.opcode == 0xff && found.reg() >= 2 && found.reg() <= 5;
  return is_short_jump(found.opcode) || is_indirect_branch ||
         is_among(found.opcode, "\x90\xe8\xe9\xeb\x9d\xc2\xc3\xca\xcb");
}

// The zeros of good_insns_64 and good_insns_32.
bool is_refused_opcode(uint8_t opcode, bool is_64_bit) {
  using namespace std::string_view_literals;
  constexpr auto kInBoth =
      "\x07\x17\x1f\x6c\x6d\x6e\x6f\xcc\xcd\xce\xcf\xe4\xe5\xe6\xe7\xec\xed\xee\xef\xf1\xf4\xfa\xfb"sv;
  constexpr auto kIn64 = "\x06\x0e\x16\x1e\x27\x2f\x37\x3f\x60\x61\x62\x82\x9a\xd4\xd5\xd6\xea"sv;
  return is_among(opcode, kInBoth) || (is_64_bit && is_among(opcode, kIn64));
}

// insn_masking_exception()
bool is_taken_for_mov_to_ss(const Instruction& found) {
  return found.opcode == 0x8e && found.reg() == 2;
}

// --- names --------------------------------------------------------------------------------------

struct Name {
  uint8_t map, opcode;
  std::string_view text;
};

constexpr Name kLegacyNames[] = {
    {0, 0x6c, "ins"},      {0, 0x6d, "ins"},      {0, 0x6e, "outs"},  {0, 0x6f, "outs"},
    {0, 0x8e, "mov %ss"},  {0, 0x90, "xchg %r8"}, {0, 0x9c, "pushf"}, {0, 0xcc, "int3"},
    {0, 0xcd, "int"},      {0, 0xce, "into"},     {0, 0xcf, "iret"},  {0, 0xe4, "in"},
    {0, 0xe5, "in"},       {0, 0xe6, "out"},      {0, 0xe7, "out"},   {0, 0xec, "in"},
    {0, 0xed, "in"},       {0, 0xee, "out"},      {0, 0xef, "out"},   {0, 0xf1, "int1"},
    {0, 0xf4, "hlt"},      {0, 0xfa, "cli"},      {0, 0xfb, "sti"},   {1, 0x05, "syscall"},
    {1, 0x34, "sysenter"},
};

// With VEX and EVEX. Several of one opcode differ in what they work on.
constexpr Name kVectorNames[] = {
    {1, 0x16, "vmovhps"},      {1, 0x17, "vmovhps"},      {1, 0x2f, "vcomiss"},
    {1, 0x60, "vpunpcklbw"},   {1, 0x61, "vpunpcklwd"},   {1, 0x62, "vpunpckldq"},
    {1, 0x6c, "vpunpcklqdq"},  {1, 0x6d, "vpunpckhqdq"},  {1, 0x6e, "vmovd"},
    {1, 0x6f, "vmovdqu"},      {1, 0x70, "vpshuf"},       {1, 0x71, "vector shift"},
    {1, 0x72, "vector shift"}, {1, 0x73, "vector shift"}, {1, 0x74, "vpcmpeqb"},
    {1, 0x75, "vpcmpeqw"},     {1, 0x76, "vpcmpeqd"},     {1, 0x77, "vzeroupper"},
    {1, 0x7c, "vhaddp"},       {1, 0x7d, "vhsubp"},       {1, 0x7e, "vmovd"},
    {1, 0x7f, "vmovdqu"},      {1, 0x90, "kmov"},         {1, 0xc2, "vcmp"},
    {1, 0xd4, "vpaddq"},       {1, 0xd5, "vpmullw"},      {1, 0xd6, "vmovq"},
    {1, 0xe4, "vpmulhuw"},     {1, 0xe5, "vpmulhw"},      {1, 0xe6, "vcvt"},
    {1, 0xe7, "vmovnt"},       {1, 0xe8, "vpsubsb"},      {1, 0xe9, "vpsubsw"},
    {1, 0xea, "vpminsw"},      {1, 0xeb, "vpor"},         {1, 0xec, "vpaddsb"},
    {1, 0xed, "vpaddsw"},      {1, 0xee, "vpmaxsw"},      {1, 0xef, "vpxor"},
    {1, 0xf1, "vpsllw"},       {1, 0xf4, "vpmuludq"},     {1, 0xfa, "vpsubd"},
    {1, 0xfb, "vpsubq"},       {2, 0x78, "vpbroadcastb"}, {2, 0x79, "vpbroadcastw"},
    {2, 0x7a, "vpbroadcastb"}, {2, 0x7b, "vpbroadcastw"}, {2, 0x7c, "vpbroadcastd"},
    {2, 0x90, "vpgatherd"},    {2, 0x9d, "vfnmadd132s"},  {3, 0xc2, "vcmp"},
};

std::string_view encoding_name(Encoding encoding) {
  switch (encoding) {
    case Encoding::Legacy: return "";
    case Encoding::Vex: return ", VEX-encoded";
    case Encoding::Evex: return ", EVEX-encoded";
    case Encoding::Xop: return ", XOP-encoded";
    case Encoding::Rex2: return ", REX2-encoded";
  }
  return "";
}

std::string name_of(const Instruction& found) {
  auto is_it = [&](const Name& n) { return n.map == found.map && n.opcode == found.opcode; };
  auto text = [&](const auto& names) -> std::string {
    auto name = std::find_if(std::begin(names), std::end(names), is_it);
    return name != std::end(names)
               ? std::string(name->text)
               : fmt::format("opcode {:#04x} of map {}", found.opcode, found.map);
  };
  std::string name = found.is_vector() ? text(kVectorNames) : text(kLegacyNames);
  return name + std::string(encoding_name(found.encoding));
}

ProbeSiteProblem changed(const Instruction& found) { return {true, name_of(found)}; }
ProbeSiteProblem refused(std::string what) { return {false, std::move(what)}; }

// --- the two kinds of instructions --------------------------------------------------------------

std::optional<ProbeSiteProblem> problem_of_vector(const Instruction& found, bool is_64_bit) {
  if (is_taken_for_another(found)) return changed(found);
  if (is_taken_for_mov_to_ss(found)) return refused(name_of(found));
  if (is_refused_opcode(found.opcode, is_64_bit)) return refused(name_of(found));
  return std::nullopt;
}

// SLDT, STR, SGDT, SIDT and SMSW, which Linux does for programs that may not execute them.
bool is_done_by_kernel(const Instruction& found) {
  if (found.map != 1) return false;
  if (found.opcode == 0x00) return found.reg() <= 1;
  bool is_in_memory = found.modrm < 0xc0;
  return found.opcode == 0x01 && (found.reg() == 4 || (found.reg() <= 1 && is_in_memory));
}

bool is_16_bit_branch(const Instruction& found) {
  bool is_near = found.map == 1 && found.opcode >= 0x80 && found.opcode <= 0x8f;
  bool is_short =
      found.map == 0 && (is_short_jump(found.opcode) || is_among(found.opcode, "\xe8\xe9\xeb"));
  return found.has_66 && (is_near || is_short);
}

std::optional<ProbeSiteProblem> problem_of_legacy(const Instruction& found, bool is_64_bit) {
  bool is_one_byte = found.map == 0;
  // `nop` with REX.B exchanges two registers.
  if (is_one_byte && found.opcode == 0x90 && found.extends_rm) return changed(found);
  // The flags that it saves have the bit by which the kernel executes the copy alone; restored
  // later, it kills the program.
  if (is_one_byte && found.opcode == 0x9c) return changed(found);
  // The kernel comes back behind the copy and executes what follows there too.
  bool is_system_call = found.map == 1 && (found.opcode == 0x05 || found.opcode == 0x34);
  if (is_system_call || is_done_by_kernel(found)) return changed(found);
  if (is_16_bit_branch(found)) return refused("branch with prefix 0x66");
  bool is_refused = is_taken_for_mov_to_ss(found) || is_refused_opcode(found.opcode, is_64_bit);
  if (is_one_byte && is_refused) return refused(name_of(found));
  return std::nullopt;
}

// 32-bit programs are left as they are.
bool is_long_nop(Bytes code, const Instruction& found) {
  bool is_nop = (found.map == 0 && found.opcode == 0x90) ||
                (found.map == 1 && found.opcode == 0x1f && found.reg() == 0);
  return found.encoding == Encoding::Legacy && is_nop && x86_instruction_length(code) == 5;
}

}  // namespace

std::optional<ProbeSiteProblem> x86_probe_site_problem(const ProbeSite& site) {
  bool is_64_bit = site.elf_machine == EM_X86_64;
  if (!is_64_bit && site.elf_machine != EM_386) return std::nullopt;
  std::optional<Instruction> found = Reader(site.code, is_64_bit).read();
  if (!found) return std::nullopt;
  bool becomes_call = is_64_bit && site.kernel_calls_long_nops && !site.begins_function;
  if (becomes_call && is_long_nop(site.code, *found))
    return ProbeSiteProblem{true, "nop of 5 bytes"};
  if (found->refused_prefix == 0xf0) return refused("lock prefix");
  if (found->refused_prefix)
    return refused(fmt::format("segment prefix {:#04x}", found->refused_prefix));
  switch (found->encoding) {
    case Encoding::Legacy: return problem_of_legacy(*found, is_64_bit);
    case Encoding::Vex:
    case Encoding::Evex: return problem_of_vector(*found, is_64_bit);
    // Kernels know little of these, and differ: some take XOP for `pop`. Processors that have them
    // are rare, so that nobody could try.
    case Encoding::Xop:
    case Encoding::Rex2: return changed(*found);
  }
  return std::nullopt;
}

}  // namespace flowtap
