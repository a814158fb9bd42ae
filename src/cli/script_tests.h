#pragma once
// --test and --bench: runs the probes of a script that are made for it, and tells how they did.

#include "bpf/image.h"
#include "output/sink.h"
#include "runtime/session.h"

namespace flowtap {

struct ScriptTests {
  Session& session;
  const Image& image;
  Sink& written;  // where the session's writer puts what the script says
  Sink& out;      // takes the results
  bool is_json = false;
  bool is_coloured = false;
};

// The code to exit with: 0, or 1 when a test failed.
Result<int> run_tests(const ScriptTests& tests);
Result<int> run_benchmarks(const ScriptTests& tests);

}  // namespace flowtap
