// Listings against the example machine in tests/target.

#include "target/listing.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "target/file_target.h"

namespace flowtap {
namespace {

class Listing : public testing::Test {
 protected:
  void SetUp() override {
    std::optional<std::string> text = read_file(FLOWTAP_SOURCE_DIR "/tests/target/small.target");
    ASSERT_TRUE(text);
    Result<FileTarget> parsed = FileTarget::parse(*text);
    ASSERT_TRUE(parsed) << parsed.error().message();
    target_ = std::move(*parsed);
  }
  FileTarget target_;
};

TEST_F(Listing, tracepoint_arguments_are_declared_as_the_kernel_does) {
  EXPECT_EQ(list_arguments(*target_.tracepoint("syscalls", "sys_enter_openat")),
            "    int __syscall_nr\n"
            "    int dfd\n"
            "    const char * filename\n"
            "    int flags\n"
            "    umode_t mode\n");
}

TEST_F(Listing, functions_may_show_their_result) {
  Result<FunctionSignature> read = target_.kernel_function("", "vfs_read");
  std::string arguments =
      "    struct file * file\n"
      "    char __user * buf\n"
      "    size_t count\n"
      "    loff_t * pos\n";
  EXPECT_EQ(list_arguments(*read, ShowResult::No), arguments);
  EXPECT_EQ(list_arguments(*read, ShowResult::Yes), arguments + "    ssize_t retval\n");
  EXPECT_EQ(list_arguments(*target_.kernel_function("", "wake_up_new_task"), ShowResult::Yes),
            "    struct task_struct * p\n");
}

TEST_F(Listing, types_show_names_or_definitions) {
  EXPECT_EQ(list_types(target_, "struct timespec64", true),
            "vmlinux: struct timespec64 {\n"
            "\ttime64_t tv_sec;\n"
            "\tlong int tv_nsec;\n"
            "};\n"
            "\n");
  EXPECT_EQ(list_types(target_, "struct bpf_iter__t*", false),
            "struct bpf_iter__task\nstruct bpf_iter__tcp\n");
  EXPECT_EQ(list_types(target_, "struct nothing", true), "");
}

TEST(ListingPattern, types_are_told_from_probes) {
  EXPECT_TRUE(is_type_pattern("struct sock"));
  EXPECT_TRUE(is_type_pattern("enum t*"));
  EXPECT_FALSE(is_type_pattern("structure:x"));
  EXPECT_FALSE(is_type_pattern("tracepoint:sched:*"));
}

}  // namespace
}  // namespace flowtap
