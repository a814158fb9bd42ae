// Listings: declarations and definitions, laid out as bpftrace does; see listing.h.

#include "target/listing.h"

#include "base/text.h"

namespace flowtap {

static std::string indent_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "    " + line + "\n";
  return text;
}

std::string list_arguments(const TracepointFormat& format) {
  return indent_lines(format.declarations);
}

std::string list_arguments(const FunctionSignature& signature, ShowResult show) {
  std::string text = indent_lines(signature.declarations);
  if (show == ShowResult::Yes && !is(signature.result, Kind::None))
    text += indent_lines({signature.result_text + " retval"});
  return text;
}

std::string list_types(const Target& target, std::string_view pattern, bool is_verbose) {
  std::string text;
  for (const std::string& name : target.type_names(pattern))
    text += is_verbose ? target.type_text(name) + "\n\n" : name + "\n";
  return text;
}

bool is_type_pattern(std::string_view pattern) {
  return pattern.starts_with("struct ") || pattern.starts_with("union ") ||
         pattern.starts_with("enum ");
}

std::string module_of_raw_tracepoint(const Target& target, std::string_view event) {
  Result<FunctionSignature> known = target.raw_tracepoint(event);
  return known && !known->module.empty() ? known->module : "vmlinux";
}

}  // namespace flowtap
