// Maps: reading, writing, and aggregations. Values are changed in place through the pointer that
// a lookup gives; a key that is missing is created from zeros first. Maps without keys are
// arrays of one element, whose address is known when the program is loaded.

#include <linux/bpf.h>

#include <algorithm>
#include <cerrno>

#include "builtins/probes.h"
#include "lang/walk.h"
#include "lower/lowering.h"
#include "sema/unify.h"

namespace flowtap {

static constexpr int64_t kNoExist = 1;  // BPF_NOEXIST

static bool holds_pointer(const Type& type) {
  return is(type, Kind::Pointer) ||
         std::any_of(type->fields.begin(), type->fields.end(),
                     [](const Field& field) { return holds_pointer(field.type); });
}

Lowering::MapKey Lowering::lower_key(int number, const Expr& key) {
  const MapInfo& map = image_.checked().maps[static_cast<size_t>(number)];
  uint32_t size = std::max(1u, map.key->size);
  // No hash can be made of a pointer that the verifier knows; in scratch memory it forgets.
  bool is_forgotten = map_of(number).hot_keys >= 0 && holds_pointer(map.key);
  Address to = is_forgotten ? ir::in_slot(b().new_slot(size, ir::Place::Scratch)) : temp(size);
  if (map.key->size == 0) b().store(to, 1, imm(0));  // the kernel's keys have a byte at least
  lower_into(key, to, map.key);
  if (image_.whole_keys(number) >= 0) return digest_key(to, map.key);
  return {to, to};
}

// The value's address, or 0.
ir::Reg Lowering::lookup(int number, Address key) {
  const MapInfo& map = image_.checked().maps[static_cast<size_t>(number)];
  if (image_.local_storage(number) >= 0) return lookup_local(number);
  int index = image_.script_map(number);
  if (map.is_scalar != false) {
    if (!is_aggregation(map.value) || map_of(number).lane) return b().map_value(index);
    Address zero_key = temp(8);
    b().store(zero_key, 4, imm(0));
    return b().call(BPF_FUNC_map_lookup_elem,
                    {reg(b().map_pointer(index)), reg(b().address_of(zero_key))});
  }
  return b().call(BPF_FUNC_map_lookup_elem,
                  {reg(b().map_pointer(index)), reg(b().address_of(key))});
}

// Like lookup, but a missing key is created. Goes to `present` with the address in the register
// it answers, or to `absent` when the map is full, which is noted.
ir::Reg Lowering::find_or_create(int number, const MapKey& key, int32_t present, int32_t absent) {
  const MapInfo& map = image_.checked().maps[static_cast<size_t>(number)];
  if (image_.local_storage(number) >= 0) return create_local(number, present, absent);
  Reg result = b().move(reg(lookup(number, key.id)));
  if (map.is_scalar != false) {
    b().branch(ir::Compare::Ne, reg(result), imm(0), present, absent);
    return result;
  }
  int32_t create = b().new_block(), full = b().new_block();
  b().branch(ir::Compare::Ne, reg(result), imm(0), present, create);
  b().start(create);
  Reg answer = b().new_reg();
  create_key(number, key, answer, full);
  b().assign(result, reg(lookup(number, key.id)));
  b().branch(ir::Compare::Ne, reg(result), imm(0), present, full);
  b().start(full);
  note_site(SiteKind::MapFull, map.name, reg(answer));
  b().jump(absent);
  return result;
}

// The kernel's answer comes into `answer`; goes to `full` when there is no room for the whole key.
void Lowering::create_key(int number, const MapKey& key, Reg answer, int32_t full) {
  int index = image_.script_map(number);
  keep_whole_key(number, key, answer, full);
  Reg zeros = b().map_value(image_.zeros(map_of(number).value_size));
  Reg refused = b().call(
      BPF_FUNC_map_update_elem,
      {reg(b().map_pointer(index)), reg(b().address_of(key.id)), reg(zeros), imm(kNoExist)});
  b().assign(answer, reg(map_result(refused)));
  keep_whole_key(number, key, answer, full);
}

const MapDef& Lowering::map_of(int number) const {
  return image_.image().maps[static_cast<size_t>(image_.script_map(number))];
}

// Before Linux 6.4 these helpers give an int, and what the upper half of the register holds is
// chance.
ir::Reg Lowering::map_result(Reg result) { return b().extend(reg(result), 4, true); }

// Where this CPU's part of a value is; see MapDef::lane.
ir::Address Lowering::own_lane(int number, Reg value, int32_t absent) {
  const MapDef& map = map_of(number);
  if (!map.lane) return ir::at(value);
  Reg cpu = b().call(BPF_FUNC_get_smp_processor_id, {});
  int32_t known = b().new_block();
  b().branch(ir::Compare::Lt, reg(cpu), imm(image_.cpus()), known, absent);
  b().start(known);
  Reg offset = b().alu(ir::Alu::Mul, reg(cpu), imm(map.lane));
  if (value == ir::kNoReg) value = b().map_value(image_.script_map(number));
  return ir::at(b().alu(ir::Alu::Add, reg(value), reg(offset)),
                static_cast<int32_t>(lane_offset(map, 0)));
}

// Runs `change` on the value's memory, which exists then.
void Lowering::change_map(const Expr& target, const std::function<void(Address)>& change) {
  int number = info(target).map;
  const ExprPtr& key = std::get<MapAccess>(target.node).key;
  bool has_key = key && image_.local_storage(number) < 0;
  MapKey where = has_key ? lower_key(number, *key) : MapKey{};
  b().set_span(target.span);
  if (map_of(number).hot_keys >= 0) return change_hot(number, where, change);
  int32_t done = b().new_block();
  // The address of a map without keys is known: it need not be kept until the CPU is.
  Reg value = ir::kNoReg;
  if (key || !map_of(number).lane) {
    int32_t present = b().new_block();
    value = find_or_create(number, where, present, done);
    b().start(present);
  }
  change(own_lane(number, value, done));
  b().jump(done);
  b().start(done);
}

Value Lowering::load_map(const Expr& expr, const MapAccess& node) {
  int number = info(expr).map;
  const MapInfo& map = image_.checked().maps[static_cast<size_t>(number)];
  std::optional<Address> key;
  if (node.key && image_.local_storage(number) < 0) key = lower_key(number, *node.key).id;
  b().set_span(expr.span);
  if (is_aggregation(map.value)) return sum_over_cpus(map, number, key);
  return load_map_value(map, number, key);
}

Value Lowering::load_map_value(const MapInfo& map, int number, std::optional<Address> key) {
  Reg pointer = lookup(number, key.value_or(Address{}));
  bool has_register = is_scalar(map.value);
  if (map.is_scalar != false) {
    Value value = read({.type = map.value, .space = AddressSpace::Bpf, .address = ir::at(pointer)});
    if (has_register) return value;
    Address own = temp(map.value->size);  // a copy: the map may change before the value is used
    copy(own, value.address, map.value->size);
    return memory(map.value, own);
  }
  Reg result = has_register ? b().new_reg() : ir::kNoReg;
  Address own = has_register ? Address{} : temp(map.value->size);
  int32_t present = b().new_block(), missing = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Ne, reg(pointer), imm(0), present, missing);
  b().start(missing);
  if (image_.options().warns) note_site(SiteKind::KeyMissing, map.name, imm(0));
  if (has_register)
    b().assign(result, imm(0));
  else
    zero(own, map.value->size);
  b().jump(done);
  b().start(present);
  Location there{.type = map.value, .space = AddressSpace::Bpf, .address = ir::at(pointer)};
  if (has_register)
    b().assign(result, read(there).operand);
  else
    copy(own, there.address, map.value->size);
  b().jump(done);
  b().start(done);
  if (!has_register) return memory(map.value, own);
  return scalar(map.value, forgotten(map.value, reg(result)));
}

// Reads an aggregation: every CPU's part is looked up and they are joined.
Value Lowering::sum_over_cpus(const MapInfo& map, int number, std::optional<Address> key) {
  Kind kind = map.value->kind;
  Reg total = b().new_reg(), count = b().new_reg(), seen = b().new_reg();
  for (Reg r : {total, count, seen}) b().assign(r, imm(0));
  Address where = key.value_or(Address{});
  if (!key) {
    where = temp(8);
    b().store(where, 4, imm(0));
  }
  bool is_extreme = kind == Kind::Min || kind == Kind::Max;
  int index = image_.script_map(number);
  const MapDef kept = map_of(number);
  Reg lanes = kept.lane ? lookup(number, where) : ir::kNoReg;
  for (uint32_t cpu = 0; cpu < image_.cpus(); cpu++) {
    Reg found = kept.lane
                    ? lanes
                    : b().call(BPF_FUNC_map_lookup_percpu_elem,
                               {reg(b().map_pointer(index)), reg(b().address_of(where)), imm(cpu)});
    Address part = ir::at(found, kept.lane ? static_cast<int32_t>(lane_offset(kept, cpu)) : 0);
    int32_t present = b().new_block(), next = b().new_block();
    bool says_missing = key && cpu == 0 && image_.options().warns;
    int32_t absent = says_missing ? b().new_block() : next;
    b().branch(ir::Compare::Ne, reg(found), imm(0), present, absent);
    if (says_missing) {
      b().start(absent);
      note_site(SiteKind::KeyMissing, map.name, imm(0));
      b().jump(next);
    }
    b().start(present);
    Reg value = b().load(part, 8);
    if (is_extreme) {
      int32_t is_set = b().new_block(), better = b().new_block(), compare = b().new_block();
      b().branch(ir::Compare::Ne, reg(b().load(part + 8, 8)), imm(0), is_set, next);
      b().start(is_set);
      b().branch(ir::Compare::Eq, reg(seen), imm(0), better, compare);
      b().start(compare);
      ir::Compare less = map.value->is_signed ? ir::Compare::SLt : ir::Compare::Lt;
      if (kind == Kind::Min)
        b().branch(less, reg(value), reg(total), better, next);
      else
        b().branch(less, reg(total), reg(value), better, next);
      b().start(better);
      b().assign(seen, imm(1));
      b().assign(total, reg(value));
    } else {
      b().assign(total, reg(b().alu(ir::Alu::Add, reg(total), reg(value))));
      if (kind == Kind::Avg || kind == Kind::Stats)
        b().assign(count, reg(b().alu(ir::Alu::Add, reg(count), reg(b().load(part + 8, 8)))));
    }
    b().jump(next);
    b().start(next);
  }
  Type type = readable(map.value);
  if (kind == Kind::Stats) {
    Address own = temp(16);
    b().store(own, 8, reg(total));
    b().store(own + 8, 8, reg(count));
    return memory(type, own);
  }
  if (kind != Kind::Avg) return scalar(type, reg(total));
  Reg mean = b().new_reg();
  int32_t divide = b().new_block(), done = b().new_block();
  b().assign(mean, imm(0));
  b().branch(ir::Compare::Ne, reg(count), imm(0), divide, done);
  b().start(divide);
  b().assign(mean, lower_division(false, map.value->is_signed, reg(total), reg(count)));
  b().jump(done);
  b().start(done);
  return scalar(type, reg(mean));
}

// A map the script deletes from sees mostly new keys: one update is cheaper than a lookup before
// it.
bool Lowering::is_deleted_from(int map) const {
  bool found = false;
  ExprVisitor look = [&](const Expr& expr) {
    const Call* call = std::get_if<Call>(&expr.node);
    if (!call || call->args.empty()) return;
    const Builtin* builtin = info(expr).builtin;
    found |= builtin && builtin->id == Fn::Delete && info(*call->args[0]).map == map;
  };
  for (const auto& instance : image_.checked().instances) for_each_expr(instance->body, look);
  return found;
}

// Whether the script says what ends the entries of a map.
bool Lowering::is_paired(int number) const {
  const MapInfo& map = image_.checked().maps[static_cast<size_t>(number)];
  return map.decl && !map.decl->pairs.empty();
}

void Lowering::note_lost_pair(int number) {
  const MapInfo& map = image_.checked().maps[static_cast<size_t>(number)];
  note_site(SiteKind::PairLost, map.decl->pairs, imm(0));
}

// A number is about to be stored over another; 0 stands for an entry that has ended.
void Lowering::note_overwritten(int number, Address old, Address value) {
  if (!is_paired(number)) return;
  int32_t was_open = b().new_block(), lost = b().new_block(), go_on = b().new_block();
  b().branch(ir::Compare::Ne, reg(b().load(old, 8)), imm(0), was_open, go_on);
  b().start(was_open);
  b().branch(ir::Compare::Ne, reg(b().load(value, 8)), imm(0), lost, go_on);
  b().start(lost);
  note_lost_pair(number);
  b().jump(go_on);
  b().start(go_on);
}

void Lowering::store_map(const Expr& target, const Expr& value) {
  int number = info(target).map;
  const MapInfo& map = image_.checked().maps[static_cast<size_t>(number)];
  const ExprPtr& key = std::get<MapAccess>(target.node).key;
  if (map.is_scalar != false) {
    Value ready = is_scalar(map.value) ? scalar(map.value, lower_scalar(value)) : lower(value);
    return store(ready, ir::at(lookup(number, {})), map.value);
  }
  if (image_.local_storage(number) >= 0) {
    Value ready = is_scalar(map.value) ? scalar(map.value, lower_scalar(value)) : lower(value);
    return change_map(target, [&](Address place) { store(ready, place, map.value); });
  }
  MapKey where = lower_key(number, *key);
  uint32_t size = map_of(number).value_size;
  Address room = temp(size);
  if (size != map.value->size) zero(room, size);
  lower_into(value, room, map.value);
  b().set_span(target.span);
  int32_t done = b().new_block(), full = b().new_block();
  if (is_scalar(map.value) && !is_deleted_from(number)) {
    Reg present = lookup(number, where.id);
    int32_t in_place = b().new_block(), create = b().new_block();
    b().branch(ir::Compare::Ne, reg(present), imm(0), in_place, create);
    b().start(in_place);
    note_overwritten(number, ir::at(present), room);
    b().store(ir::at(present), 8, reg(b().load(room, 8)));
    b().jump(done);
    b().start(create);
  }
  Reg answer = b().new_reg();
  keep_whole_key(number, where, answer, full);
  auto update = [&](int64_t flags) {
    Reg pointer = b().map_pointer(image_.script_map(number));
    Reg result = b().call(BPF_FUNC_map_update_elem, {reg(pointer), reg(b().address_of(where.id)),
                                                     reg(b().address_of(room)), imm(flags)});
    b().assign(answer, reg(map_result(result)));
  };
  update(is_paired(number) ? kNoExist : 0);
  if (is_paired(number)) {
    int32_t again = b().new_block(), tried = b().new_block();
    b().branch(ir::Compare::Eq, reg(answer), imm(-EEXIST), again, tried);
    b().start(again);
    note_lost_pair(number);
    update(0);
    b().jump(tried);
    b().start(tried);
  }
  int32_t stored = b().new_block();
  b().branch(ir::Compare::SLt, reg(answer), imm(0), full, stored);
  b().start(stored);
  keep_whole_key(number, where, answer, full);
  b().jump(done);
  b().start(full);
  note_site(SiteKind::MapFull, map.name, reg(answer));
  b().jump(done);
  b().start(done);
}

// The memory belongs to this CPU, but a uprobe's program can be preempted by another task's.
void Lowering::add_in_place(Address value, Operand n) {
  if (probe_row(instance_.kind).has(kUserSpace)) return b().atomic_add(value, 8, n);
  b().store(value, 8, reg(b().alu(ir::Alu::Add, reg(b().load(value, 8)), n)));
}

void Lowering::update_aggregation(const Expr& target, const Expr& call) {
  const std::vector<ExprPtr>& args = std::get<Call>(call.node).args;
  const Type& type = image_.checked().maps[static_cast<size_t>(info(target).map)].value;
  Operand n = args.empty() ? imm(1) : lower_scalar(*args[0]);
  bool is_signed = args.empty() || info(*args[0]).type->is_signed;
  change_map(target, [&](Address value) {
    switch (type->kind) {
      case Kind::Count:
      case Kind::Sum: return add_in_place(value, n);
      case Kind::Avg:
      case Kind::Stats: add_in_place(value, n); return add_in_place(value + 8, imm(1));
      case Kind::Min:
      case Kind::Max: {
        int32_t compare = b().new_block(), take = b().new_block(), done = b().new_block();
        b().branch(ir::Compare::Eq, reg(b().load(value + 8, 8)), imm(0), take, compare);
        b().start(compare);
        ir::Compare less = type->is_signed ? ir::Compare::SLt : ir::Compare::Lt;
        Operand old = reg(b().load(value, 8));
        if (type->kind == Kind::Min)
          b().branch(less, n, old, take, done);
        else
          b().branch(less, old, n, take, done);
        b().start(take);
        b().store(value, 8, n);
        b().store(value + 8, 8, imm(1));
        b().jump(done);
        return b().start(done);
      }
      case Kind::Tseries: return update_tseries(value, type, n);
      default: return bump_bucket(value, type, n, is_signed);
    }
  });
}

// The position of the highest bit of v (> 0), by halving the distance five times.
static ir::Reg highest_bit(ir::Builder& b, ir::Reg v) {
  ir::Reg result = b.new_reg(), rest = b.new_reg();
  b.assign(result, ir::imm_operand(0));
  b.assign(rest, ir::reg_operand(v));
  for (int64_t step : {32, 16, 8, 4, 2, 1}) {
    int32_t shift = b.new_block(), next = b.new_block();
    ir::Reg high = b.alu(ir::Alu::Shr, ir::reg_operand(rest), ir::imm_operand(step));
    b.branch(ir::Compare::Ne, ir::reg_operand(high), ir::imm_operand(0), shift, next);
    b.start(shift);
    b.assign(rest, ir::reg_operand(high));
    b.assign(result,
             ir::reg_operand(b.alu(ir::Alu::Add, ir::reg_operand(result), ir::imm_operand(step))));
    b.jump(next);
    b.start(next);
  }
  return result;
}

// One bucket of a histogram counts up; types/type.cc says which value belongs to which bucket.
void Lowering::bump_bucket(Address value, const Type& type, Operand n, bool is_signed) {
  Reg bucket = b().new_reg();
  int32_t done = b().new_block();
  int64_t buckets = hist_buckets(*type);
  if (type->kind == Kind::Lhist) {
    int32_t not_low = b().new_block(), inside = b().new_block();
    if (!is_signed) {  // beyond what a signed integer holds, so beyond the range
      int32_t not_huge = b().new_block();
      b().assign(bucket, imm(buckets - 1));
      b().branch(ir::Compare::SLt, n, imm(0), done, not_huge);
      b().start(not_huge);
    }
    b().assign(bucket, imm(0));
    b().branch(ir::Compare::SLt, n, imm(type->min), done, not_low);
    b().start(not_low);
    b().assign(bucket, imm(buckets - 1));
    b().branch(ir::Compare::SGe, n, imm(type->max), done, inside);
    b().start(inside);
    Reg steps =
        b().alu(ir::Alu::Div, reg(b().alu(ir::Alu::Sub, n, imm(type->min))), imm(type->step));
    b().assign(bucket, reg(b().alu(ir::Alu::Add, reg(steps), imm(1))));
  } else {
    int64_t bits = type->bits, single = 1 << bits;
    int32_t not_negative = b().new_block(), large = b().new_block();
    if (is_signed) {
      b().assign(bucket, imm(0));
      b().branch(ir::Compare::SLt, n, imm(0), done, not_negative);
      b().start(not_negative);
    }
    b().assign(bucket, reg(b().alu(ir::Alu::Add, n, imm(1))));
    b().branch(ir::Compare::Lt, n, imm(single), done, large);
    b().start(large);
    Reg shift = b().alu(ir::Alu::Sub, reg(highest_bit(b(), b().in_reg(n))), imm(bits));
    Reg sub = b().alu(ir::Alu::Shr, n, reg(shift));
    // 1 + single + shift * single + (sub - single)
    Reg base = b().alu(ir::Alu::Shl, reg(shift), imm(bits));
    b().assign(bucket,
               reg(b().alu(ir::Alu::Add, reg(b().alu(ir::Alu::Add, reg(base), reg(sub))), imm(1))));
  }
  b().jump(done);
  b().start(done);
  int32_t inside = b().new_block(), out = b().new_block();
  // What the verifier knows of single bits can contradict the bound; it then sees a number outside.
  Reg start = b().address_of(value);
  Reg index = plus_unknown_zero(reg(bucket), reg(start));
  b().branch(ir::Compare::Lt, reg(index), imm(buckets), inside, out);
  b().start(inside);
  Reg offset = b().alu(ir::Alu::Shl, reg(index), imm(3));
  Reg cell = b().alu(ir::Alu::Add, reg(start), reg(offset));
  add_in_place(ir::at(cell), imm(1));
  b().jump(out);
  b().start(out);
}

// A ring of intervals: | u64 epoch | s64 value | u64 count |, reused when the epoch moves on.
void Lowering::update_tseries(Address value, const Type& type, Operand n) {
  Reg now = b().alu(ir::Alu::Add, reg(b().call(BPF_FUNC_ktime_get_boot_ns, {})),
                    imm(image_.options().tai_offset_ns));
  Reg epoch = b().alu(ir::Alu::Div, reg(now), imm(type->min));
  Reg bucket = b().alu(ir::Alu::Mod, reg(epoch), imm(type->max));
  int32_t inside = b().new_block(), out = b().new_block();
  b().branch(ir::Compare::Lt, reg(bucket), imm(type->max), inside, out);
  b().start(inside);
  Reg cell = b().alu(ir::Alu::Add, reg(b().address_of(value)),
                     reg(b().alu(ir::Alu::Mul, reg(bucket), imm(kTseriesBucketSize))));
  int32_t fresh = b().new_block(), add = b().new_block();
  Reg count = b().load(ir::at(cell, 16), 8);
  int32_t same_epoch = b().new_block();
  b().branch(ir::Compare::Eq, reg(b().load(ir::at(cell), 8)), reg(epoch), same_epoch, fresh);
  b().start(same_epoch);
  b().branch(ir::Compare::Eq, reg(count), imm(0), fresh, add);
  b().start(fresh);
  Operand first_count = type->agg == TseriesAgg::Last ? reg(now) : imm(1);
  b().store(ir::at(cell), 8, reg(epoch));
  b().store(ir::at(cell, 8), 8, n);
  b().store(ir::at(cell, 16), 8, first_count);
  b().jump(out);
  b().start(add);
  if (type->agg == TseriesAgg::Last) {
    b().store(ir::at(cell, 8), 8, n);
    b().store(ir::at(cell, 16), 8, reg(now));
  } else {
    Operand old = reg(b().load(ir::at(cell, 8), 8));
    b().store(ir::at(cell, 16), 8, reg(b().alu(ir::Alu::Add, reg(count), imm(1))));
    if (type->agg == TseriesAgg::Min || type->agg == TseriesAgg::Max) {
      int32_t take = b().new_block();
      ir::Compare less = type->is_signed ? ir::Compare::SLt : ir::Compare::Lt;
      if (type->agg == TseriesAgg::Min)
        b().branch(less, n, old, take, out);
      else
        b().branch(less, old, n, take, out);
      b().start(take);
      b().store(ir::at(cell, 8), 8, n);
    } else {
      b().store(ir::at(cell, 8), 8, reg(b().alu(ir::Alu::Add, old, n)));
    }
  }
  b().jump(out);
  b().start(out);
}

Value Lowering::lower_delete(const std::vector<ExprPtr>& args) {
  int number = info(*args[0]).map;
  const MapInfo& map = image_.checked().maps[static_cast<size_t>(number)];
  const ExprPtr& own_key = std::get<MapAccess>(args[0]->node).key;
  if (map.is_scalar != false) {
    Reg value = lookup(number, {});
    uint32_t size = map_of(number).value_size;
    int32_t present = b().new_block(), done = b().new_block();
    b().branch(ir::Compare::Ne, reg(value), imm(0), present, done);
    b().start(present);
    zero(ir::at(value), size);
    b().jump(done);
    b().start(done);
    return scalar(bool_type(), imm(1));
  }
  if (image_.local_storage(number) >= 0) return delete_local(number);
  MapKey key = lower_key(number, args.size() == 2 ? *args[1] : *own_key);
  drop_whole_key(number, key);
  Reg result = map_result(
      b().call(BPF_FUNC_map_delete_elem,
               {reg(b().map_pointer(image_.script_map(number))), reg(b().address_of(key.id))}));
  Reg shifted = b().alu(ir::Alu::Shr, reg(result), imm(63));  // 1 when negative
  return scalar(bool_type(), reg(b().alu(ir::Alu::Xor, reg(shifted), imm(1))));
}

Value Lowering::lower_has_key(const std::vector<ExprPtr>& args) {
  int number = info(*args[0]).map;
  Address key = lower_key(number, *args[1]).id;
  Reg found = lookup(number, key);
  Reg result = b().new_reg();
  int32_t present = b().new_block(), done = b().new_block();
  b().assign(result, imm(0));
  b().branch(ir::Compare::Ne, reg(found), imm(0), present, done);
  b().start(present);
  b().assign(result, imm(1));
  b().jump(done);
  b().start(done);
  return scalar(bool_type(), reg(result));
}

Value Lowering::lower_find(const std::vector<ExprPtr>& args) {
  int number = info(*args[0]).map;
  const MapInfo& map = image_.checked().maps[static_cast<size_t>(number)];
  Address key = lower_key(number, *args[1]).id;
  Reg found = lookup(number, key);
  Reg result = b().new_reg();
  int32_t present = b().new_block(), done = b().new_block();
  b().assign(result, imm(0));
  b().branch(ir::Compare::Ne, reg(found), imm(0), present, done);
  b().start(present);
  Value value =
      is_aggregation(map.value)
          ? sum_over_cpus(map, number, key)
          : read({.type = map.value, .space = AddressSpace::Bpf, .address = ir::at(found)});
  store_variable(info(*args[2]).variable, value);
  b().assign(result, imm(1));
  b().jump(done);
  b().start(done);
  return scalar(bool_type(), reg(result));
}

// Visiting every key with a body that does nothing counts them.
Value Lowering::lower_len(const Expr& arg) {
  if (!std::holds_alternative<MapAccess>(arg.node)) {
    Value stack = lower(arg);
    return scalar(int_type(8, true), reg(b().load(stack.address, 4)));
  }
  int number = info(arg).map;
  if (image_.checked().maps[static_cast<size_t>(number)].is_scalar != false)
    return scalar(int_type(8, true), imm(1));
  int32_t function = static_cast<int32_t>(program_.functions.size());
  program_.functions.push_back({.name = program_.name + "_count" + std::to_string(function),
                                .params = 4,
                                .parent = b().function()});
  ir::Builder empty(program_, function);
  empty.finish();
  Address context = temp(8);
  b().store(context, 8, imm(0));
  program_.slots[static_cast<size_t>(context.slot)].place = ir::Place::Stack;
  Reg n = b().call(BPF_FUNC_for_each_map_elem,
                   {reg(b().map_pointer(image_.script_map(number))), reg(b().callback(function)),
                    reg(b().address_of(context)), imm(0)});
  return scalar(int_type(8, true), reg(n));
}

}  // namespace flowtap
