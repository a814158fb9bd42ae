// The rows; see option_table.h. Help shows them in this order.

#include "cli/option_table.h"

#include "base/text.h"
#include "cli/option_values.h"

namespace flowtap {

namespace {

constexpr uint16_t kOwn = kAlone | kAfterTool;

// Setters of one line.
template <auto member>
Status keep(Options& options, const std::string& shown, const std::string& value) {
  if (value.empty()) return Error{fmt::format("{} needs a value", shown)};
  options.*member = value;
  return Done{};
}
Status set_program(Options& options, const std::string&, const std::string& value) {
  options.program = value;  // an empty one has a message of its own
  return Done{};
}
template <auto member>
Status keep_number(Options& options, const std::string&, const std::string& value) {
  options.*member = parse_number(value).value_or(0);
  return Done{};
}
template <auto member>
Status switch_on(Options& options, const std::string&, const std::string&) {
  options.*member = true;
  return Done{};
}
template <Options::Action action>
Status choose(Options& options, const std::string&, const std::string&) {
  options.action = action;
  return Done{};
}
Status be_verbose(Options& options, const std::string&, const std::string&) {
  options.verbose++;
  return Done{};
}
Status choose_docs(Options& options, const std::string&, const std::string& subject) {
  options.action = Options::Action::Docs;
  options.search = subject;
  return Done{};
}
template <const char* const& mode>
Status choose_mode(Options& options, const std::string& shown, const std::string&) {
  return set_mode(options, shown, mode);
}
constexpr const char* kTest = "test";
constexpr const char* kBench = "bench";

// bpftrace's options for what flowtap always does: it uses BTF where there is one, and the kernel
// sets the semaphores of USDT probes by file.
Status do_as_always(Options&, const std::string&, const std::string&) { return Done{}; }

Status refuse_headers(Options&, const std::string& shown, const std::string&) {
  return Error{fmt::format("{} is not supported: no headers are read, types come from BTF", shown),
               0, "for definitions of your own write in the script: import \"file.h\";"};
}

// Only words and meaning: the script gets the value.
Status leave_to_script(Options&, const std::string&, const std::string&) { return Done{}; }

constexpr OptionRow kTable[] = {
    // --- flowtap itself ---
    {{'e', "", Takes::Text, "SCRIPT", "script text; '-' as a file name reads standard input"},
     kAlone,
     set_program},
    {{'l', "list", Takes::Nothing, "[PATTERN]", "list what can be traced; -lv adds the arguments"},
     kAlone,
     choose<Options::Action::List>},
    {{'p', "pid", Takes::Text, "PID", "trace this process only"}, kAlone, set_pid},
    {{'c', "cmd", Takes::Text, "COMMAND", "start a command and trace until it exits"},
     kOwn,
     keep<&Options::command>},
    {{'f', "format", Takes::Text, kFormatNames, "output format"}, kOwn | kInToolHelp, set_format},
    {{'o', "output", Takes::Text, "FILE", "write the output to FILE"},
     kOwn,
     keep<&Options::output>},
    {{'B', "", Takes::Text, "line|full|none",
      "buffer the output by line, in blocks of 64 KB, or not at all (default: write when no event "
      "is waiting)"},
     kOwn,
     set_buffering},
    {{'q', "quiet", Takes::Nothing, "", "do not report how many probes were attached"},
     kOwn,
     switch_on<&Options::is_quiet>},
    {{'v', "verbose", Takes::Nothing, "",
      "print more, such as the verifier's log of a rejected program"},
     kOwn,
     be_verbose},
    {{'k', "warnings", Takes::Nothing, "", "count and report failed reads and missing keys"},
     kOwn,
     switch_on<&Options::warns>},
    {{0, "stats", Takes::Nothing, "",
      "print run count and time per run of every probe, and kernel memory, at exit"},
     kOwn,
     switch_on<&Options::shows_stats>},
    {{0, "all", Takes::Nothing, "", "with 'source NAME': print the tool with its libraries"},
     kAlone,
     switch_on<&Options::shows_libraries>},
    {{0, "unsafe", Takes::Nothing, "",
      "allow functions that change the system: system(), signal()..."},
     kAlone,
     switch_on<&Options::is_unsafe>},
    {{0, "probe-filter", Takes::Text, "REGEX", "attach only probes whose name matches"},
     kAlone,
     set_probe_filter},
    {{0, "dwarf-pid", Takes::Text, "PID",
      "read the unwind tables of a process for dw_ustack before tracing; may be repeated", true},
     kAlone,
     add_dwarf_pid},
    {{0, "max-keys", Takes::Text, "N", "maximum number of keys per map; warns when a map is full"},
     kOwn | kInToolHelp,
     set_max_keys},
    {{0, "plan", Takes::Text, "NAME", "use only this plan of the script"},
     kOwn,
     keep<&Options::plan>},
    {{0, "test", Takes::Nothing, "", "run only the script's test probes"},
     kAlone,
     choose_mode<kTest>},
    {{0, "bench", Takes::Nothing, "", "run only the script's bench probes"},
     kAlone,
     choose_mode<kBench>},
    {{0, "no-feature", Takes::Text, "NAME[,NAME...]", "do without these features", true},
     kOwn,
     add_unused_features},
    {{0, "dry-run", Takes::Nothing, "", "exit once all probes are attached"},
     kOwn,
     switch_on<&Options::is_dry_run>},
    {{0, "no-warnings", Takes::Nothing, "", "print no warnings"},
     kOwn,
     switch_on<&Options::no_warnings>},
    {{'d', "debug", Takes::Text, "STAGE",
      "print a compiler stage, then run: ast, types, ir, bpf, maps, all", true},
     kOwn,
     set_dump},
    {{0, "info", Takes::Nothing, "", "print what this kernel offers"},
     kAlone,
     choose<Options::Action::Info>},
    {{'V', "version", Takes::Nothing, "", "print the version"},
     kAlone,
     choose<Options::Action::Version>},
    {{'h', "help", Takes::Nothing, "", "print this help"}, kOwn, choose<Options::Action::Help>},
    {{0, "dump", Takes::Text, "STAGE", "", true}, kAlone | kNotInHelp, set_dump},
    {{0, "mode", Takes::Text, "MODE", ""}, kAlone | kNotInHelp, set_mode},
    {{0, "target", Takes::Text, "FILE", ""}, kAlone | kNotInHelp, keep<&Options::target_file>},
    {{0, "docs", Takes::Text, "SUBJECT", ""}, kAlone | kNotInHelp, choose_docs},
    {{'b', "btf", Takes::Nothing, "", ""}, kAlone | kNotInHelp, do_as_always},
    {{'I', "include", Takes::Text, "FILE", "", true}, kAlone | kNotInHelp, refuse_headers},
    {{0, "usdt-file-activation", Takes::Nothing, "", ""}, kAlone | kNotInHelp, do_as_always},

    // --- tools: which process and connection ---
    {{'p', "pid", Takes::Number, "PID", "trace this process only"}, kProcess | kScript, set_pid},
    {{0, "follow", Takes::Nothing, "", "with -p: also trace its child processes and theirs"},
     kProcess | kScript,
     switch_on<&Options::follows>},
    {{0, "comm", Takes::Text, "NAME", "trace only processes with this name"},
     kProcess | kScript,
     add_comm_filter},
    {{0, "cgroup", Takes::Text, "PATH", "trace only processes in this cgroup"},
     kProcess | kScript,
     add_cgroup_filter,
     cgroup_inode},
    {{0, "netns", Takes::Text, "NETNS",
      "trace only this network namespace: a name of ip-netns(8), a process ID or a file"},
     kScript,
     leave_to_script,
     namespace_inode},
    {{'4', "ipv4", Takes::Nothing, "", "IPv4 only"}, kScript, leave_to_script},
    {{'6', "ipv6", Takes::Nothing, "", "IPv6 only"}, kScript, leave_to_script},
    {{0, "addr", Takes::Text, "PREFIX",
      "only this local or remote address or prefix: 10.1.0.0/16, fe80::/10"},
     kScript,
     leave_to_script},
    {{0, "port", Takes::Text, "PORT", "only this local or remote port"},
     kScript,
     leave_to_script,
     port_number},
    {{0, "lport", Takes::Text, "PORT", "only this local port"},
     kScript,
     leave_to_script,
     port_number},
    {{0, "rport", Takes::Text, "PORT", "only this remote port"},
     kScript,
     leave_to_script,
     port_number},
    {{0, "min-us", Takes::Text, "N", "only what took at least N microseconds"},
     kScript,
     leave_to_script},
    {{0, "min-ms", Takes::Text, "N", "only what took at least N milliseconds"},
     kScript,
     leave_to_script},
    {{0, "errors", Takes::Nothing, "", "failures only"}, kScript, leave_to_script},
    {{0, "stack", Takes::Nothing, "", "print the kernel stack"}, kScript, leave_to_script},

    // --- tools: when to report, when to exit, what to draw ---
    {{0, "interval", Takes::Number, "SECONDS", "print a report every SECONDS seconds"},
     kReports | kScript,
     keep_number<&Options::interval>},
    {{0, "count", Takes::Number, "N", "exit after N reports"},
     kReports | kScript,
     keep_number<&Options::count>},
    {{'T', "timestamp", Takes::Nothing, "", "print a timestamp before each report"},
     kReports | kScript,
     switch_on<&Options::has_times>},
    {{0, "duration", Takes::Number, "SECONDS", "exit after SECONDS seconds"},
     kEveryTool | kScript,
     keep_number<&Options::duration>},
    {{0, "plot", Takes::Text, "FILE", "also write a chart to FILE (.svg or .html)"},
     kPlots | kScript,
     set_plot_file},
};

}  // namespace

std::span<const OptionRow> option_table() { return kTable; }

const OptionRow* find_option(std::string_view name, unsigned owners) {
  for (const OptionRow& row : kTable)
    if (row.spec.name == name && row.is_of(owners)) return &row;
  return nullptr;
}

}  // namespace flowtap
