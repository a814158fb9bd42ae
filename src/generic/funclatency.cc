// funclatency: how long functions take, as histograms. Way in: kFunclatency.

#include <fmt/format.h>

#include "generic/script_text.h"

namespace flowtap {

namespace {

constexpr OptionSpec kFunclatencyOptions[] = {
    {'p', "pid", Takes::Number, "PID", "only this process"},
    {'u', "microseconds", Takes::Nothing, "", "in microseconds; else in nanoseconds"},
    {'m', "milliseconds", Takes::Nothing, "", "in milliseconds"},
    {'F', "function", Takes::Nothing, "", "one histogram for each function"},
    {'i', "interval", Takes::Number, "SECONDS", "report every so many seconds, and begin anew"},
    {'d', "duration", Takes::Number, "SECONDS", "end after so many seconds"},
    {'T', "timestamp", Takes::Nothing, "", "with the time before each report"},
    {'r', "regexp", Takes::Nothing, "",
     "the pattern is a regular expression; else '*' is any text"},
};

// One function: the start of a thread's call is all there is to keep.
std::string one_function(const ProbeSpec& spec, const std::string& update) {
  return fmt::format(
      "{} {{ @start[tid] = nsecs; }}\n"
      "{} /@start[tid]/ {{\n"
      "  $ns = nsecs - @start[tid];\n"
      "  delete(@start, tid);\n"
      "{}}}\n",
      attach_point_of_entry(spec), attach_point_of_return(spec), update);
}

// Several functions may call each other, so that each thread has a stack of those it is in.
std::string several_functions(const ProbeSpec& spec, bool by_function, const std::string& update) {
  const char* keep = by_function ? "  @name[tid, @depth[tid]] = func;\n" : "";
  const char* recall = by_function ? "  $function = @name[tid, $depth];\n" : "";
  const char* forget = by_function ? "  delete(@name, (tid, $depth));\n" : "";
  return fmt::format(
      "{} {{\n"
      "  @depth[tid] += 1;\n"
      "{}  @start[tid, @depth[tid]] = nsecs;\n"
      "}}\n"
      "{} /@depth[tid]/ {{\n"
      "  $depth = @depth[tid];\n"
      "  $ns = nsecs - @start[tid, $depth];\n"
      "{}  delete(@start, (tid, $depth));\n"
      "{}  @depth[tid] = $depth - 1;\n"
      "  if ($depth == 1) {{ delete(@depth, tid); }}\n"
      "{}}}\n",
      attach_point_of_entry(spec), keep, attach_point_of_return(spec), recall, forget, update);
}

Result<GenericScript> write_funclatency(const GenericLine& line) {
  Result<ProbeSpec> spec = only_probe(line);
  if (!spec) return spec.error();
  if (spec->kind == SpecKind::Event || spec->kind == SpecKind::Marker)
    return Error{"only functions take time; an event happens at once", 0,
                 "name a function: vfs_read, c:getaddrinfo"};
  if (line.has("microseconds") && line.has("milliseconds"))
    return Error{"-u and -m contradict each other"};
  GenericScript script{.duration = line.number("duration")};
  if (line.has("regexp")) script.probe_filter = take_regexp(*spec);
  const char* map = line.has("milliseconds")   ? "msecs"
                    : line.has("microseconds") ? "usecs"
                                               : "nsecs";
  const char* unit = line.has("milliseconds")   ? " / 1000000"
                     : line.has("microseconds") ? " / 1000"
                                                : "";
  bool by_function = line.has("function");
  bool is_one = !spec->has_glob();
  std::string key = !by_function ? ""
                    : is_one     ? fmt::format("[\"{}\"]", spec->name)
                                 : "[$function]";
  std::string update =
      fmt::format("  @{0}{1} = hist($ns{2});\n  @total{1} = stats($ns{2});\n", map, key, unit);
  script.text =
      script_head(line) + per_report(map) + per_report("total") +
      (is_one ? one_function(*spec, update) : several_functions(*spec, by_function, update)) +
      report_probe(line, line.number("interval"),
                   fmt::format("  print(@{});\n  print(@total);\n", map));
  return script;
}

}  // namespace

const GenericTool kFunclatency = {
    .name = "funclatency",
    .summary = "how long functions take, as histograms",
    .usage = "PATTERN",
    .description =
        "The pattern names kernel functions ('vfs_*') or functions of a library or program "
        "(c:getaddrinfo). The time includes all that a function waits for. Behind the histogram "
        "stand the number of calls, their average and their sum. A function that calls itself is "
        "measured from its innermost call, unless the pattern holds a '*'.\n\n"
        "As BCC's funclatency, but for -l.",
    .overhead =
        "0.4 us of CPU time per call of a function of a program, which takes 11 us longer by "
        "the traps into the kernel; 3.8 us per call of a function of the kernel.",
    .example =
        "flowtap funclatency -u c:getaddrinfo\n"
        "  @usecs:\n"
        "  [1]                    3 |@@@@                                                |\n"
        "  [2, 4)                36 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
        "  [4, 8)                 1 |@                                                   |\n"
        "  [8, 16)                0 |                                                    |\n"
        "  [16, 32)               0 |                                                    |\n"
        "  [32, 64)              33 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@     |\n"
        "  [64, 128)              6 |@@@@@@@@                                            |\n"
        "  [128, 256)             1 |@                                                   |\n"
        "\n"
        "  @total: { .count = 80, .average = 28, .total = 2296 }",
    .see_also = "funcslower, funccount, argdist",
    .options = kFunclatencyOptions,
    .write = write_funclatency,
};

}  // namespace flowtap
