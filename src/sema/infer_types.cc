// Types as a script writes them; see infer_types.h.

#include "sema/infer_types.h"

#include <fmt/format.h>

#include "builtins/probes.h"
#include "types/array_size.h"

namespace flowtap {

AddressSpace space_of_numbers(ProbeKind kind) {
  const ProbeRow& row = probe_row(kind);
  if (row.has(kUserSpace)) return AddressSpace::User;
  bool has_none = row.has(kRunByFlowtap) || row.program == ProgramType::PerfEvent;
  return has_none ? AddressSpace::None : AddressSpace::Kernel;
}

AddressSpace WrittenTypes::default_space() const {
  return place_.instance ? space_of_numbers(place_.instance->kind) : AddressSpace::None;
}

std::string WrittenTypes::traced_program() const {
  bool has_program = place_.instance && probe_row(place_.instance->kind).has(kUserSpace) &&
                     !place_.instance->attach.empty();
  return has_program ? place_.instance->attach[0].target : "";
}

// As in C++, and in bpftrace, the word before the name of a struct may be missing.
Type WrittenTypes::find_type(const std::string& name) {
  std::string program = traced_program();
  for (const char* keyword : {"", "struct ", "union ", "enum "})
    if (Type found = types().find_type(keyword + name, program)) return found;
  return nullptr;
}

void WrittenTypes::report_unknown_type(const TypeSpec& spec) {
  Diagnostic& report = error(spec.span, fmt::format("there is no type '{}'", spec.name));
  std::string program = traced_program();
  if (!program.empty()) {
    if (Result<Type> found = input_.target.user_type(program, spec.name); !found)
      report.with_hint(found.error().message() + ": define it in the script");
  } else if (!input_.target.has(Feature::Btf)) {
    report.with_hint("this kernel has no BTF to look it up in: define it in the script");
  }
}

Type WrittenTypes::resolve_type(const TypeSpec& spec) {
  Type type;
  if (spec.of) {
    type = expressions_.infer_value(*spec.of);
  } else {
    type = find_type(spec.name);
    if (!type) {
      report_unknown_type(spec);
      return unknown_type();
    }
  }
  for (size_t i = 0; i < spec.suffixes.size(); i++) {
    const TypeSpec::Suffix& suffix = spec.suffixes[i];
    bool sets_size = i == 0 && !suffix.is_pointer && suffix.count > 0;
    bool counts_bytes = sets_size && (is(type, Kind::String) || is(type, Kind::Buffer));
    if (!suffix.is_pointer && suffix.count > 0 &&
        !can_repeat(counts_bytes ? int_type(1, false) : type,
                    static_cast<uint64_t>(suffix.count))) {
      error(spec.span, fmt::format("this is too large: a type has at most {} bytes", kMaxTypeSize));
      return unknown_type();
    }
    if (suffix.is_pointer)
      type = pointer_type(type, default_space());
    else if (sets_size && is(type, Kind::String))
      type = string_type(static_cast<uint32_t>(suffix.count));
    else if (sets_size && is(type, Kind::Buffer))
      type = buffer_type(static_cast<uint32_t>(suffix.count));
    else if (sets_size && is(type, Kind::Inet))
      continue;
    else
      type = array_type(type, suffix.count < 0 ? 0 : static_cast<uint32_t>(suffix.count));
  }
  return type;
}

// What reading a field gives: char arrays read as strings, and pointers found in user memory are
// user pointers.
Type WrittenTypes::field_type(const Field& field, AddressSpace space) {
  const Type& type = field.type;
  bool is_char_array = is(type, Kind::Array) && is(type->element, Kind::Int) &&
                       type->element->size == 1 && type->element->is_signed && type->count > 0;

  if (is(type, Kind::Pointer)) {
    // A struct that points to one defined after it, or to itself.
    bool is_open = is(type->element, Kind::Struct) && !type->element->size;
    AddressSpace where = space == AddressSpace::User ? space : type->space;
    return pointer_type(is_open ? types().complete(type->element) : type->element, where);
  }
  Type whole = is_char_array            ? char_array_type(type->count)
               : is(type, Kind::Struct) ? types().complete(type)
                                        : type;
  return space == AddressSpace::User ? found_in(space, whole) : whole;
}

// A type as an argument: `struct x` came as typeof(struct x), a bare word is a typedef's name.
Type WrittenTypes::type_argument(const Expr& arg) {
  if (auto* type = std::get_if<Typeof>(&arg.node)) return resolve_type(type->type);
  auto* word = std::get_if<Identifier>(&arg.node);
  Type found = word ? find_type(word->name) : Type();
  if (found) return found;
  error(arg.span, word ? fmt::format("there is no type '{}'", word->name)
                       : std::string("a type is expected here"));
  return unknown_type();
}

}  // namespace flowtap
