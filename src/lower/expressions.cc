// Expressions: operators, casts and conditionals; locations.cc has the memory that they denote.

#include <linux/bpf.h>

#include <algorithm>

#include "builtins/probes.h"
#include "lower/lowering.h"
#include "sema/unify.h"

namespace flowtap {

Value Lowering::lower(const Expr& expr) {
  const ExprInfo& known = info(expr);
  b().set_span(expr.span);
  Type type = type_of(expr);
  if (known.value && is_scalar(type)) return scalar(type, imm(*known.value));
  if (known.text && is(type, Kind::String)) return text_value(*known.text);
  if (std::optional<Location> location = location_of(expr)) {
    b().set_span(expr.span);
    return read(*location);
  }
  if (auto* n = std::get_if<Member>(&expr.node)) {
    const Field* field = find_field(instance_.args, n->name);
    if (field->is_data_loc) return scalar(type, reg(data_address(*field)));
    if (instance_.program == ProgramType::Kprobe)
      return scalar(type, narrow(argument_of(*field), type));
    return scalar(type, narrow(context_word(*field), type));
  }
  if (std::holds_alternative<Variable>(expr.node)) return load_variable(known.variable);
  if (auto* n = std::get_if<MapAccess>(&expr.node)) return load_map(expr, *n);
  if (auto* n = std::get_if<Unary>(&expr.node)) return lower_unary(expr, *n);
  if (auto* n = std::get_if<Binary>(&expr.node)) return lower_binary(expr, *n);
  if (auto* n = std::get_if<Ternary>(&expr.node)) return lower_ternary(expr, *n);
  if (auto* n = std::get_if<Increment>(&expr.node)) return lower_increment(expr, *n);
  if (auto* n = std::get_if<Cast>(&expr.node)) return lower_cast(expr, *n);
  if (auto* n = std::get_if<Call>(&expr.node); n && known.builtin)
    return lower_builtin(expr, *known.builtin, n->args, n->name);
  if (auto* n = std::get_if<Identifier>(&expr.node))
    return lower_builtin(expr, *known.builtin, {}, n->name);
  if (auto* n = std::get_if<Comptime>(&expr.node)) return lower(*n->operand);
  if (auto* n = std::get_if<IfExpr>(&expr.node)) return lower_if_expr(expr, *n);
  if (auto* n = std::get_if<FnCall>(&expr.node)) return lower_fn_call(*n);
  if (auto* n = std::get_if<BlockExpr>(&expr.node)) {
    lower_block(n->block);
    return n->block.result ? lower(*n->block.result) : Value{none_type(), {}, {}};
  }
  if (is(type, Kind::None)) return Value{none_type(), {}, {}};  // ()
  // Tuples and records are built where they are wanted; here, nowhere in particular.
  Address to = temp(type->size);
  lower_into(expr, to, type);
  return memory(type, to);
}

ir::Operand Lowering::lower_scalar(const Expr& expr) {
  Value value = lower(expr);
  if (is(value.type, Kind::String)) return reg(b().load(value.address, 1));  // true when not empty
  return value.operand;
}

// For comparisons, of which the verifier shall not learn anything.
ir::Operand Lowering::lower_forgotten(const Expr& expr) {
  Operand value = lower_scalar(expr);
  return value.is_imm() ? value : forgotten(type_of(expr), value);
}

// Builds a value directly where it is wanted, without a copy on the way.
void Lowering::lower_into(const Expr& expr, Address to, const Type& type) {
  b().set_span(expr.span);
  const ExprInfo& known = info(expr);
  if (known.text && is(type, Kind::String)) return store_text(to, type->size, *known.text);
  if (is(type, Kind::Tuple) || is(type, Kind::Record)) {
    const std::vector<ExprPtr>* elements = nullptr;
    const std::vector<std::string>* names = nullptr;
    if (auto* n = std::get_if<TupleExpr>(&expr.node)) elements = &n->elements;
    if (auto* n = std::get_if<RecordExpr>(&expr.node)) elements = &n->elements, names = &n->names;
    if (elements) {
      uint32_t used = 0;
      for (const Field& field : type->fields) used += field.type->size;
      if (used < type->size) zero(to, type->size);
      for (size_t i = 0; i < elements->size(); i++) {
        const Field* field = names ? find_field(type, (*names)[i]) : &type->fields[i];
        lower_into(*(*elements)[i], to + field->offset, field->type);
      }
      return;
    }
  }
  if (auto* call = std::get_if<Call>(&expr.node); call && !known.builtin)
    return lower_type_info(type_of(*call->args[0]), to, type);
  if (known.builtin) {
    const Call* call = std::get_if<Call>(&expr.node);
    static const std::vector<ExprPtr> kNone;
    if (lower_builtin_into(expr, *known.builtin, call ? call->args : kNone, to, type)) return;
  }
  if (!is_scalar(type))
    if (std::optional<Location> location = location_of(expr);
        location && location->space != AddressSpace::Bpf) {
      uint32_t size = std::min(location->type->size, type->size);
      read_bytes(to, size, *location);
      if (size < type->size) zero(to + size, type->size - size);
      return;
    }
  store(lower(expr), to, type);
}

// typeinfo() is the one call that is no builtin.
void Lowering::lower_type_info(const Type& about, Address to, const Type& record) {
  auto place = [&](const char* name) { return to + find_field(record, name)->offset; };
  auto size = [&](const char* name) { return find_field(record, name)->type->size; };
  zero(to, record->size);
  b().store(place("btf_id"), 8, imm(std::max(0, about->definition)));
  store_text(place("base_ty"), size("base_ty"), type_family(about));
  store_text(place("full_ty"), size("full_ty"), type_name(about));
}

// --- operators ----------------------------------------------------------------------------------
Value Lowering::lower_unary(const Expr& expr, const Unary& node) {
  Type type = type_of(expr);
  switch (node.op) {
    case UnaryOp::Not: return lower_as_bool(expr);
    case UnaryOp::Complement:
      return scalar(type, reg(b().alu(ir::Alu::Xor, lower_scalar(*node.operand), imm(-1))));
    case UnaryOp::Negate: return scalar(type, reg(b().negate(lower_scalar(*node.operand))));
    case UnaryOp::AddressOf: {
      if (auto* access = std::get_if<MapAccess>(&node.operand->node)) {
        int number = info(*node.operand).map;
        Address key = access->key ? lower_key(number, *access->key).id : Address{};
        return scalar(type, as_number(reg(lookup(number, key))));
      }
      int variable = info(*node.operand).variable;
      return scalar(type, as_number(reg(b().address_of(variable_address(variable)))));
    }
    default: UNREACHABLE("a dereference is a location");
  }
}

// An address the verifier knows may not be masked, compared or put into a map and read back. It
// forgets what it knows once the address has passed through scratch memory.
ir::Operand Lowering::as_number(Operand pointer) {
  Address cell = ir::in_slot(b().new_slot(8, ir::Place::Scratch));
  b().store(cell, 8, pointer);
  return reg(b().load(cell, 8));
}

ir::Operand Lowering::pointer_as_number(const Expr& pointer) {
  std::optional<Location> location = location_of(pointer);
  if (!location) return as_number(lower_scalar(pointer));
  Operand value = read(*location).operand;
  // What comes out of the kernel's memory is a number to the verifier; see read_typed().
  return location->space == AddressSpace::Kernel ? value : as_number(value);
}

// Arguments of these programs, and the context itself, are pointers to the verifier.
bool Lowering::may_be_known(const Type& pointer) const {
  ProgramType type = instance_.program;
  return pointer->space == AddressSpace::Context || type == ProgramType::BtfTracepoint ||
         type == ProgramType::Fentry || type == ProgramType::Fexit || type == ProgramType::Iter;
}

bool Lowering::compares_signed(const Expr& left, const Expr& right) const {
  const ExprInfo &l = info(left), &r = info(right);
  bool l_signed = is_signed(readable(l.type)) && !l.is_literal,
       r_signed = is_signed(readable(r.type)) && !r.is_literal;
  if (l_signed || r_signed) return true;
  bool both_literal = l.is_literal && r.is_literal;
  bool has_negative =
      (l.value && *l.value < 0 && !l.is_literal) || (r.value && *r.value < 0 && !r.is_literal);
  return both_literal || has_negative;
}

ir::Compare Lowering::comparison(const Binary& node) const {
  bool is_signed = compares_signed(*node.left, *node.right);
  switch (node.op) {
    case BinaryOp::Equal: return ir::Compare::Eq;
    case BinaryOp::NotEqual: return ir::Compare::Ne;
    case BinaryOp::Less: return is_signed ? ir::Compare::SLt : ir::Compare::Lt;
    case BinaryOp::Greater: return is_signed ? ir::Compare::SGt : ir::Compare::Gt;
    case BinaryOp::LessEqual: return is_signed ? ir::Compare::SLe : ir::Compare::Le;
    default: return is_signed ? ir::Compare::SGe : ir::Compare::Ge;
  }
}

// A condition as a value: 1 or 0.
Value Lowering::lower_as_bool(const Expr& expr) {
  int32_t yes = b().new_block(), no = b().new_block();
  lower_condition(expr, yes, no);
  return one_or_zero(yes, no);
}

Value Lowering::one_or_zero(int32_t yes, int32_t no) {
  Reg result = b().new_reg();
  int32_t done = b().new_block();
  b().start(yes);
  b().assign(result, imm(1));
  b().jump(done);
  b().start(no);
  b().assign(result, imm(0));
  b().jump(done);
  b().start(done);
  return scalar(bool_type(), forgotten(bool_type(), reg(result)));
}

Value Lowering::lower_binary(const Expr& expr, const Binary& node) {
  Type left = type_of(*node.left), right = type_of(*node.right);
  if (node.op == BinaryOp::And || node.op == BinaryOp::Or) return lower_as_bool(expr);
  bool compares = node.op >= BinaryOp::Equal && node.op <= BinaryOp::GreaterEqual;
  if (compares && is_scalar(left) && is_scalar(right)) return lower_as_bool(expr);
  if (compares) {
    Operand equal;
    if (info(*node.right).text && is(left, Kind::String))
      equal = equal_bytes(lower(*node.left), *info(*node.right).text);
    else if (info(*node.left).text && is(right, Kind::String))
      equal = equal_bytes(lower(*node.right), *info(*node.left).text);
    else
      equal = compare_values(lower(*node.left), lower(*node.right));
    if (node.op == BinaryOp::NotEqual) equal = reg(b().alu(ir::Alu::Xor, equal, imm(1)));
    return scalar(bool_type(), equal);
  }
  if (is(left, Kind::Pointer) || is(right, Kind::Pointer))
    return lower_pointer_arithmetic(expr, node);
  Operand a = lower_scalar(*node.left);
  Operand c;
  a = keep_during(a, [&] { c = lower_scalar(*node.right); });
  b().set_span(expr.span);
  return lower_arithmetic(node.op, type_of(expr), a, c);
}

// Does `work` while `value` waits: in a register, or deep inside an expression in a slot, since
// there are few registers and the stack that spills them is small.
ir::Operand Lowering::keep_during(Operand value, const std::function<void()>& work) {
  constexpr int kMostInRegisters = 16;
  bool goes_to_memory = depth_ >= kMostInRegisters && !value.is_imm();
  Address cell = goes_to_memory ? temp(8) : Address{};
  if (goes_to_memory) b().store(cell, 8, value);
  depth_++;
  work();
  depth_--;
  return goes_to_memory ? reg(b().load(cell, 8)) : value;
}

Value Lowering::lower_arithmetic(BinaryOp op, const Type& type, Operand a, Operand c) {
  bool is_signed_type = is_signed(type);
  Operand result;
  switch (op) {
    case BinaryOp::Add: result = reg(b().alu(ir::Alu::Add, a, c)); break;
    case BinaryOp::Subtract: result = reg(b().alu(ir::Alu::Sub, a, c)); break;
    case BinaryOp::Multiply: result = reg(b().alu(ir::Alu::Mul, a, c)); break;
    case BinaryOp::BitAnd: result = reg(b().alu(ir::Alu::And, a, c)); break;
    case BinaryOp::BitOr: result = reg(b().alu(ir::Alu::Or, a, c)); break;
    case BinaryOp::BitXor: result = reg(b().alu(ir::Alu::Xor, a, c)); break;
    case BinaryOp::ShiftLeft:
    case BinaryOp::ShiftRight: {
      ir::Alu alu = op == BinaryOp::ShiftLeft ? ir::Alu::Shl
                    : is_signed_type          ? ir::Alu::Sar
                                              : ir::Alu::Shr;
      // The verifier refuses constant counts over 63 and cannot follow unknown ones.
      Operand count = c.is_imm() ? imm(c.imm & 63) : reg(b().alu(ir::Alu::And, c, imm(63)));
      result = reg(b().alu(alu, a, count));
      break;
    }
    case BinaryOp::Divide: result = lower_division(false, is_signed_type, a, c); break;
    case BinaryOp::Modulo: result = lower_division(true, is_signed_type, a, c); break;
    default: UNREACHABLE("not an arithmetic operator");
  }
  return scalar(type, narrow(result, type));
}

// BPF divides unsigned numbers only (before 6.6), so signs are taken off and put back.
// A division by zero gives 1, as bpftrace defines it, and is reported.
ir::Operand Lowering::lower_division(bool is_modulo, bool is_signed, Operand a, Operand c) {
  Reg result = b().new_reg();
  int32_t divide = b().new_block(), by_zero = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Ne, c, imm(0), divide, by_zero);
  b().start(by_zero);
  note_site(SiteKind::DivisionByZero, is_modulo ? "%" : "/", imm(0));
  b().assign(result, imm(1));
  b().jump(done);
  b().start(divide);
  ir::Alu alu = is_modulo ? ir::Alu::Mod : ir::Alu::Div;
  if (is_signed) {
    auto sign_of = [&](Operand x) { return reg(b().alu(ir::Alu::Sar, x, imm(63))); };
    auto flip = [&](Operand x, Operand sign) {
      return reg(b().alu(ir::Alu::Sub, reg(b().alu(ir::Alu::Xor, x, sign)), sign));
    };
    Operand sign_a = sign_of(a), sign_c = sign_of(c);
    Operand quotient = reg(b().alu(alu, flip(a, sign_a), flip(c, sign_c)));
    Operand sign = is_modulo ? sign_a : reg(b().alu(ir::Alu::Xor, sign_a, sign_c));
    b().assign(result, flip(quotient, sign));
  } else {
    b().assign(result, reg(b().alu(alu, a, c)));
  }
  b().jump(done);
  b().start(done);
  return forgotten(int_type(8, is_signed), reg(result));
}

// By how much `+ 1` changes a value: pointers move by whole elements.
int64_t Lowering::step_of(const Type& type) {
  return is(type, Kind::Pointer) ? std::max(1u, type->element->size) : 1;
}

Value Lowering::lower_pointer_arithmetic(const Expr& expr, const Binary& node) {
  Type left = type_of(*node.left), right = type_of(*node.right);
  Operand a = lower_scalar(*node.left);
  Operand c = lower_scalar(*node.right);
  bool left_is_pointer = is(left, Kind::Pointer);
  const Type& pointer = left_is_pointer ? left : right;
  int64_t scale = step_of(pointer);
  switch (node.op) {
    case BinaryOp::BitAnd: return scalar(type_of(expr), reg(b().alu(ir::Alu::And, a, c)));
    case BinaryOp::ShiftRight: return lower_arithmetic(node.op, type_of(expr), a, c);
    default: break;
  }
  if (left_is_pointer && is(right, Kind::Pointer)) {
    Operand bytes = reg(b().alu(ir::Alu::Sub, a, c));
    return scalar(type_of(expr), lower_division(false, true, bytes, imm(scale)));
  }
  Operand offset = reg(b().alu(ir::Alu::Mul, left_is_pointer ? c : a, imm(scale)));
  ir::Alu alu = node.op == BinaryOp::Add ? ir::Alu::Add : ir::Alu::Sub;
  return scalar(type_of(expr), reg(b().alu(alu, left_is_pointer ? a : c, offset)));
}

// --- choices ------------------------------------------------------------------------------------
// Two ways to a value of one type: a register both assign, or a slot both fill.
Value Lowering::lower_choice(
    const Expr& expr, const std::function<void(int32_t, int32_t)>& branch,
    const std::function<void(const std::function<void(const Expr&)>&)>& then,
    const std::function<void(const std::function<void(const Expr&)>&)>& otherwise, Reg into) {
  Type type = type_of(expr);
  Reg result = into != ir::kNoReg ? into : is_scalar(type) ? b().new_reg() : ir::kNoReg;
  Address to = is_scalar(type) || type->size == 0 ? Address{} : temp(type->size);
  auto take = [&](const Expr& value) {
    const Ternary* inner = std::get_if<Ternary>(&value.node);
    bool is_choice = inner && inner->then && !info(*inner->condition).value;
    if (is_scalar(type) && is_choice)  // a chain of choices shares one register
      lower_ternary(value, *inner, result);
    else if (is_scalar(type))
      b().assign(result, narrow(lower_scalar(value), type));
    else if (type->size)
      lower_into(value, to, type);
    else
      lower(value);
  };
  int32_t yes = b().new_block(), no = b().new_block(), done = b().new_block();
  branch(yes, no);
  b().start(yes);
  then(take);
  b().jump(done);
  b().start(no);
  otherwise(take);
  b().jump(done);
  b().start(done);
  if (!is_scalar(type)) return memory(type, to);
  return scalar(type, into != ir::kNoReg ? reg(result) : forgotten(type, reg(result)));
}

Value Lowering::lower_ternary(const Expr& expr, const Ternary& node, Reg into) {
  if (std::optional<int64_t> known = info(*node.condition).value) {
    const Expr& chosen = *known ? (node.then ? *node.then : *node.condition) : *node.otherwise;
    return lower(chosen);
  }
  if (!node.then && is_scalar(type_of(*node.condition))) {
    // `c ?: b` evaluates c once.
    Operand value = lower_scalar(*node.condition);
    Reg result = b().new_reg();
    int32_t no = b().new_block(), done = b().new_block();
    b().assign(result, value);
    b().branch(ir::Compare::Ne, value, imm(0), done, no);
    b().start(no);
    b().assign(result, lower_scalar(*node.otherwise));
    b().jump(done);
    b().start(done);
    return scalar(type_of(expr), forgotten(type_of(expr), reg(result)));
  }
  const Expr& then = node.then ? *node.then : *node.condition;
  return lower_choice(
      expr, [&](int32_t yes, int32_t no) { lower_condition(*node.condition, yes, no); },
      [&](const auto& take) { take(then); }, [&](const auto& take) { take(*node.otherwise); },
      into);
}

Value Lowering::lower_if_expr(const Expr& expr, const IfExpr& node) {
  auto run = [&](const Block& block, const std::function<void(const Expr&)>& take) {
    lower_block(block);
    if (block.result) take(*block.result);
  };
  if (std::optional<int64_t> known = info(*node.condition).value) {
    const Block& chosen = *known ? node.then : node.otherwise;
    lower_block(chosen);
    return chosen.result ? lower(*chosen.result) : Value{none_type(), {}, {}};
  }
  return lower_choice(
      expr, [&](int32_t yes, int32_t no) { lower_condition(*node.condition, yes, no); },
      [&](const auto& take) { run(node.then, take); },
      [&](const auto& take) { run(node.otherwise, take); });
}

Value Lowering::lower_increment(const Expr& expr, const Increment& node) {
  Type type = type_of(expr);
  int64_t delta = node.delta * step_of(type);
  if (std::holds_alternative<Variable>(node.target->node)) {
    int variable = info(*node.target).variable;
    Value old = load_variable(variable);
    Operand after = narrow(reg(b().alu(ir::Alu::Add, old.operand, imm(delta))), type);
    store_variable(variable, scalar(type, after));
    return scalar(type, node.is_prefix ? after : old.operand);
  }
  Reg result = b().new_reg();
  b().assign(result, imm(0));
  change_map(*node.target, [&](Address value) {
    Reg old = b().load(value, 8);
    Reg after = b().alu(ir::Alu::Add, reg(old), imm(delta));
    b().atomic_add(value, 8, imm(delta));
    b().assign(result, reg(node.is_prefix ? after : old));
  });
  return scalar(type, reg(result));
}

Value Lowering::lower_cast(const Expr& expr, const Cast& node) {
  Type to = type_of(expr), from = type_of(*node.operand);
  if (is_scalar(to) && is_scalar(from)) {
    if (is(to, Kind::Bool)) return lower_as_bool(*node.operand);
    bool forgets = is(from, Kind::Pointer) && !is(to, Kind::Pointer) && may_be_known(from);
    Operand value = forgets ? pointer_as_number(*node.operand) : lower_scalar(*node.operand);
    return scalar(to, narrow(value, to));
  }
  if (is_integer(to)) {  // from an array of the same size
    Value bytes = lower(*node.operand);
    Address whole = bytes.address;
    if (whole.offset % to->size != 0) {  // inside a tuple, an array is aligned as its elements are
      whole = temp(8);
      copy(whole, bytes.address, to->size);
    }
    return read({.type = to, .space = AddressSpace::Bpf, .address = whole});
  }
  Address room = temp(to->size);
  if (is_scalar(from)) {
    zero(room, to->size);
    uint32_t size = std::min(8u, to->size);
    Operand value = lower_scalar(*node.operand);
    for (uint32_t done = 0; done < size;) {
      uint32_t step = size - done >= 8 ? 8 : size - done >= 4 ? 4 : size - done >= 2 ? 2 : 1;
      Operand part = done ? reg(b().alu(ir::Alu::Shr, value, imm(done * 8))) : value;
      b().store(room + done, step, part);
      done += step;
    }
    return memory(to, room);
  }
  Value bytes = lower(*node.operand);
  store({to, {}, bytes.address}, room, bytes.type->size < to->size ? bytes.type : to);
  if (bytes.type->size < to->size) zero(room + bytes.type->size, to->size - bytes.type->size);
  return memory(to, room);
}

}  // namespace flowtap
