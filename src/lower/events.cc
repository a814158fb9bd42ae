// Records for user space: each is reserved on the ring buffer, filled in place and submitted.
// A record that finds no room is counted.

#include <fmt/format.h>
#include <linux/bpf.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "lang/walk.h"
#include "lower/lowering.h"

namespace flowtap {

// Values that may be built inside a reserved record: nothing in between may end the probe or
// call back into a loop, or the record would never be submitted.
bool Lowering::can_build_in_place(const Expr& expr) const {
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
Type Lowering::args_with_texts(const Expr& expr) const {
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

Value Lowering::lower_args_with_texts(const Expr& expr, const Type& type) {
  Address to = temp(type->size);
  copy(to, lower(expr).address, instance_.args->size);
  for (size_t i = 0; i < type->fields.size(); i++) {
    const Field &from = instance_.args->fields[i], &field = type->fields[i];
    if (!from.is_data_loc || field.is_data_loc) continue;
    uint32_t size = field.type->size;
    zero(to + field.offset, size);
    read_string(to + field.offset, size, imm(size), reg(data_address(from)), AddressSpace::Kernel);
  }
  return memory(type, to);
}

// Room for a record, or 0.
ir::Reg Lowering::reserve(uint32_t size) {
  auto is_slow = [](const AttachPoint& point) {
    constexpr uint64_t kMillisecond = 1'000'000;
    return point.kind == ProbeKind::Begin || point.kind == ProbeKind::End ||
           (point.kind == ProbeKind::Interval && !point.is_frequency &&
            point.period >= kMillisecond);
  };
  const std::vector<AttachPoint>& points = instance_.attach;
  bool is_rare = !in_callback_ && std::all_of(points.begin(), points.end(), is_slow);
  image_.will_send(size, is_rare);
  return b().call(BPF_FUNC_ringbuf_reserve,
                  {reg(b().map_pointer(image_.image().ringbuf)), imm(size), imm(0)});
}

// Counts a record that found no room. One that asks for something is named in the report: without a
// clear() the next numbers are wrong. exit() has its cell and is not lost.
void Lowering::note_lost(const Event& event) {
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
    case EventKind::PrintTable:
      action("print", image.tables[static_cast<size_t>(event.table)].name);
      break;
    case EventKind::System: action("system"); break;
    case EventKind::Unwatch: action("unwatch"); break;
    default: note_site(SiteKind::RingbufFull, "events", imm(0)); break;
  }
}

void Lowering::send(Event event, const std::vector<const Expr*>& fields, bool wake) {
  Span span = event.span;
  // Scalars first, while nothing is reserved.
  std::vector<Value> ready(fields.size());
  for (size_t i = 0; i < fields.size(); i++) {
    Type type = type_of(*fields[i]);
    if (Type longer = args_with_texts(*fields[i])) {
      type = longer;
      ready[i] = lower_args_with_texts(*fields[i], type);
    } else if (is_scalar(type) || !can_build_in_place(*fields[i])) {
      ready[i] = lower(*fields[i]);
    }
    event.size = static_cast<uint32_t>(align_up(event.size, alignment_of(type)));
    event.args.push_back({.name = {}, .type = type, .offset = event.size});
    event.size += type->size;
  }
  event.size = static_cast<uint32_t>(align_up(event.size, 8));
  std::vector<Field> layout = event.args;
  uint32_t size = event.size;
  int number = image_.add_event(event);

  b().set_span(span);
  Reg record = reserve(size);
  int32_t lost = b().new_block(), fill = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Eq, reg(record), imm(0), lost, fill);
  b().start(lost);
  note_lost(event);
  b().jump(done);
  b().start(fill);
  b().store(ir::at(record), 8, imm(number));
  for (size_t i = 0; i < fields.size(); i++) {
    Address to = ir::at(record, static_cast<int32_t>(layout[i].offset));
    if (ready[i].type)
      store(ready[i], to, layout[i].type);
    else
      lower_into(*fields[i], to, layout[i].type);
  }
  b().set_span(span);
  b().call(BPF_FUNC_ringbuf_submit, {reg(record), imm(wake ? BPF_RB_FORCE_WAKEUP : 0)});
  b().jump(done);
  b().start(done);
}

// User addresses get their names when they are printed, which may be after the process has ended:
// user space hears of each process once, as soon as one of its addresses is taken.
void Lowering::note_process(Operand pid) {
  Address key = temp(8);
  b().store(key, 8, pid);
  Reg map = b().map_pointer(image_.seen_processes());
  Reg seen = b().call(BPF_FUNC_map_lookup_elem, {reg(map), reg(b().address_of(key))});
  int32_t fresh = b().new_block(), fill = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Ne, reg(seen), imm(0), done, fresh);
  b().start(fresh);
  Event event{.kind = EventKind::Process, .span = b().span()};
  event.args.push_back({.name = {}, .type = int_type(4, false), .offset = kRecordHeader});
  event.size = kRecordHeader + 8;
  int number = image_.add_event(event);
  Reg record = reserve(event.size);
  b().branch(ir::Compare::Ne, reg(record), imm(0), fill, done);  // else the next event tries again
  b().start(fill);
  b().store(ir::at(record), 8, imm(number));
  b().store(ir::at(record, kRecordHeader), 8, pid);
  b().call(BPF_FUNC_ringbuf_submit, {reg(record), imm(BPF_RB_FORCE_WAKEUP)});
  Address value = temp(8);
  b().store(value, 8, imm(1));
  Reg again = b().map_pointer(image_.seen_processes());
  b().call(BPF_FUNC_map_update_elem,
           {reg(again), reg(b().address_of(key)), reg(b().address_of(value)), imm(0)});
  b().jump(done);
  b().start(done);
}

void Lowering::lower_printf(const Expr& expr, const Builtin& builtin,
                            const std::vector<ExprPtr>& args) {
  Event event{.span = expr.span};
  switch (builtin.id) {
    case Fn::Errorf: event.kind = EventKind::Errorf; break;
    case Fn::Warnf: event.kind = EventKind::Warnf; break;
    case Fn::Cat: event.kind = EventKind::Cat; break;
    case Fn::System: event.kind = EventKind::System; break;
    default: event.kind = EventKind::Printf; break;
  }
  event.format = *parse_format(*info(*args[0]).text);
  std::vector<const Expr*> fields;
  for (size_t i = 1; i < args.size(); i++) fields.push_back(args[i].get());
  send(std::move(event), fields);
}

// -1 when it names no table.
int Lowering::table_number(std::string_view name) const {
  const std::vector<Table>& tables = image_.image().tables;
  auto table =
      std::find_if(tables.begin(), tables.end(), [&](const Table& t) { return t.name == name; });
  return table == tables.end() ? -1 : static_cast<int>(table - tables.begin());
}

void Lowering::lower_print(const Expr& expr, const std::vector<ExprPtr>& args) {
  const MapAccess* access = std::get_if<MapAccess>(&args[0]->node);
  const Identifier* word = std::get_if<Identifier>(&args[0]->node);
  int table = word ? table_number(word->name) : -1;
  std::vector<const Expr*> fields;
  Event event{.kind = EventKind::PrintValue, .span = expr.span};
  if (access && !access->key) {
    event.kind = EventKind::PrintMap;
    event.map = image_.script_map(info(*args[0]).map);
    event.takes = taken_.contains(args[0].get());
    for (size_t i = 1; i < args.size(); i++) fields.push_back(args[i].get());
  } else if (table >= 0) {
    event.kind = EventKind::PrintTable;
    event.table = table;
    for (size_t i = 1; i < args.size(); i++) fields.push_back(args[i].get());
  } else {
    fields.push_back(args[0].get());
  }
  send(std::move(event), fields);
}

void Lowering::lower_exit(const Expr& expr, const std::vector<ExprPtr>& args) {
  leave_script(expr.span, args.empty() ? imm(0) : lower_scalar(*args[0]));
}

// The cell is set whatever happens to the record, which says what was written after the call. Two
// CPUs that call at the same moment may both be first; then the code is that of one of them.
void Lowering::leave_script(Span span, Operand code) {
  out_.may_exit = true;
  b().set_span(span);
  code = reg(b().in_reg(code));
  Reg cell = b().map_value(image_.exit_cell());
  int32_t first = b().new_block(), called = b().new_block();
  b().branch(ir::Compare::Eq, reg(b().load(ir::at(cell, kExitCalled), 8)), imm(0), first, called);
  b().start(first);
  b().store(ir::at(cell, kExitCode), 8, code);
  b().store(ir::at(cell, kExitCalled), 8, imm(1));
  b().jump(called);
  b().start(called);
  send({.kind = EventKind::Exit, .span = span}, {}, true);
  lower_return();
}

void Lowering::lower_emit(const Stmt& stmt, const Emit& emit) {
  std::vector<const Expr*> fields;
  for (const ExprPtr& value : emit.values) fields.push_back(value.get());
  Event event{.kind = EventKind::Row, .span = stmt.span};
  event.table = table_number(emit.table);
  send(std::move(event), fields);
}

void Lowering::lower_time(const Expr& expr, const std::vector<ExprPtr>& args) {
  Event event{.kind = EventKind::Time, .span = expr.span};
  event.text = args.empty() ? "%H:%M:%S\n" : *info(*args[0]).text;
  send(std::move(event), {});
}

void Lowering::lower_assert(const Expr& expr, const std::vector<ExprPtr>& args) {
  int32_t holds = b().new_block(), fails = b().new_block();
  lower_condition(*args[0], holds, fails);
  b().start(fails);
  b().set_span(expr.span);
  Event event{.kind = EventKind::Errorf, .span = expr.span};
  FormatPiece text;
  text.literal = "assert failed: " + *info(*args[1]).text;
  event.format.push_back(std::move(text));
  send(std::move(event), {});
  leave_script(expr.span, imm(1));
  b().start(holds);
}

// join(): the strings an argv-like array points to, each in a room of its own.
void Lowering::lower_join(const Expr& expr, const std::vector<ExprPtr>& args) {
  constexpr uint32_t kMostStrings = 16;
  uint32_t room = static_cast<uint32_t>(image_.checked().config.max_strlen);
  Type list = array_type(string_type(room), kMostStrings);
  Type from = type_of(*args[0]);
  AddressSpace space = is(from, Kind::Pointer) ? from->space : AddressSpace::None;
  Operand vector = lower_scalar(*args[0]);
  Event event{.kind = EventKind::Join,
              .span = expr.span,
              .text = args.size() > 1 ? *info(*args[1]).text : " "};
  event.args.push_back({.name = {}, .type = list, .offset = kRecordHeader});
  event.size = kRecordHeader + list->size;
  int number = image_.add_event(event);
  b().set_span(expr.span);
  Reg record = reserve(event.size);
  int32_t lost = b().new_block(), fill = b().new_block(), done = b().new_block(),
          full = b().new_block();
  b().branch(ir::Compare::Eq, reg(record), imm(0), lost, fill);
  b().start(lost);
  note_site(SiteKind::RingbufFull, "events", imm(0));
  b().jump(done);
  b().start(fill);
  b().store(ir::at(record), 8, imm(number));
  Address cell = temp(8);
  for (uint32_t i = 0; i < kMostStrings; i++) {
    Address to = ir::at(record, static_cast<int32_t>(kRecordHeader + i * room));
    b().store(to, 1, imm(0));
    Location entry{.type = int_type(8, false),
                   .space = space,
                   .address = ir::at(b().alu(ir::Alu::Add, vector, imm(i * 8)))};
    read_bytes(cell, 8, entry);
    Reg string = b().load(cell, 8);
    int32_t take = b().new_block();
    b().branch(ir::Compare::Eq, reg(string), imm(0), full, take);
    b().start(take);
    by_space(space, reg(string), [&](AddressSpace where) {
      b().call(read_helper(where, true), {reg(b().address_of(to)), imm(room), reg(string)});
    });
  }
  b().jump(full);
  b().start(full);
  b().call(BPF_FUNC_ringbuf_submit, {reg(record), imm(0)});
  b().jump(done);
  b().start(done);
}

}  // namespace flowtap
