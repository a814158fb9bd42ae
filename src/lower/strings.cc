// Strings, buffers, stacks and addresses: values that live in memory.

#include "lower/strings.h"

#include <linux/bpf.h>

#include <algorithm>
#include <cstring>

#include "lower/name_tables.h"
#include "types/layout.h"

namespace flowtap {

// Goes to `different` at the first difference.
void Strings::equal_memory(Address left, Address right, uint32_t size, int32_t different) {
  memory_.in_steps({left, right}, size, [&](uint32_t at, uint32_t step) {
    int32_t next = b().new_block();
    b().branch(ir::Compare::Eq, reg(b().load(left + at, step)), reg(b().load(right + at, step)),
               next, different);
    b().start(next);
  });
}

// The literal and its NUL against as many bytes of the text.
ir::Operand Strings::equal_bytes(const Value& text, const std::string& literal) {
  uint32_t size = static_cast<uint32_t>(literal.size() + 1);
  bool fills = literal.size() == text.type->size;  // no room for the NUL: the storage is full
  if (literal.size() > text.type->size) return imm(0);
  if (fills) size--;
  std::string bytes = literal + '\0';
  Reg result = b().new_reg();
  int32_t different = b().new_block(), done = b().new_block();
  memory_.in_steps({text.address}, size, [&](uint32_t at, uint32_t step) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, step);
    int32_t next = b().new_block();
    b().branch(ir::Compare::Eq, reg(b().load(text.address + at, step)),
               imm(static_cast<int64_t>(word)), next, different);
    b().start(next);
  });
  b().assign(result, imm(1));
  b().jump(done);
  b().start(different);
  b().assign(result, imm(0));
  b().jump(done);
  b().start(done);
  return reg(result);
}

// Both sides in one layout, then byte by byte: values are stored without stray bytes.
ir::Operand Strings::compare_values(const Value& left, const Value& right) {
  bool is_text = is(left.type, Kind::String);
  uint32_t size = is_text ? std::max(left.type->size, right.type->size) : left.type->size;
  Type common = is_text                               ? string_type(size)
                : left.type->size >= right.type->size ? left.type
                                                      : right.type;
  auto in_layout = [&](const Value& value) {
    if (value.type->size == common->size && !is(common, Kind::Tuple) && !is(common, Kind::Record))
      return value.address;
    Address room = memory_.temp(common->size);
    memory_.store(value, room, common);
    return room;
  };
  Address a = in_layout(left), c = in_layout(right);
  Reg result = b().new_reg();
  int32_t different = b().new_block(), done = b().new_block();
  equal_memory(a, c, common->size, different);
  b().assign(result, imm(1));
  b().jump(done);
  b().start(different);
  b().assign(result, imm(0));
  b().jump(done);
  b().start(done);
  return reg(result);
}

// The helper that reads strings also measures them: it copies our own memory onto a spare room.
Value Strings::lower_strlen(const Expr& arg) {
  if (info(arg).text)
    return scalar(int_type(8, false), imm(static_cast<int64_t>(info(arg).text->size())));
  Value text = expressions_.lower(arg);
  uint32_t size = text.type->size + 1;  // one more, so that a cut string is measured whole
  Address room = memory_.temp(size);
  Address copied = memory_.temp(size);
  memory_.copy(copied, text.address, text.type->size);
  b().store(copied + text.type->size, 1, imm(0));
  Reg with_nul = b().call(BPF_FUNC_probe_read_kernel_str,
                          {reg(b().address_of(room)), imm(size), reg(b().address_of(copied))});
  return scalar(int_type(8, false), reg(b().alu(ir::Alu::Sub, reg(with_nul), imm(1))));
}

Value Strings::lower_strncmp(const std::vector<ExprPtr>& args) {
  uint32_t n = static_cast<uint32_t>(*info(*args[2]).value);
  Value left = expressions_.lower(*args[0]), right = expressions_.lower(*args[1]);
  Reg result = b().new_reg();
  int32_t different = b().new_block(), same = b().new_block(), done = b().new_block();
  uint32_t most = std::min({n, std::max(left.type->size, right.type->size)});
  for (uint32_t i = 0; i < most; i++) {
    Operand x = i < left.type->size ? reg(b().load(left.address + i, 1)) : imm(0);
    Operand y = i < right.type->size ? reg(b().load(right.address + i, 1)) : imm(0);
    int32_t equal = b().new_block(), next = b().new_block();
    b().branch(ir::Compare::Eq, x, y, equal, different);
    b().start(equal);
    b().branch(ir::Compare::Eq, x, imm(0), same, next);
    b().start(next);
  }
  b().jump(same);
  b().start(same);
  b().assign(result, imm(0));
  b().jump(done);
  b().start(different);
  b().assign(result, imm(1));
  b().jump(done);
  b().start(done);
  return scalar(int_type(8, true), reg(result));
}

ir::Address Strings::bytes_of(const Expr& expr, uint32_t size) {
  Type type = type_of(expr);
  Address room = memory_.temp(size);
  if (is(type, Kind::Pointer)) {
    Location from{.type = type->element,
                  .space = type->space,
                  .address = ir::at(b().in_reg(expressions_.lower_scalar(expr)))};
    memory_.read_bytes(room, size, from);
    return room;
  }
  Address from = expressions_.lower(expr).address;
  uint32_t header = is(type, Kind::Buffer) ? kBufferHeader : 0;
  uint32_t have = std::min(size, type->size - header);
  memory_.copy(room, from + header, have);
  if (have < size) memory_.zero(room + have, size - have);
  return room;
}

// Unlike strncmp() it does not stop at a NUL.
Value Strings::lower_memcmp(const std::vector<ExprPtr>& args) {
  uint32_t size = static_cast<uint32_t>(*info(*args[2]).value);
  Reg result = b().new_reg();
  b().assign(result, imm(0));
  if (size == 0) return scalar(int_type(8, true), reg(result));
  Address left = bytes_of(*args[0], size), right = bytes_of(*args[1], size);
  int32_t different = b().new_block(), done = b().new_block();
  equal_memory(left, right, size, different);
  b().jump(done);
  b().start(different);
  b().assign(result, imm(1));
  b().jump(done);
  b().start(done);
  return scalar(int_type(8, true), reg(result));
}

// The second part is put where the first one ends, and the result takes as much of both as it has
// room for: text that fills its room is known to be cut.
void Strings::lower_str_concat(const std::vector<ExprPtr>& args, Address to, const Type& type) {
  Value left = expressions_.lower(*args[0]), right = expressions_.lower(*args[1]);
  uint32_t first = left.type->size, second = right.type->size;
  Type whole = string_type(first + second);
  Address both = memory_.temp(whole->size), measured = memory_.temp(first + 1);
  memory_.store(left, both, whole);
  Reg with_nul =
      b().call(BPF_FUNC_probe_read_kernel_str,
               {reg(b().address_of(measured)), imm(first + 1), reg(b().address_of(both))});
  Reg length = b().alu(ir::Alu::Sub, reg(with_nul), imm(1));
  int32_t append = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Le, reg(length), imm(first), append, done);
  b().start(append);
  Reg end = b().alu(ir::Alu::Add, reg(b().address_of(both)), reg(length));
  b().call(BPF_FUNC_probe_read_kernel, {reg(end), imm(second), reg(b().address_of(right.address))});
  b().jump(done);
  b().start(done);
  memory_.store({whole, {}, both}, to, type);
}

// Looks for the wanted text at one position; the loop's context is one word, the position found.
void Strings::search_here(const Search& in) {
  Reg index = b().param(0), context = b().param(1);
  int32_t inside = b().new_block(), miss = b().new_block(), hit = b().new_block();
  Reg position = b().extend(reg(index), 4, false);
  b().branch(ir::Compare::Lt, reg(position), imm(in.positions), inside, miss);
  b().start(inside);
  Reg text = b().alu(ir::Alu::Add, reg(b().address_of(in.text)), reg(position));
  for (uint32_t i = 0; i < in.length; i++) {
    Reg want = b().load(in.wanted + i, 1);
    int32_t compare = b().new_block(), next = b().new_block();
    b().branch(ir::Compare::Eq, reg(want), imm(0), hit, compare);
    b().start(compare);
    b().branch(ir::Compare::Eq, reg(want), reg(b().load(ir::at(text, static_cast<int32_t>(i)), 1)),
               next, miss);
    b().start(next);
  }
  b().jump(hit);
  b().start(hit);
  b().store(ir::at(context), 8, reg(position));
  b().ret(imm(1));
  b().start(miss);
  b().ret(imm(0));
}

// Tries every position of the haystack in a loop that the kernel runs. Both strings are copied to
// shared memory, where the loop body finds them; its context is one word, the position found.
Value Strings::lower_search(const Expr& expr, const std::vector<ExprPtr>& args, bool wants_index) {
  Value haystack = expressions_.lower(*args[0]), needle = expressions_.lower(*args[1]);
  uint32_t h = haystack.type->size, n = needle.type->size;
  Address room = ir::in_slot(b().new_slot(h + n, ir::Place::Scratch));
  Address wanted = ir::in_slot(b().new_slot(n, ir::Place::Scratch));
  memory_.store(haystack, room, string_type(h + n));
  memory_.store(needle, wanted, string_type(n));
  Address found = ir::in_slot(b().new_slot(8, ir::Place::Stack));
  b().store(found, 8, imm(-1));

  int32_t number = code_.add_function("_search", 2, [&] {
    b().set_span(expr.span);
    search_here({room, h, wanted, n});
  });
  b().call(BPF_FUNC_loop, {imm(h), reg(b().callback(number)), reg(b().address_of(found)), imm(0)});
  Reg result = b().load(found, 8);
  if (wants_index) return scalar(int_type(8, true), reg(result));
  Reg negative = b().alu(ir::Alu::Shr, reg(result), imm(63));
  return scalar(bool_type(), reg(b().alu(ir::Alu::Xor, reg(negative), imm(1))));
}

// A table of names in an array map, one fixed-size entry per number; the last says "unknown".
void Strings::lower_name(const Expr& arg, Fn which, Address to) {
  const NameTable table = name_table(which, arch());
  int map = image_.constant_table(table.map_name, table.bytes);
  Operand number = expressions_.lower_scalar(arg);
  Reg index = b().new_reg();
  int32_t known = b().new_block(), unknown = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Lt, number, imm(table.entries), known, unknown);
  b().start(unknown);
  b().assign(index, imm(table.entries));
  b().jump(done);
  b().start(known);
  b().assign(index, number);
  b().jump(done);
  b().start(done);
  Reg entry = b().alu(ir::Alu::Add, reg(b().map_value(map)),
                      reg(b().alu(ir::Alu::Mul, reg(index), imm(kNameSize))));
  memory_.copy(to, ir::at(entry), kNameSize);
}

}  // namespace flowtap
