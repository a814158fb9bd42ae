#include "runtime/capture_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/test_directory.h"
#include "base/text.h"

namespace flowtap {
namespace {

Status write_packet(const std::string& path) {
  CaptureFiles files;
  static constexpr std::byte kBytes[] = {std::byte{1}, std::byte{2}};
  return files.add(path, {.unix_ns = 1'000'000'002, .length = 60, .bytes = kBytes});
}

TEST(CaptureFiles, an_older_capture_is_replaced) {
  TestDirectory directory;
  std::string path = directory.path() + "/out.pcap";
  ASSERT_TRUE(write_packet(path));
  std::string first = *read_file(path);
  EXPECT_EQ(first.size(), 24u + 16 + 2);
  ASSERT_TRUE(write_packet(path));
  EXPECT_EQ(*read_file(path), first);
  struct stat info;
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(CaptureFiles, nothing_else_is) {
  TestDirectory directory;
  directory.write("passwd", "root:x:0:0");
  Status written = write_packet(directory.path() + "/passwd");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message().find("is no capture file"), std::string::npos);
  EXPECT_EQ(*read_file(directory.path() + "/passwd"), "root:x:0:0");
}

}  // namespace
}  // namespace flowtap
