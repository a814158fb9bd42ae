// Actions. Most are a record for user space, which does the work; exit() and signal() act at once.

#include "lower/action_calls.h"

#include <linux/bpf.h>

#include <algorithm>

#include "base/check.h"

namespace flowtap {

// The call that is a whole statement, when it is an action; else null.
static const Builtin* action_of(const Stmt& stmt) {
  const ExprStmt* whole = std::get_if<ExprStmt>(&stmt.node);
  const Call* call = whole ? std::get_if<Call>(&whole->expr->node) : nullptr;
  const Builtin* builtin = call ? find_builtin(call->name) : nullptr;
  return builtin && builtin->has(kAction) ? builtin : nullptr;
}

Value ActionCalls::lower_action(const Expr& expr, const Builtin& builtin,
                                const std::vector<ExprPtr>& args) {
  switch (builtin.id) {
    case Fn::Printf: lower_printf(expr, EventKind::Printf, args); break;
    case Fn::Errorf: lower_printf(expr, EventKind::Errorf, args); break;
    case Fn::Warnf: lower_printf(expr, EventKind::Warnf, args); break;
    case Fn::Cat: lower_printf(expr, EventKind::Cat, args); break;
    case Fn::System: lower_printf(expr, EventKind::System, args); break;
    case Fn::Print: lower_print(expr, args); break;
    case Fn::Exit: lower_exit(expr, args); break;
    case Fn::Time: lower_time(expr, args); break;
    case Fn::Join: lower_join(expr, args); break;
    case Fn::Assert: lower_assert(expr, args); break;
    case Fn::Clear:
    case Fn::Zero: {
      if (taken_.contains(args[0].get())) break;  // the print before it does that
      Event event{.kind = builtin.id == Fn::Clear ? EventKind::ClearMap : EventKind::ZeroMap,
                  .span = expr.span};
      event.map = image_.script_map(info(*args[0]).map);
      uses_.events.send(std::move(event), {});
      break;
    }
    case Fn::Signal:
    case Fn::SignalThread: lower_signal(builtin, *args[0]); break;
    case Fn::Override: lower_override(*args[0]); break;
    case Fn::Unwatch:
      uses_.events.send({.kind = EventKind::Unwatch, .span = expr.span}, {args[0].get()});
      break;
    case Fn::StaticAssert:
    case Fn::Fail: break;  // the checker has done their work
    default: UNREACHABLE("an action that is not lowered");
  }
  return {none_type(), {}, {}};
}

void ActionCalls::lower_signal(const Builtin& builtin, const Expr& arg) {
  Operand number =
      info(arg).text ? imm(signal_number(*info(arg).text)) : uses_.expressions.lower_scalar(arg);
  b().call(builtin.id == Fn::Signal ? BPF_FUNC_send_signal : BPF_FUNC_send_signal_thread, {number});
}

void ActionCalls::lower_printf(const Expr& expr, EventKind kind, const std::vector<ExprPtr>& args) {
  Event event{.kind = kind, .span = expr.span};
  event.format = *parse_format(*info(*args[0]).text);
  std::vector<const Expr*> fields;
  for (size_t i = 1; i < args.size(); i++) fields.push_back(args[i].get());
  uses_.events.send(std::move(event), fields);
}

// None when it names no table.
TableId ActionCalls::table_number(std::string_view name) const {
  const std::vector<Table>& tables = image_.image().tables;
  auto table =
      std::find_if(tables.begin(), tables.end(), [&](const Table& t) { return t.name == name; });
  return table == tables.end() ? TableId() : TableId(static_cast<size_t>(table - tables.begin()));
}

void ActionCalls::lower_print(const Expr& expr, const std::vector<ExprPtr>& args) {
  const MapAccess* access = std::get_if<MapAccess>(&args[0]->node);
  const Identifier* word = std::get_if<Identifier>(&args[0]->node);
  TableId table = word ? table_number(word->name) : TableId();
  std::vector<const Expr*> fields;
  Event event{.kind = EventKind::PrintValue, .span = expr.span};
  if (access && !access->key) {
    event.kind = EventKind::PrintMap;
    event.map = image_.script_map(info(*args[0]).map);
    event.takes = taken_.contains(args[0].get());
    for (size_t i = 1; i < args.size(); i++) fields.push_back(args[i].get());
  } else if (table.is_set()) {
    event.kind = EventKind::PrintTable;
    event.table = table;
    for (size_t i = 1; i < args.size(); i++) fields.push_back(args[i].get());
  } else {
    fields.push_back(args[0].get());
  }
  uses_.events.send(std::move(event), fields);
}

void ActionCalls::lower_exit(const Expr& expr, const std::vector<ExprPtr>& args) {
  leave_script(expr.span, args.empty() ? imm(0) : uses_.expressions.lower_scalar(*args[0]));
}

// The cell is set whatever happens to the record, which says what was written after the call. Two
// CPUs that call at the same moment may both be first; then the code is that of one of them.
void ActionCalls::leave_script(Span span, Operand code) {
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
  uses_.events.send({.kind = EventKind::Exit, .span = span}, {}, true);
  uses_.frame.lower_return();
}

void ActionCalls::lower_emit(const Stmt& stmt, const Emit& emit) {
  std::vector<const Expr*> fields;
  for (const ExprPtr& value : emit.values) fields.push_back(value.get());
  Event event{.kind = EventKind::Row, .span = stmt.span};
  event.table = table_number(emit.table);
  uses_.events.send(std::move(event), fields);
}

void ActionCalls::lower_time(const Expr& expr, const std::vector<ExprPtr>& args) {
  Event event{.kind = EventKind::Time, .span = expr.span};
  event.text = args.empty() ? "%H:%M:%S\n" : *info(*args[0]).text;
  uses_.events.send(std::move(event), {});
}

void ActionCalls::lower_assert(const Expr& expr, const std::vector<ExprPtr>& args) {
  int32_t holds = b().new_block(), fails = b().new_block();
  uses_.expressions.lower_condition(*args[0], holds, fails);
  b().start(fails);
  b().set_span(expr.span);
  Event event{.kind = EventKind::Errorf, .span = expr.span};
  FormatPiece text;
  text.literal = "assert failed: " + *info(*args[1]).text;
  event.format.push_back(std::move(text));
  uses_.events.send(std::move(event), {});
  leave_script(expr.span, imm(1));
  b().start(holds);
}

// join(): the strings an argv-like array points to, each in a room of its own.
void ActionCalls::lower_join(const Expr& expr, const std::vector<ExprPtr>& args) {
  constexpr uint32_t kMostStrings = 16;
  uint32_t room = static_cast<uint32_t>(image_.checked().config.max_strlen);
  Type list = array_type(string_type(room), kMostStrings);
  Type from = type_of(*args[0]);
  AddressSpace space = is(from, Kind::Pointer) ? from->space : AddressSpace::None;
  Operand vector = uses_.expressions.lower_scalar(*args[0]);
  Event event{.kind = EventKind::Join,
              .span = expr.span,
              .text = args.size() > 1 ? *info(*args[1]).text : " "};
  event.args.push_back({.name = {}, .type = list, .offset = kRecordHeader});
  event.size = kRecordHeader + list->size;
  EventId number = image_.add_event(event);
  b().set_span(expr.span);
  Reg record = uses_.buffer.reserve(event.size);
  int32_t lost = b().new_block(), fill = b().new_block(), done = b().new_block(),
          full = b().new_block();
  b().branch(ir::Compare::Eq, reg(record), imm(0), lost, fill);
  b().start(lost);
  note_site(SiteKind::RingbufFull, "events", imm(0));
  b().jump(done);
  b().start(fill);
  b().store(ir::at(record), 8, imm(static_cast<int64_t>(number.index())));
  Address cell = uses_.memory.temp(8);
  for (uint32_t i = 0; i < kMostStrings; i++) {
    Address to = ir::at(record, static_cast<int32_t>(kRecordHeader + i * room));
    b().store(to, 1, imm(0));
    Location entry{.type = int_type(8, false),
                   .space = space,
                   .address = ir::at(b().alu(ir::Alu::Add, vector, imm(i * 8)))};
    uses_.memory.read_bytes(cell, 8, entry);
    Reg string = b().load(cell, 8);
    int32_t take = b().new_block();
    b().branch(ir::Compare::Eq, reg(string), imm(0), full, take);
    b().start(take);
    uses_.memory.by_space(space, reg(string), [&](AddressSpace where) {
      b().call(uses_.memory.read_helper(where, true),
               {reg(b().address_of(to)), imm(room), reg(string)});
    });
  }
  b().jump(full);
  b().start(full);
  b().call(BPF_FUNC_ringbuf_submit, {reg(record), imm(0)});
  b().jump(done);
  b().start(done);
}

void ActionCalls::lower_override(const Expr& arg) {
  b().call(BPF_FUNC_override_return, {reg(uses_.frame.ctx()), uses_.expressions.lower_scalar(arg)});
}

// `print(@m); clear(@m);` is one action: what happens between the two would be lost. Other actions
// may stand between them.
void ActionCalls::join_reports(const Block& block) {
  auto whole_map = [&](size_t at, Fn wanted) -> const Expr* {
    const Builtin* action = action_of(*block.stmts[at]);
    if (!action || action->id != wanted) return nullptr;
    const Expr& subject =
        *std::get<Call>(std::get<ExprStmt>(block.stmts[at]->node).expr->node).args[0];
    const MapAccess* access = std::get_if<MapAccess>(&subject.node);
    return access && !access->key ? &subject : nullptr;
  };
  for (size_t i = 0; i < block.stmts.size(); i++) {
    const Expr* printed = whole_map(i, Fn::Print);
    for (size_t j = i + 1; printed && j < block.stmts.size(); j++) {
      const Builtin* action = action_of(*block.stmts[j]);
      const Expr* again = whole_map(j, Fn::Print);
      const Expr* cleared = whole_map(j, Fn::Clear);
      bool is_cleared = cleared && info(*cleared).map == info(*printed).map;
      bool is_other =
          !action || action->id == Fn::Exit || (again && info(*again).map == info(*printed).map);
      if (is_cleared) taken_.insert({printed, cleared});
      if (is_cleared || is_other) break;
    }
  }
}

}  // namespace flowtap
