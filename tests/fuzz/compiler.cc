// Script text -> instructions, all stages of the compiler, for the machine of the golden tests.
// What the checker accepts, the later stages must take.

#include "cli/compile.h"

#include "small_target.h"
#include "support.h"

using namespace flowtap;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const FileTarget target = fuzz::small_target();
  Sources sources;
  uint32_t file = sources.add("fuzz.bt", std::string(fuzz::text_of(data, size)));
  CompileOptions options;
  options.check.is_unsafe = true;
  options.check.named = {{"port", "80"}, {"on", std::nullopt}};
  options.parameters = {"42", "hello"};
  std::vector<std::string> plans = plan_names(sources, file, options);
  if (!plans.empty()) options.plan = plans[0];
  Diagnostics diagnostics;
  std::optional<Compiled> compiled = compile(sources, file, target, options, diagnostics);
  CHECK(compiled || diagnostics.has_errors());
  fuzz::render_some(diagnostics, sources);
  return 0;
}
