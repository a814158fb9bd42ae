// dw_ustack: user stacks of programs that keep no frame pointers. Way in: lower_unwound_stack().
//
// From the registers that the process had in user mode, frame by frame, in a loop that the kernel
// runs; unwind_round.cc has its body.
//
// Where flowtap does not know the process yet, or it has become another program, it is asked for
// tables; until they are there the kernel follows frame pointers, and that is counted.

#include "lower/unwinding.h"

#include <linux/bpf.h>

#include "builtins/probes.h"
#include "lower/unwind_round.h"
#include "types/layout.h"
#include "types/unwind.h"

namespace flowtap {

namespace {

using ir::Alu;
using ir::Compare;
using ir::Reg;

// Asking again makes sense when a library was loaded since, or the record was lost.
constexpr int64_t kPatienceNs = 100'000'000;

}  // namespace

void Unwinding::branch_on_user_mode(Reg registers, int32_t in_user, int32_t in_kernel) {
  const UserModeBit& bit = arch().user_mode;
  if (!bit.value) std::swap(in_user, in_kernel);
  Reg word = b().load(ir::at(registers, bit.offset), 8);
  b().branch(Compare::Set, reg(word), imm(bit.mask), in_user, in_kernel);
}

// User probes have them as context, samples when they interrupted user mode; else they lie where
// the kernel was entered. Jumps to `nothing` where there is no user mode: in kernel threads.
Unwinding::UserRegisters Unwinding::user_registers(int32_t nothing) {
  UserRegisters out{b().new_reg(), b().new_reg(), b().new_reg()};
  auto take = [&](Reg from) {
    b().assign(out.ip, reg(b().load(ir::at(from, arch().instruction), 8)));
    b().assign(out.sp, reg(b().load(ir::at(from, arch().stack_pointer), 8)));
    b().assign(out.bp, reg(b().load(ir::at(from, arch().frame_pointer), 8)));
  };
  if (probe_row(instance_.kind).has(kUserSpace)) {
    take(uses_.frame.ctx());
    return out;
  }
  int32_t done = b().new_block();
  if (instance_.program == ProgramType::PerfEvent) {
    int32_t in_user = b().new_block(), in_kernel = b().new_block();
    branch_on_user_mode(uses_.frame.ctx(), in_user, in_kernel);
    b().start(in_user);
    take(uses_.frame.ctx());
    b().jump(done);
    b().start(in_kernel);
  }
  int32_t good = b().new_block();
  Reg saved = b().call(BPF_FUNC_task_pt_regs, {reg(b().call(BPF_FUNC_get_current_task_btf, {}))});
  branch_on_user_mode(saved, good, nothing);
  b().start(good);
  take(saved);
  b().jump(done);
  b().start(done);
  return out;
}

void Unwinding::ask_for_tables(Operand pid, const Layout& layout) {
  Event event{.kind = EventKind::Unwind, .span = b().span()};
  Type word = int_type(8, false);
  event.args = {{.name = {}, .type = word, .offset = kRecordHeader},
                {.name = {}, .type = word, .offset = kRecordHeader + 8},
                {.name = {}, .type = word, .offset = kRecordHeader + 16}};
  event.size = kRecordHeader + 24;
  EventId number = image_.add_event(event);
  Reg record = b().call(BPF_FUNC_ringbuf_reserve,
                        {reg(b().map_pointer(image_.image().ringbuf)), imm(event.size), imm(0)});
  int32_t fill = b().new_block(), done = b().new_block();
  b().branch(Compare::Ne, reg(record), imm(0), fill, done);  // it is asked for again
  b().start(fill);
  b().store(ir::at(record), 8, imm(static_cast<int64_t>(number.index())));
  b().store(ir::at(record, kRecordHeader), 8, pid);
  b().store(ir::at(record, kRecordHeader + 8), 8, reg(layout.stack_start));
  b().store(ir::at(record, kRecordHeader + 16), 8, reg(layout.code_end));
  b().call(BPF_FUNC_ringbuf_submit, {reg(record), imm(BPF_RB_FORCE_WAKEUP)});
  b().jump(done);
  b().start(done);
}

// Jumps to `too_early` when somebody has asked not long ago.
void Unwinding::wait_before_asking(Reg entry, int32_t too_early) {
  int32_t impatient = b().new_block();
  Reg now = b().call(BPF_FUNC_ktime_get_ns, {});
  Reg waited = b().alu(Alu::Sub, reg(now), reg(b().load(ir::at(entry, kUnwindAskedAt), 8)));
  b().branch(Compare::Gt, reg(waited), imm(kPatienceNs), impatient, too_early);
  b().start(impatient);
  b().store(ir::at(entry, kUnwindAskedAt), 8, reg(now));
}

// Where the current process has its stack and code. A kernel thread has none, and its pointer is 0.
Unwinding::Layout Unwinding::layout_of_process(int32_t nothing) {
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
ir::Reg Unwinding::find_unwind_tables(Operand pid, const Layout& layout, int32_t missing) {
  const UnwindMaps& maps = image_.unwind();
  Address key = uses_.memory.temp(8);
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
  Address value = uses_.memory.temp(kUnwindProcessSize);
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

void Unwinding::lower_unwound_stack(const Expr& expr, Address to) {
  using namespace unwind_state;
  const Type& type = info(expr).type;
  uint32_t limit = type->stack_limit;
  if (limit == 0) return uses_.memory.zero(to, kStackHeader);
  uint32_t size = kStackHeader + limit * kStackFrameSize;
  // The loop's body reaches memory that all functions of the program share.
  Address work = ir::in_slot(b().new_slot(size, ir::Place::Scratch));
  Address state = ir::in_slot(b().new_slot(kStateSize, ir::Place::Scratch));
  int32_t nothing = b().new_block(), missing = b().new_block(), cut = b().new_block(),
          unmapped = b().new_block(), done = b().new_block();

  Operand pid = uses_.tasks.lower_pid({}, false);
  UserRegisters registers = user_registers(nothing);
  b().store(state + kIp, 8, reg(registers.ip));
  b().store(state + kSp, 8, reg(registers.sp));
  b().store(state + kBp, 8, reg(registers.bp));
  Layout layout = layout_of_process(nothing);
  Reg entry = find_unwind_tables(pid, layout, missing);
  b().store(state + kFirst, 8, reg(b().load(ir::at(entry), 4)));
  b().store(state + kMappings, 8, reg(b().load(ir::at(entry, kUnwindMappingCount), 4)));
  for (int32_t at : {kFrames, kBack, kOutcome, kKey, kPlace}) b().store(state + at, 8, imm(0));
  uses_.memory.zero(work, size);
  int32_t function = write_unwind_round(code_.program(), b(),
                                        {.maps = image_.unwind(),
                                         .rules = arch().unwind,
                                         .state = state,
                                         .frames = work + kStackHeader,
                                         .limit = limit});
  b().call(BPF_FUNC_loop, {imm(limit), reg(b().callback(function)), imm(0), imm(0)});
  b().store(work, 4, reg(b().load(state + kFrames, 8)));
  b().store(work + kStackPid, 4, pid);
  uses_.memory.copy(to, work, size);
  if (type->stack_mode != StackMode::Raw) uses_.buffer.note_process(pid);
  Reg outcome = b().load(state + kOutcome, 8);
  int32_t not_cut = b().new_block();
  b().branch(Compare::Eq, reg(outcome), imm(static_cast<int64_t>(UnwindOutcome::Cut)), cut,
             not_cut);
  b().start(not_cut);
  b().branch(Compare::Eq, reg(outcome), imm(static_cast<int64_t>(UnwindOutcome::Unmapped)),
             unmapped, done);

  b().start(unmapped);
  wait_before_asking(entry, cut);
  ask_for_tables(pid, layout);
  b().jump(cut);
  b().start(cut);
  note_site(SiteKind::StackCut, "dw_ustack", imm(0));
  b().jump(done);

  b().start(missing);
  note_site(SiteKind::TablesMissing, "dw_ustack", imm(0));
  uses_.stacks.lower_stack(expr, to);
  b().jump(done);
  b().start(nothing);
  uses_.memory.zero(to, size);
  b().jump(done);
  b().start(done);
}

}  // namespace flowtap
