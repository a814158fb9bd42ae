// Maps as the script uses them; map_entries.cc has how their entries are found.

#include "lower/map_values.h"

#include <linux/bpf.h>

#include <algorithm>
#include <cerrno>

#include "lang/walk.h"

namespace flowtap {

static bool holds_pointer(const Type& type) {
  return is(type, Kind::Pointer) ||
         std::any_of(type->fields.begin(), type->fields.end(),
                     [](const Field& field) { return holds_pointer(field.type); });
}

MapKey MapValues::lower_key(MapId number, const Expr& key) {
  const MapInfo& map = image_.checked().maps[number];
  uint32_t size = std::max(1u, map.key->size);
  // No hash can be made of a pointer that the verifier knows; in scratch memory it forgets.
  bool is_forgotten = uses_.entries.map_of(number).hot_keys >= 0 && holds_pointer(map.key);
  Address to =
      is_forgotten ? ir::in_slot(b().new_slot(size, ir::Place::Scratch)) : uses_.memory.temp(size);
  if (map.key->size == 0) b().store(to, 1, imm(0));  // the kernel's keys have a byte at least
  uses_.expressions.lower_into(key, to, map.key);
  if (image_.whole_keys(number) >= 0) return uses_.large_keys.digest_key(to, map.key);
  return {to, to};
}

// Runs `change` on the value's memory, which exists then.
void MapValues::change_map(const Expr& target, const std::function<void(const Lane&)>& change) {
  MapId number = info(target).map;
  const ExprPtr& key = std::get<MapAccess>(target.node).key;
  bool has_key = key && image_.local_storage(number) < 0;
  MapKey where = has_key ? lower_key(number, *key) : MapKey{};
  b().set_span(target.span);
  if (uses_.entries.map_of(number).hot_keys >= 0)
    return uses_.hot_keys.change_hot(number, where, change);
  int32_t done = b().new_block();
  // The address of a map without keys is known: it need not be kept until the CPU is.
  Reg value = ir::kNoReg;
  if (key || !uses_.entries.map_of(number).lane) {
    int32_t present = b().new_block();
    value = uses_.entries.find_or_create(number, where, present, done);
    b().start(present);
  }
  Lane place = uses_.entries.own_lane(number, value, done);
  if (!key) mark_written(number, place.address);
  change(place);
  b().jump(done);
  b().start(done);
}

// Other aggregations count, which shows that they got a value.
void MapValues::mark_written(MapId number, Address value) {
  const MapDef& map = uses_.entries.map_of(number);
  if (!map.written_at) return;
  if (!map.lane) b().store(value + static_cast<int32_t>(*map.written_at), 1, imm(1));
  // In a CPU's own cache line, not in the one that all read.
  if (map.lane && is(map.value, Kind::Sum)) b().store(value + 8, 1, imm(1));
}

Value MapValues::load_map(const Expr& expr, const MapAccess& node) {
  MapId number = info(expr).map;
  const MapInfo& map = image_.checked().maps[number];
  std::optional<Address> key;
  if (node.key && image_.local_storage(number) < 0) key = lower_key(number, *node.key).id;
  b().set_span(expr.span);
  if (is_aggregation(map.value)) return uses_.aggregations.sum_over_cpus(map, number, key);
  return load_map_value(map, number, key);
}

Value MapValues::load_map_value(const MapInfo& map, MapId number, std::optional<Address> key) {
  Reg pointer = uses_.entries.lookup(number, key.value_or(Address{}));
  bool has_register = is_scalar(map.value);
  if (map.is_scalar != false) {
    Value value = uses_.memory.read(
        {.type = map.value, .space = AddressSpace::Bpf, .address = ir::at(pointer)});
    if (has_register) return value;
    Address own =
        uses_.memory.temp(map.value->size);  // a copy: the map may change before the value is used
    uses_.memory.copy(own, value.address, map.value->size);
    return memory(map.value, own);
  }
  Reg result = has_register ? b().new_reg() : ir::kNoReg;
  Address own = has_register ? Address{} : uses_.memory.temp(map.value->size);
  int32_t present = b().new_block(), missing = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Ne, reg(pointer), imm(0), present, missing);
  b().start(missing);
  if (image_.options().warns) note_site(SiteKind::KeyMissing, map.name, imm(0));
  if (has_register)
    b().assign(result, imm(0));
  else
    uses_.memory.zero(own, map.value->size);
  b().jump(done);
  b().start(present);
  Location there{.type = map.value, .space = AddressSpace::Bpf, .address = ir::at(pointer)};
  if (has_register)
    b().assign(result, uses_.memory.read(there).operand);
  else
    uses_.memory.copy(own, there.address, map.value->size);
  b().jump(done);
  b().start(done);
  if (!has_register) return memory(map.value, own);
  return scalar(map.value, uses_.frame.forgotten(map.value, reg(result)));
}

void MapValues::store_map(const Expr& target, const Expr& value) {
  MapId number = info(target).map;
  const MapInfo& map = image_.checked().maps[number];
  const ExprPtr& key = std::get<MapAccess>(target.node).key;
  if (map.is_scalar != false) {
    Value ready = is_scalar(map.value) ? scalar(map.value, uses_.expressions.lower_scalar(value))
                                       : uses_.expressions.lower(value);
    Address place = ir::at(uses_.entries.lookup(number, {}));
    mark_written(number, place);
    return uses_.memory.store(ready, place, map.value);
  }
  if (image_.local_storage(number) >= 0) {
    Value ready = is_scalar(map.value) ? scalar(map.value, uses_.expressions.lower_scalar(value))
                                       : uses_.expressions.lower(value);
    return change_map(
        target, [&](const Lane& place) { uses_.memory.store(ready, place.address, map.value); });
  }
  MapKey where = lower_key(number, *key);
  uint32_t size = uses_.entries.map_of(number).value_size;
  Address room = uses_.memory.temp(size);
  if (size != map.value->size) uses_.memory.zero(room, size);
  uses_.expressions.lower_into(value, room, map.value);
  b().set_span(target.span);
  int32_t done = b().new_block(), full = b().new_block();
  // A map that is deleted from sees mostly new keys: one update is cheaper than a lookup before it.
  if (is_scalar(map.value) && !map.is_deleted_from) {
    Reg present = uses_.entries.lookup(number, where.id);
    int32_t in_place = b().new_block(), create = b().new_block();
    b().branch(ir::Compare::Ne, reg(present), imm(0), in_place, create);
    b().start(in_place);
    uses_.entries.note_overwritten(number, ir::at(present), room);
    b().store(ir::at(present), 8, reg(b().load(room, 8)));
    b().jump(done);
    b().start(create);
  }
  Reg answer = b().new_reg();
  uses_.large_keys.keep_whole_key(number, where, answer, full);
  auto update = [&](int64_t flags) {
    Reg pointer = b().map_pointer(image_.script_map(number));
    Reg result = b().call(BPF_FUNC_map_update_elem, {reg(pointer), reg(b().address_of(where.id)),
                                                     reg(b().address_of(room)), imm(flags)});
    b().assign(answer, reg(map_result(result)));
  };
  update(map.is_paired() ? BPF_NOEXIST : 0);
  if (map.is_paired()) {
    int32_t again = b().new_block(), tried = b().new_block();
    b().branch(ir::Compare::Eq, reg(answer), imm(-EEXIST), again, tried);
    b().start(again);
    note_site(SiteKind::PairLost, map.decl->pairs, imm(0));
    update(0);
    b().jump(tried);
    b().start(tried);
  }
  int32_t stored = b().new_block();
  b().branch(ir::Compare::SLt, reg(answer), imm(0), full, stored);
  b().start(stored);
  uses_.large_keys.keep_whole_key(number, where, answer, full);
  b().jump(done);
  b().start(full);
  note_site(SiteKind::MapFull, map.name, reg(answer));
  b().jump(done);
  b().start(done);
}

void MapValues::update_aggregation(const Expr& target, const Expr& call) {
  const std::vector<ExprPtr>& args = std::get<Call>(call.node).args;
  const Type& type = image_.checked().maps[info(target).map].value;
  Operand n = args.empty() ? imm(1) : uses_.expressions.lower_scalar(*args[0]);
  bool is_signed = args.empty() || info(*args[0]).type->is_signed;
  change_map(target,
             [&](const Lane& lane) { uses_.aggregations.aggregate(lane, type, n, is_signed); });
}

Value MapValues::lower_delete(const std::vector<ExprPtr>& args) {
  MapId number = info(*args[0]).map;
  const MapInfo& map = image_.checked().maps[number];
  const ExprPtr& own_key = std::get<MapAccess>(args[0]->node).key;
  if (map.is_scalar != false) {
    Reg value = uses_.entries.lookup(number, {});
    uint32_t size = uses_.entries.map_of(number).value_size;
    int32_t present = b().new_block(), done = b().new_block();
    b().branch(ir::Compare::Ne, reg(value), imm(0), present, done);
    b().start(present);
    uses_.memory.zero(ir::at(value), size);
    b().jump(done);
    b().start(done);
    return scalar(bool_type(), imm(1));
  }
  if (image_.local_storage(number) >= 0) return uses_.local_storage.delete_local(number);
  MapKey key = lower_key(number, args.size() == 2 ? *args[1] : *own_key);
  uses_.large_keys.drop_whole_key(number, key);
  Reg result = map_result(
      b().call(BPF_FUNC_map_delete_elem,
               {reg(b().map_pointer(image_.script_map(number))), reg(b().address_of(key.id))}));
  Reg shifted = b().alu(ir::Alu::Shr, reg(result), imm(63));  // 1 when negative
  return scalar(bool_type(), reg(b().alu(ir::Alu::Xor, reg(shifted), imm(1))));
}

Value MapValues::lower_has_key(const std::vector<ExprPtr>& args) {
  MapId number = info(*args[0]).map;
  Address key = lower_key(number, *args[1]).id;
  Reg found = uses_.entries.lookup(number, key);
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

Value MapValues::lower_find(const std::vector<ExprPtr>& args) {
  MapId number = info(*args[0]).map;
  const MapInfo& map = image_.checked().maps[number];
  Address key = lower_key(number, *args[1]).id;
  Reg found = uses_.entries.lookup(number, key);
  Reg result = b().new_reg();
  int32_t present = b().new_block(), done = b().new_block();
  b().assign(result, imm(0));
  b().branch(ir::Compare::Ne, reg(found), imm(0), present, done);
  b().start(present);
  Value value =
      is_aggregation(map.value)
          ? uses_.aggregations.sum_over_cpus(map, number, key)
          : uses_.memory.read(
                {.type = map.value, .space = AddressSpace::Bpf, .address = ir::at(found)});
  uses_.variables.store_variable(info(*args[2]).variable, value);
  b().assign(result, imm(1));
  b().jump(done);
  b().start(done);
  return scalar(bool_type(), reg(result));
}

// Visiting every key with a body that does nothing counts them.
Value MapValues::lower_len(const Expr& arg) {
  if (!std::holds_alternative<MapAccess>(arg.node)) {
    Value stack = uses_.expressions.lower(arg);
    return scalar(int_type(8, true), reg(b().load(stack.address, 4)));
  }
  MapId number = info(arg).map;
  if (image_.checked().maps[number].is_scalar != false) return scalar(int_type(8, true), imm(1));
  int32_t function = code_.add_function("_count", 4, [] {});
  Address context = uses_.memory.stack_temp(8);
  b().store(context, 8, imm(0));
  Reg n = b().call(BPF_FUNC_for_each_map_elem,
                   {reg(b().map_pointer(image_.script_map(number))), reg(b().callback(function)),
                    reg(b().address_of(context)), imm(0)});
  return scalar(int_type(8, true), reg(n));
}

}  // namespace flowtap
