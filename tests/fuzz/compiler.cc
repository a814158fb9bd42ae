// Script text -> instructions, all stages of the compiler, for the machine of the golden tests.
// What the checker accepts, the later stages must take.

#include "compiler/compile.h"

#include "small_target.h"
#include "support.h"

using namespace flowtap;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const FileTarget target = fuzz::small_target();
  Script script = parse_script({.name = "fuzz.bt",
                                .text = std::string(fuzz::text_of(data, size)),
                                .parameters = {"42", "hello"}});
  CompileOptions options;
  options.check.is_unsafe = true;
  options.check.named = {{"port", "80"}, {"on", std::nullopt}};
  options.plan = plan_names(script)[0];
  Diagnostics diagnostics;
  std::optional<Compiled> compiled = compile(script, target, options, diagnostics);
  CHECK(compiled || diagnostics.has_errors());
  fuzz::render_some(diagnostics, script.sources);
  return 0;
}
