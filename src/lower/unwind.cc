// dw_ustack: user stacks of programs that keep no frame pointers. Way in: lower_unwound_stack().
//
// From the registers that the process had in user mode, frame by frame: a search among the
// mappings of the process finds the table that has the address, a search in the table the row, and
// its rule says where the caller's frame lies and what it had in rbp (types/unwind.h has the
// bytes). The kernel runs the loop over frames; searches are straight code without branches, which
// the verifier has to look at once.
//
// Where flowtap does not know the process yet, or it has become another program, it is asked for
// tables; until they are there the kernel follows frame pointers, and that is counted.

#include <linux/bpf.h>

#include "builtins/probes.h"
#include "lower/lowering.h"
#include "types/layout.h"
#include "types/unwind.h"

namespace flowtap {
namespace {

using ir::Alu;
using ir::Compare;
using ir::imm_operand;
using ir::Reg;
using ir::reg_operand;

// In struct pt_regs.
constexpr int32_t kRbp = 32, kRip = 128, kCodeSegment = 136, kRsp = 152;
// What a code segment of user mode has set.
constexpr int64_t kUserMode = 3;

// What the loop's rounds hand on. Not on the stack: the verifier would look at a round for every
// set of values that it can tell apart there.
constexpr int32_t kIp = 0, kSp = 8, kBp = 16;
constexpr int32_t kFrames = 24;  // found so far
constexpr int32_t kBack = 32;    // 1 when `ip` is a return address: the call is before it
constexpr int32_t kFirst = 40;   // mappings of the process: the first, and how many
constexpr int32_t kMappings = 48;
constexpr int32_t kOutcome = 56;
constexpr int32_t kKey = 64;    // of a lookup
constexpr int32_t kPlace = 72;  // of the last frame's mapping, among those of the process
constexpr int32_t kWords = 80;  // read from the process
constexpr uint32_t kMostWords = 16;
constexpr uint32_t kStateSize = kWords + kMostWords * 8;
static_assert(kMostUnwindBp < kMostWords);

enum Outcome : int64_t { kEnded, kCut, kUnmapped };

// Asking again makes sense when a library was loaded since, or the record was lost.
constexpr int64_t kPatienceNs = 100'000'000;

// Sorted entries of 1 << shift bytes, whose first bytes are the number they are sorted by.
struct Sorted {
  Reg base;
  uint32_t entries;  // at `base`; a power of two
  uint32_t shift;
  uint32_t number_size;
  Reg first, count;  // those to search
};

Reg entry_at(ir::Builder& b, const Sorted& in, Reg position) {
  Reg index =
      b.alu(Alu::And, reg_operand(b.alu(Alu::Add, reg_operand(in.first), reg_operand(position))),
            imm_operand(in.entries - 1));
  Reg offset = b.alu(Alu::Shl, reg_operand(index), imm_operand(in.shift));
  return b.alu(Alu::Add, reg_operand(in.base), reg_operand(offset));
}

// Steps by which few entries cannot be passed are left out, some at a time.
constexpr uint32_t kStepsLeftOut = 4;

// The place, among those to search, of the last entry whose number is not above `wanted`, or of the
// first entry. Whether a step is taken is the common sign of two differences. (Made a mask by an
// arithmetic shift, it would let Linux 6.18 look at both ways of each step.)
Reg search(ir::Builder& b, const Sorted& in, Reg wanted, uint32_t steps) {
  Reg position = b.move(imm_operand(0));
  int32_t next = -1;
  for (uint32_t bit = steps; bit-- > 0;) {
    bool begins_group = bit + 1 == steps || (bit + 1) % kStepsLeftOut == 0;
    if (next >= 0 && begins_group) {
      b.jump(next);
      b.start(next);
      next = -1;
    }
    if (begins_group && bit >= kStepsLeftOut) {
      int32_t needed = b.new_block();
      next = b.new_block();
      int64_t few = int64_t{1} << (bit / kStepsLeftOut * kStepsLeftOut);
      b.branch(Compare::Gt, reg_operand(in.count), imm_operand(few), needed, next);
      b.start(needed);
    }
    Reg middle = b.alu(Alu::Add, reg_operand(position), imm_operand(1 << bit));
    Reg number = b.load(ir::at(entry_at(b, in, middle)), in.number_size);
    Reg inside = b.alu(Alu::Sub, reg_operand(middle), reg_operand(in.count));
    Reg below = b.alu(Alu::Sub, reg_operand(number), reg_operand(wanted));
    below = b.alu(Alu::Sub, reg_operand(below), imm_operand(1));
    Reg sign = b.alu(Alu::And, reg_operand(inside), reg_operand(below));
    Reg taken = b.alu(Alu::Shr, reg_operand(sign), imm_operand(63));
    taken = b.alu(Alu::Shl, reg_operand(taken), imm_operand(bit));
    b.assign(position, reg_operand(b.alu(Alu::Add, reg_operand(position), reg_operand(taken))));
  }
  return position;
}

}  // namespace

// --- the registers --------------------------------------------------------------------------

// User probes have them as context, samples when they interrupted user mode; else they lie where
// the kernel was entered. Jumps to `nothing` where there is no user mode: in kernel threads.
Lowering::UserRegisters Lowering::user_registers(int32_t nothing) {
  UserRegisters out{b().new_reg(), b().new_reg(), b().new_reg()};
  auto take = [&](Reg from) {
    b().assign(out.ip, reg(b().load(ir::at(from, kRip), 8)));
    b().assign(out.sp, reg(b().load(ir::at(from, kRsp), 8)));
    b().assign(out.bp, reg(b().load(ir::at(from, kRbp), 8)));
  };
  if (probe_row(instance_.kind).has(kUserSpace)) {
    take(ctx());
    return out;
  }
  int32_t done = b().new_block();
  if (instance_.program == ProgramType::PerfEvent) {
    int32_t in_user = b().new_block(), in_kernel = b().new_block();
    Reg segment = b().load(ir::at(ctx(), kCodeSegment), 8);
    b().branch(Compare::Set, reg(segment), imm(kUserMode), in_user, in_kernel);
    b().start(in_user);
    take(ctx());
    b().jump(done);
    b().start(in_kernel);
  }
  int32_t good = b().new_block();
  Reg saved = b().call(BPF_FUNC_task_pt_regs, {reg(b().call(BPF_FUNC_get_current_task_btf, {}))});
  Reg segment = b().load(ir::at(saved, kCodeSegment), 8);
  b().branch(Compare::Set, reg(segment), imm(kUserMode), good, nothing);
  b().start(good);
  take(saved);
  b().jump(done);
  b().start(done);
  return out;
}

// --- the process ----------------------------------------------------------------------------

void Lowering::ask_for_tables(Operand pid, const Layout& layout) {
  Event event{.kind = EventKind::Unwind, .span = b().span()};
  Type word = int_type(8, false);
  event.args = {{.name = {}, .type = word, .offset = kRecordHeader},
                {.name = {}, .type = word, .offset = kRecordHeader + 8},
                {.name = {}, .type = word, .offset = kRecordHeader + 16}};
  event.size = kRecordHeader + 24;
  int number = image_.add_event(event);
  Reg record = b().call(BPF_FUNC_ringbuf_reserve,
                        {reg(b().map_pointer(image_.image().ringbuf)), imm(event.size), imm(0)});
  int32_t fill = b().new_block(), done = b().new_block();
  b().branch(Compare::Ne, reg(record), imm(0), fill, done);  // it is asked for again
  b().start(fill);
  b().store(ir::at(record), 8, imm(number));
  b().store(ir::at(record, kRecordHeader), 8, pid);
  b().store(ir::at(record, kRecordHeader + 8), 8, reg(layout.stack_start));
  b().store(ir::at(record, kRecordHeader + 16), 8, reg(layout.code_end));
  b().call(BPF_FUNC_ringbuf_submit, {reg(record), imm(BPF_RB_FORCE_WAKEUP)});
  b().jump(done);
  b().start(done);
}

// Jumps to `too_early` when somebody has asked not long ago.
void Lowering::wait_before_asking(Reg entry, int32_t too_early) {
  int32_t impatient = b().new_block();
  Reg now = b().call(BPF_FUNC_ktime_get_ns, {});
  Reg waited = b().alu(Alu::Sub, reg(now), reg(b().load(ir::at(entry, kUnwindAskedAt), 8)));
  b().branch(Compare::Gt, reg(waited), imm(kPatienceNs), impatient, too_early);
  b().start(impatient);
  b().store(ir::at(entry, kUnwindAskedAt), 8, reg(now));
}

// Where the current process has its stack and code. A kernel thread has none, and its pointer is 0.
Lowering::Layout Lowering::layout_of_process(int32_t nothing) {
  auto offset_of = [&](const char* type, const char* name) {
    const Field* field = find_field(image_.types().complete(image_.target().find_type(type)), name);
    CHECK(field != nullptr);
    return static_cast<int32_t>(field->offset);
  };
  int32_t good = b().new_block();
  Reg task = b().call(BPF_FUNC_get_current_task_btf, {});
  Reg memory = b().load(ir::at(task, offset_of("struct task_struct", "mm")), 8);
  b().branch(Compare::Ne, reg(memory), imm(0), good, nothing);
  b().start(good);
  return {b().load(ir::at(memory, offset_of("struct mm_struct", "start_stack")), 8),
          b().load(ir::at(memory, offset_of("struct mm_struct", "end_code")), 8)};
}

// The entry of the current process. Jumps to `missing`, after asking for them, where there are no
// tables yet.
ir::Reg Lowering::find_unwind_tables(Operand pid, const Layout& layout, int32_t missing) {
  const UnwindMaps& maps = image_.unwind();
  Address key = temp(8);
  b().store(key, 8, pid);
  Reg entry = b().call(BPF_FUNC_map_lookup_elem,
                       {reg(b().map_pointer(maps.processes)), reg(b().address_of(key))});
  int32_t fresh = b().new_block(), known = b().new_block(), same_stack = b().new_block(),
          same = b().new_block(), stale = b().new_block(), ask = b().new_block(),
          found = b().new_block();
  b().branch(Compare::Eq, reg(entry), imm(0), fresh, known);

  b().start(known);
  b().branch(Compare::Eq, reg(b().load(ir::at(entry, kUnwindStackStart), 8)),
             reg(layout.stack_start), same_stack, stale);
  b().start(same_stack);
  b().branch(Compare::Eq, reg(b().load(ir::at(entry, kUnwindCodeEnd), 8)), reg(layout.code_end),
             same, stale);
  b().start(same);
  b().branch(Compare::Ne, reg(b().load(ir::at(entry, kUnwindMappingCount), 4)), imm(0), found,
             stale);

  b().start(stale);
  wait_before_asking(entry, missing);
  b().jump(ask);

  b().start(fresh);
  Address value = temp(kUnwindProcessSize);
  b().store(value, 8, imm(0));
  b().store(value + kUnwindStackStart, 8, reg(layout.stack_start));
  b().store(value + kUnwindCodeEnd, 8, reg(layout.code_end));
  b().store(value + kUnwindAskedAt, 8, reg(b().call(BPF_FUNC_ktime_get_ns, {})));
  b().call(BPF_FUNC_map_update_elem,
           {reg(b().map_pointer(maps.processes)), reg(b().address_of(key)),
            reg(b().address_of(value)), imm(BPF_NOEXIST)});
  b().jump(ask);

  b().start(ask);
  ask_for_tables(pid, layout);
  b().jump(missing);
  b().start(found);
  return entry;
}

// --- the frames -----------------------------------------------------------------------------

int32_t Lowering::unwind_callback(const Expr& expr, Address state, Address frames, uint32_t limit) {
  int32_t number = static_cast<int32_t>(program_.functions.size());
  program_.functions.push_back({.name = program_.name + "_unwind" + std::to_string(number),
                                .params = 2,
                                .parent = b().function()});
  const UnwindMaps& maps = image_.unwind();
  ir::Builder body(program_, number);
  body.set_span(expr.span);
  Reg round = body.param(0);
  auto get = [&](int32_t at) { return body.load(state + at, 8); };
  auto set = [&](int32_t at, Operand value) { body.store(state + at, 8, value); };
  auto alu = [&](Alu op, Reg a, Operand other) { return body.alu(op, reg(a), other); };
  int32_t inside = body.new_block(), stop = body.new_block(), cut = body.new_block(),
          unmapped = body.new_block();

  // This frame is one of the stack.
  Reg frame = body.extend(reg(round), 4, false);
  body.branch(Compare::Lt, reg(frame), imm(limit), inside, stop);
  body.start(inside);
  Reg ip = get(kIp);
  Reg place = alu(Alu::Add, body.address_of(frames), reg(alu(Alu::Shl, frame, imm(3))));
  body.store(ir::at(place), 8, reg(ip));
  set(kFrames, reg(alu(Alu::Add, frame, imm(1))));

  // The mapping that has the address, often that of the last frame, and in its table the row.
  Reg address = alu(Alu::Sub, ip, reg(get(kBack)));
  Sorted mappings{.base = body.map_value(maps.mappings),
                  .entries = kUnwindMappings,
                  .shift = 5,
                  .number_size = 8,
                  .first = get(kFirst),
                  .count = get(kMappings)};
  Reg mapping = body.move(reg(entry_at(body, mappings, get(kPlace))));
  int32_t has_mapping = body.new_block(), other = body.new_block();
  auto check_range = [&](int32_t outside) {
    int32_t after_begin = body.new_block();
    body.branch(Compare::Ge, reg(address), reg(body.load(ir::at(mapping), 8)), after_begin,
                outside);
    body.start(after_begin);
    body.branch(Compare::Lt, reg(address), reg(body.load(ir::at(mapping, kUnwindEnd), 8)),
                has_mapping, outside);
  };
  check_range(other);
  body.start(other);
  Reg found = search(body, mappings, address, kUnwindMappingSteps);
  set(kPlace, reg(found));
  body.assign(mapping, reg(entry_at(body, mappings, found)));
  check_range(unmapped);
  body.start(has_mapping);
  Reg in_file = alu(Alu::Sub, address, reg(body.load(ir::at(mapping, kUnwindBias), 8)));
  Reg first = body.load(ir::at(mapping, kUnwindFirst), 4);
  Reg count = body.load(ir::at(mapping, kUnwindRows), 4);
  static_assert(kUnwindBankRows == 1 << 16 && kUnwindRowSize == 1 << 3);
  Reg key = body.address_of(state + kKey);
  set(kKey, reg(alu(Alu::Shr, first, imm(16))));
  int32_t has_bank = body.new_block(), has_rows = body.new_block();
  Reg bank = body.call(BPF_FUNC_map_lookup_elem, {reg(body.map_pointer(maps.banks)), reg(key)});
  body.branch(Compare::Ne, reg(bank), imm(0), has_bank, unmapped);
  body.start(has_bank);
  set(kKey, imm(0));
  Reg rows = body.call(BPF_FUNC_map_lookup_elem, {reg(bank), reg(key)});
  body.branch(Compare::Ne, reg(rows), imm(0), has_rows, unmapped);
  body.start(has_rows);
  Sorted table{.base = rows,
               .entries = kUnwindBankRows,
               .shift = 3,
               .number_size = 4,
               .first = first,
               .count = count};
  Reg row = entry_at(body, table, search(body, table, in_file, kUnwindBankSteps));
  int32_t has_row = body.new_block();
  body.branch(Compare::Le, reg(body.load(ir::at(row), 4)), reg(in_file), has_row, cut);
  body.start(has_row);

  // Its rule gives the CFA, and how many words below it are of interest: the first is the caller's
  // rbp, if it was saved, and the last the return address.
  Reg rule = body.load(ir::at(row, 4), 4);
  Reg kind = alu(Alu::And, rule, imm(kUnwindKindMask));
  Reg offset = alu(Alu::Shl,
                   alu(Alu::Sar, body.extend(reg(rule), 4, true), imm(kUnwindOffsetShift)), imm(3));
  Reg sp = get(kSp), bp = get(kBp);
  Reg cfa = body.new_reg(), words = body.new_reg();
  int32_t has_cfa = body.new_block(), has_both = body.new_block();
  // Goes on with `then` when the row is of this kind, and else with what follows.
  auto when = [&](UnwindKind wanted, const std::function<void()>& then) {
    int32_t yes = body.new_block(), no = body.new_block();
    body.branch(Compare::Eq, reg(kind), imm(static_cast<int64_t>(wanted)), yes, no);
    body.start(yes);
    then();
    body.start(no);
  };
  auto read = [&](Reg from, int32_t add) {
    int32_t good = body.new_block();
    Reg result = body.call(BPF_FUNC_probe_read_user, {reg(body.address_of(state + kWords)), imm(8),
                                                      reg(alu(Alu::Add, from, imm(add)))});
    body.branch(Compare::SLt, reg(result), imm(0), cut, good);
    body.start(good);
    return get(kWords);
  };
  when(UnwindKind::Sp, [&] {
    body.assign(cfa, reg(alu(Alu::Add, sp, reg(offset))));
    body.jump(has_cfa);
  });
  when(UnwindKind::Bp, [&] {
    body.assign(cfa, reg(alu(Alu::Add, bp, reg(offset))));
    body.jump(has_cfa);
  });
  when(UnwindKind::End, [&] { body.jump(stop); });
  when(UnwindKind::Plt, [&] {
    Reg digit = alu(Alu::And, address, imm(15));
    Reg before = alu(Alu::Shr, alu(Alu::Sub, alu(Alu::Shl, digit, imm(3)), reg(offset)), imm(63));
    Reg pushed = alu(Alu::Shl, alu(Alu::Xor, before, imm(1)), imm(3));
    body.assign(cfa, reg(alu(Alu::Add, alu(Alu::Add, sp, imm(8)), reg(pushed))));
    body.jump(has_cfa);
  });
  when(UnwindKind::BpMemory, [&] {
    body.assign(cfa, reg(read(alu(Alu::Add, bp, reg(offset)), 0)));
    set(kBp, reg(read(bp, 0)));
    body.assign(words, imm(1));
    body.jump(has_both);
  });
  when(UnwindKind::Signal, [&] {
    Reg caller = read(sp, kSignalIp);
    set(kIp, reg(caller));
    set(kBp, reg(read(sp, kSignalBp)));
    set(kSp, reg(read(sp, kSignalSp)));
    set(kBack, imm(0));
    body.ret(imm(0));
  });
  body.jump(cut);

  body.start(has_cfa);
  Reg below = alu(Alu::And, alu(Alu::Shr, rule, imm(kUnwindBpShift)), imm(kUnwindBpMask));
  int32_t kept = body.new_block(), moved = body.new_block(), lost = body.new_block(),
          saved = body.new_block();
  body.branch(Compare::Eq, reg(below), imm(0), kept, moved);
  body.start(moved);
  body.branch(Compare::Eq, reg(below), imm(kUnwindBpLost), lost, saved);
  body.start(lost);
  set(kBp, imm(0));
  body.jump(kept);
  body.start(kept);
  body.assign(words, imm(1));
  body.jump(has_both);
  body.start(saved);
  body.assign(words, reg(below));
  body.jump(has_both);

  // Stacks grow downwards: a caller's frame lies above.
  body.start(has_both);
  int32_t above = body.new_block(), is_read = body.new_block(), has_bp = body.new_block(),
          done = body.new_block(), go_on = body.new_block();
  body.branch(Compare::Gt, reg(cfa), reg(sp), above, cut);
  body.start(above);
  Reg size = alu(Alu::Shl, alu(Alu::And, words, imm(kMostWords - 1)), imm(3));
  Reg result = body.call(BPF_FUNC_probe_read_user, {reg(body.address_of(state + kWords)), reg(size),
                                                    reg(alu(Alu::Sub, cfa, reg(size)))});
  body.branch(Compare::SLt, reg(result), imm(0), cut, is_read);
  body.start(is_read);
  Reg last = alu(Alu::And, alu(Alu::Sub, words, imm(1)), imm(kMostWords - 1));
  Reg caller_at = alu(Alu::Add, body.address_of(state + kWords), reg(alu(Alu::Shl, last, imm(3))));
  Reg caller = body.load(ir::at(caller_at), 8);
  set(kIp, reg(caller));
  set(kSp, reg(cfa));
  set(kBack, imm(1));
  body.branch(Compare::Gt, reg(words), imm(1), has_bp, done);
  body.start(has_bp);
  set(kBp, reg(get(kWords)));
  body.jump(done);
  body.start(done);
  body.branch(Compare::Ne, reg(caller), imm(0), go_on, stop);
  body.start(go_on);
  body.ret(imm(0));

  body.start(unmapped);
  set(kOutcome, imm(kUnmapped));
  body.ret(imm(1));
  body.start(cut);
  set(kOutcome, imm(kCut));
  body.ret(imm(1));
  body.start(stop);
  body.ret(imm(1));
  body.finish();
  return number;
}

void Lowering::lower_unwound_stack(const Expr& expr, Address to) {
  const Type& type = info(expr).type;
  uint32_t limit = type->stack_limit;
  if (limit == 0) return zero(to, kStackHeader);
  uint32_t size = kStackHeader + limit * kStackFrameSize;
  // The loop's body reaches memory that all functions of the program share.
  Address work = ir::in_slot(b().new_slot(size, ir::Place::Scratch));
  Address state = ir::in_slot(b().new_slot(kStateSize, ir::Place::Scratch));
  int32_t nothing = b().new_block(), missing = b().new_block(), cut = b().new_block(),
          unmapped = b().new_block(), done = b().new_block();

  Operand pid = lower_pid({}, false);
  UserRegisters registers = user_registers(nothing);
  b().store(state + kIp, 8, reg(registers.ip));
  b().store(state + kSp, 8, reg(registers.sp));
  b().store(state + kBp, 8, reg(registers.bp));
  Layout layout = layout_of_process(nothing);
  Reg entry = find_unwind_tables(pid, layout, missing);
  b().store(state + kFirst, 8, reg(b().load(ir::at(entry), 4)));
  b().store(state + kMappings, 8, reg(b().load(ir::at(entry, kUnwindMappingCount), 4)));
  for (int32_t at : {kFrames, kBack, kOutcome, kKey, kPlace}) b().store(state + at, 8, imm(0));
  zero(work, size);
  int32_t function = unwind_callback(expr, state, work + kStackHeader, limit);
  b().call(BPF_FUNC_loop, {imm(limit), reg(b().callback(function)), imm(0), imm(0)});
  b().store(work, 4, reg(b().load(state + kFrames, 8)));
  b().store(work + kStackPid, 4, pid);
  copy(to, work, size);
  if (type->stack_mode != StackMode::Raw) note_process(pid);
  Reg outcome = b().load(state + kOutcome, 8);
  int32_t not_cut = b().new_block();
  b().branch(Compare::Eq, reg(outcome), imm(kCut), cut, not_cut);
  b().start(not_cut);
  b().branch(Compare::Eq, reg(outcome), imm(kUnmapped), unmapped, done);

  b().start(unmapped);
  wait_before_asking(entry, cut);
  ask_for_tables(pid, layout);
  b().jump(cut);
  b().start(cut);
  note_site(SiteKind::StackCut, "dw_ustack", imm(0));
  b().jump(done);

  b().start(missing);
  note_site(SiteKind::TablesMissing, "dw_ustack", imm(0));
  lower_stack(expr, to);
  b().jump(done);
  b().start(nothing);
  zero(to, size);
  b().jump(done);
  b().start(done);
}

}  // namespace flowtap
