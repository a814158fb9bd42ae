// Lines of /proc/PID/maps, and this very process.

#include "symbols/process_maps.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/test_directory.h"

namespace flowtap {
namespace {

std::string show_maps(std::string_view text) {
  std::string out;
  for (const Mapping& m : parse_maps(text)) {
    out += std::to_string(m.begin) + "-" + std::to_string(m.end) + "@" +
           std::to_string(m.file_offset) + " " + std::to_string(m.inode) + " '" + m.path + "'" +
           (m.is_file() ? " file" : "") + (m.is_deleted ? " deleted" : "") + "\n";
  }
  return out;
}

TEST(ProcessMaps, keeps_the_executable_lines) {
  struct {
    const char *text, *expected;
  } const cases[] = {
      {"1000-2000 r-xp 00000100 fe:01 1573    /usr/lib/libc.so.6\n",
       "4096-8192@256 1573 '/usr/lib/libc.so.6' file\n"},
      {"1000-2000 r--p 00000000 fe:01 1573    /usr/lib/libc.so.6\n", ""},
      {"1000-2000 r-xp 00000000 fe:01 15 /opt/my program\n",
       "4096-8192@0 15 '/opt/my program' file\n"},
      {"1000-2000 r-xp 00000000 fe:01 15 /tmp/x (deleted)\n",
       "4096-8192@0 15 '/tmp/x' file deleted\n"},
      {"1000-2000 rwxp 00000000 00:00 0 \n", "4096-8192@0 0 ''\n"},
      {"1000-2000 r-xp 00000000 00:00 0   [vdso]", "4096-8192@0 0 '[vdso]'\n"},
      {"", ""},
      {"\n\n", ""},
      {"nonsense", ""},
      {"1000 r-xp 0 0 0 x\n", ""},
      {"1000-20g0 r-xp 0 0:0 0 x\n", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(show_maps(c.text), c.expected) << c.text;
}

TEST(ProcessMaps, device_numbers_are_as_stat_gives_them) {
  std::vector<Mapping> mappings = parse_maps("1-2 r-xp 0 fe:01 15 /x\n");
  ASSERT_EQ(mappings.size(), 1u);
  EXPECT_EQ(mappings[0].device, makedev(0xfe, 1));
}

TEST(ProcessFiles, sees_this_process) {
  ProcessFiles self(::getpid());
  uint64_t here = reinterpret_cast<uint64_t>(&parse_maps);
  bool is_mapped = false;
  for (const Mapping& m : self.executable_mappings()) is_mapped |= m.begin <= here && here < m.end;
  EXPECT_TRUE(is_mapped);
  EXPECT_TRUE(self.shares_our_root());
  EXPECT_TRUE(ProcessFiles(0).executable_mappings().empty());
}

TEST(ProcessFiles, the_inner_pid_is_the_last_one) {
  TestDirectory directory;
  const std::string& proc = directory.path();
  struct {
    const char* status;
    pid_t expected;
  } const cases[] = {
      {"Name:\tx\nNSpid:\t4711\t12\t1\nNSpgid:\t9\n", 1},
      {"NSpid:\t4711\n", 4711},
      {"NSpid:\n", 4711},
      {"Name:\tx\n", 4711},
  };
  for (const auto& c : cases) {
    directory.write("4711/status", c.status);
    EXPECT_EQ(ProcessFiles(4711, proc).inner_pid(), c.expected) << c.status;
  }
  EXPECT_EQ(ProcessFiles(4711, proc).path_from_here("/a/b"), proc + "/4711/root/a/b");
}

TEST(ProcessFiles, knows_where_to_open_a_mapped_file) {
  TestDirectory directory;
  std::string inside = directory.write("4711/root/program", "");
  std::string outside = directory.write("program", "");
  auto inode_of = [](const std::string& path) {
    struct stat info {};
    ::stat(path.c_str(), &info);
    return info.st_ino;
  };
  ProcessFiles files(4711, directory.path());
  Mapping mapping{.begin = 0x1a00, .end = 0x2b00, .inode = inode_of(inside), .path = "/program"};
  EXPECT_EQ(files.file_of(mapping), inside);
  mapping.is_deleted = true;
  EXPECT_EQ(files.file_of(mapping), directory.path() + "/4711/map_files/1a00-2b00");
  // In a chroot, or ended: the path is one of ours.
  EXPECT_EQ(files.file_of({.inode = inode_of(outside), .path = outside}), outside);
  // In a chroot of another mount namespace: only the kernel's link leads there.
  std::string link = directory.write("4711/map_files/5000-6000", "");
  EXPECT_EQ(files.file_of({.begin = 0x5000, .end = 0x6000, .inode = 1, .path = "/y"}), link);
  // Not to be found anywhere.
  EXPECT_EQ(files.file_of({.inode = 1, .path = "/x"}), directory.path() + "/4711/root/x");
}

TEST(ProcessMaps, layout_of_a_process) {
  std::string numbers;
  for (int field = 4; field <= 52; field++) numbers += " " + std::to_string(field);
  EXPECT_EQ(parse_layout("12 (a b) S" + numbers), (ProcessLayout{28, 27}));
  EXPECT_EQ(parse_layout("12 (x) R 1 2) R" + numbers), (ProcessLayout{28, 27}));
  EXPECT_EQ(parse_layout("12 (a b) S 4 5"), ProcessLayout());
  EXPECT_EQ(parse_layout(""), ProcessLayout());
  ProcessLayout own = ProcessFiles(::getpid()).layout();
  EXPECT_GT(own.stack_start, reinterpret_cast<uint64_t>(&own));  // stacks grow downwards
  EXPECT_GT(own.code_end, reinterpret_cast<uint64_t>(&parse_layout));
}

}  // namespace
}  // namespace flowtap
