// Strings, buffers, stacks and addresses: values that live in memory.

#include <arpa/inet.h>
#include <linux/bpf.h>

#include <algorithm>
#include <cstring>

#include "base/ip_prefix.h"
#include "builtins/probes.h"
#include "lower/lowering.h"
#include "lower/name_tables.h"
#include "types/layout.h"

namespace flowtap {

void Lowering::store_text(Address to, uint32_t size, const std::string& text) {
  std::string bytes = text.substr(0, size);
  bytes.resize(size, '\0');
  uint32_t written = std::min<uint32_t>(size, static_cast<uint32_t>((text.size() + 8) / 8 * 8));
  in_steps({to}, written, [&](uint32_t at, uint32_t step) {
    int64_t word = 0;
    std::memcpy(&word, bytes.data() + at, step);
    if (step == 4) word = static_cast<int32_t>(word);
    b().store(to + at, step, imm(word));
  });
  if (written < size) zero(to + written, size - written);
}

Value Lowering::text_value(const std::string& text) {
  uint32_t size = static_cast<uint32_t>(text.size() + 1);
  Address to = temp(size);
  store_text(to, size, text);
  return memory(string_type(size), to);
}

// Goes to `different` at the first difference.
void Lowering::equal_memory(Address left, Address right, uint32_t size, int32_t different) {
  in_steps({left, right}, size, [&](uint32_t at, uint32_t step) {
    int32_t next = b().new_block();
    b().branch(ir::Compare::Eq, reg(b().load(left + at, step)), reg(b().load(right + at, step)),
               next, different);
    b().start(next);
  });
}

// The literal and its NUL against as many bytes of the text.
ir::Operand Lowering::equal_bytes(const Value& text, const std::string& literal) {
  uint32_t size = static_cast<uint32_t>(literal.size() + 1);
  bool fills = literal.size() == text.type->size;  // no room for the NUL: the storage is full
  if (literal.size() > text.type->size) return imm(0);
  if (fills) size--;
  std::string bytes = literal + '\0';
  Reg result = b().new_reg();
  int32_t different = b().new_block(), done = b().new_block();
  in_steps({text.address}, size, [&](uint32_t at, uint32_t step) {
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
ir::Operand Lowering::compare_values(const Value& left, const Value& right) {
  bool is_text = is(left.type, Kind::String);
  uint32_t size = is_text ? std::max(left.type->size, right.type->size) : left.type->size;
  Type common = is_text                               ? string_type(size)
                : left.type->size >= right.type->size ? left.type
                                                      : right.type;
  auto in_layout = [&](const Value& value) {
    if (value.type->size == common->size && !is(common, Kind::Tuple) && !is(common, Kind::Record))
      return value.address;
    Address room = temp(common->size);
    store(value, room, common);
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

//   | u32 frames | u32 pid | u64 frames ... |   the helper zeroes what it does not fill
void Lowering::lower_stack(const Expr& expr, Address to) {
  const Type& type = info(expr).type;
  bool is_user = is(type, Kind::UStack);
  bool by_build_id = type->stack_mode == StackMode::BuildId;
  uint32_t frame = by_build_id ? kBuildIdFrameSize : kStackFrameSize;
  uint32_t room = type->stack_limit * frame;
  if (room == 0) {  // kstack(0): a script that was asked for none
    zero(to, kStackHeader);
    return;
  }
  // Linux 6.1 wants it to have been written, for raw tracepoints and where it may lie on the stack.
  if (room <= 128) zero(to + kStackHeader, room);
  int64_t flags = (is_user ? BPF_F_USER_STACK : 0) | (by_build_id ? BPF_F_USER_BUILD_ID : 0);
  Reg bytes = b().call(BPF_FUNC_get_stack,
                       {reg(ctx()), reg(b().address_of(to + kStackHeader)), imm(room), imm(flags)});
  Reg count = b().new_reg();
  int32_t failed = b().new_block(), good = b().new_block(), done = b().new_block();
  // Linux 6.1 has no kernel stack at the tracepoints of system calls, and says so by giving none. A
  // sample has none when it was taken in user mode.
  bool may_be_empty = is_user || instance_.program == ProgramType::PerfEvent;
  b().branch(may_be_empty ? ir::Compare::SLt : ir::Compare::SLe, reg(bytes), imm(0), failed, good);
  b().start(failed);
  if (!is_user) note_site(SiteKind::StackLost, "kstack", reg(bytes));
  b().assign(count, imm(0));
  b().jump(done);
  b().start(good);
  b().assign(count, reg(b().alu(ir::Alu::Div, reg(bytes), imm(frame))));
  b().jump(done);
  b().start(done);
  b().store(to, 4, reg(count));
  Operand pid = imm(0);
  if (is_user) pid = lower_pid({}, false);
  b().store(to + kStackPid, 4, pid);
  if (is_user && !by_build_id && type->stack_mode != StackMode::Raw) note_process(pid);
}

//   | u32 4 or 16 | u32 0 | 16 bytes |
void Lowering::lower_ntop(const std::vector<ExprPtr>& args, Address to) {
  const Expr& address = *args.back();
  Type from = type_of(address);
  zero(to, kInetSize);
  if (is_integer(from)) {
    b().store(to, 4, imm(4));
    b().store(to + kInetAddress, 4, lower_scalar(address));
    return;
  }
  bool has_family = args.size() > 1;
  Operand family = has_family ? lower_scalar(*args[0]) : imm(0);
  Location source = bytes_behind(address);
  auto take = [&](uint32_t size) {
    b().store(to, 4, imm(size));
    read_bytes(to + kInetAddress, size, source);
  };
  if (!has_family || source.type->size == 4) return take(source.type->size);
  int32_t is_short = b().new_block(), is_long = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Eq, family, imm(AF_INET), is_short, is_long);
  b().start(is_short);
  take(4);
  b().jump(done);
  b().start(is_long);
  take(source.type->size);
  b().jump(done);
  b().start(done);
}

// IPv6 sockets that talk IPv4 have it in the last word, behind two of zeros and 0000ffff.
Value Lowering::lower_in_prefix(const std::vector<ExprPtr>& args) {
  IpPrefix prefix = *parse_prefix(*info(*args[1]).text);
  Address address = lower(*args[0]).address;
  int32_t yes = b().new_block(), no = b().new_block();
  auto demand = [&](uint32_t word, uint32_t mask, uint32_t wanted) {
    if (!mask) return;
    Reg bits = b().load(address + kInetAddress + word * 4, 4);
    if (mask != UINT32_MAX) bits = b().alu(ir::Alu::And, reg(bits), imm(mask));
    int32_t next = b().new_block();
    b().branch(ir::Compare::Eq, reg(bits), imm(wanted), next, no);
    b().start(next);
  };
  int32_t is_long = b().new_block(), is_short = b().new_block();
  b().branch(ir::Compare::Eq, reg(b().load(address, 4)), imm(16), is_long, is_short);
  b().start(is_short);
  if (prefix.words == 1) demand(0, prefix.mask[0], prefix.network[0]);
  b().jump(prefix.words == 1 ? yes : no);
  b().start(is_long);
  if (prefix.words == 1) {
    demand(0, UINT32_MAX, 0);
    demand(1, UINT32_MAX, 0);
    demand(2, UINT32_MAX, htonl(0xffff));
    demand(3, prefix.mask[0], prefix.network[0]);
  } else {
    for (uint32_t i = 0; i < 4; i++) demand(i, prefix.mask[i], prefix.network[i]);
  }
  b().jump(yes);
  return one_or_zero(yes, no);
}

void Lowering::lower_macaddr(const Expr& arg, Address to) {
  read_bytes(to, kMacSize, bytes_behind(arg));
}

// The helper that reads strings also measures them: it copies our own memory onto a spare room.
Value Lowering::lower_strlen(const Expr& arg) {
  if (info(arg).text)
    return scalar(int_type(8, false), imm(static_cast<int64_t>(info(arg).text->size())));
  Value text = lower(arg);
  uint32_t size = text.type->size + 1;  // one more, so that a cut string is measured whole
  Address room = temp(size);
  Address copied = temp(size);
  copy(copied, text.address, text.type->size);
  b().store(copied + text.type->size, 1, imm(0));
  Reg with_nul = b().call(BPF_FUNC_probe_read_kernel_str,
                          {reg(b().address_of(room)), imm(size), reg(b().address_of(copied))});
  return scalar(int_type(8, false), reg(b().alu(ir::Alu::Sub, reg(with_nul), imm(1))));
}

Value Lowering::lower_strncmp(const std::vector<ExprPtr>& args) {
  uint32_t n = static_cast<uint32_t>(*info(*args[2]).value);
  Value left = lower(*args[0]), right = lower(*args[1]);
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

ir::Address Lowering::bytes_of(const Expr& expr, uint32_t size) {
  Type type = type_of(expr);
  Address room = temp(size);
  if (is(type, Kind::Pointer)) {
    Location from{.type = type->element,
                  .space = type->space,
                  .address = ir::at(b().in_reg(lower_scalar(expr)))};
    read_bytes(room, size, from);
    return room;
  }
  Address from = lower(expr).address;
  uint32_t header = is(type, Kind::Buffer) ? kBufferHeader : 0;
  uint32_t have = std::min(size, type->size - header);
  copy(room, from + header, have);
  if (have < size) zero(room + have, size - have);
  return room;
}

// Unlike strncmp() it does not stop at a NUL.
Value Lowering::lower_memcmp(const std::vector<ExprPtr>& args) {
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
void Lowering::lower_str_concat(const std::vector<ExprPtr>& args, Address to, const Type& type) {
  Value left = lower(*args[0]), right = lower(*args[1]);
  uint32_t first = left.type->size, second = right.type->size;
  Type whole = string_type(first + second);
  Address both = temp(whole->size), measured = temp(first + 1);
  store(left, both, whole);
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
  store({whole, {}, both}, to, type);
}

// Tries every position of the haystack in a loop that the kernel runs. Both strings are copied to
// shared memory, where the loop body finds them; its context is one word, the position found.
Value Lowering::lower_search(const Expr& expr, const std::vector<ExprPtr>& args, bool wants_index) {
  Value haystack = lower(*args[0]), needle = lower(*args[1]);
  uint32_t h = haystack.type->size, n = needle.type->size;
  Address room = ir::in_slot(b().new_slot(h + n, ir::Place::Scratch));
  Address wanted = ir::in_slot(b().new_slot(n, ir::Place::Scratch));
  store(haystack, room, string_type(h + n));
  store(needle, wanted, string_type(n));
  Address found = ir::in_slot(b().new_slot(8, ir::Place::Stack));
  b().store(found, 8, imm(-1));

  int32_t number = static_cast<int32_t>(program_.functions.size());
  program_.functions.push_back({.name = program_.name + "_search" + std::to_string(number),
                                .params = 2,
                                .parent = b().function()});
  ir::Builder body(program_, number);
  body.set_span(expr.span);
  Reg index = body.param(0), context = body.param(1);
  int32_t inside = body.new_block(), miss = body.new_block(), hit = body.new_block();
  Reg position = body.extend(reg(index), 4, false);
  body.branch(ir::Compare::Lt, reg(position), imm(h), inside, miss);
  body.start(inside);
  Reg text = body.alu(ir::Alu::Add, reg(body.address_of(room)), reg(position));
  for (uint32_t i = 0; i < n; i++) {
    Reg want = body.load(wanted + i, 1);
    int32_t compare = body.new_block(), next = body.new_block();
    body.branch(ir::Compare::Eq, reg(want), imm(0), hit, compare);
    body.start(compare);
    body.branch(ir::Compare::Eq, reg(want),
                reg(body.load(ir::at(text, static_cast<int32_t>(i)), 1)), next, miss);
    body.start(next);
  }
  body.jump(hit);
  body.start(hit);
  body.store(ir::at(context), 8, reg(position));
  body.ret(imm(1));
  body.start(miss);
  body.ret(imm(0));
  body.finish();

  b().call(BPF_FUNC_loop, {imm(h), reg(b().callback(number)), reg(b().address_of(found)), imm(0)});
  Reg result = b().load(found, 8);
  if (wants_index) return scalar(int_type(8, true), reg(result));
  Reg negative = b().alu(ir::Alu::Shr, reg(result), imm(63));
  return scalar(bool_type(), reg(b().alu(ir::Alu::Xor, reg(negative), imm(1))));
}

// A table of names in an array map, one fixed-size entry per number; the last says "unknown".
void Lowering::lower_name(const Expr& arg, Fn which, Address to) {
  const NameTable& table = name_table(which);
  int map = image_.constant_table(table.map_name, table.bytes);
  Operand number = lower_scalar(arg);
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
  copy(to, ir::at(entry), kNameSize);
}

}  // namespace flowtap
