// Aggregations. The memory that an event changes belongs to its CPU alone, or is added to in one
// step; whoever reads adds up all lanes.

#include "lower/aggregations.h"

#include <linux/bpf.h>

#include "builtins/probes.h"
#include "sema/unify.h"

namespace flowtap {

// Reads an aggregation: every CPU's part is looked up and they are joined.
Value Aggregations::sum_over_cpus(const MapInfo& map, MapId number, std::optional<Address> key) {
  Kind kind = map.value->kind;
  Reg total = b().new_reg(), count = b().new_reg(), seen = b().new_reg();
  for (Reg r : {total, count, seen}) b().assign(r, imm(0));
  Address where = key.value_or(Address{});
  if (!key) {
    where = uses_.memory.temp(8);
    b().store(where, 4, imm(0));
  }
  bool is_extreme = kind == Kind::Min || kind == Kind::Max;
  int index = image_.script_map(number);
  const MapDef kept = uses_.entries.map_of(number);
  Reg lanes = kept.lane ? uses_.entries.lookup(number, where) : ir::kNoReg;
  uint32_t parts = kept.lane ? count_lanes(kept) : image_.cpus();
  for (uint32_t n = 0; n < parts; n++) {
    Reg found = kept.lane
                    ? lanes
                    : b().call(BPF_FUNC_map_lookup_percpu_elem,
                               {reg(b().map_pointer(index)), reg(b().address_of(where)), imm(n)});
    Address part = ir::at(found, kept.lane ? static_cast<int32_t>(lane_offset(kept, n)) : 0);
    int32_t present = b().new_block(), next = b().new_block();
    bool says_missing = key && n == 0 && image_.options().warns;
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
    Address own = uses_.memory.temp(16);
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
  b().assign(mean,
             uses_.arithmetic.lower_division(false, map.value->is_signed, reg(total), reg(count)));
  b().jump(done);
  b().start(done);
  return scalar(type, reg(mean));
}

// The memory belongs to this CPU, but a uprobe's program can be preempted by another task's.
void Aggregations::add_in_place(const Lane& lane, Operand n) {
  if (lane.is_shared || probe_row(instance_.kind).has(kUserSpace))
    return b().atomic_add(lane.address, 8, n);
  b().store(lane.address, 8, reg(b().alu(ir::Alu::Add, reg(b().load(lane.address, 8)), n)));
}

void Aggregations::aggregate(const Lane& lane, const Type& type, Operand n, bool is_signed) {
  Address value = lane.address;
  switch (type->kind) {
    case Kind::Count:
    case Kind::Sum: return add_in_place(lane, n);
    case Kind::Avg:
    case Kind::Stats:
      add_in_place(lane, n);
      return add_in_place({value + 8, lane.is_shared}, imm(1));
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
    default: return bump_bucket(lane, type, n, is_signed);
  }
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
void Aggregations::bump_bucket(const Lane& lane, const Type& type, Operand n, bool is_signed) {
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
  Reg start = b().address_of(lane.address);
  Reg index = uses_.frame.plus_unknown_zero(reg(bucket), reg(start));
  b().branch(ir::Compare::Lt, reg(index), imm(buckets), inside, out);
  b().start(inside);
  Reg offset = b().alu(ir::Alu::Shl, reg(index), imm(3));
  Reg cell = b().alu(ir::Alu::Add, reg(start), reg(offset));
  add_in_place({ir::at(cell), lane.is_shared}, imm(1));
  b().jump(out);
  b().start(out);
}

// A ring of intervals: | u64 epoch | s64 value | u64 count |, reused when the epoch moves on.
void Aggregations::update_tseries(Address value, const Type& type, Operand n) {
  Reg now = b().alu(ir::Alu::Add, reg(b().call(BPF_FUNC_ktime_get_boot_ns, {})),
                    imm(image_.options().tai_offset_ns));
  Reg epoch = b().alu(ir::Alu::Div, reg(now), imm(type->interval));
  Reg bucket = b().alu(ir::Alu::Mod, reg(epoch), imm(type->intervals));
  int32_t inside = b().new_block(), out = b().new_block();
  b().branch(ir::Compare::Lt, reg(bucket), imm(type->intervals), inside, out);
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

}  // namespace flowtap
