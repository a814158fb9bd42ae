// Reading, copying and zeroing memory. Kernel and user memory is read through helpers that
// cannot fault; memory the verifier knows (stack, scratch, map values, records) directly.

#include "lower/memory.h"

#include <linux/bpf.h>

#include <algorithm>

#include "bpf/helpers.h"

namespace flowtap {

// Longer runs go through a helper, which copies a word at a time.
static constexpr uint32_t kMostInline = 256;

// A store of zeros is one instruction where a copied word is two: 1024 bytes take 18 ns, and 75
// with the helper. That is a string of the usual limit.
static constexpr uint32_t kMostStoredZeros = 1024;

// The widest step that is aligned at `offset` and does not pass `size`; the verifier refuses
// misaligned access to the stack.
static uint32_t step_at(uint32_t offset, uint32_t remaining) {
  for (uint32_t step : {8u, 4u, 2u})
    if (offset % step == 0 && remaining >= step) return step;
  return 1;
}

// An address the verifier knows may not be masked, compared or put into a map and read back. It
// forgets what it knows once the address has passed through scratch memory.
ir::Operand Memory::as_number(Operand pointer) {
  Address cell = ir::in_slot(b().new_slot(8, ir::Place::Scratch));
  b().store(cell, 8, pointer);
  return reg(b().load(cell, 8));
}

// A field of a kernel struct, by the names on the way to it: "__sk_common.skc_cookie".
Location Memory::kernel_field(Operand object, const char* type_name,
                              std::initializer_list<const char*> path) {
  Type type = image_.target().find_type(type_name);
  int32_t offset = 0;
  for (const char* name : path) {
    type = image_.types().complete(type);
    const Field* field = find_field(type, name);
    CHECK(field != nullptr);
    offset += static_cast<int32_t>(field->offset);
    type = field->type;
  }
  return {
      .type = type, .space = AddressSpace::Kernel, .address = ir::at(b().in_reg(object), offset)};
}

ir::Address Memory::temp(uint32_t size) {
  int32_t function = b().function();
  size = std::max(size, 8u);
  for (Temporary& t : temps_) {
    uint32_t have = code_.program().slots[static_cast<size_t>(t.slot)].size;
    if (t.is_used || t.function != function || have < size || have > size * 2) continue;
    t.is_used = true;
    return ir::in_slot(t.slot);
  }
  int32_t slot = b().new_slot((size + 7) / 8 * 8);
  temps_.push_back({slot, function, true});
  return ir::in_slot(slot);
}

ir::Address Memory::stack_temp(uint32_t size) {
  Address place = temp(size);
  code_.program().slots[static_cast<size_t>(place.slot)].place = ir::Place::Stack;
  return place;
}

// Temporaries of a statement are free again; those it made stay in the list.
void Memory::free_since(const Temporaries& before) {
  for (size_t i = 0; i < temps_.size(); i++)
    temps_[i].is_used = i < before.size() && before[i].is_used;
}

// With -k a failed read is counted; without it the value is 0 and nobody is told.
void Memory::check_read(Reg result, int64_t helper) {
  if (!image_.options().warns) return;
  int32_t failed = b().new_block(), go_on = b().new_block();
  b().branch(ir::Compare::SLt, reg(result), imm(0), failed, go_on);
  b().start(failed);
  note_site(SiteKind::HelperFailed, bpf::helper_name(static_cast<int32_t>(helper)), reg(result));
  b().jump(go_on);
  b().start(go_on);
}

int64_t Memory::read_helper(AddressSpace space, bool is_string) const {
  if (space == AddressSpace::User)
    return is_string ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_user;
  return is_string ? BPF_FUNC_probe_read_kernel_str : BPF_FUNC_probe_read_kernel;
}

// An address of unknown origin: kernel addresses have the top bit set on every 64-bit machine
// that Linux runs on.
void Memory::by_space(AddressSpace space, Operand address,
                      const std::function<void(AddressSpace)>& access) {
  if (space != AddressSpace::None) return access(space);
  int32_t kernel = b().new_block(), user = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::SLt, address, imm(0), kernel, user);
  b().start(kernel);
  access(AddressSpace::Kernel);
  b().jump(done);
  b().start(user);
  access(AddressSpace::User);
  b().jump(done);
  b().start(done);
}

void Memory::read_bytes(Address to, uint32_t size, const Location& from) {
  if (from.space == AddressSpace::Bpf) return copy(to, from.address, size);
  Operand source = reg(b().address_of(from.address));
  by_space(from.space, source, [&](AddressSpace space) {
    int64_t helper = read_helper(space, false);
    check_read(b().call(helper, {reg(b().address_of(to)), imm(size), source}), helper);
  });
}

// Reads a field of a kernel struct through a typed pointer, where the kernel has such: a load
// instead of a call. What cannot be read gives 0, as it does with a helper; only a helper can tell,
// so it is used when failed reads are counted.
std::optional<ir::Operand> Memory::read_typed(const Location& from, uint32_t size) {
  if (from.space != AddressSpace::Kernel || !from.base || from.address.offset < 0 ||
      image_.options().warns)
    return std::nullopt;
  std::optional<DirectRead> direct = image_.target().direct_read(
      from.base, static_cast<uint32_t>(from.address.offset), size, type_);
  if (!direct) return std::nullopt;
  auto cast = [&](Operand address) {
    return b().call(ir::kKfunc + direct->cast, {address, imm(direct->type)});
  };
  Reg base = cast(reg(from.address.base));
  Reg value = b().load(ir::at(base, from.address.offset), size);
  if (!direct->gives_pointer) return reg(value);
  // The language counts with pointers as the verifier does not allow. A difference of two pointers
  // is a number to it, and one of them may be null.
  return reg(b().alu(ir::Alu::Sub, reg(value), reg(cast(imm(0)))));
}

ir::Operand Memory::read_scalar(const Location& from) {
  if (from.bit_size) return read_bits(from);
  uint32_t size = from.type->size;
  Operand value = read_word(from, size);
  return is_signed(from.type) && size < 8 ? narrow(value, from.type) : value;
}

// 1, 2, 4 or 8 bytes.
ir::Operand Memory::read_word(const Location& from, uint32_t size) {
  if (from.space == AddressSpace::Bpf || from.space == AddressSpace::Context)
    return reg(b().load(from.address, size));
  if (std::optional<Operand> typed = read_typed(from, size)) return *typed;
  Address cell = temp(8);
  read_bytes(cell, size, from);
  return reg(b().load(cell, size));
}

// The bits may straddle their declared type. No more bytes are read than they touch, which may be
// 9: behind them there may be no memory.
ir::Operand Memory::read_bits(const Location& from) {
  uint32_t touched = (from.bit_offset + from.bit_size + 7u) / 8;
  uint32_t size = touched <= 1 ? 1 : touched <= 2 ? 2 : touched <= 4 ? 4 : 8;
  bool is_ours = from.space == AddressSpace::Bpf || from.space == AddressSpace::Context;
  bool is_crooked = size != touched || (is_ours && from.address.offset % size != 0);
  std::optional<Operand> typed;
  if (is_crooked && !is_ours && size >= touched) typed = read_typed(from, size);
  Operand value = typed         ? *typed
                  : !is_crooked ? read_word(from, size)
                                : read_crooked_bits(from, touched);
  int64_t begin = touched > 8 ? 0 : from.bit_offset;
  value = reg(b().alu(ir::Alu::Shl, value, imm(64 - begin - from.bit_size)));
  return reg(
      b().alu(is_signed(from.type) ? ir::Alu::Sar : ir::Alu::Shr, value, imm(64 - from.bit_size)));
}

// The bytes that the bits touch, or of 9 of them the bits themselves.
ir::Operand Memory::read_crooked_bits(const Location& from, uint32_t touched) {
  Address cell = temp(16);
  b().store(cell, 8, imm(0));
  if (from.space == AddressSpace::Context)
    copy(cell, from.address, touched);
  else
    read_bytes(cell, touched, from);
  Reg low = b().load(cell, 8);
  if (touched <= 8) return reg(low);
  Reg high = b().alu(ir::Alu::Shl, reg(b().load(cell + 8, 1)), imm(64 - from.bit_offset));
  return reg(
      b().alu(ir::Alu::Or, reg(b().alu(ir::Alu::Shr, reg(low), imm(from.bit_offset))), reg(high)));
}

ir::Operand Memory::narrow(Operand value, const Type& type) {
  if (type->size >= 8 || !is_scalar(type)) return value;
  return reg(b().extend(value, type->size, is_signed(type)));
}

Value Memory::read(const Location& location) {
  if (is_scalar(location.type)) return scalar(location.type, read_scalar(location));
  bool is_text = is(location.type, Kind::String) && location.is_foreign;
  if (location.space == AddressSpace::Bpf && !is_text)
    return memory(location.type, location.address);
  Address to = temp(location.type->size);
  read_into(to, location.type->size, location);
  return memory(location.type, to);
}

void Memory::read_into(Address to, uint32_t size, const Location& from) {
  read_bytes(to, size, from);
  if (is(from.type, Kind::String) && from.is_foreign) end_text(to, size);
}

// Equal texts shall be equal bytes. Eight bytes at a time: (x - 01..01) & ~x & 80..80 has its
// lowest bit in the first byte that is 0, and what is below it is kept.
void Memory::end_text(Address text, uint32_t size) {
  Reg ones = b().constant(0x0101010101010101),
      highs = b().constant(static_cast<int64_t>(0x8080808080808080));
  Reg goes_on = ir::kNoReg;  // all bits until a NUL was met
  in_steps({text}, size, [&](uint32_t at, uint32_t step) {
    Reg bytes = b().load(text + at, step);
    if (goes_on != ir::kNoReg) bytes = b().alu(ir::Alu::And, reg(bytes), reg(goes_on));
    Reg looked_at = bytes;
    if (step < 8) {  // what is above them is no end
      Reg above = b().constant(static_cast<int64_t>(~uint64_t{0} << (8 * step)));
      looked_at = b().alu(ir::Alu::Or, reg(bytes), reg(above));
    }
    Reg less = b().alu(ir::Alu::Sub, reg(looked_at), reg(ones));
    Reg inverse = b().alu(ir::Alu::Xor, reg(looked_at), imm(-1));
    Reg found = b().alu(ir::Alu::And, reg(less), reg(inverse));
    found = b().alu(ir::Alu::And, reg(found), reg(highs));
    Reg lowest = b().alu(ir::Alu::And, reg(found), reg(b().negate(reg(found))));
    Reg kept = b().alu(ir::Alu::Sub, reg(lowest), imm(1));
    b().store(text + at, step, reg(b().alu(ir::Alu::And, reg(bytes), reg(kept))));
    if (at + step == size) return;
    Reg ends = b().alu(ir::Alu::Sar, reg(b().negate(reg(lowest))), imm(63));
    Reg open = b().alu(ir::Alu::Xor, reg(ends), imm(-1));
    goes_on = goes_on == ir::kNoReg ? open : b().alu(ir::Alu::And, reg(goes_on), reg(open));
  });
}

void Memory::in_steps(std::initializer_list<Address> places, uint32_t size,
                      const std::function<void(uint32_t, uint32_t)>& visit) {
  for (uint32_t done = 0, step; done < size; done += step) {
    step = 8;
    for (const Address& place : places)
      step = std::min(step, step_at(static_cast<uint32_t>(place.offset) + done, size - done));
    visit(done, step);
  }
}

// Memory of our own is copied by the helper that reads the kernel's, where it may be called.
bool Memory::can_copy_by_helper() const { return image_.target().has(Feature::KernelReads); }

void Memory::copy(Address to, Address from, uint32_t size) {
  if (to == from) return;
  if (size > kMostInline && can_copy_by_helper()) {
    b().call(BPF_FUNC_probe_read_kernel,
             {reg(b().address_of(to)), imm(size), reg(b().address_of(from))});
    return;
  }
  in_steps({to, from}, size, [&](uint32_t at, uint32_t step) {
    b().store(to + at, step, reg(b().load(from + at, step)));
  });
}

void Memory::zero(Address to, uint32_t size) {
  uint32_t most = image_.options().uses(Feature::StoredZeros) ? kMostStoredZeros : kMostInline;
  if (size > most && can_copy_by_helper()) {
    Reg zeros = b().map_value(image_.zeros(size));
    b().call(BPF_FUNC_probe_read_kernel, {reg(b().address_of(to)), imm(size), reg(zeros)});
    return;
  }
  in_steps({to}, size, [&](uint32_t at, uint32_t step) { b().store(to + at, step, imm(0)); });
}

// Stores a value as another type of the same family: wider integers, longer strings, tuples of
// such. Every byte of the target is written, so that equal values are equal bytes.
void Memory::store(const Value& value, Address to, const Type& type) {
  if (is_scalar(type)) {
    b().store(to, type->size, value.operand);
    return;
  }
  if (is(type, Kind::Tuple) || is(type, Kind::Record)) return store_fields(value, to, type);
  uint32_t size = std::min(value.type->size, type->size);
  copy(to, value.address, size);
  if (size < type->size) zero(to + size, type->size - size);
}

void Memory::store_fields(const Value& value, Address to, const Type& type) {
  uint32_t used = 0;
  for (const Field& field : type->fields) used += field.type->size;
  if (used < type->size) zero(to, type->size);
  for (const Field& field : type->fields) {
    const Field* from = find_field(value.type, field.name);
    Location source{
        .type = from->type, .space = AddressSpace::Bpf, .address = value.address + from->offset};
    store(read(source), to + field.offset, field.type);
  }
}

void Memory::store_text(Address to, uint32_t size, const std::string& text) {
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

Value Memory::text_value(const std::string& text) {
  uint32_t size = static_cast<uint32_t>(text.size() + 1);
  Address to = temp(size);
  store_text(to, size, text);
  return memory(string_type(size), to);
}

}  // namespace flowtap
