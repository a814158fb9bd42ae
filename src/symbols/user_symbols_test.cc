// This process as itself, and as a made-up process in a made-up /proc.

#include "symbols/user_symbols.h"

#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/test_directory.h"

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
    write("status", "NSpid:\t4711\t5\n");
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
  char line[200];
  std::snprintf(line, sizeof line, "10000000-20000000 r-xp %lx 08:01 77 /program\n",
                code->file_offset);
  process.write("maps", line + std::string("20000000-20001000 r-xp 2000 08:01 78 /text\n"));
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
    process.write("maps", "10000000-20000000 r-xp 0 08:01 77 /program\n");
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
