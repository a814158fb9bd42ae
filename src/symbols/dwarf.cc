// Reading DWARF with libdw. Ways in: read_parameters() and find_source_line().
//
// Where a parameter lies when the function begins is not asked of DWARF, which describes the code
// behind the first instructions: the calling convention of x86-64 tells it. Integers and pointers
// take the next of six registers and then the stack; floating-point numbers take registers that
// nobody can read here; a struct goes where its members decide, and with it all that follows.

#include "symbols/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/fd.h"
#include "symbols/elf_file.h"

namespace flowtap {

namespace {

constexpr int kDeepest = 16;  // typedefs of typedefs...

// --- opening

class DebugInfo {
 public:
  static Result<DebugInfo> open(const std::string& path) {
    Result<ElfFile> elf = ElfFile::open(path);
    if (!elf) return elf.error();
    for (const std::string& file : {path, elf->debug_path()}) {
      DebugInfo info;
      info.fd_ = Fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
      if (!info.fd_.valid()) continue;
      info.dwarf_.reset(::dwarf_begin(info.fd_.get(), DWARF_C_READ));
      if (info.dwarf_ && info.has_units()) return info;
    }
    return Error{"'" + path + "' has no debug information", 0,
                 "compile it with -g, or install its debug package"};
  }

  // Stops when the visitor says so.
  template <typename Visit>
  void visit_units(const Visit& visit) const {
    Dwarf_Off offset = 0, next = 0;
    size_t header = 0;
    while (::dwarf_nextcu(dwarf_.get(), offset, &next, &header, nullptr, nullptr, nullptr) == 0) {
      Dwarf_Die unit;
      if (::dwarf_offdie(dwarf_.get(), offset + header, &unit) && !visit(unit)) return;
      offset = next;
    }
  }

  // The unit whose code holds the address, if there is an index of that.
  std::optional<Dwarf_Die> unit_at(uint64_t address) const {
    Dwarf_Die unit;
    if (!::dwarf_addrdie(dwarf_.get(), address, &unit)) return std::nullopt;
    return unit;
  }

 private:
  struct End {
    void operator()(Dwarf* dwarf) const { ::dwarf_end(dwarf); }
  };

  bool has_units() const {
    bool has_any = false;
    visit_units([&](Dwarf_Die&) {
      has_any = true;
      return false;
    });
    return has_any;
  }

  Fd fd_;
  std::unique_ptr<Dwarf, End> dwarf_;
};

// --- types

std::optional<Dwarf_Die> type_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (!::dwarf_attr_integrate(&die, DW_AT_type, &attribute)) return std::nullopt;
  if (!::dwarf_formref_die(&attribute, &type)) return std::nullopt;
  return type;
}

// Without typedef, const and the like; nothing for void.
std::optional<Dwarf_Die> plain_type_of(Dwarf_Die& die) {
  std::optional<Dwarf_Die> type = type_of(die);
  for (int depth = 0; type && depth < kDeepest; depth++) {
    int tag = ::dwarf_tag(&*type);
    bool is_other_name = tag == DW_TAG_typedef || tag == DW_TAG_const_type ||
                         tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
                         tag == DW_TAG_atomic_type;
    if (!is_other_name) return type;
    type = type_of(*type);
  }
  return type;
}

bool is_aggregate(Dwarf_Die& type) {
  int tag = ::dwarf_tag(&type);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
         tag == DW_TAG_array_type;
}

Dwarf_Word base_encoding(Dwarf_Die& type) {
  Dwarf_Attribute attribute;
  Dwarf_Word encoding = 0;
  if (::dwarf_attr_integrate(&type, DW_AT_encoding, &attribute))
    ::dwarf_formudata(&attribute, &encoding);
  return encoding;
}

// Null for what fits no general register.
Type register_type(Dwarf_Die& die, int depth = 0);

// What a pointer leads to. Structs are known by name: the script declares those it looks into.
Type pointed_type(Dwarf_Die& pointer, int depth) {
  std::optional<Dwarf_Die> target = plain_type_of(pointer);
  if (!target || depth > kDeepest) return none_type();
  if (is_aggregate(*target) && ::dwarf_diename(&*target)) {
    bool is_union = ::dwarf_tag(&*target) == DW_TAG_union_type;
    int size = std::max(0, ::dwarf_bytesize(&*target));
    std::string name = std::string(is_union ? "union " : "struct ") + ::dwarf_diename(&*target);
    return struct_type(std::move(name), static_cast<uint32_t>(size), is_union, -1);
  }
  Type type = register_type(*target, depth + 1);
  return type ? type : none_type();
}

Type register_type(Dwarf_Die& die, int depth) {
  int bytes = ::dwarf_bytesize(&die);
  bool fits = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  switch (::dwarf_tag(&die)) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
      return pointer_type(pointed_type(die, depth), AddressSpace::User);
    case DW_TAG_enumeration_type:
      return fits ? int_type(static_cast<uint32_t>(bytes), true) : nullptr;
    case DW_TAG_base_type: break;
    default: return nullptr;
  }
  if (!fits) return nullptr;
  switch (base_encoding(die)) {
    case DW_ATE_boolean: return bool_type();
    case DW_ATE_signed:
    case DW_ATE_signed_char: return int_type(static_cast<uint32_t>(bytes), true);
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF: return int_type(static_cast<uint32_t>(bytes), false);
    default: return nullptr;
  }
}

bool is_floating(Dwarf_Die& type) {
  return ::dwarf_tag(&type) == DW_TAG_base_type && base_encoding(type) == DW_ATE_float;
}

// --- functions

std::vector<Field> parameters_of(Dwarf_Die& function) {
  std::vector<Field> fields;
  // A struct may be returned through a hidden first parameter.
  std::optional<Dwarf_Die> result = plain_type_of(function);
  Dwarf_Die child;
  bool has_any = ::dwarf_child(&function, &child) == 0;
  if (!has_any || (result && is_aggregate(*result))) return fields;
  uint32_t number = 0;
  do {
    if (::dwarf_tag(&child) != DW_TAG_formal_parameter) continue;
    std::optional<Dwarf_Die> declared = plain_type_of(child);
    if (declared && is_floating(*declared)) continue;
    Type type = declared ? register_type(*declared) : nullptr;
    if (!type) break;  // from here the places are not known
    const char* name = ::dwarf_diename(&child);
    if (name) fields.push_back({.name = name, .type = type, .offset = number * 8});
    number++;
  } while (::dwarf_siblingof(&child, &child) == 0);
  return fields;
}

struct FunctionSearch {
  uint64_t address = 0;
  std::optional<std::vector<Field>> found;
};

// A function whose rare parts were moved away consists of ranges, the first of which it begins
// with.
bool begins_at(Dwarf_Die& function, uint64_t address) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  if (address == 0) return false;  // functions that the linker has dropped seem to lie there
  if (::dwarf_entrypc(&function, &begin) == 0) return begin == address;
  return ::dwarf_ranges(&function, 0, &base, &begin, &end) > 0 && begin == address;
}

int visit_function(Dwarf_Die* function, void* argument) {
  FunctionSearch& search = *static_cast<FunctionSearch*>(argument);
  if (!begins_at(*function, search.address)) return DWARF_CB_OK;
  search.found = parameters_of(*function);
  return DWARF_CB_ABORT;
}

// --- lines

bool names_file(std::string_view path, std::string_view wanted) {
  if (!path.ends_with(wanted)) return false;
  size_t before = path.size() - wanted.size();
  return before == 0 || path[before - 1] == '/' || wanted.starts_with('/');
}

struct LineSearch {
  const SourcePlace& wanted;
  std::vector<uint64_t> addresses;
  bool has_file = false;
  int next_line = 0;  // the first after the wanted one that has code

  void take(Dwarf_Line* line) {
    int number = 0, column = 0;
    bool begins = false, is_end = false;
    Dwarf_Addr address = 0;
    const char* file = ::dwarf_linesrc(line, nullptr, nullptr);
    if (!file || !names_file(file, wanted.file)) return;
    has_file = true;
    ::dwarf_lineno(line, &number);
    ::dwarf_linecol(line, &column);
    ::dwarf_linebeginstatement(line, &begins);
    ::dwarf_lineendsequence(line, &is_end);
    ::dwarf_lineaddr(line, &address);
    if (!begins || is_end) return;
    if (number > wanted.line && (next_line == 0 || number < next_line)) next_line = number;
    if (number == wanted.line && (wanted.column == 0 || wanted.column == column))
      addresses.push_back(address);
  }
};

}  // namespace

Result<std::vector<Field>> read_parameters(const std::string& path, uint64_t address) {
  Result<DebugInfo> info = DebugInfo::open(path);
  if (!info) return info.error();
  FunctionSearch search{.address = address, .found = std::nullopt};
  if (std::optional<Dwarf_Die> unit = info->unit_at(address)) {
    ::dwarf_getfuncs(&*unit, visit_function, &search, 0);
  } else {
    info->visit_units([&](Dwarf_Die& unit) {
      ::dwarf_getfuncs(&unit, visit_function, &search, 0);
      return !search.found;
    });
  }
  if (!search.found)
    return Error{"the debug information of '" + path + "' does not know this function"};
  return *search.found;
}

Result<std::vector<uint64_t>> find_source_line(const std::string& path, const SourcePlace& wanted) {
  Result<DebugInfo> info = DebugInfo::open(path);
  if (!info) return info.error();
  LineSearch search{.wanted = wanted, .addresses = {}};
  info->visit_units([&](Dwarf_Die& unit) {
    Dwarf_Lines* lines = nullptr;
    size_t count = 0;
    if (::dwarf_getsrclines(&unit, &lines, &count) == 0)
      for (size_t i = 0; i < count; i++) search.take(::dwarf_onesrcline(lines, i));
    return true;
  });
  if (!search.has_file)
    return Error{"'" + path + "' was not compiled from a file '" + wanted.file + "'"};
  if (search.addresses.empty()) {
    std::string next = std::to_string(search.next_line);
    return Error{"line " + std::to_string(wanted.line) + " of '" + wanted.file + "' has no code", 0,
                 search.next_line ? "the next line that has is " + next : ""};
  }
  std::sort(search.addresses.begin(), search.addresses.end());
  return search.addresses;
}

}  // namespace flowtap
