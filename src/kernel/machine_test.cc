// Facts of the running machine, as far as any machine must have them.

#include "kernel/machine.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/text.h"

namespace flowtap {
namespace {

// Where cgroup2 is mounted, if it is: the second word of its line in /proc/mounts.
std::string cgroup2_directory() {
  for (const std::string& line : split(read_file("/proc/mounts").value_or(""), '\n')) {
    std::vector<std::string> words = split(line, ' ');
    if (words.size() > 2 && words[2] == "cgroup2") return words[1];
  }
  return {};
}

TEST(Machine, a_cgroup_has_the_id_of_its_node) {
  std::string directory = cgroup2_directory();
  if (directory.empty()) GTEST_SKIP() << "cgroup2 is not mounted";
  std::optional<uint64_t> id = find_cgroup_id(directory);
  if (!id) GTEST_SKIP() << "file handles are not allowed here";
  struct stat info;
  ASSERT_EQ(::stat(directory.c_str(), &info), 0);
  EXPECT_EQ(*id, info.st_ino);
}

TEST(Machine, what_is_not_there_is_not_found) { EXPECT_FALSE(find_cgroup_id("/no/such/cgroup")); }

TEST(Machine, cpu_lists_are_ranges_and_numbers) {
  EXPECT_EQ(parse_cpu_list("0-2,5\n"), (std::vector<int>{0, 1, 2, 5}));
  EXPECT_EQ(parse_cpu_list("7"), std::vector<int>{7});
  EXPECT_TRUE(parse_cpu_list("").empty());
  EXPECT_TRUE(parse_cpu_list("none").empty());
}

TEST(Machine, there_is_a_cpu) {
  EXPECT_FALSE(online_cpus().empty());
  EXPECT_GE(count_possible_cpus(), online_cpus().size());
}

}  // namespace
}  // namespace flowtap
