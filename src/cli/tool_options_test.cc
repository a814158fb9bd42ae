#include "cli/tool_options.h"

#include <gtest/gtest.h>

#include "cli/script_files.h"

namespace flowtap {
namespace {

constexpr const char* kTool = R"(#!/usr/bin/env flowtap
// slow - calls that take long
//
// LAYER: files
//
// PROCESS: current
//
// One paragraph
// of two lines.
//
// Another one.
//
// NEEDS: tracepoints
// of system calls.
// OVERHEAD: small
//
// EXAMPLE: flowtap slow
//   PID  COMM
//
//   last line

// Not part of the head.
table t { pid PID "process"; us LAT "time"; }
tracepoint:syscalls:sys_enter_read /getopt("port", 0) == 0/ {
  emit t(pid, getopt("min-us", 10) + getopt("size", 5, "how big"));
  if (getopt("errors", false) || getopt("name", "x") == "y") { exit(); }
}
)";

TEST(ToolOptions, the_head_is_read_by_fields) {
  ToolHead head = parse_head(kTool);
  EXPECT_EQ(head.summary, "calls that take long");
  EXPECT_EQ(head.layer, "files");
  EXPECT_TRUE(head.is_about_current);
  EXPECT_EQ(head.description, "One paragraph of two lines.\n\nAnother one.");
  EXPECT_EQ(head.needs, "tracepoints of system calls.");
  EXPECT_EQ(head.overhead, "small");
  EXPECT_EQ(head.example, "flowtap slow\n  PID  COMM\n\n  last line");
}

TEST(ToolOptions, a_script_without_a_head_has_none) {
  ToolHead head = parse_head("begin { }\n// x - y\n");
  EXPECT_EQ(head.summary, "");
  EXPECT_FALSE(head.is_about_current);
}

Result<ToolAbout> about_of(const ToolFile& tool) { return describe_tool(tool, parse_tool(tool)); }

TEST(ToolOptions, options_are_those_of_getopt_and_of_the_frame) {
  Result<ToolAbout> about = about_of({"slow", "slow.bt", kTool, ""});
  ASSERT_TRUE(about);
  std::vector<std::string> found;
  for (const OptionText& text : option_texts(*about))
    found.push_back(text.spelling + ": " + text.meaning);
  std::vector<std::string> expected = {
      "--port PORT: only this local or remote port",
      "--min-us N: only what took at least N microseconds (default 10)",
      "--size N: how big (default 5)",
      "--errors: failures only",
      "--name TEXT:  (default x)",
      "-p, --pid PID: trace this process only",
      "--follow: with -p: also trace its child processes and theirs",
      "--comm NAME: trace only processes with this name",
      "--cgroup PATH: trace only processes in this cgroup",
      "--duration SECONDS: exit after SECONDS seconds",
      "-f, --format text|json|csv: output format",
      "--max-keys N: maximum number of keys per map; warns when a map is full",
  };
  EXPECT_EQ(found, expected);
  ASSERT_EQ(about->tables.size(), 1u);
  EXPECT_EQ(about->tables[0].columns[1].key, "lat_us");
}

TEST(ToolOptions, a_tool_with_a_mistake_is_refused) {
  EXPECT_FALSE(about_of({"bad", "bad.bt", "begin { ", ""}));
}

}  // namespace
}  // namespace flowtap
