// Expressions: operators, casts and conditionals; locations.cc has the memory that they denote.

#include "lower/expressions.h"

#include <algorithm>

#include "lower/statements.h"
#include "sema/unify.h"

namespace flowtap {

Value ExpressionCode::lower(const Expr& expr) {
  const ExprInfo& known = info(expr);
  b().set_span(expr.span);
  Type type = type_of(expr);
  if (known.value && is_scalar(type)) return scalar(type, imm(*known.value));
  if (known.text && is(type, Kind::String)) return uses_.memory.text_value(*known.text);
  if (std::optional<Location> location = uses_.locations.location_of(expr)) {
    b().set_span(expr.span);
    return uses_.memory.read(*location);
  }
  if (auto* n = std::get_if<Member>(&expr.node)) {
    const Field* field = find_field(instance_.args, n->name);
    if (field->is_data_loc) return scalar(type, reg(uses_.context.data_address(*field)));
    if (instance_.program == ProgramType::Kprobe)
      return scalar(type, uses_.memory.narrow(uses_.context.argument_of(*field), type));
    return scalar(type, uses_.memory.narrow(uses_.context.context_word(*field), type));
  }
  if (std::holds_alternative<Variable>(expr.node))
    return uses_.variables.load_variable(known.variable);
  if (auto* n = std::get_if<MapAccess>(&expr.node)) return uses_.maps.load_map(expr, *n);
  if (auto* n = std::get_if<Unary>(&expr.node)) return lower_unary(expr, *n);
  if (auto* n = std::get_if<Binary>(&expr.node)) return lower_binary(expr, *n);
  if (auto* n = std::get_if<Ternary>(&expr.node)) return lower_ternary(expr, *n);
  if (auto* n = std::get_if<Increment>(&expr.node)) return lower_increment(expr, *n);
  if (auto* n = std::get_if<Cast>(&expr.node)) return lower_cast(expr, *n);
  if (auto* n = std::get_if<Call>(&expr.node); n && known.builtin)
    return uses_.builtins.lower_builtin(expr, *known.builtin, n->args, n->name);
  if (auto* n = std::get_if<Identifier>(&expr.node))
    return uses_.builtins.lower_builtin(expr, *known.builtin, {}, n->name);
  if (auto* n = std::get_if<Comptime>(&expr.node)) return lower(*n->operand);
  if (auto* n = std::get_if<IfExpr>(&expr.node)) return lower_if_expr(expr, *n);
  if (auto* n = std::get_if<FnCall>(&expr.node)) return uses_.functions.lower_fn_call(*n);
  if (auto* n = std::get_if<BlockExpr>(&expr.node)) {
    uses_.blocks.lower_block(n->block);
    return n->block.result ? lower(*n->block.result) : Value{none_type(), {}, {}};
  }
  if (is(type, Kind::None)) return Value{none_type(), {}, {}};  // ()
  // Tuples and records are built where they are wanted; here, nowhere in particular.
  Address to = uses_.memory.temp(type->size);
  lower_into(expr, to, type);
  return memory(type, to);
}

ir::Operand ExpressionCode::lower_scalar(const Expr& expr) {
  Value value = lower(expr);
  if (is(value.type, Kind::String)) return reg(b().load(value.address, 1));  // true when not empty
  return value.operand;
}

// For comparisons, of which the verifier shall not learn anything.
ir::Operand ExpressionCode::lower_forgotten(const Expr& expr) {
  Operand value = lower_scalar(expr);
  return value.is_imm() ? value : uses_.frame.forgotten(type_of(expr), value);
}

// Builds a value directly where it is wanted, without a copy on the way.
void ExpressionCode::lower_into(const Expr& expr, Address to, const Type& type) {
  b().set_span(expr.span);
  const ExprInfo& known = info(expr);
  if (known.text && is(type, Kind::String))
    return uses_.memory.store_text(to, type->size, *known.text);
  if (is(type, Kind::Tuple) || is(type, Kind::Record)) {
    const std::vector<ExprPtr>* elements = nullptr;
    const std::vector<std::string>* names = nullptr;
    if (auto* n = std::get_if<TupleExpr>(&expr.node)) elements = &n->elements;
    if (auto* n = std::get_if<RecordExpr>(&expr.node)) elements = &n->elements, names = &n->names;
    if (elements) {
      uint32_t used = 0;
      for (const Field& field : type->fields) used += field.type->size;
      if (used < type->size) uses_.memory.zero(to, type->size);
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
    if (uses_.builtins.lower_builtin_into(expr, *known.builtin, call ? call->args : kNone, to,
                                          type))
      return;
  }
  if (!is_scalar(type))
    if (std::optional<Location> location = uses_.locations.location_of(expr);
        location && location->space != AddressSpace::Bpf) {
      uint32_t size = std::min(location->type->size, type->size);
      uses_.memory.read_into(to, size, *location);
      if (size < type->size) uses_.memory.zero(to + size, type->size - size);
      return;
    }
  uses_.memory.store(lower(expr), to, type);
}

// typeinfo() is the one call that is no builtin.
void ExpressionCode::lower_type_info(const Type& about, Address to, const Type& record) {
  auto place = [&](const char* name) { return to + find_field(record, name)->offset; };
  auto size = [&](const char* name) { return find_field(record, name)->type->size; };
  uses_.memory.zero(to, record->size);
  b().store(place("btf_id"), 8, imm(std::max(0, about->definition)));
  uses_.memory.store_text(place("base_ty"), size("base_ty"), type_family(about));
  uses_.memory.store_text(place("full_ty"), size("full_ty"), type_name(about));
}

Value ExpressionCode::lower_unary(const Expr& expr, const Unary& node) {
  Type type = type_of(expr);
  auto narrowed = [&](const Type& to, Reg value) {
    return scalar(to, uses_.memory.narrow(reg(value), to));
  };
  switch (node.op) {
    case UnaryOp::Not: return lower_as_bool(expr);
    case UnaryOp::Complement:
      return narrowed(type, b().alu(ir::Alu::Xor, lower_scalar(*node.operand), imm(-1)));
    case UnaryOp::Negate: return narrowed(type, b().negate(lower_scalar(*node.operand)));
    case UnaryOp::AddressOf: {
      if (auto* access = std::get_if<MapAccess>(&node.operand->node)) {
        MapId number = info(*node.operand).map;
        Address key = access->key ? uses_.maps.lower_key(number, *access->key).id : Address{};
        return scalar(type, uses_.memory.as_number(reg(uses_.entries.lookup(number, key))));
      }
      VariableId variable = info(*node.operand).variable;
      return scalar(type, uses_.memory.as_number(
                              reg(b().address_of(uses_.variables.variable_address(variable)))));
    }
    default: UNREACHABLE("a dereference is a location");
  }
}

ir::Operand ExpressionCode::pointer_as_number(const Expr& pointer) {
  std::optional<Location> location = uses_.locations.location_of(pointer);
  if (!location) return uses_.memory.as_number(lower_scalar(pointer));
  Operand value = uses_.memory.read(*location).operand;
  // What comes out of the kernel's memory is a number to the verifier; see read_typed().
  return location->space == AddressSpace::Kernel ? value : uses_.memory.as_number(value);
}

// Arguments of these programs, and the context itself, are pointers to the verifier.
bool ExpressionCode::may_be_known(const Type& pointer) const {
  ProgramType type = instance_.program;
  return pointer->space == AddressSpace::Context || type == ProgramType::BtfTracepoint ||
         type == ProgramType::Fentry || type == ProgramType::Fexit || type == ProgramType::Iter;
}

bool ExpressionCode::compares_signed(const Expr& left, const Expr& right) const {
  const ExprInfo &l = info(left), &r = info(right);
  bool l_signed = is_signed(readable(l.type)) && !l.is_literal,
       r_signed = is_signed(readable(r.type)) && !r.is_literal;
  if (l_signed || r_signed) return true;
  bool both_literal = l.is_literal && r.is_literal;
  bool has_negative =
      (l.value && *l.value < 0 && !l.is_literal) || (r.value && *r.value < 0 && !r.is_literal);
  return both_literal || has_negative;
}

ir::Compare ExpressionCode::comparison(const Binary& node) const {
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
Value ExpressionCode::lower_as_bool(const Expr& expr) {
  int32_t yes = b().new_block(), no = b().new_block();
  lower_condition(expr, yes, no);
  return uses_.arithmetic.one_or_zero(yes, no);
}

Value ExpressionCode::lower_binary(const Expr& expr, const Binary& node) {
  Type left = type_of(*node.left), right = type_of(*node.right);
  if (node.op == BinaryOp::And || node.op == BinaryOp::Or) return lower_as_bool(expr);
  bool compares = node.op >= BinaryOp::Equal && node.op <= BinaryOp::GreaterEqual;
  if (compares && is_scalar(left) && is_scalar(right)) return lower_as_bool(expr);
  if (compares) {
    Operand equal;
    if (info(*node.right).text && is(left, Kind::String))
      equal = uses_.strings.equal_bytes(lower(*node.left), *info(*node.right).text);
    else if (info(*node.left).text && is(right, Kind::String))
      equal = uses_.strings.equal_bytes(lower(*node.right), *info(*node.left).text);
    else
      equal = uses_.strings.compare_values(lower(*node.left), lower(*node.right));
    if (node.op == BinaryOp::NotEqual) equal = reg(b().alu(ir::Alu::Xor, equal, imm(1)));
    return scalar(bool_type(), equal);
  }
  if (is(left, Kind::Pointer) || is(right, Kind::Pointer))
    return lower_pointer_arithmetic(expr, node);
  Operand a = lower_scalar(*node.left);
  Operand c;
  a = keep_during(a, [&] { c = lower_scalar(*node.right); });
  b().set_span(expr.span);
  return uses_.arithmetic.lower_arithmetic(node.op, type_of(expr), a, c);
}

// Does `work` while `value` waits: in a register, or deep inside an expression in a slot, since
// there are few registers and the stack that spills them is small.
ir::Operand ExpressionCode::keep_during(Operand value, const std::function<void()>& work) {
  constexpr int kMostInRegisters = 16;
  bool goes_to_memory = depth_ >= kMostInRegisters && !value.is_imm();
  Address cell = goes_to_memory ? uses_.memory.temp(8) : Address{};
  if (goes_to_memory) b().store(cell, 8, value);
  depth_++;
  work();
  depth_--;
  return goes_to_memory ? reg(b().load(cell, 8)) : value;
}

Value ExpressionCode::lower_pointer_arithmetic(const Expr& expr, const Binary& node) {
  Type left = type_of(*node.left), right = type_of(*node.right);
  Operand a = lower_scalar(*node.left);
  Operand c = lower_scalar(*node.right);
  bool left_is_pointer = is(left, Kind::Pointer);
  const Type& pointer = left_is_pointer ? left : right;
  int64_t scale = uses_.arithmetic.step_of(pointer);
  switch (node.op) {
    case BinaryOp::BitAnd: return scalar(type_of(expr), reg(b().alu(ir::Alu::And, a, c)));
    case BinaryOp::ShiftRight:
      return uses_.arithmetic.lower_arithmetic(node.op, type_of(expr), a, c);
    default: break;
  }
  if (left_is_pointer && is(right, Kind::Pointer)) {
    Operand bytes = reg(b().alu(ir::Alu::Sub, a, c));
    return scalar(type_of(expr), uses_.arithmetic.lower_division(false, true, bytes, imm(scale)));
  }
  Operand offset = reg(b().alu(ir::Alu::Mul, left_is_pointer ? c : a, imm(scale)));
  ir::Alu alu = node.op == BinaryOp::Add ? ir::Alu::Add : ir::Alu::Sub;
  return scalar(type_of(expr), reg(b().alu(alu, left_is_pointer ? a : c, offset)));
}

// Two ways to a value of one type: a register both assign, or a slot both fill.
Value ExpressionCode::lower_choice(
    const Expr& expr, const std::function<void(int32_t, int32_t)>& branch,
    const std::function<void(const std::function<void(const Expr&)>&)>& then,
    const std::function<void(const std::function<void(const Expr&)>&)>& otherwise, Reg into) {
  Type type = type_of(expr);
  Reg result = into != ir::kNoReg ? into : is_scalar(type) ? b().new_reg() : ir::kNoReg;
  Address to = is_scalar(type) || type->size == 0 ? Address{} : uses_.memory.temp(type->size);
  auto take = [&](const Expr& value) {
    const Ternary* inner = std::get_if<Ternary>(&value.node);
    bool is_choice = inner && inner->then && !info(*inner->condition).value;
    if (is_scalar(type) && is_choice)  // a chain of choices shares one register
      lower_ternary(value, *inner, result);
    else if (is_scalar(type))
      b().assign(result, uses_.memory.narrow(lower_scalar(value), type));
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
  return scalar(type, into != ir::kNoReg ? reg(result) : uses_.frame.forgotten(type, reg(result)));
}

Value ExpressionCode::lower_ternary(const Expr& expr, const Ternary& node, Reg into) {
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
    return scalar(type_of(expr), uses_.frame.forgotten(type_of(expr), reg(result)));
  }
  const Expr& then = node.then ? *node.then : *node.condition;
  return lower_choice(
      expr, [&](int32_t yes, int32_t no) { lower_condition(*node.condition, yes, no); },
      [&](const auto& take) { take(then); }, [&](const auto& take) { take(*node.otherwise); },
      into);
}

Value ExpressionCode::lower_if_expr(const Expr& expr, const IfExpr& node) {
  auto run = [&](const Block& block, const std::function<void(const Expr&)>& take) {
    uses_.blocks.lower_block(block);
    if (block.result) take(*block.result);
  };
  if (std::optional<int64_t> known = info(*node.condition).value) {
    const Block& chosen = *known ? node.then : node.otherwise;
    uses_.blocks.lower_block(chosen);
    return chosen.result ? lower(*chosen.result) : Value{none_type(), {}, {}};
  }
  return lower_choice(
      expr, [&](int32_t yes, int32_t no) { lower_condition(*node.condition, yes, no); },
      [&](const auto& take) { run(node.then, take); },
      [&](const auto& take) { run(node.otherwise, take); });
}

Value ExpressionCode::lower_increment(const Expr& expr, const Increment& node) {
  Type type = type_of(expr);
  int64_t delta = node.delta * uses_.arithmetic.step_of(type);
  if (std::holds_alternative<Variable>(node.target->node)) {
    VariableId variable = info(*node.target).variable;
    Value old = uses_.variables.load_variable(variable);
    Operand after = uses_.memory.narrow(reg(b().alu(ir::Alu::Add, old.operand, imm(delta))), type);
    uses_.variables.store_variable(variable, scalar(type, after));
    return scalar(type, node.is_prefix ? after : old.operand);
  }
  Reg result = b().new_reg();
  b().assign(result, imm(0));
  uses_.maps.change_map(*node.target, [&](const Lane& place) {
    Reg old = b().load(place.address, 8);
    Reg after = b().alu(ir::Alu::Add, reg(old), imm(delta));
    b().atomic_add(place.address, 8, imm(delta));
    b().assign(result, reg(node.is_prefix ? after : old));
  });
  return scalar(type, reg(result));
}

Value ExpressionCode::lower_cast(const Expr& expr, const Cast& node) {
  Type to = type_of(expr), from = type_of(*node.operand);
  if (is_scalar(to) && is_scalar(from)) {
    if (is(to, Kind::Bool)) return lower_as_bool(*node.operand);
    bool forgets = is(from, Kind::Pointer) && !is(to, Kind::Pointer) && may_be_known(from);
    Operand value = forgets ? pointer_as_number(*node.operand) : lower_scalar(*node.operand);
    return scalar(to, uses_.memory.narrow(value, to));
  }
  if (is_integer(to)) {  // from an array of the same size
    Value bytes = lower(*node.operand);
    Address whole = bytes.address;
    if (whole.offset % to->size != 0) {  // inside a tuple, an array is aligned as its elements are
      whole = uses_.memory.temp(8);
      uses_.memory.copy(whole, bytes.address, to->size);
    }
    return uses_.memory.read({.type = to, .space = AddressSpace::Bpf, .address = whole});
  }
  if (is(to, Kind::Pointer)) {  // an array that has an address
    Location place = *uses_.locations.location_of(*node.operand);
    return scalar(to, uses_.memory.as_number(reg(b().address_of(place.address))));
  }
  Address room = uses_.memory.temp(to->size);
  if (is_scalar(from)) {
    uses_.memory.zero(room, to->size);
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
  uses_.memory.store({to, {}, bytes.address}, room, bytes.type->size < to->size ? bytes.type : to);
  if (bytes.type->size < to->size)
    uses_.memory.zero(room + bytes.type->size, to->size - bytes.type->size);
  return memory(to, room);
}

// Branches on a condition; '&&', '||' and '!' become control flow.
void ExpressionCode::lower_condition(const Expr& condition, int32_t then, int32_t otherwise) {
  if (auto* n = std::get_if<Binary>(&condition.node); n && !info(condition).value) {
    bool is_and = n->op == BinaryOp::And, is_or = n->op == BinaryOp::Or;
    if (is_and || is_or) {
      int32_t second = b().new_block();
      lower_condition(*n->left, is_and ? second : then, is_and ? otherwise : second);
      b().start(second);
      return lower_condition(*n->right, then, otherwise);
    }
    bool compares = n->op >= BinaryOp::Equal && n->op <= BinaryOp::GreaterEqual;
    if (compares && is_scalar(type_of(*n->left)) && is_scalar(type_of(*n->right))) {
      Operand left = lower_forgotten(*n->left);
      Operand right = lower_forgotten(*n->right);
      return b().branch(comparison(*n), left, right, then, otherwise);
    }
  }
  if (auto* n = std::get_if<Unary>(&condition.node);
      n && n->op == UnaryOp::Not && !info(condition).value)
    return lower_condition(*n->operand, otherwise, then);
  b().branch(ir::Compare::Ne, lower_forgotten(condition), imm(0), then, otherwise);
}

}  // namespace flowtap
