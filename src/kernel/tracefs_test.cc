// Tracefs on a directory that looks like one.

#include "kernel/tracefs.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace flowtap {
namespace {

using Names = std::vector<std::string>;

class TracefsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tracefs_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    std::filesystem::create_directories(root_ / "events/sched/tick");
    write("available_events", "sched:tick\nnet:tick\nsched:tock\nrubbish\n");
    write("events/sched/tick/id", "1\n");
    write("events/sched/tick/format", "ID: 1\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, std::string_view content) {
    std::ofstream(root_ / path) << content;
  }
  std::filesystem::path root_;
};

TEST_F(TracefsTest, events_match_both_patterns_and_come_sorted) {
  Tracefs tracefs(root_);
  EXPECT_EQ(tracefs.events("*", "tick"), (Names{"net:tick", "sched:tick"}));
  EXPECT_EQ(tracefs.events("sched", "t*"), (Names{"sched:tick", "sched:tock"}));
  EXPECT_EQ(tracefs.events("sched", "tick"), Names{"sched:tick"});
  EXPECT_EQ(tracefs.events("net", "tick"), Names{});  // has no id file: cannot be attached to
}

TEST_F(TracefsTest, names_cannot_lead_out_of_the_events) {
  Tracefs tracefs(root_);
  EXPECT_EQ(*tracefs.format("sched", "tick"), "ID: 1\n");
  EXPECT_FALSE(tracefs.format("..", "available_events"));
  EXPECT_FALSE(tracefs.format("sched/tick", "."));
  EXPECT_FALSE(tracefs.format("", ""));
}

TEST_F(TracefsTest, functions_come_with_their_module) {
  Tracefs tracefs(root_);
  std::string seen;
  Tracefs::VisitFunction note = [&](std::string_view module, std::string_view function) {
    seen += std::string(module) + ":" + std::string(function) + " ";
  };
  EXPECT_FALSE(tracefs.traceable_functions(note));
  write("available_filter_functions",
        "vfs_read\nnft_init [nf_tables]\n__ftrace_invalid_address___64\n\nlast");
  EXPECT_TRUE(tracefs.traceable_functions(note));
  EXPECT_EQ(seen, "vmlinux:vfs_read nf_tables:nft_init vmlinux:last ");
}

}  // namespace
}  // namespace flowtap
