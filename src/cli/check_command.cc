// flowtap check; see check_command.h. Kinds of probes are tried with scripts of one line, by the
// same path that every script takes, so that a "yes" here cannot be wrong about what a script may
// do.

#include "cli/check_command.h"

#include <bpf/libbpf.h>
#include <elf.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

#include "base/text.h"
#include "kernel/tracefs.h"
#include "output/json_string.h"
#include "output/text_writer.h"
#include "privileges/rights.h"
#include "runtime/live_symbolizer.h"
#include "runtime/session.h"

namespace flowtap {

namespace {

// Where this program begins, as an address that a uprobe can be put on. 0 when that is not known.
uint64_t own_entry() {
  Elf64_Ehdr elf{};
  std::ifstream("/proc/self/exe", std::ios::binary).read(reinterpret_cast<char*>(&elf), sizeof elf);
  return elf.e_entry;
}

struct KindSample {
  const char* name;
  std::string script;
};

std::vector<KindSample> kind_samples() {
  static uint64_t watched = 0;  // some address of ours
  return {{"tracepoint", "tracepoint:sched:sched_switch {}"},
          {"rawtracepoint", "rawtracepoint:sched_switch {}"},
          {"kprobe", "kprobe:vfs_read {}"},
          {"kretprobe", "kretprobe:vfs_read {}"},
          {"fentry", "fentry:vfs_read {}"},
          {"fexit", "fexit:vfs_read {}"},
          {"uprobe", fmt::format("uprobe:/proc/self/exe:{:#x} {{}}", own_entry())},
          {"profile", "profile:hz:1 {}"},
          {"interval", "interval:s:1 {}"},
          {"software", "software:page-faults:1000000 {}"},
          {"hardware", "hardware:cpu-cycles:1000000000 {}"},
          {"watchpoint",
           fmt::format("watchpoint:{:#x}:8:w {{}}", reinterpret_cast<uint64_t>(&watched))},
          {"iter", "iter:task {}"}};
}

std::string without_line_breaks(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

std::string one_line(const Error& error) {
  std::string hint = error.hint.empty() ? "" : fmt::format(" ({})", error.hint);
  return without_line_breaks(error.message() + hint);
}

Verdict try_map(std::string name, int32_t type, std::string_view why_not) {
  if (libbpf_probe_bpf_map_type(static_cast<bpf_map_type>(type), nullptr) == 1)
    return {std::move(name), true, {}};
  bool is_permitted = missing_capabilities().empty();  // refusals look all the same
  return {std::move(name), false,
          is_permitted ? std::string(why_not) : "cannot be tried without rights"};
}

Verdict try_tracefs() {
  Result<Tracefs> tracefs = Tracefs::find();
  if (tracefs) return {"tracefs", true, {}};
  return {"tracefs", false, one_line(tracefs.error())};
}

Verdict try_function_list() {
  Result<Tracefs> tracefs = Tracefs::find();
  if (!tracefs) return {"list of functions", false, "it is a file in tracefs"};
  Status read = tracefs->traceable_functions([](std::string_view, std::string_view) {});
  if (read) return {"list of functions", true, {}};
  return {"list of functions", false, one_line(read.error())};
}

}  // namespace

static std::optional<std::string> try_image(const Compiled& compiled, const Sources& sources,
                                            std::optional<int> pid) {
  Sink nowhere(-1);
  LiveSymbolizer symbolizer(LiveSymbolizer::Options{});
  ValueContext values{symbolizer, compiled.image.strings, ""};
  TextWriter writer(nowhere, nowhere, values);
  RunOptions run;
  run.pid = pid;
  run.dry_run = run.quiet = true;
  std::optional<Refusal> refusal;
  Result<Session> session = Session::load({compiled.image, sources, writer, values}, run, &refusal);
  if (!session && refusal)
    return without_line_breaks(place_prefix(sources, refusal->span.value_or(kNowhere)) +
                               refusal->reason);
  if (!session) return one_line(session.error());
  Status attached = session->attach();
  return attached ? std::nullopt : std::optional(one_line(attached.error()));
}

std::optional<std::string> try_script(const Script& script, const LiveTarget& target,
                                      CompileOptions options) {
  Diagnostics diagnostics;
  std::optional<Compiled> compiled = compile(script, target, options, diagnostics);
  if (!compiled) return first_error(diagnostics, script.sources);
  std::optional<std::string> why = try_image(*compiled, script.sources, options.check.pid);
  if (!why || !compiled->has_relatives) return why;
  options.check.swaps_function_probes = false;
  return try_script(script, target, std::move(options));
}

std::vector<Verdict> check_machine(const LiveTarget& target) {
  std::vector<Verdict> verdicts;
  for (const FeatureRow& row : all_features())
    if (!row.label.empty() && !row.map_type)
      verdicts.push_back(
          {std::string(row.label), target.has(row.feature), std::string(row.why_not)});
  verdicts.push_back(try_tracefs());
  verdicts.push_back(try_function_list());
  for (const KindSample& sample : kind_samples()) {
    CompileOptions options;
    options.check.is_unsafe = true;
    options.check.swaps_function_probes = false;
    if (std::string_view(sample.name) == "watchpoint") options.check.pid = ::getpid();
    std::optional<std::string> why =
        try_script(parse_script({.name = "sample", .text = sample.script}), target, options);
    // The place is one in our own line: of no interest.
    if (why && why->starts_with("sample:")) why = why->substr(why->find(": ") + 2);
    verdicts.push_back({sample.name, !why, why.value_or("")});
  }
  for (const FeatureRow& row : all_features())
    if (row.map_type)
      verdicts.push_back(try_map(std::string(row.label), row.map_type, row.why_not));
  return verdicts;
}

std::string describe_rights() {
  utsname system{};
  ::uname(&system);
  std::string lockdown = lockdown_mode();
  std::vector<std::string> missing = missing_capabilities();
  return fmt::format(
      "kernel        {} {}\nlockdown      {}\ncapabilities  {}\n", system.release, system.machine,
      lockdown.empty() ? "cannot be read" : lockdown,
      missing.empty() ? "all that tracing needs" : "missing: " + join(missing, ", "));
}

std::string verdicts_text(const std::vector<Verdict>& verdicts, std::string_view heading) {
  size_t width = heading.size();
  for (const Verdict& verdict : verdicts) width = std::max(width, verdict.name.size());
  std::string out = fmt::format("{:<{}}  works  why not\n", heading, width);
  for (const Verdict& verdict : verdicts)
    out += verdict.works ? fmt::format("{:<{}}  yes\n", verdict.name, width)
                         : fmt::format("{:<{}}  no     {}\n", verdict.name, width, verdict.why);
  return out;
}

std::string verdicts_json(const std::vector<Verdict>& verdicts, std::string_view type) {
  std::string out;
  for (const Verdict& verdict : verdicts) {
    out += fmt::format("{{\"type\": \"{}\", \"name\": ", type);
    append_json_string(out, verdict.name);
    out += fmt::format(", \"works\": {}", verdict.works);
    if (!verdict.works) {
      out += ", \"why\": ";
      append_json_string(out, verdict.why);
    }
    out += "}\n";
  }
  return out;
}

}  // namespace flowtap
