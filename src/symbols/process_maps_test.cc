// Lines of /proc/PID/maps, and this very process.

#include "symbols/process_maps.h"

#include <fmt/format.h>
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

TEST(ProcessFiles, its_status_has_the_inner_pid_and_the_effective_user) {
  TestDirectory directory;
  const std::string& proc = directory.path();
  struct {
    const char* status;
    pid_t pid;
    std::optional<uid_t> uid;
  } const cases[] = {
      {"Name:\tx\nNSpid:\t4711\t12\t1\nNSpgid:\t9\n", 1, {}},
      {"NSpid:\t4711\n", 4711, {}},
      {"NSpid:\n", 4711, {}},
      {"Name:\tUid: 7 7\nUid:\t1000\t1001\t1002\t1003\nNSpid:\t4711\t5", 5, 1001},
      {"Name:\tx\nUid:\t1000\n", 4711, {}},
      {"Name:\tx\n", 4711, {}},
      {"", 4711, {}},
  };
  for (const auto& c : cases) {
    directory.write("4711/status", c.status);
    ProcessStatus status = ProcessFiles(4711, proc).status();
    EXPECT_EQ(status.inner_pid, c.pid) << c.status;
    EXPECT_EQ(status.uid, c.uid) << c.status;
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

TEST(ProcessFiles, opens_what_is_mapped_and_nothing_that_took_its_name) {
  TestDirectory directory;
  std::string inside = directory.write("4711/root/program", "one");
  ProcessFiles files(4711, directory.path());
  auto content_of = [&](const Mapping& mapping, const std::optional<FileIdentity>& known) {
    Result<ForeignFile> file = files.open_mapped(mapping, known);
    if (!file) return std::string("-");
    std::vector<char> bytes = *file->read_all(100);
    return std::string(bytes.begin(), bytes.end());
  };
  struct stat info {};
  ASSERT_EQ(::stat(inside.c_str(), &info), 0);
  Mapping mapping{.begin = 0x1000, .end = 0x2000, .inode = info.st_ino, .path = "/program"};
  std::optional<FileIdentity> known = files.identity_of_mapped(mapping);
  EXPECT_EQ(known, identity_of(info));
  EXPECT_EQ(content_of(mapping, known), "one");
  EXPECT_EQ(content_of(mapping, std::nullopt), "one");
  // Of the same inode and name, but not what was seen before.
  directory.write("4711/root/program", "other");
  EXPECT_EQ(content_of(mapping, known), "-");
  // Another file of the name.
  mapping.inode++;
  EXPECT_FALSE(files.identity_of_mapped(mapping));
  EXPECT_EQ(content_of(mapping, std::nullopt), "-");
  // The kernel's link leads to what is mapped, whatever the name means by now.
  directory.write("4711/map_files/1000-2000", "linked");
  EXPECT_EQ(content_of(mapping, std::nullopt), "linked");
  EXPECT_EQ(content_of(mapping, files.identity_of_mapped(mapping)), "linked");
  EXPECT_EQ(content_of(mapping, known), "-");
}

TEST(ProcessFiles, a_mapped_file_goes_by_a_path_that_leads_to_it) {
  TestDirectory directory;
  ProcessFiles files(4711, directory.path());
  std::string link = directory.write("4711/map_files/1000-2000", "program");
  Mapping mapping{.begin = 0x1000, .end = 0x2000, .path = directory.path() + "/program"};
  auto path = [&] { return files.open_mapped(mapping, std::nullopt)->path(); };
  EXPECT_EQ(path(), link);
  std::string inside = directory.write("4711/root" + directory.path() + "/x", "");
  inside.replace(inside.size() - 1, 1, "program");
  ASSERT_EQ(::link(link.c_str(), inside.c_str()), 0);
  EXPECT_EQ(path(), inside);
  ASSERT_EQ(::link(link.c_str(), mapping.path.c_str()), 0);
  EXPECT_EQ(path(), mapping.path);
  mapping.is_deleted = true;
  EXPECT_EQ(path(), link);
}

TEST(ProcessMaps, a_list_is_not_longer_than_that_of_any_honest_process) {
  std::string text;
  for (int i = 0; i < 70'000; i++) text += fmt::format("{:x}-{:x} r-xp 0 00:00 0 \n", i, i + 1);
  EXPECT_EQ(parse_maps(text).size(), 65536u);
  std::string path(4000, 'x');
  text.clear();
  for (int i = 0; i < 2'000; i++)
    text += fmt::format("{:x}-{:x} r-xp 0 08:01 7 /{}\n", i, i + 1, path);
  EXPECT_LT(parse_maps(text).size(), 1100u);
}

TEST(ProcessMaps, layout_of_a_process) {
  std::string numbers;
  for (int field = 4; field <= 52; field++) numbers += " " + std::to_string(field);
  EXPECT_EQ(parse_layout("12 (a b) S" + numbers), (ProcessLayout{28, 27}));
  EXPECT_EQ(parse_layout("12 (x) R 1 2) R" + numbers), (ProcessLayout{28, 27}));
  EXPECT_EQ(parse_image("12 (x) R 1 2) R" + numbers), (ProcessImage{22, {28, 27}}));
  EXPECT_EQ(parse_layout("12 (a b) S 4 5"), ProcessLayout());
  EXPECT_EQ(parse_layout(""), ProcessLayout());
  ProcessLayout own = ProcessFiles(::getpid()).layout();
  EXPECT_GT(own.stack_start, reinterpret_cast<uint64_t>(&own));  // stacks grow downwards
  EXPECT_GT(own.code_end, reinterpret_cast<uint64_t>(&parse_layout));
}

}  // namespace
}  // namespace flowtap
