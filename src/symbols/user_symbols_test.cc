// This process as itself, and as a made-up process in a made-up /proc.

#include "symbols/user_symbols.h"

#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/test_directory.h"
#include "symbols/elf_for_test.h"

extern "C" {
__attribute__((noinline)) long user_symbols_test_function(long n) { return n * 3 + 1; }
}

namespace flowtap {
namespace {

namespace fs = std::filesystem;

std::string show(const std::optional<UserSymbol>& symbol) {
  if (!symbol) return "-";
  return symbol->name + "+" + std::to_string(symbol->offset) + " " + symbol->module;
}

uint64_t function_address() { return reinterpret_cast<uint64_t>(&user_symbols_test_function); }

std::string own_path() { return fs::read_symlink("/proc/self/exe"); }

// A /proc with one process, 4711, which calls itself 5 and whose root directory is `root()`.
class MadeUpProcess {
 public:
  MadeUpProcess() {
    fs::create_directories(root());
    is_of_user(::geteuid());
  }
  void is_of_user(uid_t uid) {
    std::string id = std::to_string(uid);
    write("status", "Uid:\t7\t" + id + "\t7\t7\nNSpid:\t4711\t5\n");
  }
  // A line of its maps, for a file in its root.
  std::string mapped(uint64_t begin, uint64_t offset, const std::string& path) const {
    struct stat info {};
    ::stat((root() + path).c_str(), &info);
    char line[200];
    std::snprintf(line, sizeof line, "%lx-%lx r-xp %lx 08:01 %lu %s\n", begin, begin + 0x10000000,
                  offset, info.st_ino, path.c_str());
    return line;
  }
  // When it was started, and where its stack is since its last exec.
  void is_image(int started, int stack) {
    std::string stat = "4711 (x) S";
    for (int field = 4; field <= 30; field++)
      stat += " " + std::to_string(field == 22 ? started : field == 28 ? stack : 1);
    write("stat", stat);
  }
  void write(const std::string& name, const std::string& text) {
    directory_.write("4711/" + name, text);
  }
  void end() { fs::remove_all(proc() + "/4711"); }
  const std::string& proc() const { return directory_.path(); }
  std::string root() const { return proc() + "/4711/root"; }

 private:
  TestDirectory directory_;
};

TEST(UserSymbols, names_functions_of_this_process) {
  ASSERT_EQ(user_symbols_test_function(2), 7);
  UserSymbols symbols;
  EXPECT_EQ(show(symbols.resolve(::getpid(), function_address())),
            "user_symbols_test_function+0 " + own_path());
  EXPECT_EQ(show(symbols.resolve(::getpid(), function_address() + 1)),
            "user_symbols_test_function+1 " + own_path());
  EXPECT_EQ(show(symbols.resolve(::getpid(), 16)), "-");
}

TEST(UserSymbols, names_the_vdso) {
  uint64_t begin = ::getauxval(AT_SYSINFO_EHDR);
  if (!begin) GTEST_SKIP() << "this kernel maps no vdso";
  UserSymbols symbols;
  bool has_time = false;
  for (uint64_t at = 0; at < 8192 && !has_time; at += 16) {
    std::optional<UserSymbol> symbol = symbols.resolve(::getpid(), begin + at);
    has_time = symbol && symbol->module == "[vdso]" &&
               symbol->name.find("clock_gettime") != std::string::npos;
  }
  EXPECT_TRUE(has_time);
}

TEST(UserSymbols, a_process_that_ended_keeps_its_names_when_remembered) {
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  UserSymbols symbols("/proc", std::chrono::seconds(0));
  symbols.remember(child);
  ::kill(child, SIGKILL);
  // Once while it is a zombie, whose mappings are an empty list, and once when it has gone.
  ::siginfo_t info;
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  std::string expected = "user_symbols_test_function+0 " + own_path();
  EXPECT_EQ(show(symbols.resolve(child, function_address())), expected);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(show(symbols.resolve(child, function_address())), expected);
  UserSymbols forgetful;
  EXPECT_EQ(show(forgetful.resolve(child, function_address())), "-");
}

TEST(UserSymbols, files_are_found_in_the_root_of_the_process) {
  Result<ElfFile> self = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(self);
  const ElfSegment* code = nullptr;
  for (const ElfSegment& segment : self->segments())
    if (segment.is_executable) code = &segment;
  ASSERT_TRUE(code);
  uint64_t address = 0;
  (void)self->visit_symbols([&](const ElfSymbol& symbol) {
    if (symbol.name == "user_symbols_test_function") address = symbol.address;
  });

  MadeUpProcess process;
  fs::create_symlink(own_path(), process.root() + "/program");
  process.write("root/text", "not an ELF file, though it is mapped");
  process.write("maps", process.mapped(0x10000000, code->file_offset, "/program") +
                            process.mapped(0x20000000, 0x2000, "/text"));
  UserSymbols symbols(process.proc());
  uint64_t mapped = 0x10000000 + (address - code->address);
  EXPECT_EQ(show(symbols.resolve(4711, mapped + 2)), "user_symbols_test_function+2 /program");
  EXPECT_EQ(show(symbols.resolve(4711, 0x20000010)), "+8208 /text");
  EXPECT_EQ(show(symbols.resolve(4712, mapped)), "-");
}

TEST(UserSymbols, tables_that_were_read_outlive_their_files) {
  for (bool is_read : {true, false}) {
    MadeUpProcess process;
    fs::create_symlink(own_path(), process.root() + "/program");
    process.write("maps", process.mapped(0x10000000, 0, "/program"));
    UserSymbols symbols(process.proc());
    symbols.remember(4711);
    EXPECT_EQ(symbols.tables(), 0u);
    if (is_read) symbols.read_tables(4711);
    process.end();
    (void)symbols.resolve(4711, 0x10001000);
    EXPECT_EQ(symbols.tables(), is_read ? 1u : 0u);
  }
}

TEST(UserSymbols, keeping_one_table_changes_no_names) {
  uint64_t in_libc = reinterpret_cast<uint64_t>(&::getenv);
  UserSymbols all, one;
  one.keep_one_table();
  for (uint64_t address : {function_address(), in_libc, function_address()})
    EXPECT_EQ(show(one.resolve(::getpid(), address)), show(all.resolve(::getpid(), address)));
  EXPECT_EQ(all.tables(), 2u);
  EXPECT_EQ(one.tables(), 1u);
}

TEST(UserSymbols, just_in_time_code_is_named_by_the_perf_map) {
  MadeUpProcess process;
  process.write("maps", "1000-9000 rwxp 0 00:00 0 \n");
  process.write("root/tmp/perf-5.map", "2000 100 compiled\n");
  UserSymbols symbols(process.proc(), std::chrono::seconds(0));
  EXPECT_EQ(show(symbols.resolve(4711, 0x2010)), "compiled+16 [jit]");
  EXPECT_EQ(show(symbols.resolve(4711, 0x3000)), "+8192 [anon]");
  process.write("root/tmp/perf-5.map", "2000 100 compiled\n3000 10 later\n");
  EXPECT_EQ(show(symbols.resolve(4711, 0x3000)), "later+0 [jit]");
  process.end();
  EXPECT_EQ(show(symbols.resolve(4711, 0x3001)), "later+1 [jit]");
}

std::string program(const std::string& function, const std::string& build_id = "") {
  ElfForTest elf{.build_id = build_id};
  elf.add(function, ElfForTest::kCode);
  return elf.image();
}

TEST(UserSymbols, a_program_that_is_built_again_in_the_same_inode_has_its_new_names) {
  MadeUpProcess process;
  process.write("root/program", program("old"));
  process.write("maps", process.mapped(0x1000, ElfForTest::kCode, "/program"));
  UserSymbols symbols(process.proc(), std::chrono::seconds(0));
  EXPECT_EQ(show(symbols.resolve(4711, 0x1001)), "old+1 /program");
  process.write("root/program", program("function_of_another_length"));
  EXPECT_EQ(show(symbols.resolve(4711, 0x1001)), "function_of_another_length+1 /program");
}

// Sets the time of the last write back, as `cp -p` and `touch -d` do.
void write_unseen(const MadeUpProcess& process, const std::string& name, const std::string& text) {
  std::string path = process.root() + "/" + name;
  fs::file_time_type written = fs::last_write_time(path);
  std::ofstream(path) << text;
  fs::last_write_time(path, written);
}

// Symbols are read when all is over, from what the file is then.
TEST(UserSymbols, what_was_written_since_names_nothing_that_ran_before) {
  struct {
    std::string before, after;
    const char* expected;
  } const cases[] = {
      {program("one", "1234"), program("two", "5678"), "+4097 /program"},
      {program("one", "1234"), program("one", "1234"), "one+1 /program"},
      // Linkers leave names out of the build id.
      {program("one", "1234"), program("two", "1234"), "+4097 /program"},
      {program("one"), program("two"), "+4097 /program"},
      {program("one"), program("one"), "one+1 /program"},
  };
  for (const auto& c : cases) {
    MadeUpProcess process;
    process.write("root/program", c.before);
    process.write("maps", process.mapped(0x1000, ElfForTest::kCode, "/program"));
    UserSymbols symbols(process.proc(), std::chrono::hours(1));
    symbols.remember(4711);
    ::usleep(20'000);  // the clock of files ticks every few milliseconds
    write_unseen(process, "program", c.after);
    EXPECT_EQ(show(symbols.resolve(4711, 0x1001)), c.expected);
  }
}

TEST(UserSymbols, new_links_and_permissions_change_no_names) {
  MadeUpProcess process;
  process.write("root/program", program("one", "1234"));
  process.write("maps", process.mapped(0x1000, ElfForTest::kCode, "/program"));
  UserSymbols symbols(process.proc(), std::chrono::hours(1));
  symbols.remember(4711);
  ::usleep(20'000);
  fs::create_hard_link(process.root() + "/program", process.root() + "/other");
  fs::permissions(process.root() + "/program", fs::perms::owner_all);
  EXPECT_EQ(show(symbols.resolve(4711, 0x1001)), "one+1 /program");
}

TEST(UserSymbols, a_build_id_that_was_copied_names_nothing_else) {
  MadeUpProcess process;
  process.write("root/honest", program("honest", "12345678"));
  process.write("root/impostor", program("impostor", "12345678"));
  for (bool is_impostor_first : {true, false}) {
    UserSymbols symbols(process.proc(), std::chrono::seconds(0));
    process.write("maps", process.mapped(0x1000, ElfForTest::kCode, "/honest") +
                              process.mapped(0x20000000, ElfForTest::kCode, "/impostor"));
    if (is_impostor_first) (void)symbols.resolve(4711, 0x20000001);
    EXPECT_EQ(show(symbols.resolve(4711, 0x1001)), "honest+1 /honest");
    EXPECT_EQ(show(symbols.resolve(4711, 0x20000001)), "impostor+1 /impostor");
  }
}

TEST(UserSymbols, an_address_of_two_programs_of_one_pid_has_no_name) {
  MadeUpProcess process;
  process.write("root/one", program("one"));
  process.write("root/two", program("two"));
  struct {
    int started, stack;
  } const laters[] = {{100, 8}, {200, 7}};  // exec, and another process
  for (const auto& later : laters) {
    process.is_image(100, 7);
    process.write("maps", process.mapped(0x1000, ElfForTest::kCode, "/one") +
                              process.mapped(0x20000000, ElfForTest::kCode, "/one"));
    UserSymbols symbols(process.proc(), std::chrono::seconds(0));
    symbols.remember(4711);
    EXPECT_EQ(show(symbols.resolve(4711, 0x1001)), "one+1 /one");
    process.is_image(later.started, later.stack);
    process.write("maps", process.mapped(0x1000, ElfForTest::kCode, "/two") +
                              process.mapped(0x40000000, ElfForTest::kCode, "/two"));
    EXPECT_EQ(show(symbols.resolve(4711, 0x1001)), "-");
    EXPECT_EQ(show(symbols.resolve(4711, 0x20000001)), "one+1 /one");
    EXPECT_EQ(show(symbols.resolve(4711, 0x40000001)), "two+1 /two");
  }
}

TEST(UserSymbols, a_perf_map_is_not_of_the_next_process_of_the_number) {
  MadeUpProcess process;
  process.is_image(100, 7);
  process.write("maps", "1000-9000 rwxp 0 00:00 0 \n");
  process.write("root/tmp/perf-5.map", "2000 100 compiled\n");
  UserSymbols symbols(process.proc(), std::chrono::seconds(0));
  EXPECT_EQ(show(symbols.resolve(4711, 0x2010)), "compiled+16 [jit]");
  fs::remove(process.root() + "/tmp/perf-5.map");
  process.is_image(200, 8);
  process.write("maps", "1000-a000 rwxp 0 00:00 0 \n");
  EXPECT_EQ(show(symbols.resolve(4711, 0x2010)), "-");
  process.write("root/tmp/perf-5.map", "9000 100 later\n");
  EXPECT_EQ(show(symbols.resolve(4711, 0x9010)), "later+16 [jit]");
}

TEST(UserSymbols, what_is_left_out_of_a_file_is_reported_once) {
  MadeUpProcess process;
  ElfForTest elf;
  elf.add("short", ElfForTest::kCode);
  elf.add(std::string(100'000, 'x'), ElfForTest::kCode + 0x1000);
  process.write("root/program", elf.image());
  process.write("maps", process.mapped(0x1000, ElfForTest::kCode, "/program"));
  UserSymbols symbols(process.proc(), std::chrono::seconds(0));
  EXPECT_EQ(show(symbols.resolve(4711, 0x1001)), "short+1 /program");
  EXPECT_EQ(show(symbols.resolve(4711, 0x2001)), "+8193 /program");
  std::vector<std::string> expected = {"symbols of '" + process.root() +
                                       "/program' are left out: 1 name is longer than 64 KB"};
  EXPECT_EQ(symbols.take_warnings(), expected);
  EXPECT_EQ(show(symbols.resolve(4711, 0x1001)), "short+1 /program");
  EXPECT_TRUE(symbols.take_warnings().empty());
}

TEST(UserSymbols, files_are_read_while_there_is_time_for_it) {
  MadeUpProcess process;
  process.write("root/first", program("first"));
  process.write("root/second", program("second"));
  process.write("maps", process.mapped(0x1000, ElfForTest::kCode, "/first") +
                            process.mapped(0x20000000, ElfForTest::kCode, "/second"));
  UserSymbols symbols(process.proc(), std::chrono::hours(1));
  EXPECT_EQ(show(symbols.resolve(4711, 0x1001)), "first+1 /first");
  restart_reading(1);
  {
    ReadingOfOthers reading;
    uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 100'000'000;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
    }
  }
  EXPECT_EQ(show(symbols.resolve(4711, 0x20000001)), "+4097 /second");
  EXPECT_EQ(show(symbols.resolve(4711, 0x1001)), "first+1 /first");
  std::vector<std::string> expected = {
      "reading programs and libraries took too much CPU time: addresses are shown without names"};
  EXPECT_EQ(symbols.take_warnings(), expected);
  restart_reading();
  EXPECT_EQ(show(symbols.resolve(4711, 0x20000001)), "second+1 /second");
}

// Zeros, for one: a sparse file is a single line.
TEST(UserSymbols, long_lines_of_a_perf_map_are_reported_once) {
  MadeUpProcess process;
  process.write("maps", "1000-9000 rwxp 0 00:00 0 \n");
  process.write("root/tmp/perf-5.map", "2000 100 compiled\n" + std::string(100'000, '\0'));
  UserSymbols symbols(process.proc(), std::chrono::seconds(0));
  EXPECT_EQ(show(symbols.resolve(4711, 0x2010)), "compiled+16 [jit]");
  EXPECT_EQ(show(symbols.resolve(4711, 0x3000)), "+8192 [anon]");
  std::vector<std::string> expected = {"lines of the perf map '" + process.root() +
                                       "/tmp/perf-5.map' with more than 64 KB are left out"};
  EXPECT_EQ(symbols.take_warnings(), expected);
}

TEST(UserSymbols, a_list_of_mappings_is_read_again_only_when_old) {
  MadeUpProcess process;
  process.write("maps", "1000-2000 r-xp 0 00:00 0 [first]\n");
  UserSymbols slow(process.proc(), std::chrono::hours(1));
  UserSymbols fast(process.proc(), std::chrono::seconds(0));
  EXPECT_EQ(show(slow.resolve(4711, 0x1000)), "+0 [first]");
  EXPECT_EQ(show(fast.resolve(4711, 0x1000)), "+0 [first]");
  process.write("maps", "1000-2000 r-xp 0 00:00 0 [second]\n");
  EXPECT_EQ(show(slow.resolve(4711, 0x1000)), "+0 [first]");
  EXPECT_EQ(show(fast.resolve(4711, 0x1000)), "+0 [second]");
}

TEST(UserSymbols, the_oldest_of_too_many_processes_is_dropped) {
  UserSymbols symbols("/nonexistent");
  for (pid_t pid = 1; pid < 3000; pid++) EXPECT_FALSE(symbols.resolve(pid, 0x1000));
}

}  // namespace
}  // namespace flowtap
