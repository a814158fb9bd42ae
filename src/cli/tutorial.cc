// The lessons, one row each, and running them. Way in: run_tutorial(). Each command ends by itself.

#include "cli/tutorial.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/text.h"
#include "cli/help.h"
#include "generic/generic.h"

extern char** environ;

namespace flowtap {

namespace {

struct Lesson {
  std::string_view title;
  std::string_view text;
  std::vector<std::string> command;  // behind "flowtap"
};

const std::array<Lesson, 12>& lessons() {
  static const std::array<Lesson, 12> kLessons = {{
      {"A probe and what to do",
       "A script is a list of probes: an event, and in braces what to do when it happens. 'begin' "
       "happens once, at the start. 'pid' and 'comm' are the process of the event.",
       {"-e", R"(begin { printf("%s has the process id %d\n", comm, pid); })"}},
      {"Which events there are",
       "Tracepoints are events that the kernel declares; they are the same on most kernels. -l "
       "lists them, '*' stands for any text.",
       {"-l", "tracepoint:syscalls:sys_enter_open*"}},
      {"What an event knows",
       "-lv also shows the fields of an event. In a script they are args.NAME.",
       {"-lv", "tracepoint:syscalls:sys_enter_openat"}},
      {"Which files a program opens",
       "-c runs a command and ends with it. The condition between slashes is asked before the "
       "action; cpid is the process of that command. The file name is an address in the program's "
       "memory: str() reads the text there.",
       {"-e",
        R"(tracepoint:syscalls:sys_enter_openat /pid == cpid/ { printf("%s\n", str(args.filename)); })",
        "-c", "/bin/ls /"}},
      {"Counting instead of printing",
       "Thousands of lines a second help nobody. @ is a map that lives in the kernel, here with "
       "the program's name as key; count() counts in it. Maps are printed at the end. 'interval' "
       "is a clock, and exit() ends the script: here after two seconds.",
       {"-e", "tracepoint:raw_syscalls:sys_enter { @[comm] = count(); } interval:s:2 { exit(); }"}},
      {"How sizes are spread",
       "hist() counts in powers of two. An average would hide that there are many small reads and "
       "a few large ones.",
       {"-e",
        "tracepoint:syscalls:sys_exit_read /args.ret > 0/ { @bytes = hist(args.ret); } "
        "interval:s:2 "
        "{ exit(); }"}},
      {"How long something takes",
       "Two probes and a map between them: the first keeps the time by thread, the second takes "
       "the difference and forgets the first. nsecs are nanoseconds.",
       {"-e",
        "tracepoint:syscalls:sys_enter_write { @start[tid] = nsecs; } "
        "tracepoint:syscalls:sys_exit_write /@start[tid]/ { @us[comm] = hist((nsecs - @start[tid]) "
        "/ 1000); delete(@start, tid); } interval:s:2 { exit(); }"}},
      {"How the kernel got there",
       "kstack is the chain of functions, here its last three, and may be a key like anything "
       "else. "
       "'profile' happens so many times a second on every CPU: where the counts are, there is the "
       "time.",
       {"-e", "profile:hz:99 { @[kstack(3)] = count(); } interval:s:2 { exit(); }"}},
      {"What happens every second",
       "self:report runs every so many seconds and at the end: print what was gathered, and begin "
       "anew.",
       {"-e",
        "tracepoint:sched:sched_switch { @switches = count(); } self:report:1 { print(@switches); "
        "clear(@switches); } interval:s:3 { exit(); }"}},
      {"Rows for other programs",
       "A table declares columns with their kinds, emit writes a row. With -f json each row is an "
       "object, with -f csv a line for spreadsheets; without, text for people.",
       {"-f", "json", "-e",
        R"(table opened { pid PID "process"; comm COMM "its name"; string FILE "as it gave it"; } tracepoint:syscalls:sys_enter_openat /pid == cpid/ { emit opened(pid, comm, str(args.filename)); })",
        "-c", "/bin/ls /"}},
      {"Tools",
       "Most questions have been asked before: 'flowtap tools' lists the answers. This one shows "
       "every TCP connection that ends. Connect to something while it runs.",
       {"tcplife", "--duration", "3"}},
      {"Where to go on",
       "'flowtap help NAME' explains a tool, 'flowtap source NAME' shows its script, so that you "
       "can change it, and 'flowtap check NAME' tells whether it can run here, and why not.",
       {"check", "tcplife"}},
  }};
  return kLessons;
}

int run_lesson(const Lesson& lesson) {
  std::vector<char*> argv;
  std::string name = "flowtap";
  argv.push_back(name.data());
  std::vector<std::string> words = lesson.command;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  if (::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv.data(), environ) != 0 ||
      ::waitpid(child, &status, 0) != child)
    return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int run_tutorial(const std::vector<std::string>& words) {
  int64_t count = static_cast<int64_t>(lessons().size());
  int64_t only = words.empty() ? 0 : parse_number(words[0]).value_or(-1);
  bool is_one = !words.empty();
  if (words.size() > 1 || (is_one && (only < 1 || only > count))) {
    fmt::print(stderr, "error: tutorial takes the number of a lesson, 1 to {}\n", count);
    return 2;
  }
  bool waits = ::isatty(STDIN_FILENO) == 1 && !is_one;
  int64_t first = is_one ? only : 1, last = is_one ? only : count;
  for (int64_t i = first; i <= last; i++) {
    const Lesson& lesson = lessons()[static_cast<size_t>(i - 1)];
    std::string shown = "flowtap";
    for (const std::string& word : lesson.command) shown += " " + shell_word(word);
    fmt::print("{}{}. {}\n\n{}\n  {}\n\n", i > first ? "\n" : "", i, lesson.title,
               filled(std::string(lesson.text), 80), shown);
    std::fflush(stdout);
    if (int code = run_lesson(lesson); code != 0) return code;
    if (!waits || i == last) continue;
    fmt::print("\n[Enter for the next, Ctrl-C to stop] ");
    std::fflush(stdout);
    int typed = 0;
    while ((typed = std::getchar()) != '\n')
      if (typed == EOF) return 0;
  }
  return 0;
}

}  // namespace flowtap
