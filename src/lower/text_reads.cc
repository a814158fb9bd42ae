// str() and buf(): strings and bytes that are read from memory, with or without a length.

#include "lower/text_reads.h"

#include <linux/bpf.h>

#include <algorithm>

#include "builtins/probes.h"
#include "types/layout.h"

namespace flowtap {

// Reads a NUL-terminated string; answers the helper's result: its length with the NUL, or an error.
// When the text fills the room, one more byte tells whether it was cut: then the last byte is kept
// too, and a string without a NUL is how readers know.
ir::Reg TextReads::read_string(Address to, uint32_t size, Operand length, Operand from,
                               AddressSpace space) {
  Reg got = b().new_reg();
  memory_.by_space(space, from, [&](AddressSpace where) {
    int64_t helper = memory_.read_helper(where, true);
    Reg result = b().call(helper, {reg(b().address_of(to)), length, from});
    b().assign(got, reg(result));
    memory_.check_read(result, helper);
    int32_t full = b().new_block(), done = b().new_block();
    b().branch(ir::Compare::Eq, reg(result), imm(size), full, done);
    b().start(full);
    Reg last = b().alu(ir::Alu::Add, from, imm(size - 1));
    b().call(memory_.read_helper(where, false),
             {reg(b().address_of(to + (size - 1))), imm(1), reg(last)});
    int32_t cut = b().new_block();
    b().branch(ir::Compare::Ne, reg(b().load(to + (size - 1), 1)), imm(0), cut, done);
    b().start(cut);
    note_site(SiteKind::StringCut, "string", imm(size));
    b().jump(done);
    b().start(done);
  });
  return got;
}

void TextReads::lower_str(const Expr& expr, const std::vector<ExprPtr>& args, Address to,
                          const Type& type) {
  bool is_worked_out = args.size() > 1 && !info(*args[1]).value;
  uint32_t size = std::min(type->size, info(expr).type->size);
  bool has_length = args.size() > 1;
  uint64_t length = has_length ? static_cast<uint64_t>(info(*args[1]).value.value_or(0)) : size;
  bool is_cut_on_purpose = has_length && !is_worked_out && length <= size;
  if (!is_scalar(type_of(*args[0]))) {  // a string or char array already
    Value text = expressions_.lower(*args[0]);
    if (is_worked_out) return copy_start(text.address, *args[1], to, type, size);
    uint64_t wanted = has_length && length > 0 ? length - 1 : length;
    uint32_t copied = static_cast<uint32_t>(std::min<uint64_t>(wanted, size));
    memory_.store({string_type(copied), {}, text.address}, to, type);
    if (is(type_of(*args[0]), Kind::Array)) memory_.end_text(to, copied);
    return;
  }
  AddressSpace space = space_behind(*args[0]);
  Operand address = expressions_.lower_scalar(*args[0]);
  Operand wanted = is_worked_out ? expressions_.lower_scalar(*args[1]) : imm(0);
  b().set_span(expr.span);
  memory_.zero(to, type->size);
  if (is_cut_on_purpose) return read_cut_string(to, imm(size), address, space);
  if (!is_worked_out) {
    read_string(to, size, imm(size), address, space);
    return;
  }
  int32_t within = b().new_block(), beyond = b().new_block(), done = b().new_block();
  branch_by_length({wanted, type_of(*args[1])}, size + 1, {done, within, beyond});
  b().start(within);
  read_cut_string(to, wanted, address, space);
  b().jump(done);
  b().start(beyond);
  read_string(to, size, imm(size), address, space);
  b().jump(done);
  b().start(done);
}

// No more of a string than the script asked for.
void TextReads::read_cut_string(Address to, Operand size, Operand from, AddressSpace space) {
  memory_.by_space(space, from, [&](AddressSpace where) {
    int64_t helper = memory_.read_helper(where, true);
    memory_.check_read(b().call(helper, {reg(b().address_of(to)), size, from}), helper);
  });
}

// The first bytes of a string in our own memory.
void TextReads::copy_start(Address from, const Expr& length, Address to, const Type& type,
                           uint32_t size) {
  Operand wanted = expressions_.lower_scalar(length);
  memory_.zero(to, type->size);
  Reg bytes = bounded_length({wanted, type_of(length)}, size + 1);
  int32_t counts_end = b().new_block(), none = b().new_block();
  b().branch(ir::Compare::Gt, reg(bytes), imm(0), counts_end, none);  // by '!=' 6.1 learns nothing
  b().start(counts_end);
  bytes = b().alu(ir::Alu::Sub, reg(bytes), imm(1));
  b().call(BPF_FUNC_probe_read_kernel,
           {reg(b().address_of(to)), reg(bytes), reg(b().address_of(from))});
  b().jump(none);
  b().start(none);
}

// Goes on at one of three places, for a length below 0, below `limit`, and beyond.
void TextReads::branch_by_length(const Length& length, uint32_t limit, const ByLength& places) {
  if (is_signed(length.type)) {
    int32_t positive = b().new_block();
    b().branch(ir::Compare::SLt, length.operand, imm(0), places.none, positive);
    b().start(positive);
  }
  b().branch(ir::Compare::Lt, length.operand, imm(limit), places.within, places.beyond);
}

// 0 to `most`, in a form that the verifier can follow. Lengths are often results of calls, which
// are negative when the call failed: there is nothing to read then.
ir::Reg TextReads::bounded_length(const Length& length, uint32_t most) {
  if (length.operand.is_imm())
    return b().constant(
        static_cast<int64_t>(std::min(static_cast<uint64_t>(length.operand.imm), uint64_t{most})));
  Reg result = b().new_reg();
  int32_t none = b().new_block(), within = b().new_block(), beyond = b().new_block(),
          done = b().new_block();
  branch_by_length(length, most + 1, {none, within, beyond});
  b().start(none);
  b().assign(result, imm(0));
  b().jump(done);
  b().start(within);
  b().assign(result, length.operand);
  b().jump(done);
  b().start(beyond);
  if (length.is_limited) note_site(SiteKind::StringCut, "buffer", imm(most));
  b().assign(result, imm(most));
  b().jump(done);
  b().start(done);
  return result;
}

// Where an address leads: a plain integer is one of the traced program, where there is one.
AddressSpace TextReads::space_behind(const Expr& address) const {
  Type type = type_of(address);
  if (is(type, Kind::Pointer)) return type->space;
  return space_of_numbers(instance_.kind);
}

// The bytes that an address leads to, or that an array or string consists of. A plain integer is an
// address of the traced program where there is one.
Location TextReads::bytes_behind(const Expr& expr) {
  Type type = type_of(expr);
  if (is_scalar(type)) {
    bool is_pointer = is(type, Kind::Pointer);
    bool is_user = probe_row(instance_.kind).has(kUserSpace);
    return {.type = is_pointer ? type->element : type,
            .space = is_pointer ? type->space
                     : is_user  ? AddressSpace::User
                                : AddressSpace::None,
            .address = ir::at(b().in_reg(expressions_.lower_scalar(expr)))};
  }
  if (std::optional<Location> location = locations_.location_of(expr)) return *location;
  uint32_t header = is(type, Kind::Buffer) ? kBufferHeader : 0;
  return {.type = type,
          .space = AddressSpace::Bpf,
          .address = expressions_.lower(expr).address + header};
}

void TextReads::lower_buf(const Expr& expr, const std::vector<ExprPtr>& args, Address to,
                          const Type& type) {
  uint32_t size = std::min(type->size, info(expr).type->size) - kBufferHeader;
  Operand wanted =
      args.size() > 1 ? expressions_.lower_scalar(*args[1]) : imm(type_of(*args[0])->size);
  memory_.zero(to, type->size);
  Location source = bytes_behind(*args[0]);
  b().set_span(expr.span);
  Type from = type_of(*args[0]);
  Reg length = bounded_length({.operand = wanted,
                               .type = args.size() > 1 ? type_of(*args[1]) : nullptr,
                               .is_limited = is_scalar(from) || from->size > size},
                              size);
  b().store(to, 4, reg(length));
  Operand address = reg(b().address_of(source.address));
  AddressSpace space = source.space == AddressSpace::Bpf || source.space == AddressSpace::Context
                           ? AddressSpace::Kernel
                           : source.space;
  memory_.by_space(space, address, [&](AddressSpace where) {
    int64_t helper = memory_.read_helper(where, false);
    memory_.check_read(
        b().call(helper, {reg(b().address_of(to + kBufferHeader)), reg(length), address}), helper);
  });
}

}  // namespace flowtap
