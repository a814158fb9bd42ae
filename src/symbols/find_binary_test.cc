// A tree of empty-but-for-the-magic binaries, links among them, and this process.

#include "symbols/find_binary.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/test_directory.h"
#include "base/text.h"

namespace flowtap {
namespace {

namespace fs = std::filesystem;

class FindBinary : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"bin/one", "bin/two", "sbin/one", "lib/libx.so.1", "lib/libx.so.2",
                             "lib/libxy.so", "bin/.hidden"})
      directory_.write(file, "\177ELF");
    directory_.write("bin/script", "#!/bin/sh\n");
    fs::create_symlink("one", top_ + "/bin/also_one");
    places_ = {.program_directories = {"", "relative", top_ + "/bin", top_ + "/sbin"},
               .linker_cache = "/nonexistent",
               .library_directories = {top_ + "/lib"}};
  }

  // The paths below the tree, or the message.
  std::string find(std::string target) {
    if (target.starts_with('/')) target = top_ + target;
    Result<std::vector<std::string>> found = find_binaries(target, std::nullopt, places_);
    std::string text = found ? join(*found, " ") : found.error().message();
    for (size_t at; (at = text.find(top_)) != std::string::npos;) text.erase(at, top_.size());
    return text;
  }

  TestDirectory directory_;
  const std::string& top_ = directory_.path();
  BinaryPlaces places_;
};

TEST_F(FindBinary, from_a_target_to_files) {
  struct {
    const char *target, *expected;
  } const cases[] = {
      // paths
      {"/bin/one", "/bin/one"},
      {"/bin/none", "cannot find '/bin/none': No such file or directory"},
      {"/bin/one/x", "cannot find '/bin/one/x': Not a directory"},
      // patterns; the second name of a file, scripts and hidden files are left out
      {"/bin/*", "/bin/also_one /bin/two"},
      {"/bin/o*", "/bin/one"},
      {"/*/one", "/bin/one /sbin/one"},
      {"/*bin/*w*", "/bin/two"},
      {"/lib/libx.so.*", "/lib/libx.so.1 /lib/libx.so.2"},
      {"/bin/x*", "no program or library matches '/bin/x*'"},
      // names
      {"one", "/bin/one /sbin/one"},
      {"two", "/bin/two"},
      {"t*", "/bin/two"},
      {"libx", "/lib/libx.so.1 /lib/libx.so.2"},
      {"libx.so", "/lib/libx.so.1 /lib/libx.so.2"},
      {"libx.so.2", "/lib/libx.so.2"},
      {"libxy", "/lib/libxy.so"},
      {"xy", "/lib/libxy.so"},
      {"script", "'script' is neither a program in PATH nor a library"},
      {"libnone", "'libnone' is neither a program in PATH nor a library"},
      {"", "no binary is named"},
  };
  for (const auto& c : cases) EXPECT_EQ(find(c.target), c.expected) << c.target;
}

TEST_F(FindBinary, relative_paths_start_from_our_directory) {
  std::string before = fs::current_path();
  fs::current_path(top_);
  EXPECT_EQ(find("bin/one"), "bin/one");
  EXPECT_EQ(find("./bin/one"), "./bin/one");
  EXPECT_EQ(find("*bin/one"), "bin/one sbin/one");
  fs::current_path(before);
}

// The tree becomes the root of a process; absolute links in it must not lead out of it.
TEST_F(FindBinary, a_process_has_its_own_root) {
  std::string proc = top_ + "/proc";
  fs::create_directories(proc + "/4711");
  fs::create_symlink(top_, proc + "/4711/root");
  fs::create_symlink("/sbin/one", top_ + "/bin/linked");
  fs::create_symlink("/bin/loop", top_ + "/bin/loop");
  fs::create_symlink("/lib", top_ + "/lib64");
  fs::create_symlink("../../../lib64/libxy.so", top_ + "/lib/libup.so");
  places_ = {{"/bin"}, "/nonexistent", {"/lib64"}, proc};
  struct {
    const char *target, *expected;
  } const cases[] = {
      {"/bin/one", "/bin/one"},
      {"/bin/linked", "/sbin/one"},
      {"linked", "/sbin/one"},
      {"libup", "/lib/libxy.so"},
      {"/lib64/libx.*", "/lib/libx.so.1 /lib/libx.so.2"},
      {"/bin/l*", "/sbin/one"},
      {"loop", "'loop' is neither a program in PATH nor a library"},
  };
  for (const auto& c : cases) {
    Result<std::vector<std::string>> found = find_binaries(c.target, 4711, places_);
    std::string text = found ? join(*found, " ") : found.error().message();
    std::string root = proc + "/4711/root";
    for (size_t at; (at = text.find(root)) != std::string::npos;) text.erase(at, root.size());
    EXPECT_EQ(text, c.expected) << c.target;
  }
}

TEST(FindBinaryOfProcess, lists_what_this_process_has_mapped) {
  Result<std::vector<std::string>> mapped = mapped_binaries(::getpid());
  ASSERT_TRUE(mapped) << mapped.error().message();
  std::string self = fs::read_symlink("/proc/self/exe");
  EXPECT_EQ(std::count(mapped->begin(), mapped->end(), self), 1);
  Result<std::vector<std::string>> all = find_binaries("*", ::getpid());
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, *mapped);
}

TEST(FindBinaryOfProcess, without_one_a_star_is_what_any_process_has_mapped) {
  Result<std::vector<std::string>> all = find_binaries("*");
  ASSERT_TRUE(all) << all.error().message();
  auto is_self = [](const std::string& path) { return fs::equivalent(path, "/proc/self/exe"); };
  EXPECT_EQ(std::count_if(all->begin(), all->end(), is_self), 1);
}

TEST(FindBinaryOfProcess, a_library_is_the_one_it_has_loaded) {
  Result<std::vector<std::string>> libc = find_binaries("libc", ::getpid());
  ASSERT_TRUE(libc) << libc.error().message();
  EXPECT_EQ(libc->size(), 1u);
  EXPECT_NE(libc->front().find("/libc.so.6"), std::string::npos);
  Result<std::vector<std::string>> same = find_binaries("libc");
  ASSERT_TRUE(same) << same.error().message();
  EXPECT_TRUE(fs::equivalent(libc->front(), same->front()));
}

TEST(FindBinaryOfProcess, a_process_that_is_not_there_is_an_error) {
  Result<std::vector<std::string>> none = mapped_binaries(0);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message(), "process 0 does not exist, or may not be looked into");
}

}  // namespace
}  // namespace flowtap
