// stackcount: the ways that lead to a function or event. Way in: kStackcount.

#include <fmt/format.h>

#include "base/text.h"
#include "generic/script_text.h"

namespace flowtap {

namespace {

constexpr OptionSpec kStackcountOptions[] = {
    {'p', "pid", Takes::Number, "PID", "only this process"},
    {'K', "kernel-stacks-only", Takes::Nothing, "", "only kernel stacks"},
    {'U', "user-stacks-only", Takes::Nothing, "", "only user stacks"},
    {'P', "perpid", Takes::Nothing, "", "processes apart from each other"},
    {'i', "interval", Takes::Number, "SECONDS", "report every so many seconds, and begin anew"},
    {'D', "duration", Takes::Number, "SECONDS", "end after so many seconds"},
    {'T', "timestamp", Takes::Nothing, "", "with the time before each report"},
    {'r', "regexp", Takes::Nothing, "",
     "the pattern is a regular expression; else '*' is any text"},
    {'s', "offset", Takes::Nothing, "",
     "with offsets, which are always there but in folded stacks"},
    {'f', "folded", Takes::Nothing, "", "one line for each stack, as flame graphs are made from"},
    {'d', "delimited", Takes::Nothing, "",
     "with '-' between user and kernel frames of folded stacks"},
    {0, "cpu", Takes::Index, "CPU", "only this CPU"},
};

// Folded: name;user frames;kernel frames count. The key's parts are in the order of `keys`.
std::string folded_report(const GenericLine& line, const std::vector<std::string>& keys) {
  bool has_both = !line.has("kernel-stacks-only") && !line.has("user-stacks-only");
  std::string format, values;
  for (size_t i = 0; i < keys.size(); i++) {
    bool is_kernel = keys[i].starts_with("kstack");
    if (i > 0) format += keys[i] == "pid" ? "-" : ";";
    if (is_kernel && has_both && line.has("delimited")) format += "-;";
    format += keys[i] == "pid" ? "%d" : "%s";
    values += keys.size() == 1 ? ", $kv.0" : fmt::format(", $kv.0.{}", i);
  }
  return fmt::format("  for ($kv : @) {{ printf(\"{} %d\\n\"{}, $kv.1); }}\n", format, values);
}

Result<GenericScript> write_stackcount(const GenericLine& line) {
  Result<ProbeSpec> spec = only_probe(line);
  if (!spec) return spec.error();
  bool only_kernel = line.has("kernel-stacks-only"), only_user = line.has("user-stacks-only");
  if (only_kernel && only_user) return Error{"-K and -U contradict each other"};
  GenericScript script{.duration = line.number("duration")};
  if (line.has("regexp")) script.probe_filter = take_regexp(*spec);
  bool is_folded = line.has("folded");
  // A program of user space is not reached through the kernel: there is no kernel stack.
  bool is_in_user =
      spec->kind == SpecKind::Marker || (spec->kind != SpecKind::Event && !spec->target.empty());
  if (is_in_user && only_kernel)
    return Error{"a function of a program has no kernel stack", 0, "leave out -K"};
  std::vector<std::string> keys;
  if (is_folded || line.has("perpid")) keys.push_back("comm");
  if (line.has("perpid")) keys.push_back("pid");
  std::string mode = is_folded ? "(folded)" : "";
  if (!only_kernel) keys.push_back("ustack" + mode);
  if (!only_user && !is_in_user) keys.push_back("kstack" + mode);
  script.text =
      script_head(line) + per_report("") +
      with_namesakes(spec->kind == SpecKind::Marker,
                     [&](const WriteAttach& attach) {
                       return fmt::format("{}{} {{ @[{}] = count(); }}\n", attach(*spec),
                                          predicate(common_conditions(line)), join(keys, ", "));
                     }) +
      report_probe(line, line.number("interval"),
                   is_folded ? folded_report(line, keys) : "  print(@);\n");
  return script;
}

}  // namespace

const GenericTool kStackcount = {
    .name = "stackcount",
    .summary = "the stacks that lead to a function or event, and how often",
    .usage = "PATTERN",
    .description =
        "Run it to learn why something happens: each different stack is shown once with its "
        "count, the most frequent last. Patterns are those of funccount. Without -K or -U both "
        "stacks are shown; inlined functions are missing from them, as they are from any stack.\n\n"
        "-f writes one line for each stack: pipe it into flamegraph.pl.\n\n"
        "As BCC's stackcount, but for --debug: -d bpf before the name shows the program. -v is "
        "flowtap's.",
    .overhead =
        "3.2 us of CPU time per event of a tracepoint, 2.0 us with -K and 1.4 us with -U; 14 "
        "us in a function of the kernel.",
    .example =
        "flowtap stackcount -K t:tcp:tcp_destroy_sock\n"
        "  @[\n"
        "          __traceiter_tcp_destroy_sock+41\n"
        "          tcp_v4_destroy_sock+409\n"
        "          inet_csk_destroy_sock+77\n"
        "          tcp_rcv_state_process+2649\n"
        "          tcp_v4_do_rcv+213\n"
        "          __release_sock+241\n"
        "          __tcp_close+448\n"
        "          tcp_close+31\n"
        "          inet_release+63\n"
        "          sock_close+79\n"
        "          __fput+230\n"
        "          __x64_sys_close+57\n"
        "          do_syscall_64+113\n"
        "          entry_SYSCALL_64_after_hwframe+118\n"
        "  ]: 40",
    .see_also = "funccount, trace",
    .options = kStackcountOptions,
    .write = write_stackcount,
};

}  // namespace flowtap
