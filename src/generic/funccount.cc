// funccount: how often functions and events happen. Way in: kFunccount.

#include <fmt/format.h>

#include "generic/script_text.h"

namespace flowtap {

namespace {

constexpr OptionSpec kFunccountOptions[] = {
    {'p', "pid", Takes::Number, "PID", "only this process"},
    {'i', "interval", Takes::Number, "SECONDS", "report every so many seconds, and begin anew"},
    {'d', "duration", Takes::Number, "SECONDS", "end after so many seconds"},
    {'T', "timestamp", Takes::Nothing, "", "with the time before each report"},
    {'r', "regexp", Takes::Nothing, "",
     "the pattern is a regular expression; else '*' is any text"},
    {0, "cpu", Takes::Index, "CPU", "only this CPU"},
};

Result<GenericScript> write_funccount(const GenericLine& line) {
  Result<ProbeSpec> spec = only_probe(line);
  if (!spec) return spec.error();
  GenericScript script{.duration = line.number("duration")};
  if (line.has("regexp")) script.probe_filter = take_regexp(*spec);
  script.text = script_head(line) + per_report("") +
                "table calls sorted by COUNT {\n"
                "  int COUNT \"how often it happened\";\n"
                "  string FUNC \"function or event\";\n"
                "}\n" +
                with_namesakes(spec->kind == SpecKind::Marker,
                               [&](const WriteAttach& attach) {
                                 std::string point = attach(*spec);
                                 bool is_function = point.starts_with("k") ||
                                                    point.starts_with("up") ||
                                                    point.starts_with("ur");
                                 return fmt::format("{}{} {{ @[{}] = count(); }}\n", point,
                                                    predicate(common_conditions(line)),
                                                    is_function ? "func" : "probe");
                               }) +
                report_probe(line, line.number("interval"),
                             "  for ($kv : @) { emit calls($kv.1, $kv.0); }\n"
                             "  print(calls);\n");
  return script;
}

}  // namespace

const GenericTool kFunccount = {
    .name = "funccount",
    .summary = "how often functions and events happen",
    .usage = "PATTERN",
    .description =
        "The pattern names kernel functions ('tcp_*'), functions of a library or program "
        "(c:malloc, /usr/bin/bash:readline), tracepoints ('t:block:*') or markers "
        "(u:libpthread:pthread_start). '*' stands for any text. It is the first tool to run in "
        "code one does not know: what is never called needs no reading.\n\n"
        "Functions that happen a million times a second cost a million probes: begin with a "
        "narrow pattern.\n\n"
        "As BCC's funccount, but for -D: -d bpf before the name shows the program.",
    .overhead =
        "0.13 us of CPU time per event of a tracepoint; 0.2 us in a function of a program, "
        "whose call takes 10 us longer by the trap into the kernel; 1.0 us in a function of "
        "the kernel.",
    .example =
        "flowtap funccount 't:tcp:*'\n"
        "  COUNT  FUNC\n"
        "    200  tracepoint:tcp:tcp_probe\n"
        "     87  tracepoint:tcp:tcp_destroy_sock\n"
        "     80  tracepoint:tcp:tcp_sendmsg_locked\n"
        "     80  tracepoint:tcp:tcp_rcv_space_adjust\n"
        "     40  tracepoint:tcp:tcp_cong_state_set",
    .see_also = "stackcount, argdist, trace, funclatency",
    .options = kFunccountOptions,
    .write = write_funccount,
};

}  // namespace flowtap
