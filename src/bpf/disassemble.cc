// The disassembler for `-d bpf` and golden tests; see disassemble.h.

#include "bpf/disassemble.h"

#include <fmt/format.h>
#include <linux/bpf.h>

#include "bpf/helpers.h"

namespace flowtap::bpf {

static const char* size_name(uint8_t code) {
  switch (BPF_SIZE(code)) {
    case BPF_B: return "u8";
    case BPF_H: return "u16";
    case BPF_W: return "u32";
    default: return "u64";
  }
}

static const char* alu_symbol(uint8_t code) {
  switch (BPF_OP(code)) {
    case BPF_ADD: return "+=";
    case BPF_SUB: return "-=";
    case BPF_MUL: return "*=";
    case BPF_DIV: return "/=";
    case BPF_MOD: return "%=";
    case BPF_OR: return "|=";
    case BPF_AND: return "&=";
    case BPF_XOR: return "^=";
    case BPF_LSH: return "<<=";
    case BPF_RSH: return ">>=";
    case BPF_ARSH: return "s>>=";
    default: return "=";
  }
}

static const char* jump_symbol(uint8_t code) {
  switch (BPF_OP(code)) {
    case BPF_JEQ: return "==";
    case BPF_JNE: return "!=";
    case BPF_JGT: return ">";
    case BPF_JGE: return ">=";
    case BPF_JLT: return "<";
    case BPF_JLE: return "<=";
    case BPF_JSGT: return "s>";
    case BPF_JSGE: return "s>=";
    case BPF_JSLT: return "s<";
    case BPF_JSLE: return "s<=";
    default: return "&";
  }
}

static std::string alu_text(const Insn& insn) {
  char reg = BPF_CLASS(insn.code) == BPF_ALU ? 'w' : 'r';
  if (BPF_OP(insn.code) == BPF_NEG) return fmt::format("{0}{1} = -{0}{1}", reg, insn.dst);
  if (BPF_OP(insn.code) == BPF_END)
    return fmt::format("r{0} = {1}{2} r{0}", insn.dst, BPF_SRC(insn.code) == BPF_X ? "be" : "le",
                       insn.imm);
  if (BPF_SRC(insn.code) == BPF_X)
    return fmt::format("{}{} {} {}{}", reg, insn.dst, alu_symbol(insn.code), reg, insn.src);
  return fmt::format("{}{} {} {}", reg, insn.dst, alu_symbol(insn.code), insn.imm);
}

static std::string jump_text(const Insn& insn) {
  switch (BPF_OP(insn.code)) {
    case BPF_JA:
      return fmt::format("goto {:+}", BPF_CLASS(insn.code) == BPF_JMP32 ? insn.imm : insn.off);
    case BPF_EXIT: return "exit";
    case BPF_CALL:
      if (insn.src == BPF_PSEUDO_KFUNC_CALL) return fmt::format("call kfunc {}", insn.imm);
      return fmt::format("call {}", helper_name(insn.imm));
    default: break;
  }
  std::string right =
      BPF_SRC(insn.code) == BPF_X ? fmt::format("r{}", insn.src) : fmt::format("{}", insn.imm);
  return fmt::format("if r{} {} {} goto {:+}", insn.dst, jump_symbol(insn.code), right, insn.off);
}

static std::string wide_text(const Insn& insn, int32_t next_imm) {
  uint64_t value = static_cast<uint32_t>(insn.imm) |
                   static_cast<uint64_t>(static_cast<uint32_t>(next_imm)) << 32;
  if (insn.src == BPF_PSEUDO_FUNC) return fmt::format("r{} = function {:+}", insn.dst, insn.imm);
  return fmt::format("r{} = {:#x} ll", insn.dst, value);
}

std::string disassemble(const Insn& insn, int32_t next_imm) {
  const char* size = size_name(insn.code);
  switch (BPF_CLASS(insn.code)) {
    case BPF_LD: return wide_text(insn, next_imm);
    case BPF_LDX: return fmt::format("r{} = *({} *)(r{} {:+})", insn.dst, size, insn.src, insn.off);
    case BPF_ST: return fmt::format("*({} *)(r{} {:+}) = {}", size, insn.dst, insn.off, insn.imm);
    case BPF_STX:
      if (BPF_MODE(insn.code) == BPF_ATOMIC)
        return fmt::format("lock *({} *)(r{} {:+}) += r{}", size, insn.dst, insn.off, insn.src);
      return fmt::format("*({} *)(r{} {:+}) = r{}", size, insn.dst, insn.off, insn.src);
    case BPF_JMP:
    case BPF_JMP32: return jump_text(insn);
    default: return alu_text(insn);
  }
}

static std::string relocated(const Relocation& relocation, const Insn& insn, int32_t next_imm,
                             const Image& image) {
  switch (relocation.kind) {
    case Relocation::Kind::MapFd:
      return fmt::format("r{} = map {}", insn.dst,
                         image.maps[static_cast<size_t>(relocation.map)].name);
    case Relocation::Kind::MapValue:
      return fmt::format("r{} = value of {} {:+}", insn.dst,
                         image.maps[static_cast<size_t>(relocation.map)].name, next_imm);
    case Relocation::Kind::KernelSymbol:
      return fmt::format("r{} = &{}", insn.dst, relocation.symbol);
  }
  return "?";
}

std::string disassemble(const Program& program, const Image& image) {
  std::string out;
  size_t next_relocation = 0;
  for (size_t i = 0; i < program.insns.size(); i++) {
    for (const Subprogram& sub : program.subprograms)
      if (sub.insn == i) out += fmt::format("{}:\n", sub.name);
    const Insn& insn = program.insns[i];
    bool is_wide = insn.code == (BPF_LD | BPF_IMM | BPF_DW);
    int32_t next_imm = is_wide ? program.insns[i + 1].imm : 0;
    std::string text = disassemble(insn, next_imm);
    if (next_relocation < program.relocations.size() &&
        program.relocations[next_relocation].insn == i)
      text = relocated(program.relocations[next_relocation++], insn, next_imm, image);
    out += fmt::format("{:4}: {}\n", i, text);
    if (is_wide) i++;
  }
  return out;
}

}  // namespace flowtap::bpf
