// The ring buffer that records go to; see record_buffer.h.

#include "lower/record_buffer.h"

#include <linux/bpf.h>

#include <algorithm>

namespace flowtap {

// Room for a record, or 0.
ir::Reg RecordBuffer::reserve(uint32_t size) {
  auto is_slow = [](const AttachPoint& point) {
    constexpr uint64_t kMillisecond = 1'000'000;
    const ProbeRow& row = probe_row(point.kind);
    return row.family == ProbeFamily::Special ||
           (row.has(kOneCpu) && point.period_ns >= kMillisecond);
  };
  const std::vector<AttachPoint>& points = instance_.attach;
  bool is_rare = !frame_.in_callback() && std::all_of(points.begin(), points.end(), is_slow);
  image_.will_send(size, is_rare);
  return b().call(BPF_FUNC_ringbuf_reserve,
                  {reg(b().map_pointer(image_.image().ringbuf)), imm(size), imm(0)});
}

// User addresses get their names when they are printed, which may be after the process has ended:
// user space hears of each process once, as soon as one of its addresses is taken.
void RecordBuffer::note_process(Operand pid) {
  Address key = memory_.temp(8);
  b().store(key, 8, pid);
  Reg map = b().map_pointer(image_.seen_processes());
  Reg seen = b().call(BPF_FUNC_map_lookup_elem, {reg(map), reg(b().address_of(key))});
  int32_t fresh = b().new_block(), fill = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Ne, reg(seen), imm(0), done, fresh);
  b().start(fresh);
  Event event{.kind = EventKind::Process, .span = b().span()};
  event.args.push_back({.name = {}, .type = int_type(4, false), .offset = kRecordHeader});
  event.size = kRecordHeader + 8;
  EventId number = image_.add_event(event);
  Reg record = reserve(event.size);
  b().branch(ir::Compare::Ne, reg(record), imm(0), fill, done);  // else the next event tries again
  b().start(fill);
  b().store(ir::at(record), 8, imm(static_cast<int64_t>(number.index())));
  b().store(ir::at(record, kRecordHeader), 8, pid);
  b().call(BPF_FUNC_ringbuf_submit, {reg(record), imm(BPF_RB_FORCE_WAKEUP)});
  Address value = memory_.temp(8);
  b().store(value, 8, imm(1));
  Reg again = b().map_pointer(image_.seen_processes());
  b().call(BPF_FUNC_map_update_elem,
           {reg(again), reg(b().address_of(key)), reg(b().address_of(value)), imm(0)});
  b().jump(done);
  b().start(done);
}

}  // namespace flowtap
