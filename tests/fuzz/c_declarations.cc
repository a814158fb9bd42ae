// C text of a script -> declarations -> types with their layout.

#include "lang/c_parser.h"
#include "sema/script_types.h"
#include "small_target.h"
#include "support.h"

using namespace flowtap;

// Every field lies within its struct, or generated code would read past it.
static void look_at(const ScriptTypes& types, const std::string& name) {
  Type type = types.find_type(name);
  if (!type || !is(type, Kind::Struct)) return;
  Type whole = types.complete_all(type);
  for (const Field& field : whole->fields)
    CHECK(uint64_t{field.offset} + (field.bit_size ? 0 : field.type->size) <= type->size);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const FileTarget target = fuzz::small_target();
  Sources sources;
  Diagnostics diagnostics;
  std::string text(fuzz::text_of(data, size));
  uint32_t file = sources.add("fuzz.bt", text);
  std::vector<CDefinition> definitions = {{{file, 0, static_cast<uint32_t>(size)}, text}};
  std::vector<std::string> predefined = {"BPFTRACE_HAVE_BTF"};
  CDeclarations declarations = parse_c(definitions, predefined, diagnostics);
  print_c(declarations);
  if (!diagnostics.has_errors()) {
    ScriptTypes types(declarations, target, diagnostics);
    if (!diagnostics.has_errors())
      for (const CStruct& one : declarations.structs)
        look_at(types, (one.is_union ? "union " : "struct ") + one.name);
  }
  fuzz::render_some(diagnostics, sources);
  return 0;
}
