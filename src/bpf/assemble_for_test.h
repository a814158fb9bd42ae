#pragma once
// Programs written by hand, for tests of what comes after the compiler. For tests only.

#include <linux/bpf.h>

#include <string>
#include <utility>
#include <vector>

#include "bpf/image.h"

namespace flowtap::testing_support {

// Assembler().mov(0, 0).exit(): instructions one after the other. Numbers 0..10 are registers.
class Assembler {
 public:
  explicit Assembler(std::string name = "test", ProgramType type = ProgramType::RawTracepoint) {
    program_.name = std::move(name);
    program_.type = type;
  }

  Assembler& mov(uint8_t dst, int32_t imm) {
    return add({.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst = dst, .imm = imm});
  }
  Assembler& mov_reg(uint8_t dst, uint8_t src) {
    return add({.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst = dst, .src = src});
  }
  Assembler& add_imm(uint8_t dst, int32_t imm) {
    return add({.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst = dst, .imm = imm});
  }
  Assembler& shift_right(uint8_t dst, int32_t imm) {
    return add({.code = BPF_ALU64 | BPF_RSH | BPF_K, .dst = dst, .imm = imm});
  }
  Assembler& load64(uint8_t dst, uint8_t src, int16_t off) {
    return add({.code = BPF_LDX | BPF_MEM | BPF_DW, .dst = dst, .src = src, .off = off});
  }
  Assembler& store64(uint8_t dst, int16_t off, int32_t imm) {
    return add({.code = BPF_ST | BPF_MEM | BPF_DW, .dst = dst, .off = off, .imm = imm});
  }
  Assembler& store32(uint8_t dst, int16_t off, int32_t imm) {
    return add({.code = BPF_ST | BPF_MEM | BPF_W, .dst = dst, .off = off, .imm = imm});
  }
  Assembler& store64_reg(uint8_t dst, int16_t off, uint8_t src) {
    return add({.code = BPF_STX | BPF_MEM | BPF_DW, .dst = dst, .src = src, .off = off});
  }
  // *(u64*)(dst + off) += src, atomically.
  Assembler& atomic_add(uint8_t dst, int16_t off, uint8_t src) {
    return add({.code = BPF_STX | BPF_ATOMIC | BPF_DW,
                .dst = dst,
                .src = src,
                .off = off,
                .imm = BPF_ADD});
  }
  Assembler& call(int32_t helper) { return add({.code = BPF_JMP | BPF_CALL, .imm = helper}); }
  // Skips `count` instructions if the register is (not) the number.
  Assembler& skip_if_equal(uint8_t dst, int32_t imm, int16_t count) {
    return add({.code = BPF_JMP | BPF_JEQ | BPF_K, .dst = dst, .off = count, .imm = imm});
  }
  Assembler& skip_if_not(uint8_t dst, int32_t imm, int16_t count) {
    return add({.code = BPF_JMP | BPF_JNE | BPF_K, .dst = dst, .off = count, .imm = imm});
  }
  // The same with the lower halves of two registers.
  Assembler& skip_if_reg32_equal(uint8_t dst, uint8_t src, int16_t count) {
    return add({.code = BPF_JMP32 | BPF_JEQ | BPF_X, .dst = dst, .src = src, .off = count});
  }
  Assembler& exit() { return add({.code = BPF_JMP | BPF_EXIT}); }

  Assembler& map(uint8_t dst, int map) { return wide(dst, map, Relocation::Kind::MapFd, 0); }
  Assembler& map_value(uint8_t dst, int map, int32_t offset = 0) {
    return wide(dst, map, Relocation::Kind::MapValue, offset);
  }
  // The address of a subprogram that starts at instruction `insn`.
  Assembler& function(uint8_t dst, uint32_t insn) {
    int32_t distance = static_cast<int32_t>(insn) - static_cast<int32_t>(size()) - 1;
    add({.code = BPF_LD | BPF_DW | BPF_IMM, .dst = dst, .src = BPF_PSEUDO_FUNC, .imm = distance});
    return add({});
  }

  // A record with one 64-bit field, by way of the stack.
  Assembler& record(int ringbuf, uint32_t event, int32_t value) {
    return store64(10, -16, static_cast<int32_t>(event))
        .store64(10, -8, value)
        .map(1, ringbuf)
        .mov_reg(2, 10)
        .add_imm(2, -16)
        .mov(3, 16)
        .mov(4, 0)
        .call(BPF_FUNC_ringbuf_output);
  }
  // Leaves the program, unless the process is the one given.
  Assembler& only_process(int32_t pid) {
    return call(BPF_FUNC_get_current_pid_tgid).shift_right(0, 32).skip_if_equal(0, pid, 2).done();
  }
  // Adds one to the first number of an array map.
  Assembler& count(int map) { return mov(1, 1).map_value(2, map).atomic_add(2, 0, 1); }
  // What exit() does, but for its record.
  Assembler& set_exit_cell(int map, int32_t code) {
    return map_value(2, map).store64(2, kExitCode, code).store64(2, kExitCalled, 1);
  }
  Assembler& done() { return mov(0, 0).exit(); }

  Assembler& begin_function(std::string name) {
    program_.subprograms.push_back({std::move(name), size()});
    return *this;
  }
  Assembler& at(AttachPoint point) {
    program_.attach.push_back(std::move(point));
    return *this;
  }
  Assembler& span(Span span) {
    span_ = span;
    return *this;
  }

  uint32_t size() const { return static_cast<uint32_t>(program_.insns.size()); }
  Program& program() { return program_; }

 private:
  Assembler& add(bpf::Insn insn) {
    program_.insns.push_back(insn);
    program_.spans.push_back(span_);
    return *this;
  }
  Assembler& wide(uint8_t dst, int map, Relocation::Kind kind, int32_t offset) {
    program_.relocations.push_back({.insn = size(), .kind = kind, .map = map});
    add({.code = BPF_LD | BPF_DW | BPF_IMM, .dst = dst});
    return add({.imm = offset});
  }

  Program program_;
  Span span_;
};

inline MapDef ringbuf_map(uint32_t bytes = 65536) {
  return {.name = "events", .type = MapType::Ringbuf, .max_entries = bytes};
}
inline MapDef array_map(uint32_t value_size = 8) {
  return {.name = "numbers",
          .type = MapType::Array,
          .key_size = 4,
          .value_size = value_size,
          .max_entries = 1};
}

}  // namespace flowtap::testing_support
