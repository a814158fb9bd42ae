// Reading types with libdw. Ways in: parameters(), find() and complete().
//
// Where a parameter lies when the function begins is not asked of DWARF, which describes the code
// behind the first instructions: the calling convention tells it. Integers and pointers
// take the next register for arguments, and when there is none the stack; floating-point numbers
// take registers that nobody can read here; a struct goes where its members decide, and with it all
// that follows.
//
// A type that one source file only declares ('struct x;') may be defined in another. Such ones, and
// those that a script names, are found with an index of all definitions, made when first needed.

#include "symbols/dwarf_types.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "symbols/dwarf_file.h"
#include "types/array_size.h"
#include "types/members.h"

namespace flowtap {

namespace {

constexpr int kDeepest = 16;             // typedefs of typedefs, structs in structs...
constexpr size_t kMostMembers = 20'000;  // of a damaged struct that holds itself, for one

bool has_flag(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  bool flag = false;
  return ::dwarf_attr_integrate(&die, name, &attribute) &&
         ::dwarf_formflag(&attribute, &flag) == 0 && flag;
}

std::optional<uint64_t> number_of(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (!::dwarf_attr_integrate(&die, name, &attribute)) return std::nullopt;
  if (::dwarf_formudata(&attribute, &value) != 0) return std::nullopt;
  return value;
}

// Where a member lies. DWARF 2 writes an instruction that adds a number, for want of the number.
std::optional<uint64_t> place_of(Dwarf_Die& member) {
  Dwarf_Attribute attribute;
  if (!::dwarf_attr_integrate(&member, DW_AT_data_member_location, &attribute)) return 0;
  Dwarf_Word value = 0;
  if (::dwarf_formudata(&attribute, &value) == 0) return value;
  Dwarf_Op* instructions = nullptr;
  size_t count = 0;
  if (::dwarf_getlocation(&attribute, &instructions, &count) != 0 || count != 1)
    return std::nullopt;
  return instructions[0].atom == DW_OP_plus_uconst ? std::optional(instructions[0].number)
                                                   : std::nullopt;
}

std::optional<Dwarf_Die> type_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (!::dwarf_attr_integrate(&die, DW_AT_type, &attribute)) return std::nullopt;
  if (!::dwarf_formref_die(&attribute, &type)) return std::nullopt;
  return type;
}

bool is_other_name(int tag) {
  return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
         tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

// Without typedef, const and the like; nothing for void.
std::optional<Dwarf_Die> plain_type_of(Dwarf_Die& die) {
  std::optional<Dwarf_Die> type = type_of(die);
  for (int depth = 0; type && depth < kDeepest && is_other_name(::dwarf_tag(&*type)); depth++)
    type = type_of(*type);
  return type;
}

bool is_struct(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

std::string text_of(const char* text) { return text ? text : ""; }

// How scripts write the name of what is defined here; empty for what has none.
std::string written_name(Dwarf_Die& die) {
  const char* name = ::dwarf_diename(&die);
  if (!name) return {};
  switch (::dwarf_tag(&die)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type: return fmt::format("struct {}", name);
    case DW_TAG_union_type: return fmt::format("union {}", name);
    case DW_TAG_enumeration_type: return fmt::format("enum {}", name);
    case DW_TAG_typedef: return name;
    default: return {};
  }
}

// Visits what is directly below.
template <typename Visit>  // answers false to stop
void visit_children(Dwarf_Die& parent, const Visit& visit) {
  Dwarf_Die child;
  if (::dwarf_child(&parent, &child) != 0) return;
  do {
    if (!visit(child)) return;
  } while (::dwarf_siblingof(&child, &child) == 0);
}

uint64_t encoding_of(Dwarf_Die& type) { return number_of(type, DW_AT_encoding).value_or(0); }

Type convert_base(Dwarf_Die& die) {
  uint32_t bytes = static_cast<uint32_t>(std::max(0, ::dwarf_bytesize(&die)));
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return opaque_type(bytes);
  switch (encoding_of(die)) {
    case DW_ATE_boolean: return bytes == 1 ? bool_type() : int_type(bytes, false);
    case DW_ATE_signed:
    case DW_ATE_signed_char: return int_type(bytes, true);
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF: return int_type(bytes, false);
    default: return opaque_type(bytes);
  }
}

Type convert_enum(Dwarf_Die& die, const std::string& alias) {
  std::vector<Enumerator> values;
  bool is_signed = false;
  visit_children(die, [&](Dwarf_Die& child) {
    Dwarf_Attribute attribute;
    Dwarf_Sword value = 0;
    bool has_value = ::dwarf_tag(&child) == DW_TAG_enumerator &&
                     ::dwarf_attr(&child, DW_AT_const_value, &attribute) &&
                     ::dwarf_formsdata(&attribute, &value) == 0;
    if (has_value) values.push_back({text_of(::dwarf_diename(&child)), value});
    is_signed |= has_value && value < 0;
    return true;
  });
  std::string name = written_name(die);
  if (name.empty()) name = alias.empty() ? "enum (anonymous)" : alias;
  uint32_t bytes = static_cast<uint32_t>(std::clamp(::dwarf_bytesize(&die), 1, 8));
  return enum_type(std::move(name), bytes, is_signed, std::move(values));
}

// A function whose rare parts were moved away consists of ranges, the first of which it begins
// with.
bool begins_at(Dwarf_Die& function, uint64_t address) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  if (address == 0) return false;  // functions that the linker has dropped seem to lie there
  if (::dwarf_entrypc(&function, &begin) == 0) return begin == address;
  return ::dwarf_ranges(&function, 0, &base, &begin, &end) > 0 && begin == address;
}

}  // namespace

// One program and what was asked of it.
class DwarfTypes::Program {
 public:
  Program(DwarfFile file, State& state) : file_(std::move(file)), state_(state) {}

  std::optional<Dwarf_Die> find_function(uint64_t address) const;
  std::vector<Field> parameters_of(Dwarf_Die& function);
  Type find(std::string_view name);
  std::vector<Field> members_of(Dwarf_Die& die);

 private:
  using Index = std::unordered_map<std::string, Dwarf_Die>;

  const Index& index();
  void add_to_index(Dwarf_Die& parent, int depth);
  Dwarf_Die defined(Dwarf_Die die);
  Type convert(Dwarf_Die die, int depth);
  Type convert_target(Dwarf_Die& pointer, int depth);
  Type convert_array(Dwarf_Die& die, int depth);
  Type convert_struct(Dwarf_Die die, const std::string& alias);
  void add_members(Dwarf_Die& die, uint64_t bit_offset, int depth, std::vector<Field>& fields);
  void add_member(Dwarf_Die& member, uint64_t bit_offset, int depth, std::vector<Field>& fields);

  DwarfFile file_;
  State& state_;
  std::optional<Index> index_;
  size_t members_ = 0;  // of the struct being completed
};

struct DwarfTypes::State {
  std::map<std::string, Result<std::unique_ptr<Program>>> programs;  // those asked for already
  std::vector<std::pair<Program*, Dwarf_Die>> structs;               // by number
  std::map<const void*, int32_t> numbers;

  Result<Program*> open(const std::string& path) {
    auto found = programs.find(path);
    if (found == programs.end()) {
      Result<DwarfFile> file = DwarfFile::open(path);
      Result<std::unique_ptr<Program>> program =
          file ? Result(std::make_unique<Program>(std::move(*file), *this))
               : Result<std::unique_ptr<Program>>(file.error());
      found = programs.emplace(path, std::move(program)).first;
    }
    if (!found->second) return found->second.error();
    return found->second->get();
  }

  int32_t number_of(Program* program, const Dwarf_Die& die) {
    auto [found, is_new] =
        numbers.emplace(die.addr, kFirstNumber - static_cast<int32_t>(structs.size()));
    if (is_new) structs.emplace_back(program, die);
    return found->second;
  }
};

// --- finding

void DwarfTypes::Program::add_to_index(Dwarf_Die& parent, int depth) {
  visit_children(parent, [&](Dwarf_Die& child) {
    if (::dwarf_tag(&child) == DW_TAG_namespace && depth < kDeepest) add_to_index(child, depth + 1);
    std::string name = written_name(child);
    if (!name.empty() && !has_flag(child, DW_AT_declaration)) index_->emplace(name, child);
    return true;
  });
}

const DwarfTypes::Program::Index& DwarfTypes::Program::index() {
  if (index_) return *index_;
  index_.emplace();
  file_.visit_units([&](Dwarf_Die& unit) {
    add_to_index(unit, 0);
    return true;
  });
  return *index_;
}

// C++ needs no keyword before the name of a struct.
Type DwarfTypes::Program::find(std::string_view name) {
  for (const char* keyword : {"", "struct "}) {
    auto found = index().find(keyword + std::string(name));
    if (found != index().end()) return convert(found->second, 0);
  }
  return nullptr;
}

Dwarf_Die DwarfTypes::Program::defined(Dwarf_Die die) {
  // Compilers may put a type into a unit of its own, and refer to it.
  Dwarf_Attribute attribute;
  Dwarf_Die elsewhere;
  if (::dwarf_attr(&die, DW_AT_signature, &attribute) &&
      ::dwarf_formref_die(&attribute, &elsewhere))
    return elsewhere;
  if (!has_flag(die, DW_AT_declaration)) return die;
  auto found = index().find(written_name(die));
  return found == index().end() ? die : found->second;
}

std::optional<Dwarf_Die> DwarfTypes::Program::find_function(uint64_t address) const {
  std::optional<Dwarf_Die> found;
  auto search = [&](Dwarf_Die& unit) {
    file_.visit_functions(unit, [&](Dwarf_Die& function) {
      if (begins_at(function, address)) found = function;
      return !found;
    });
    return !found;
  };
  if (std::optional<Dwarf_Die> unit = file_.unit_at(address))
    search(*unit);
  else
    file_.visit_units(search);
  return found;
}

// --- converting

Type DwarfTypes::Program::convert(Dwarf_Die die, int depth) {
  std::string alias;
  for (int step = 0; is_other_name(::dwarf_tag(&die)); step++) {
    if (::dwarf_tag(&die) == DW_TAG_typedef) alias = text_of(::dwarf_diename(&die));
    std::optional<Dwarf_Die> target = type_of(die);
    if (!target || step > kDeepest) return none_type();
    die = *target;
  }
  if (depth > kDeepest) return none_type();
  switch (::dwarf_tag(&die)) {
    case DW_TAG_base_type: return convert_base(die);
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
      return pointer_type(convert_target(die, depth), AddressSpace::User);
    case DW_TAG_ptr_to_member_type:
      return opaque_type(static_cast<uint32_t>(std::max(8, ::dwarf_bytesize(&die))));
    case DW_TAG_array_type: return convert_array(die, depth);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type: return convert_struct(die, alias);
    case DW_TAG_enumeration_type: return convert_enum(die, alias);
    default: return none_type();
  }
}

Type DwarfTypes::Program::convert_target(Dwarf_Die& pointer, int depth) {
  std::optional<Dwarf_Die> target = type_of(pointer);
  return target ? convert(*target, depth + 1) : none_type();
}

// The dimensions of 'int a[2][3]' are children of one type.
Type DwarfTypes::Program::convert_array(Dwarf_Die& die, int depth) {
  std::vector<uint64_t> counts;
  visit_children(die, [&](Dwarf_Die& child) {
    if (::dwarf_tag(&child) != DW_TAG_subrange_type) return true;
    std::optional<uint64_t> count = number_of(child, DW_AT_count);
    std::optional<uint64_t> last = number_of(child, DW_AT_upper_bound);
    counts.push_back(count ? *count : last ? *last + 1 : 0);
    return true;
  });
  Type type = convert_target(die, depth);
  for (size_t i = counts.size(); i-- > 0;) {
    if (!can_repeat(type, counts[i])) return none_type();
    type = array_type(type, static_cast<uint32_t>(counts[i]));
  }
  return type;
}

Type DwarfTypes::Program::convert_struct(Dwarf_Die die, const std::string& alias) {
  die = defined(die);
  bool is_union = ::dwarf_tag(&die) == DW_TAG_union_type;
  int64_t size = std::max(0, ::dwarf_bytesize(&die));
  int32_t number = state_.number_of(this, die);
  std::string name = written_name(die);
  if (name.empty())
    name = !alias.empty() ? alias
                          : fmt::format("{} (anonymous {})", is_union ? "union" : "struct",
                                        kFirstNumber - number);
  return struct_type(std::move(name), static_cast<uint32_t>(size), is_union, number);
}

// --- members

std::vector<Field> DwarfTypes::Program::members_of(Dwarf_Die& die) {
  std::vector<Field> fields;
  members_ = 0;
  add_members(die, 0, 0, fields);
  return fields;
}

void DwarfTypes::Program::add_members(Dwarf_Die& die, uint64_t bit_offset, int depth,
                                      std::vector<Field>& fields) {
  if (depth > kDeepest) return;
  visit_children(die, [&](Dwarf_Die& child) {
    if (++members_ > kMostMembers) return false;
    int tag = ::dwarf_tag(&child);
    bool is_virtual = number_of(child, DW_AT_virtuality).value_or(0) != 0;
    bool is_static = has_flag(child, DW_AT_external);
    bool is_hidden = has_flag(child, DW_AT_artificial);
    bool is_base = tag == DW_TAG_inheritance && !is_virtual;
    if (is_base || (tag == DW_TAG_member && !is_static && !is_hidden))
      add_member(child, bit_offset, depth, fields);
    return true;
  });
}

// Members of base classes and of unnamed structs belong to the outer one. A member hides one of a
// base class that has its name.
void DwarfTypes::Program::add_member(Dwarf_Die& member, uint64_t bit_offset, int depth,
                                     std::vector<Field>& fields) {
  std::optional<Dwarf_Die> declared = type_of(member), plain = plain_type_of(member);
  std::optional<uint64_t> place = place_of(member);
  if (!declared || !plain || !place) return;
  bit_offset += *place * 8;
  std::string name = text_of(::dwarf_diename(&member));
  if (name.empty() || ::dwarf_tag(&member) == DW_TAG_inheritance) {
    Dwarf_Die inner = defined(*plain);
    if (is_struct(::dwarf_tag(&inner))) add_members(inner, bit_offset, depth + 1, fields);
    return;
  }
  Field field{.name = std::move(name), .type = convert(*declared, 0)};
  std::optional<uint64_t> bits = number_of(member, DW_AT_bit_size);
  if (bits) {
    // Before DWARF 4, bits were counted from the upper end of the integer that holds them.
    uint64_t unit = number_of(member, DW_AT_byte_size).value_or(field.type->size) * 8;
    if (std::optional<uint64_t> from_top = number_of(member, DW_AT_bit_offset))
      bit_offset += unit - *from_top - *bits;
    bit_offset += number_of(member, DW_AT_data_bit_offset).value_or(0);
  }
  if (bit_offset / 8 + field.type->size > kMaxTypeSize) return;
  field.offset = static_cast<uint32_t>(bit_offset / 8);
  if (bits && *bits > 0 && *bits <= 64 && is_integer(field.type)) {
    field.bit_size = static_cast<uint8_t>(*bits);
    place_bits(static_cast<uint32_t>(bit_offset), field);
  }
  std::erase_if(fields, [&](const Field& other) { return other.name == field.name; });
  fields.push_back(std::move(field));
}

std::vector<Field> DwarfTypes::Program::parameters_of(Dwarf_Die& function) {
  std::vector<Field> fields;
  // A struct may be returned through a hidden first parameter.
  std::optional<Dwarf_Die> result = plain_type_of(function);
  if (result && (is_struct(::dwarf_tag(&*result)) || ::dwarf_tag(&*result) == DW_TAG_array_type))
    return fields;
  uint32_t number = 0;
  visit_children(function, [&](Dwarf_Die& child) {
    if (::dwarf_tag(&child) != DW_TAG_formal_parameter) return true;
    std::optional<Dwarf_Die> declared = type_of(child), plain = plain_type_of(child);
    bool is_base = plain && ::dwarf_tag(&*plain) == DW_TAG_base_type;
    if (is_base && encoding_of(*plain) == DW_ATE_float) return true;
    Type type = declared ? convert(*declared, 0) : nullptr;
    if (!type || !is_scalar(type)) return false;  // from here the places are not known
    const char* name = ::dwarf_diename(&child);
    if (name) fields.push_back({.name = name, .type = type, .offset = number * 8});
    number++;
    return true;
  });
  return fields;
}

// --- ways in

DwarfTypes::DwarfTypes() : state_(std::make_unique<State>()) {}
DwarfTypes::~DwarfTypes() = default;

Result<std::vector<Field>> DwarfTypes::parameters(const std::string& path, uint64_t address) {
  Result<Program*> program = state_->open(path);
  if (!program) return program.error();
  std::optional<Dwarf_Die> function = (*program)->find_function(address);
  if (!function)
    return Error{"the debug information of '" + path + "' does not know this function"};
  return (*program)->parameters_of(*function);
}

Result<Type> DwarfTypes::find(const std::string& path, std::string_view name) {
  Result<Program*> program = state_->open(path);
  if (!program) return program.error();
  return (*program)->find(name);
}

Type DwarfTypes::complete(const Type& type) {
  size_t index = static_cast<size_t>(kFirstNumber - type->definition);
  if (type->is_complete || !is_ours(type) || index >= state_->structs.size()) return type;
  auto [program, die] = state_->structs[index];
  TypeData data = *type;
  data.is_complete = true;
  data.fields = program->members_of(die);
  return std::make_shared<const TypeData>(std::move(data));
}

}  // namespace flowtap
