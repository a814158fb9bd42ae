// Records for user space: each is reserved on the ring buffer, filled in place and submitted.
// A record that finds no room is counted.

#include "lower/events.h"

#include <fmt/format.h>
#include <linux/bpf.h>

#include "base/bytes.h"
#include "base/text.h"
#include "lang/walk.h"

namespace flowtap {

// Values that may be built inside a reserved record: nothing in between may end the probe or
// call back into a loop, or the record would never be submitted.
bool EventRecords::can_build_in_place(const Expr& expr) const {
  bool can = true;
  for_each_expr(expr, [&](const Expr& e) {
    can &= !std::holds_alternative<BlockExpr>(e.node) && !std::holds_alternative<IfExpr>(e.node) &&
           !std::holds_alternative<FnCall>(e.node);
    const Builtin* builtin = info(e).builtin;
    can &= !builtin ||
           (builtin->id != Fn::Strstr && builtin->id != Fn::Strcontains && builtin->id != Fn::Len);
  });
  return can;
}

// print(args) shows the texts that stand behind a tracepoint's record, so they go along: each is
// put behind the record's fixed part. Null for all other expressions.
Type EventRecords::args_with_texts(const Expr& expr) const {
  if (!info(expr).builtin || info(expr).builtin->id != Fn::Args) return nullptr;
  TypeData data = *instance_.args;
  bool has_text = false;
  for (Field& field : data.fields) {
    bool is_text = field.is_data_loc && is_integer(field.type) && field.type->size == 1;
    if (!is_text) continue;
    has_text = true;
    data.size = static_cast<uint32_t>(align_up(data.size, 8));
    field.type = string_type(static_cast<uint32_t>(image_.checked().config.max_strlen));
    field.offset = data.size;
    field.is_data_loc = false;
    data.size += field.type->size;
  }
  return has_text ? std::make_shared<const TypeData>(std::move(data)) : nullptr;
}

Value EventRecords::lower_args_with_texts(const Expr& expr, const Type& type) {
  Address to = uses_.memory.temp(type->size);
  uses_.memory.copy(to, uses_.expressions.lower(expr).address, instance_.args->size);
  for (size_t i = 0; i < type->fields.size(); i++) {
    const Field &from = instance_.args->fields[i], &field = type->fields[i];
    if (!from.is_data_loc || field.is_data_loc) continue;
    uint32_t size = field.type->size;
    uses_.memory.zero(to + field.offset, size);
    uses_.text_reads.read_string(to + field.offset, size, imm(size),
                                 reg(uses_.context.data_address(from)), AddressSpace::Kernel);
  }
  return memory(type, to);
}

// Counts a record that found no room. One that asks for something is named in the report: without a
// clear() the next numbers are wrong. exit() has its cell and is not lost.
void EventRecords::note_lost(const Event& event) {
  auto action = [&](const char* name, const std::string& subject = {}) {
    note_site(SiteKind::ActionLost, fmt::format("{}({})", name, subject), imm(0));
  };
  const Image& image = image_.image();
  std::string map = event.map < 0 ? "" : image.maps[static_cast<size_t>(event.map)].name;
  switch (event.kind) {
    case EventKind::Exit: break;
    case EventKind::PrintMap: action("print", map); break;
    case EventKind::ClearMap: action("clear", map); break;
    case EventKind::ZeroMap: action("zero", map); break;
    case EventKind::PrintTable: action("print", image.tables[event.table].name); break;
    case EventKind::System: action("system"); break;
    case EventKind::Unwatch: action("unwatch"); break;
    default: note_site(SiteKind::RingbufFull, "events", imm(0)); break;
  }
}

void EventRecords::send(Event event, const std::vector<const Expr*>& fields, bool wake) {
  Span span = event.span;
  // Scalars first, while nothing is reserved.
  std::vector<Value> ready(fields.size());
  for (size_t i = 0; i < fields.size(); i++) {
    Type type = type_of(*fields[i]);
    if (Type longer = args_with_texts(*fields[i])) {
      type = longer;
      ready[i] = lower_args_with_texts(*fields[i], type);
    } else if (is_scalar(type) || !can_build_in_place(*fields[i])) {
      ready[i] = uses_.expressions.lower(*fields[i]);
    }
    event.size = static_cast<uint32_t>(align_up(event.size, alignment_of(type)));
    event.args.push_back({.name = {}, .type = type, .offset = event.size});
    event.size += type->size;
  }
  event.size = static_cast<uint32_t>(align_up(event.size, 8));
  std::vector<Field> layout = event.args;
  uint32_t size = event.size;
  EventId number = image_.add_event(event);

  b().set_span(span);
  Reg record = uses_.buffer.reserve(size);
  int32_t lost = b().new_block(), fill = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Eq, reg(record), imm(0), lost, fill);
  b().start(lost);
  note_lost(event);
  b().jump(done);
  b().start(fill);
  b().store(ir::at(record), 8, imm(static_cast<int64_t>(number.index())));
  for (size_t i = 0; i < fields.size(); i++) {
    Address to = ir::at(record, static_cast<int32_t>(layout[i].offset));
    if (ready[i].type)
      uses_.memory.store(ready[i], to, layout[i].type);
    else
      uses_.expressions.lower_into(*fields[i], to, layout[i].type);
  }
  b().set_span(span);
  b().call(BPF_FUNC_ringbuf_submit, {reg(record), imm(wake ? BPF_RB_FORCE_WAKEUP : 0)});
  b().jump(done);
  b().start(done);
}

}  // namespace flowtap
