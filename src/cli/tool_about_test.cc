#include "cli/tool_about.h"

#include <gtest/gtest.h>

#include "cli/script.h"

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

TEST(ToolAbout, the_head_is_read_by_fields) {
  ToolHead head = parse_head(kTool);
  EXPECT_EQ(head.summary, "calls that take long");
  EXPECT_EQ(head.layer, "files");
  EXPECT_TRUE(head.is_about_current);
  EXPECT_EQ(head.description, "One paragraph of two lines.\n\nAnother one.");
  EXPECT_EQ(head.needs, "tracepoints of system calls.");
  EXPECT_EQ(head.overhead, "small");
  EXPECT_EQ(head.example, "flowtap slow\n  PID  COMM\n\n  last line");
}

TEST(ToolAbout, a_script_without_a_head_has_none) {
  ToolHead head = parse_head("begin { }\n// x - y\n");
  EXPECT_EQ(head.summary, "");
  EXPECT_FALSE(head.is_about_current);
}

Result<ToolAbout> about_of(const ToolFile& tool) { return describe_tool(tool, parse_tool(tool)); }

std::string option_text(const ToolOption& option) {
  std::string out = option.letter ? std::string("-") + option.letter + " " : "";
  out += "--" + option.name + " " + option.word + " [" + option.fallback + "] " + option.doc;
  return out + (option.is_of_frame ? " (frame)" : "");
}

TEST(ToolAbout, options_are_those_of_getopt_and_of_the_frame) {
  Result<ToolAbout> about = about_of({"slow", "slow.bt", kTool, ""});
  ASSERT_TRUE(about.ok());
  std::vector<std::string> found;
  for (const ToolOption& option : about->options) found.push_back(option_text(option));
  std::vector<std::string> expected = {
      "--port PORT [] only this port, at either end",
      "--min-us N [10] only what took at least so many microseconds",
      "--size N [5] how big",
      "--errors  [] only what failed",
      "--name TEXT [x] ",
      "-p --pid PID [] only this process (frame)",
      "--follow  [] with -p: its children and theirs too (frame)",
      "--comm NAME [] only processes of this name (frame)",
      "--cgroup PATH [] only processes of this cgroup (frame)",
      "--duration SECONDS [] end after so many seconds (frame)",
  };
  EXPECT_EQ(found, expected);
  ASSERT_EQ(about->tables.size(), 1u);
  EXPECT_EQ(about->tables[0].columns[1].key, "lat_us");
}

TEST(ToolAbout, a_tool_with_a_mistake_is_refused) {
  EXPECT_FALSE(about_of({"bad", "bad.bt", "begin { ", ""}).ok());
}

}  // namespace
}  // namespace flowtap
