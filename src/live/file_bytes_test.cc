// FileBytes on files that map, that do not map, and that are not there.

#include "live/file_bytes.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace flowtap {
namespace {

TEST(FileBytes, an_ordinary_file_is_there_as_a_whole) {
  std::string path = testing::TempDir() + "file_bytes_test";
  std::ofstream(path) << "abc";
  Result<FileBytes> file = FileBytes::open(path);
  ASSERT_TRUE(file) << file.error().message();
  FileBytes moved = std::move(*file);
  ASSERT_EQ(moved.bytes().size(), 3u);
  EXPECT_EQ(load<char>(moved.bytes(), 2), 'c');
  EXPECT_TRUE(file->bytes().empty());
  std::remove(path.c_str());
}

TEST(FileBytes, a_file_of_sysfs_that_cannot_be_mapped_is_read) {
  Result<FileBytes> file = FileBytes::open("/sys/kernel/notes");
  if (!file) GTEST_SKIP() << file.error().message();
  EXPECT_GT(file->bytes().size(), 0u);
}

TEST(FileBytes, empty_and_missing_files) {
  std::string path = testing::TempDir() + "file_bytes_empty";
  std::ofstream(path).flush();
  EXPECT_TRUE(FileBytes::open(path)->bytes().empty());
  std::remove(path.c_str());
  EXPECT_EQ(FileBytes::open("/no/such/file").error().message(),
            "cannot open '/no/such/file': No such file or directory");
}

}  // namespace
}  // namespace flowtap
