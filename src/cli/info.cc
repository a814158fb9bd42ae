// --info; see info.h. The answers are those that the compiler gets, from the table of features.

#include "cli/info.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"
#include "live/live_features.h"
#include "live/live_target.h"

namespace flowtap {

namespace {

std::string line(std::string_view name, bool value) {
  return fmt::format("  {}: {}\n", name, value ? "yes" : "no");
}

std::string first_line(const std::string& path) {
  std::optional<std::string> text = read_file(path);
  return text ? std::string(trim(*text)) : "not readable";
}

std::string kernel_features(const LiveTarget& target) {
  std::string out = "Kernel features\n";
  for (const FeatureRow& row : all_features())
    if (!row.label.empty()) out += line(to_lower(row.label), target.has(row.feature));
  out += fmt::format("  lockdown: {}\n", first_line("/sys/kernel/security/lockdown"));
  return out;
}

std::string probe_types(const LiveTarget& target) {
  bool has_tracepoints = !target.tracepoints("sched", "sched_switch").empty();
  std::string out = "Probe types\n";
  out += line("kprobe", target.has(Feature::Kprobes));
  out += line("tracepoint", has_tracepoints);
  out += line("rawtracepoint", bool{target.raw_tracepoint("sched_switch")});
  out += line("fentry", target.has(Feature::Fentry));
  out += line("uprobe", has_perf_source("uprobe"));
  out += line("perf_event", libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_PERF_EVENT, nullptr) == 1);
  out += line("iter", !target.iterators().empty());
  return out;
}

}  // namespace

std::string describe_machine() {
  utsname system{};
  uname(&system);
  LiveTarget target;
  std::string out =
      fmt::format("System\n  OS: {} {} {}\n  Arch: {}\n  CPUs: {}\n\n", system.sysname,
                  system.release, system.version, system.machine, target.cpus());
  out += fmt::format("Build\n  version: {}\n\n", FLOWTAP_VERSION);
  if (::geteuid() != 0)
    out += "note: not run as root, so the kernel may refuse what it would grant to root\n\n";
  out += "Kernel helpers\n";
  for (const FeatureRow& row : all_features())
    if (row.helper) out += line(row.name, target.has(row.feature));
  out += "\n" + kernel_features(target) + "\n" + probe_types(target);
  return out;
}

}  // namespace flowtap
