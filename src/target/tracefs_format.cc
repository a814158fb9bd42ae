// Tracepoint formats. Way in: parse_tracepoint_format(). The kernel describes each event's record
// in events/CATEGORY/EVENT/format:
//
//   name: sys_enter_openat
//   ID: 782
//   format:
//   	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
//   	field:const char * filename;	offset:24;	size:8;	signed:0;
//
//   print fmt: "..."
//
// The declared type and the size may disagree. The arguments of a system call are stored as whole
// registers, so "int dfd" takes 8 bytes; the kernel itself looks at the lower 4 only and so do we
// (the upper half of the register is whatever the caller left there). Elsewhere a record may be
// narrower than the type, and then the record is right.

#include "target/tracefs_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "types/array_size.h"

namespace flowtap {
namespace {

static_assert(std::endian::native == std::endian::little, "the lower half comes first");

// One "field:" line.
struct FieldLine {
  std::string_view declaration;
  uint32_t offset = 0, size = 0;
  bool is_signed = false;
};

std::optional<uint32_t> number_after(std::string_view line, std::string_view key) {
  size_t begin = line.find(key);
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(begin + key.size());
  std::optional<int64_t> number = parse_number(trim(rest.substr(0, rest.find(';'))));
  if (!number || *number < 0 || *number > INT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

std::optional<FieldLine> parse_field_line(std::string_view line) {
  line.remove_prefix(std::string_view("field:").size());
  size_t end = line.find(';');
  if (end == std::string_view::npos) return std::nullopt;
  std::optional<uint32_t> offset = number_after(line, "offset:");
  std::optional<uint32_t> size = number_after(line, "size:");
  if (!offset || !size || *size > INT32_MAX - *offset) return std::nullopt;
  return FieldLine{.declaration = trim(line.substr(0, end)),
                   .offset = *offset,
                   .size = *size,
                   .is_signed = number_after(line, "signed:").value_or(0) != 0};
}

// The type as the record holds it.
Type fit(const Type& type, const FieldLine& line) {
  bool is_word = line.size == 1 || line.size == 2 || line.size == 4 || line.size == 8;
  if (is(type, Kind::Unknown))
    return is_word                                     ? int_type(line.size, line.is_signed)
           : can_repeat(int_type(1, false), line.size) ? array_type(int_type(1, false), line.size)
                                                       : none_type();
  if (is_integer(type) && type->size > line.size && is_word)
    return int_type(line.size, type->is_signed);
  if (is(type, Kind::Array) && type->size != line.size && type->element->size > 0)
    return array_type(type->element, line.size / type->element->size);
  return type;
}

// Pointers in the record of a system call's entry are what a process passed in.
AddressSpace pointer_space(std::string_view text) {
  return text.find(" __syscall_nr;") != std::string_view::npos ? AddressSpace::User
                                                               : AddressSpace::Kernel;
}

}  // namespace

Result<TracepointFormat> parse_tracepoint_format(std::string_view text, const FindType& find) {
  TracepointFormat format;
  AddressSpace space = pointer_space(text);
  bool has_id = false;
  for (const std::string& whole_line : split(text, '\n')) {
    std::string_view line = trim(whole_line);
    if (line.starts_with("print fmt:")) break;
    if (line.starts_with("ID:")) {
      std::optional<uint32_t> id = number_after(line, "ID:");
      has_id = id.has_value();
      format.id = id.value_or(0);
    }
    if (!line.starts_with("field:")) continue;
    std::optional<FieldLine> parsed = parse_field_line(line);
    std::optional<CDeclaration> declared;
    if (parsed) declared = parse_declaration(parsed->declaration, find, space);
    if (!declared) return Error{fmt::format("cannot understand tracepoint field '{}'", line)};
    format.size = std::max(format.size, parsed->offset + parsed->size);
    if (declared->name.starts_with("common_")) continue;
    format.fields.push_back(
        {.name = declared->name,
         .type = declared->is_data_loc ? declared->type : fit(declared->type, *parsed),
         .offset = parsed->offset,
         .is_data_loc = declared->is_data_loc,
         .is_rel_loc = declared->is_rel_loc});
    format.declarations.emplace_back(parsed->declaration);
  }
  if (!has_id) return Error{"tracepoint format has no ID line"};
  return format;
}

}  // namespace flowtap
