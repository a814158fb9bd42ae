// The memory that expressions denote: fields, elements, what pointers lead to, and the arguments of
// the probe. A location is read when its value is needed, not before.

#include "lower/locations.h"

#include <algorithm>

#include "types/layout.h"

namespace flowtap {

// A struct, tuple or record by value: where it lies.
static Location value_location(const Value& value) {
  return {.type = value.type, .space = AddressSpace::Bpf, .address = value.address};
}

std::optional<Location> Locations::location_of(const Expr& expr) {
  if (auto* n = std::get_if<Member>(&expr.node)) return member_location(expr, *n);
  if (auto* n = std::get_if<Index>(&expr.node)) return index_location(expr, *n);
  if (auto* n = std::get_if<Unary>(&expr.node); n && n->op == UnaryOp::Dereference)
    return pointed_at(*n->operand);
  return std::nullopt;
}

Location Locations::pointed_at(const Expr& pointer) {
  Type type = type_of(pointer);
  if (!is(type, Kind::Pointer))
    return {.type = int_type(8, false),
            .space = space_of_numbers(instance_.kind),
            .address = ir::at(b().in_reg(expressions_.lower_scalar(pointer)))};
  return {.type = type->element,
          .space = type->space,
          .address = ir::at(b().in_reg(expressions_.lower_scalar(pointer))),
          .is_foreign = true,
          .base = type->element};
}

std::optional<Location> Locations::member_location(const Expr& expr, const Member& node) {
  const Builtin* builtin = info(*node.base).builtin;
  if (builtin && builtin->id == Fn::Args) return args_location(expr, node);
  Type base = type_of(*node.base);
  Location from;
  if (is(base, Kind::Pointer) && base->space == AddressSpace::Context) {  // ctx.field is args.field
    return args_location(expr, node);
  } else if (is(base, Kind::Pointer)) {
    from = pointed_at(*node.base);
    base = base->element;
  } else if (std::optional<Location> location = location_of(*node.base)) {
    from = *location;
  } else {
    from = value_location(expressions_.lower(*node.base));
  }
  if (is(base, Kind::Struct) && !base->is_complete) base = image_.types().complete(base);
  const Field* field = find_field(base, node.name);
  CHECK(field != nullptr);
  from.is_foreign = is(base, Kind::Struct);
  from.type = type_of(expr);
  from.address = from.address + field->offset;
  from.bit_offset = field->bit_offset;
  from.bit_size = field->bit_size;
  return from;
}

std::optional<Location> Locations::index_location(const Expr& expr, const Index& node) {
  Type base = type_of(*node.base);
  if (is(base, Kind::Tuple)) {
    Location from = value_location(expressions_.lower(*node.base));
    from.address =
        from.address + find_field(base, std::to_string(*info(*node.index).value))->offset;
    from.type = type_of(expr);
    return from;
  }
  bool is_pointer = is(base, Kind::Pointer);
  Location from;
  if (is_pointer) {
    from = pointed_at(*node.base);
  } else {
    std::optional<Location> location = location_of(*node.base);
    from = location ? *location : value_location(expressions_.lower(*node.base));
  }
  uint32_t size = std::max(1u, is(base, Kind::Array) || is_pointer ? base->element->size : 1);
  uint32_t header = is(base, Kind::Buffer) ? kBufferHeader : 0;
  uint32_t count = is(base, Kind::Array) ? base->count : base->size - header;
  // The length of an open array (`data[]`) is unknown, except in our own copy of a struct: 0.
  bool is_open = is_pointer || (count == 0 && from.space != AddressSpace::Bpf);
  from.address = from.address + header;
  from.is_foreign = true;
  from.type = type_of(expr);
  if (std::optional<int64_t> constant = info(*node.index).value; constant && (is_open || count)) {
    int64_t offset = *constant * size;
    if (offset >= INT16_MIN / 2 && offset <= INT16_MAX / 2) {
      from.address = from.address + offset;
      return from;
    }
  }
  Operand index = expressions_.lower_scalar(*node.index);
  if (!is_pointer &&
      from.space == AddressSpace::Context) {  // the verifier allows no variable offset
    Address own = memory_.temp(base->size);
    memory_.read_bytes(own, base->size,
                       {.type = base, .space = from.space, .address = from.address});
    from.address = own;
    from.space = AddressSpace::Bpf;
  }
  b().set_span(expr.span);
  auto element = [&] {
    Reg offset = b().alu(ir::Alu::Mul, index, imm(size));
    return b().alu(ir::Alu::Add, reg(b().address_of(from.address)), reg(offset));
  };
  from.address = ir::at(is_open ? element() : element_within(from, base, {index, count}, element));
  from.base = from.type;
  return from;
}

// The address of an element. For an index outside the array it leads to zeros in our own memory,
// and otherwise nowhere, which reads as 0 too.
ir::Reg Locations::element_within(const Location& place, const Type& array, const Bounded& index,
                                  const std::function<Reg()>& element) {
  Reg address = b().new_reg();
  int32_t inside = b().new_block(), outside = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Lt, index.value, imm(index.limit), inside, outside);
  b().start(outside);
  note_site(SiteKind::IndexOutside, type_name(array), index.value);
  bool is_own = place.space == AddressSpace::Bpf;
  b().assign(address, is_own ? reg(b().map_value(image_.zeros(place.type->size))) : imm(0));
  b().jump(done);
  b().start(inside);
  b().assign(address, reg(element()));
  b().jump(done);
  b().start(done);
  return address;
}

// The probe's arguments lie in its context, a tracepoint's at their offsets in its record.
// Functions' arguments take a word each, whatever their type: scalars are not read by location.
std::optional<Location> Locations::args_location(const Expr& expr, const Member& node) {
  const Field* field = find_field(instance_.args, node.name);
  CHECK(field != nullptr);
  bool is_word = instance_.program != ProgramType::Tracepoint && is_scalar(type_of(expr));
  if (is_word || field->is_data_loc) return std::nullopt;
  Location from{.type = type_of(expr),
                .space = AddressSpace::Context,
                .address = ir::at(frame_.ctx(), static_cast<int32_t>(field->offset))};
  from.is_foreign = true;
  from.bit_offset = field->bit_offset;
  from.bit_size = field->bit_size;
  return from;
}

}  // namespace flowtap
