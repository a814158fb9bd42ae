// Names on the running machine, as far as any machine has them.

#include "runtime/live_symbolizer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/test_directory.h"
#include "kernel/machine.h"

extern "C" __attribute__((noinline, used)) void flowtap_named_function() { asm volatile(""); }

namespace flowtap {

struct Named {
  __attribute__((noinline)) static void member(int n) { asm volatile("" : "+r"(n)); }
};

namespace {

TEST(LiveSymbolizer, own_functions_have_names) {
  LiveSymbolizer symbolizer;
  uint32_t pid = static_cast<uint32_t>(::getpid());
  uint64_t address = reinterpret_cast<uint64_t>(&flowtap_named_function);
  std::optional<Symbol> symbol = symbolizer.user_symbol(pid, address);
  ASSERT_TRUE(symbol);
  EXPECT_EQ(symbol->name, "flowtap_named_function");
  EXPECT_EQ(symbol->offset, 0u);
  EXPECT_EQ(symbol->module, std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_FALSE(symbolizer.user_symbol(pid, 8));
}

TEST(LiveSymbolizer, names_are_demangled_unless_told_otherwise) {
  uint32_t pid = static_cast<uint32_t>(::getpid());
  uint64_t address = reinterpret_cast<uint64_t>(&Named::member);
  LiveSymbolizer plain;
  EXPECT_EQ(plain.user_symbol(pid, address)->name, "flowtap::Named::member(int)");
  LiveSymbolizer::Options options;
  options.demangles = false;
  LiveSymbolizer mangled(options);
  EXPECT_EQ(mangled.user_symbol(pid, address)->name, "_ZN7flowtap5Named6memberEi");
}

TEST(LiveSymbolizer, users_come_from_the_password_file) {
  TestDirectory directory;
  LiveSymbolizer::Options options;
  options.passwords = directory.write("passwd",
                                      "root:x:0:0:root:/root:/bin/bash\n"
                                      "broken line\n"
                                      "anna:x:1000:1000::/home/anna:/bin/sh\n"
                                      "second:x:0:0::/:/bin/sh\n");
  LiveSymbolizer symbolizer(options);
  EXPECT_EQ(symbolizer.user_name(0), "root");
  EXPECT_EQ(symbolizer.user_name(1000), "anna");
  EXPECT_EQ(symbolizer.user_name(7), "");
}

TEST(LiveSymbolizer, stamps_of_all_clocks_become_wall_time) {
  LiveSymbolizer symbolizer;
  auto now = [](clockid_t clock) {
    timespec time;
    ::clock_gettime(clock, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  };
  auto is_close = [&](uint64_t unix_time) {
    int64_t distance = static_cast<int64_t>(unix_time - now(CLOCK_REALTIME));
    return std::abs(distance) < 50'000'000;
  };
  EXPECT_TRUE(is_close(symbolizer.unix_time(now(CLOCK_BOOTTIME), Clock::Boot)));
  EXPECT_TRUE(is_close(symbolizer.unix_time(now(CLOCK_MONOTONIC), Clock::Monotonic)));
  EXPECT_TRUE(is_close(symbolizer.unix_time(now(CLOCK_TAI), Clock::Tai)));
  EXPECT_EQ(symbolizer.unix_time(2000, Clock::Boot) - symbolizer.unix_time(1000, Clock::Boot),
            1000u);
}

// A directory stands in for a cgroup: its id is its inode number, where handles are no help.
TEST(CgroupPaths, hierarchies_are_walked_and_filtered) {
  TestDirectory directory;
  std::string unified = directory.path() + "/unified", cpu = directory.path() + "/cpu,cpuacct";
  std::filesystem::create_directories(unified + "/a/b");
  std::filesystem::create_directories(cpu);
  directory.write("unified/a/file", "");
  std::string mounts = directory.write("mounts", "cgroup2 " + unified + " cgroup2 rw 0 0\ncgroup " +
                                                     cpu + " cgroup rw,cpu 0 0\nproc /proc proc\n");
  CgroupPaths paths(mounts);
  auto id_of = [](const std::string& path) {
    std::optional<uint64_t> id = find_cgroup_id(path);
    struct stat info;
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return id ? *id : info.st_ino;
  };
  EXPECT_EQ(paths.find(id_of(unified + "/a/b"), ""), "unified:/a/b");
  EXPECT_EQ(paths.find(id_of(unified), ""), "unified:/");
  EXPECT_EQ(paths.find(id_of(cpu), "cpu*"), "cpu,cpuacct:/");
  EXPECT_EQ(paths.find(id_of(cpu), "unified"), "");
  EXPECT_EQ(paths.find(1, ""), "");
}

}  // namespace
}  // namespace flowtap
