// Counting hot keys in a table of this CPU's; types/hot_keys.h draws it.

#include "lower/hot_key_counts.h"

#include "types/hot_keys.h"

#include <linux/bpf.h>

#include <cerrno>

namespace flowtap {

static int64_t word_of(HotState state) { return static_cast<int64_t>(state); }

// A different odd number for each word of a key.
static int64_t odd_number(uint32_t word) {
  constexpr uint64_t kStart = 0x9e3779b97f4a7c15, kStep = 0xc2b2ae3d27d4eb4e;
  return static_cast<int64_t>(kStart + word * kStep);
}

// Visits a key in the pieces that it was stored in: (offset, bytes). A load of more than was stored
// at once has to wait until all of it has reached the cache.
void HotKeyCounts::in_pieces(Address key, const Type& type,
                             const std::function<void(uint32_t, uint32_t)>& visit) {
  if (is(type, Kind::Tuple) || is(type, Kind::Record)) {
    for (const Field& field : type->fields)
      in_pieces(key + field.offset, field.type,
                [&](uint32_t at, uint32_t step) { visit(field.offset + at, step); });
    return;
  }
  uses_.memory.in_steps({key}, type->size, visit);
}

// What a program looks up in the map: the number of a large key, or the key.
void HotKeyCounts::in_pieces_of_id(const MapDef& map, Address id,
                                   const std::function<void(uint32_t, uint32_t)>& visit) {
  if (map.whole_keys >= 0)
    uses_.memory.in_steps({id}, kKeyDigestSize, visit);
  else
    in_pieces(id, map.key, visit);
}

// The slot that a key may use on this CPU.
ir::Reg HotKeyCounts::hot_slot(MapId number, const MapKey& key, int32_t nowhere) {
  const MapDef& map = uses_.entries.map_of(number);
  Reg cpu = b().call(BPF_FUNC_get_smp_processor_id, {});
  int32_t known = b().new_block();
  b().branch(ir::Compare::Lt, reg(cpu), imm(image_.cpus()), known, nowhere);
  b().start(known);
  Reg hash = ir::kNoReg;
  if (map.whole_keys >= 0)
    hash = b().load(key.id, 8);  // it is made of the whole key
  else
    in_pieces_of_id(map, key.id, [&](uint32_t at, uint32_t step) {
      Reg word = b().load(key.id + at, step);
      Reg part = b().alu(ir::Alu::Mul, reg(word), imm(odd_number(at)));
      hash = hash == ir::kNoReg ? part : b().alu(ir::Alu::Add, reg(hash), reg(part));
    });
  uint32_t size = hot_slot_size(map.key_size);
  Reg index = b().alu(ir::Alu::Shr, reg(hash), imm(64 - kHotBits));
  Reg offset =
      b().alu(ir::Alu::Add, reg(b().alu(ir::Alu::Mul, reg(cpu), imm(int64_t{kHotSlots} * size))),
              reg(b().alu(ir::Alu::Mul, reg(index), imm(size))));
  return b().alu(ir::Alu::Add, reg(b().map_value(map.hot_keys)), reg(offset));
}

// Runs `change` on the slot of a key, if it has one or can get one, or else on the map's value.
void HotKeyCounts::change_hot(MapId number, const MapKey& key,
                              const std::function<void(const Lane&)>& change) {
  const MapDef map = uses_.entries.map_of(number);
  int32_t hot = b().new_block(), other = b().new_block(), claim = b().new_block(),
          cold = b().new_block(), present = b().new_block(), done = b().new_block();
  Reg slot = hot_slot(number, key, done);
  Address kept = ir::at(slot, kHotKey);
  Reg state = b().load(ir::at(slot), 8);
  Reg difference = b().alu(ir::Alu::Xor, reg(state), imm(word_of(HotState::Used)));
  in_pieces_of_id(map, key.id, [&](uint32_t at, uint32_t step) {
    Reg wrong =
        b().alu(ir::Alu::Xor, reg(b().load(key.id + at, step)), reg(b().load(kept + at, step)));
    difference = b().alu(ir::Alu::Or, reg(difference), reg(wrong));
  });
  b().branch(ir::Compare::Eq, reg(difference), imm(0), hot, other);
  b().start(other);
  b().branch(ir::Compare::Eq, reg(state), imm(word_of(HotState::Used)), cold, claim);
  b().start(claim);
  claim_slot(number, slot, key, hot, cold);
  b().start(cold);
  Reg value = uses_.entries.find_or_create(number, key, present, done);
  b().start(present);
  change(uses_.entries.own_lane(number, value, done));
  b().jump(done);
  b().start(hot);
  change({ir::at(slot, kHotValue)});
  if (is(map.value, Kind::Sum))
    uses_.aggregations.add_in_place({ir::at(slot, kHotValue + 8)}, imm(1));
  b().jump(done);
  b().start(done);
}

// Programs that interrupt this one may want the same slot. Of all that do at one time at most one
// finds its own claim alone. A slot of which something is left to be read stays as it is.
//
// The key is in the map before it is in the slot. Whoever removes a key that stands for a whole one
// makes the slot stale after that, so what was counted here has a key then; the whole one is kept
// once more for the case that it was removed before the slot was claimed.
void HotKeyCounts::claim_slot(MapId number, Reg slot, const MapKey& key, int32_t claimed,
                              int32_t refused) {
  const MapDef map = uses_.entries.map_of(number);
  int32_t alone = b().new_block(), unused = b().new_block(), write = b().new_block(),
          lost = b().new_block();
  make_sure_of_key(number, key, refused);
  b().atomic_add(ir::at(slot, kHotClaims), 8, imm(1));
  b().branch(ir::Compare::Eq, reg(b().load(ir::at(slot, kHotClaims), 8)), imm(1), alone, lost);
  b().start(alone);
  b().branch(ir::Compare::Ne, reg(b().load(ir::at(slot), 8)), imm(word_of(HotState::Used)), unused,
             lost);
  b().start(unused);
  b().branch(ir::Compare::Eq, reg(new_events(map, slot)), imm(0), write, lost);
  b().start(lost);
  b().atomic_add(ir::at(slot, kHotClaims), 8, imm(-1));
  b().jump(refused);
  b().start(write);
  b().store(ir::at(slot), 8, imm(word_of(HotState::Written)));
  uses_.memory.copy(ir::at(slot, kHotKey), key.id, map.key_size);
  b().store(ir::at(slot), 8, imm(word_of(HotState::Used)));
  b().atomic_add(ir::at(slot, kHotClaims), 8, imm(-1));
  uses_.large_keys.keep_whole_key(number, key, b().new_reg(), claimed);
  b().jump(claimed);
}

// Goes to `full`, where it is tried once more and noted, when the map has no room for the key.
void HotKeyCounts::make_sure_of_key(MapId number, const MapKey& key, int32_t full) {
  int32_t create = b().new_block(), is_old = b().new_block(), there = b().new_block();
  b().branch(ir::Compare::Ne, reg(uses_.entries.lookup(number, key.id)), imm(0), there, create);
  b().start(create);
  Reg answer = b().new_reg();
  uses_.entries.create_key(number, key, answer, full);
  b().branch(ir::Compare::Eq, reg(answer), imm(0), there, is_old);
  b().start(is_old);  // another CPU was faster
  b().branch(ir::Compare::Eq, reg(answer), imm(-EEXIST), there, full);
  b().start(there);
}

// What a word of the value has grown since it was taken last.
ir::Reg HotKeyCounts::new_in_slot(Reg slot, uint32_t word) {
  int32_t at = static_cast<int32_t>(word * 8);
  return b().alu(ir::Alu::Sub, reg(b().load(ir::at(slot, kHotValue + at), 8)),
                 reg(b().load(ir::at(slot, kHotTaken + at), 8)));
}

ir::Reg HotKeyCounts::new_events(const MapDef& map, Reg slot) {
  return new_in_slot(slot, hot_events(map.value));
}

// Adds what all CPUs counted in their slots to the map, for a program that is about to visit it.
// What was counted since the last time stays in its slot: in the map an event would be lost if its
// key was removed between finding and counting it.
void HotKeyCounts::take_hot_keys(MapId number) {
  const MapDef map = uses_.entries.map_of(number);
  if (map.hot_keys < 0) return;
  uint32_t slots = image_.cpus() * kHotSlots;
  int32_t function = code_.add_function("_hot", 2, [&] { take_slot(number, map, slots); });
  Address context = uses_.memory.stack_temp(8);
  b().store(context, 8, imm(0));
  b().call(BPF_FUNC_loop,
           {imm(slots), reg(b().callback(function)), reg(b().address_of(context)), imm(0)});
}

void HotKeyCounts::take_slot(MapId number, const MapDef& map, uint32_t slots) {
  Reg index = b().extend(reg(b().param(0)), 4, false);
  int32_t inside = b().new_block(), idle = b().new_block(), used = b().new_block(),
          add = b().new_block(), present = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Lt, reg(index), imm(slots), inside, done);
  b().start(inside);
  Reg offset = b().alu(ir::Alu::Mul, reg(index), imm(hot_slot_size(map.key_size)));
  Reg slot = b().alu(ir::Alu::Add, reg(b().map_value(map.hot_keys)), reg(offset));
  Reg first = new_in_slot(slot, 0), second = new_in_slot(slot, 1);
  Reg events = hot_events(map.value) ? second : first;
  b().branch(ir::Compare::Ne, reg(events), imm(0), add, idle);
  b().start(idle);
  b().branch(ir::Compare::Eq, reg(b().load(ir::at(slot), 8)), imm(word_of(HotState::Used)), used,
             done);
  b().start(used);
  b().store(ir::at(slot), 8, imm(word_of(HotState::Stale)));
  b().jump(done);
  b().start(add);
  Address key = ir::at(slot, kHotKey);
  Reg value = uses_.entries.find_or_create(number, {key, key}, present, done);
  b().start(present);
  Lane lane = uses_.entries.own_lane(number, value, done);
  for (uint32_t word = 0; word < 2; word++) {
    int32_t at = static_cast<int32_t>(word * 8);
    Reg part = word ? second : first;
    if (at < static_cast<int32_t>(map.value->size))
      uses_.aggregations.add_in_place({lane.address + at, lane.is_shared}, reg(part));
    uses_.aggregations.add_in_place({ir::at(slot, kHotTaken + at)}, reg(part));
  }
  b().jump(done);
  b().start(done);
  b().ret(imm(0));
}

}  // namespace flowtap
