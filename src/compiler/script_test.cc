// One parsed script serves several compilations.

#include "compiler/script.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "compiler/compile.h"
#include "lang/printer.h"
#include "target/file_target.h"

namespace flowtap {
namespace {

FileTarget no_machine() {
  Result<FileTarget> target = FileTarget::parse("");
  CHECK(target);
  return std::move(*target);
}

// What a plan becomes, or its first mistake.
std::string compiled(const Script& script, const std::string& plan) {
  Diagnostics diagnostics;
  CompileOptions options{.plan = plan, .dump = {"ast", "types"}};
  std::optional<Compiled> result = compile(script, no_machine(), options, diagnostics);
  return result ? result->dumps : first_error(diagnostics, script.sources);
}

constexpr const char* kTwoPlans =
    "macro twice($x) { $x * 2 }\n"
    "plan good { begin { $n = 2; @good = twice($n); } }\n"
    "plan bad { begin { @bad = twice(1, 2); } }\n";

TEST(Script, mistakes_of_a_plan_are_its_own) {
  Script script = parse_script({.name = "x", .text = kTwoPlans});
  EXPECT_EQ(plan_names(script), (std::vector<std::string>{"good", "bad"}));
  EXPECT_NE(compiled(script, "good").find("@good: int64"), std::string::npos);
  EXPECT_EQ(compiled(script, "bad"),
            "x:3:27: no definition of macro 'twice' takes these arguments");
}

TEST(Script, compiling_changes_nothing) {
  Script script = parse_script({.name = "x", .text = kTwoPlans});
  EXPECT_EQ(compiled(script, "good"), compiled(script, "good"));
  EXPECT_EQ(compiled(script, "good").find("@bad"), std::string::npos);
}

TEST(Script, filters_are_put_before_predicates) {
  Script script = parse_script({.name = "x", .text = "kprobe:a /pid/ { } kprobe:b { } begin { }"});
  add_filter(script, "tid == 1");
  EXPECT_EQ(print_expr(*script.ast.probes[0].predicate).substr(0, 9), "binary &&");
  EXPECT_NE(script.ast.probes[1].predicate, nullptr);
  EXPECT_EQ(script.ast.probes[2].predicate, nullptr);
}

TEST(Script, pages_are_those_of_the_machine) {
  Result<FileTarget> target = FileTarget::parse("page_size 65536");
  ASSERT_TRUE(target);
  auto ring_of = [&](const std::string& pages) -> std::string {
    Script script = parse_script(
        {.name = "x", .text = "config = { perf_rb_pages = " + pages + " } begin { print(1); }"});
    Diagnostics diagnostics;
    std::optional<Compiled> result = compile(script, *target, {}, diagnostics);
    if (!result) return first_error(diagnostics, script.sources);
    return std::to_string(
        result->image.maps[static_cast<size_t>(result->image.ringbuf)].max_entries);
  };
  EXPECT_EQ(ring_of("2"), "131072");
  EXPECT_EQ(ring_of("32769"),
            "x:1:12: 'perf_rb_pages' takes a number from 0 to 32768, found '32769'");
}

TEST(Script, a_script_without_plans_has_one_without_a_name) {
  EXPECT_EQ(plan_names(parse_script({.name = "x", .text = "begin { }"})),
            (std::vector<std::string>{""}));
}

}  // namespace
}  // namespace flowtap
