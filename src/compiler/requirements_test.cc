// Scripts for kernels that lack what they need: the message names it and the place that needs it.

#include "compiler/requirements.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "compiler/compile.h"
#include "target/file_target.h"

namespace flowtap {
namespace {

FileTarget machine(const std::string& text) {
  Result<FileTarget> target = FileTarget::parse(text);
  CHECK(target);
  return std::move(*target);
}

// Empty when it compiles.
std::string mistake(const std::string& script_text, const FileTarget& target) {
  Script script = parse_script({.name = "x", .text = script_text});
  Diagnostics diagnostics;
  bool is_compiled = compile(script, target, {}, diagnostics).has_value();
  return is_compiled ? "" : first_error(diagnostics, script.sources);
}

TEST(Requirements, name_the_helper_and_its_version) {
  struct {
    const char *machine, *script, *expected;
  } const cases[] = {
      {"kernel 5.16", "begin { while (1) { break; } }",
       "x:1:9: bpf_loop needs Linux 5.17 or later"},
      {"kernel 5.17", "begin { while (1) { break; } }", ""},
      {"kernel 5.16\nfeature bpf_loop", "begin { while (1) { break; } }", ""},
      {"kernel 6.0", "begin { print(nsecs(tai)); }",
       "x:1:15: bpf_ktime_get_tai_ns needs Linux 6.1 or later"},
      {"kernel 5.12", "begin { @a[1] = 1; for ($kv : @a) { print($kv); } }",
       "x:1:20: bpf_for_each_map_elem needs Linux 5.13 or later"},
      {"kernel 5.9", "begin { exit(); }",
       "x:1:1: BPF_PROG_RUN of raw tracepoints needs Linux 5.10 or later"},
      {"kernel 5.10", "begin { print(1); exit(); }", ""},
  };
  for (const auto& c : cases)
    EXPECT_EQ(mistake(c.script, machine(c.machine)), c.expected) << c.machine << ": " << c.script;
}

// Where there is another way it is taken, and nobody has to be told.
TEST(Requirements, are_not_met_in_vain) {
  const char* script =
      "begin { @hot[rand] = count(); @large[comm, comm, comm, comm] = 1; print(comm); }";
  EXPECT_EQ(mistake(script, machine("kernel 5.10")), "");
}

}  // namespace
}  // namespace flowtap
