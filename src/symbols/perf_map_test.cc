// Perf maps of the right and of the wrong kind, in a made-up /proc.

#include "symbols/perf_map.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <filesystem>

#include "base/test_directory.h"

namespace flowtap {
namespace {

class PerfMapTest : public testing::Test {
 protected:
  std::string found() {
    Result<std::optional<ForeignFile>> file = find_perf_map(owner_, directory_.path());
    if (!file) return file.error().message();
    return *file ? (*file)->path() : "none";
  }
  std::string refusal(const std::string& why) const {
    return "the perf map '" + path_ + "' is not used: " + why;
  }
  std::string refusal_of_file(const std::string& why) const {
    return "a perf map is not used: '" + path_ + "' " + why;
  }

  TestDirectory directory_;
  PerfMapOwner owner_{.pid = 4711, .status = {.inner_pid = 5, .uid = ::geteuid()}};
  std::string path_ = directory_.path() + "/4711/root/tmp/perf-5.map";
  std::string name_ = "4711/root/tmp/perf-5.map";
};

TEST_F(PerfMapTest, is_found_under_the_inner_pid) {
  EXPECT_EQ(found(), "none");
  directory_.write(name_, "2000 100 compiled\n");
  EXPECT_EQ(found(), path_);
}

TEST_F(PerfMapTest, is_a_regular_file) {
  std::string target = directory_.write("target", "2000 100 compiled\n");
  std::filesystem::create_directories(directory_.path() + "/4711/root/tmp");
  std::filesystem::create_symlink(target, path_);
  EXPECT_EQ(found(), refusal_of_file("is not a regular file"));
  std::filesystem::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(found(), refusal_of_file("is not a regular file"));
}

TEST_F(PerfMapTest, belongs_to_the_user_of_the_process_or_to_root) {
  directory_.write(name_, "2000 100 compiled\n");
  uid_t user = ::geteuid() == 0 ? 65534 : ::geteuid();
  ASSERT_EQ(::chown(path_.c_str(), user, static_cast<gid_t>(-1)), 0);
  std::string wrong =
      "it belongs to user " + std::to_string(user) + ", not to that of process 4711";
  owner_.status.uid = user;
  EXPECT_EQ(found(), path_);
  owner_.status.uid = 1234;
  EXPECT_EQ(found(), refusal(wrong));
  owner_.status.uid.reset();
  EXPECT_EQ(found(), refusal(wrong));
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(path_.c_str(), 0, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(found(), path_);
}

TEST_F(PerfMapTest, is_not_older_than_the_process) {
  directory_.write(name_, "2000 100 compiled\n");
  owner_.started = 1;  // with the machine
  EXPECT_EQ(found(), path_);
  timeval times[2] = {{.tv_sec = 1'000'000'000, .tv_usec = 0},
                      {.tv_sec = 1'000'000'000, .tv_usec = 0}};
  ASSERT_EQ(::utimes(path_.c_str(), times), 0);
  EXPECT_EQ(found(), refusal("it is older than process 4711"));
  owner_.started = 0;  // not known
  EXPECT_EQ(found(), path_);
}

TEST_F(PerfMapTest, is_of_a_bounded_size) {
  directory_.write(name_, "2000 100 compiled\n");
  ASSERT_EQ(::truncate(path_.c_str(), off_t{20} << 30), 0);
  Result<std::optional<ForeignFile>> file = find_perf_map(owner_, directory_.path());
  ASSERT_TRUE(file && *file);
  Result<SymbolTable> table = read_perf_map(**file);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().message(), refusal_of_file("has more than 64 MB"));
}

TEST_F(PerfMapTest, has_a_bounded_number_of_lines) {
  std::string text;
  for (int i = 0; i < 1'000'001; i++) text += "1 1 a\n";
  directory_.write(name_, text);
  Result<SymbolTable> table = read_perf_map(**find_perf_map(owner_, directory_.path()));
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().message(), refusal("it has more than 1000000 lines"));
}

}  // namespace
}  // namespace flowtap
