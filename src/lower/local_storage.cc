// Per-thread maps in task storage; see local_storage.h.

#include "lower/local_storage.h"

#include <linux/bpf.h>

namespace flowtap {

// The thread's storage for a map, or 0.
ir::Reg LocalStorage::local_storage(MapId number, Operand task, int64_t flags) {
  Reg map = b().map_pointer(image_.local_storage(number));
  return b().call(BPF_FUNC_task_storage_get, {reg(map), task, imm(0), imm(flags)});
}

// The value's address, or 0 when there is none.
ir::Reg LocalStorage::lookup_local(MapId number) {
  Reg storage = local_storage(number, reg(b().call(BPF_FUNC_get_current_task_btf, {})), 0);
  Reg result = b().new_reg();
  int32_t there = b().new_block(), present = b().new_block(), done = b().new_block();
  b().assign(result, imm(0));
  b().branch(ir::Compare::Ne, reg(storage), imm(0), there, done);
  b().start(there);
  b().branch(ir::Compare::Ne, reg(b().load(ir::at(storage), 8)), imm(0), present, done);
  b().start(present);
  b().assign(result, reg(b().alu(ir::Alu::Add, reg(storage), imm(kPresentSize))));
  b().jump(done);
  b().start(done);
  return result;
}

// Goes to `present` with the value's address in the register it answers. A value that was not
// there starts as zeros. The kernel refuses only when memory is short or when this thread's
// storage is being changed at this very moment.
ir::Reg LocalStorage::create_local(MapId number, int32_t present, int32_t absent) {
  const MapInfo& map = image_.checked().maps[number];
  Reg storage = local_storage(number, reg(b().call(BPF_FUNC_get_current_task_btf, {})),
                              BPF_LOCAL_STORAGE_GET_F_CREATE);
  int32_t there = b().new_block(), fresh = b().new_block(), refused = b().new_block(),
          ready = b().new_block();
  b().branch(ir::Compare::Ne, reg(storage), imm(0), there, refused);
  b().start(refused);
  note_site(SiteKind::MapFull, map.name, imm(-12));
  b().jump(absent);
  b().start(there);
  int32_t again = map.is_paired() ? b().new_block() : ready;
  b().branch(ir::Compare::Ne, reg(b().load(ir::at(storage), 8)), imm(0), again, fresh);
  if (map.is_paired()) {
    b().start(again);
    note_site(SiteKind::PairLost, map.decl->pairs, imm(0));
    b().jump(ready);
  }
  b().start(fresh);
  b().store(ir::at(storage), 8, imm(1));
  memory_.zero(ir::at(storage, kPresentSize), map.value->size);
  b().jump(ready);
  b().start(ready);
  Reg value = b().alu(ir::Alu::Add, reg(storage), imm(kPresentSize));
  b().jump(present);
  return value;
}

// The storage stays with its thread, to be used again: only the key is gone.
Value LocalStorage::delete_local(MapId number) {
  Reg storage = local_storage(number, reg(b().call(BPF_FUNC_get_current_task_btf, {})), 0);
  Reg was_there = b().new_reg();
  int32_t there = b().new_block(), done = b().new_block();
  b().assign(was_there, imm(0));
  b().branch(ir::Compare::Ne, reg(storage), imm(0), there, done);
  b().start(there);
  b().assign(was_there, reg(b().load(ir::at(storage), 8)));
  b().store(ir::at(storage), 8, imm(0));
  b().jump(done);
  b().start(done);
  return scalar(bool_type(), reg(was_there));
}

// Context word 0 leads to the file that is written, word 1 is the task, null at the end.
void MapDump::run(MapId number) {
  const MapInfo& map = image_.checked().maps[number];
  Reg context = b().param(0);
  Reg task = b().load(ir::at(context, 8), 8);
  int32_t is_task = b().new_block(), there = b().new_block(), present = b().new_block(),
          done = b().new_block();
  b().branch(ir::Compare::Ne, reg(task), imm(0), is_task, done);
  b().start(is_task);
  Reg storage = storage_.local_storage(number, reg(task), 0);
  b().branch(ir::Compare::Ne, reg(storage), imm(0), there, done);
  b().start(there);
  b().branch(ir::Compare::Ne, reg(b().load(ir::at(storage), 8)), imm(0), present, done);
  b().start(present);
  Reg file = b().load(ir::at(b().load(ir::at(context), 8)), 8);
  Address key = memory_.temp(8);
  Location pid = memory_.kernel_field(reg(task), "struct task_struct", {"pid"});
  b().store(key, map.key->size, memory_.read_scalar(pid));
  const MapDef& printed = image_.image().maps[static_cast<size_t>(image_.script_map(number))];
  auto write = [&](Address from, uint32_t size) {
    b().call(BPF_FUNC_seq_write, {reg(file), reg(b().address_of(from)), imm(size)});
  };
  write(key, printed.key_size);
  write(ir::at(storage, kPresentSize), printed.value_size);
  b().jump(done);
  b().start(done);
  b().finish();
}

void lower_dump(ImageBuilder& image, ir::Program& program, MapId map) {
  ProgramCode code(program);
  CodeWriter base(code, image);
  Memory memory(base, ProgramType::RawTracepoint);
  LocalStorage storage(base, memory);
  MapDump(base, memory, storage).run(map);
}

}  // namespace flowtap
