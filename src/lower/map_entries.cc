// Entries of maps. Values are changed in place through the pointer that a lookup gives; a key that
// is missing is created from zeros first. Maps without keys are arrays of one element, whose
// address is known when the program is loaded.

#include "lower/map_entries.h"

#include <linux/bpf.h>

namespace flowtap {

// The value's address, or 0.
ir::Reg MapEntries::lookup(MapId number, Address key) {
  const MapInfo& map = image_.checked().maps[number];
  if (image_.local_storage(number) >= 0) return local_storage_.lookup_local(number);
  int index = image_.script_map(number);
  if (map.is_scalar != false) {
    if (!is_aggregation(map.value) || map_of(number).lane) return b().map_value(index);
    Address zero_key = memory_.temp(8);
    b().store(zero_key, 4, imm(0));
    return b().call(BPF_FUNC_map_lookup_elem,
                    {reg(b().map_pointer(index)), reg(b().address_of(zero_key))});
  }
  return b().call(BPF_FUNC_map_lookup_elem,
                  {reg(b().map_pointer(index)), reg(b().address_of(key))});
}

// Like lookup, but a missing key is created. Goes to `present` with the address in the register
// it answers, or to `absent` when the map is full, which is noted.
ir::Reg MapEntries::find_or_create(MapId number, const MapKey& key, int32_t present,
                                   int32_t absent) {
  const MapInfo& map = image_.checked().maps[number];
  if (image_.local_storage(number) >= 0)
    return local_storage_.create_local(number, present, absent);
  Reg result = b().move(reg(lookup(number, key.id)));
  if (map.is_scalar != false) {
    b().branch(ir::Compare::Ne, reg(result), imm(0), present, absent);
    return result;
  }
  // Another CPU may delete the key between two steps of this one.
  int attempts = map.is_deleted_from ? 3 : 1;
  int32_t full = b().new_block();
  Reg answer = b().new_reg();
  for (int n = 0; n < attempts; n++) {
    int32_t create = b().new_block();
    b().branch(ir::Compare::Ne, reg(result), imm(0), present, create);
    b().start(create);
    create_key(number, key, answer, full);
    b().assign(result, reg(lookup(number, key.id)));
  }
  b().branch(ir::Compare::Ne, reg(result), imm(0), present, full);
  b().start(full);
  note_site(SiteKind::MapFull, map.name, reg(answer));
  b().jump(absent);
  return result;
}

// The kernel's answer comes into `answer`; goes to `full` when there is no room for the whole key.
void MapEntries::create_key(MapId number, const MapKey& key, Reg answer, int32_t full) {
  int index = image_.script_map(number);
  large_keys_.keep_whole_key(number, key, answer, full);
  Reg zeros = b().map_value(image_.zeros(map_of(number).value_size));
  Reg refused = b().call(
      BPF_FUNC_map_update_elem,
      {reg(b().map_pointer(index)), reg(b().address_of(key.id)), reg(zeros), imm(BPF_NOEXIST)});
  b().assign(answer, reg(map_result(refused)));
  large_keys_.keep_whole_key(number, key, answer, full);
}

const MapDef& MapEntries::map_of(MapId number) const {
  return image_.image().maps[static_cast<size_t>(image_.script_map(number))];
}

// Where this CPU's part of a value is; see MapDef::lane.
Lane MapEntries::own_lane(MapId number, Reg value, int32_t absent) {
  const MapDef& map = map_of(number);
  if (!map.lane) return {ir::at(value)};
  uint32_t lanes = count_lanes(map);
  bool is_shared = lanes < image_.cpus();
  if (lanes == 1) return {ir::at(value, static_cast<int32_t>(lane_offset(map, 0))), is_shared};
  Reg cpu = b().call(BPF_FUNC_get_smp_processor_id, {});
  int32_t known = b().new_block();
  if (is_shared) cpu = b().alu(ir::Alu::And, reg(cpu), imm(lanes - 1));
  b().branch(ir::Compare::Lt, reg(cpu), imm(lanes), known, absent);
  b().start(known);
  Reg offset = b().alu(ir::Alu::Mul, reg(cpu), imm(map.lane));
  if (value == ir::kNoReg) value = b().map_value(image_.script_map(number));
  return {ir::at(b().alu(ir::Alu::Add, reg(value), reg(offset)),
                 static_cast<int32_t>(lane_offset(map, 0))),
          is_shared};
}

// A number is about to be stored over another; 0 stands for an entry that has ended.
void MapEntries::note_overwritten(MapId number, Address old, Address value) {
  const MapInfo& map = image_.checked().maps[number];
  if (!map.is_paired()) return;
  int32_t was_open = b().new_block(), lost = b().new_block(), go_on = b().new_block();
  b().branch(ir::Compare::Ne, reg(b().load(old, 8)), imm(0), was_open, go_on);
  b().start(was_open);
  b().branch(ir::Compare::Ne, reg(b().load(value, 8)), imm(0), lost, go_on);
  b().start(lost);
  note_site(SiteKind::PairLost, map.decl->pairs, imm(0));
  b().jump(go_on);
  b().start(go_on);
}

}  // namespace flowtap
