// The `format` file of a tracepoint -> the fields of its record.

#include "small_target.h"
#include "support.h"
#include "target/tracefs_format.h"

using namespace flowtap;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const FileTarget target = fuzz::small_target();
  FindType find = [&](std::string_view name) { return target.find_type(name); };
  std::string_view text = fuzz::text_of(data, size);
  Result<TracepointFormat> format = parse_tracepoint_format(text, find);
  if (format) {
    CHECK(format->fields.size() == format->declarations.size());
    for (const Field& field : format->fields) type_name(field.type);
  }
  std::optional<CDeclaration> declaration = parse_declaration(text, find);
  if (declaration) type_name(declaration->type);
  return 0;
}
