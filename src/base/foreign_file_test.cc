// Files of every kind, and files that change while they are open.

#include "base/foreign_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/test_directory.h"

namespace flowtap {
namespace {

std::string text_of(const Result<std::vector<char>>& bytes) {
  return bytes ? std::string(bytes->begin(), bytes->end()) : bytes.error().message();
}

TEST(ForeignFile, only_regular_files_are_opened) {
  TestDirectory directory;
  std::string file = directory.write("file", "content"), link = directory.path() + "/link";
  std::string pipe = directory.path() + "/pipe";
  std::filesystem::create_symlink(file, link);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(text_of(ForeignFile::open(file)->read_all(100)), "content");
  EXPECT_EQ(text_of(ForeignFile::open(link)->read_all(100)), "content");
  EXPECT_EQ(ForeignFile::open(link, Links::Refuse).error().message(),
            "'" + link + "' is not a regular file");
  for (const std::string& path : {pipe, directory.path(), std::string("/dev/zero")})
    EXPECT_EQ(ForeignFile::open(path).error().message(), "'" + path + "' is not a regular file");
  EXPECT_EQ(ForeignFile::open("/nonexistent").error().code, ENOENT);
}

TEST(ForeignFile, reading_is_bounded) {
  TestDirectory directory;
  std::string path = directory.write("file", "0123456789");
  Result<ForeignFile> file = ForeignFile::open(path);
  EXPECT_EQ(text_of(file->read(3, 4)), "3456");
  EXPECT_EQ(text_of(file->read(10, 0)), "");
  std::string truncated = "'" + path + "' is truncated";
  EXPECT_EQ(text_of(file->read(3, 8)), truncated);
  EXPECT_EQ(text_of(file->read(11, 0)), truncated);
  EXPECT_EQ(text_of(file->read(5, UINT64_MAX)), truncated);
  EXPECT_FALSE(file->read_all(9));
  EXPECT_EQ(text_of(file->read_all(10)), "0123456789");
}

TEST(ForeignFile, a_file_that_is_cut_short_meanwhile_is_an_error) {
  TestDirectory directory;
  std::string path = directory.write("file", std::string(100'000, 'x'));
  Result<ForeignFile> file = ForeignFile::open(path);
  ASSERT_EQ(::truncate(path.c_str(), 5000), 0);
  EXPECT_EQ(text_of(file->read(0, 100'000)), "'" + path + "' was truncated while it was read");
}

TEST(ForeignFile, a_lease_of_the_owner_makes_nobody_wait) {
  TestDirectory directory;
  std::string path = directory.write("file", "x");
  Fd owner(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (::fcntl(owner.get(), F_SETLEASE, F_WRLCK) != 0) GTEST_SKIP() << "no leases here";
  sighandler_t before = ::signal(SIGIO, SIG_IGN);  // the owner is told that somebody wants it
  EXPECT_EQ(ForeignFile::open(path).error().code, EWOULDBLOCK);
  ::fcntl(owner.get(), F_SETLEASE, F_UNLCK);
  ::signal(SIGIO, before);
}

TEST(ForeignFile, what_is_built_again_is_another_file) {
  TestDirectory directory;
  std::string path = directory.write("file", "one");
  FileIdentity before = identity_of(ForeignFile::open(path)->info());
  EXPECT_EQ(identity_of(ForeignFile::open(path)->info()), before);
  FileIdentity now = before;
  // The kernel's clock for files ticks every few milliseconds.
  for (int i = 0; i < 100'000 && now == before; i++) {
    directory.write("file", "two");
    now = identity_of(ForeignFile::open(path)->info());
  }
  EXPECT_EQ(now.inode, before.inode);
  EXPECT_NE(now, before);
  EXPECT_FALSE(now.is_unchanged(before));
  EXPECT_FALSE(now.may_have_same_content(before));
  // Whoever writes to a file can set its time back; the time of the last change stays.
  now = before;
  for (int i = 0; i < 100'000 && now == before; i++) {
    directory.write("file", "two");
    timespec times[2] = {};
    times[1] = {.tv_sec = before.written_ns / 1'000'000'000,
                .tv_nsec = before.written_ns % 1'000'000'000};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    now = identity_of(ForeignFile::open(path)->info());
  }
  EXPECT_TRUE(now.may_have_same_content(before));
  EXPECT_FALSE(now.is_unchanged(before));
}

}  // namespace
}  // namespace flowtap
