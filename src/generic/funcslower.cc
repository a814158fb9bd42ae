// funcslower: calls that take long, one line each. Way in: kFuncslower.

#include <fmt/format.h>

#include "generic/script_text.h"

namespace flowtap {

namespace {

constexpr int64_t kMostArguments = 6;

constexpr OptionSpec kFuncslowerOptions[] = {
    {'p', "pid", Takes::Number, "PID", "only this process"},
    {'m', "min-ms", Takes::Number, "N", "calls of at least so many milliseconds (default 1)"},
    {'u', "min-us", Takes::Number, "N", "calls of at least so many microseconds"},
    {'a', "arguments", Takes::Number, "N", "with the first N arguments, at most 6"},
    {'T', "time", Takes::Nothing, "", "with the time of day"},
    {'t', "timestamp", Takes::Nothing, "", "the same"},
    {'K', "kernel-stack", Takes::Nothing, "", "with the kernel stack"},
    {'U', "user-stack", Takes::Nothing, "", "with the user stack"},
    {'d', "duration", Takes::Number, "SECONDS", "end after so many seconds"},
};

std::string table_text(const GenericLine& line, int64_t arguments) {
  std::string out = "table slow {\n";
  if (line.has("time") || line.has("timestamp")) out += "  time TIME \"when it returned\";\n";
  out += "  comm COMM \"process\";\n  pid PID \"its id\";\n";
  out += fmt::format("  {} LAT \"how long it took\";\n", line.has("min-us") ? "us" : "ms");
  out += "  hex RVAL \"what it returned\";\n";
  for (int64_t i = 1; i <= arguments; i++)
    out += fmt::format("  hex ARG{} \"argument {}\";\n", i, i);
  out += "  string FUNC \"function\";\n";
  if (line.has("kernel-stack")) out += "  kstack KSTACK \"kernel stack\";\n";
  if (line.has("user-stack")) out += "  ustack USTACK \"user stack\";\n";
  return out + "}\n";
}

// Each function has its own maps, since one may call another.
std::string probes_of(const GenericLine& line, const ProbeSpec& spec, size_t number,
                      int64_t arguments) {
  std::string keep, values, forget;
  for (int64_t i = 0; i < arguments; i++) {
    keep += fmt::format(" @arg{}_{}[tid] = arg{};", i, number, i);
    values += fmt::format(", @arg{}_{}[tid]", i, number);
    forget += fmt::format(" delete(@arg{}_{}, tid);", i, number);
  }
  values += fmt::format(", \"{}\"", spec.name);
  if (line.has("kernel-stack")) values += ", kstack";
  if (line.has("user-stack")) values += ", ustack";
  bool has_time = line.has("time") || line.has("timestamp");
  std::string least = line.has("min-us") ? fmt::format("{}us", line.number("min-us"))
                                         : fmt::format("{}ms", line.number("min-ms", 1));
  return fmt::format(
      "{0} {{ @start{2}[tid] = nsecs;{3} }}\n"
      "{1} /@start{2}[tid]/ {{\n"
      "  $ns = nsecs - @start{2}[tid];\n"
      "  if ($ns >= {4}) {{\n"
      "    emit slow({5}comm, pid, $ns, retval{6});\n"
      "  }}\n"
      "  delete(@start{2}, tid);{7}\n"
      "}}\n",
      attach_point_of_entry(spec), attach_point_of_return(spec), number, keep, least,
      has_time ? "nsecs, " : "", values, forget);
}

Result<GenericScript> write_funcslower(const GenericLine& line) {
  if (line.words.empty())
    return Error{"no function is named", 0, "name one, such as vfs_read or c:getaddrinfo"};
  if (line.has("min-ms") && line.has("min-us")) return Error{"-m and -u contradict each other"};
  int64_t arguments = line.number("arguments");
  if (arguments > kMostArguments)
    return Error{fmt::format("-a takes at most {} arguments, found {}", kMostArguments, arguments)};
  GenericScript script{.duration = line.number("duration")};
  script.text = script_head(line) + table_text(line, arguments);
  for (size_t i = 0; i < line.words.size(); i++) {
    const std::string& text = line.words[i].text;
    Result<ProbeSpec> spec = parse_probe_spec(text);
    if (!spec) return spec.error();
    if (spec->kind == SpecKind::Event || spec->kind == SpecKind::Marker)
      return spec_error(text, 0, "only functions take time; an event happens at once");
    if (spec->has_glob())
      return spec_error(text, text.find('*'), "funcslower takes whole names",
                        "funclatency -F takes patterns");
    if (spec->end < text.size())
      return spec_error(text, spec->end, "only a function is expected here");
    script.text += probes_of(line, *spec, i + 1, arguments);
  }
  return script;
}

}  // namespace

const GenericTool kFuncslower = {
    .name = "funcslower",
    .summary = "calls of functions that take long, one line each",
    .usage = "FUNCTION...",
    .description =
        "Functions are those of the kernel (vfs_read) or of a library or program (c:getaddrinfo). "
        "Fast calls are dropped in the kernel. The time includes all that a function waits for; a "
        "function that calls itself is measured from its innermost call.\n\n"
        "As BCC's funcslower, but for -f: stacks stand below their line.",
    .overhead =
        "0.5 us of CPU time per call of a function of a program, which takes 11 us longer by "
        "the traps into the kernel; 3.0 us per call of a function of the kernel.",
    .example =
        "flowtap funcslower -u 100 -a 1 c:getaddrinfo\n"
        "  COMM                 PID   LAT(us)      RVAL      ARG1  FUNC\n"
        "  python3             1349      9054       0x0  0x7f11b2ccee70  getaddrinfo\n"
        "  python3             1349       110       0x0  0x7f11b2ccee70  getaddrinfo",
    .see_also = "funclatency, trace",
    .options = kFuncslowerOptions,
    .write = write_funcslower,
};

}  // namespace flowtap
