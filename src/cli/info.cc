// --info; see info.h. Helpers and program types are tried by loading the smallest program that
// needs them, since version numbers say little about kernels with backports or lockdown.

#include "cli/info.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"
#include "kernel/live_features.h"
#include "kernel/live_target.h"

namespace flowtap {

namespace {

struct NamedHelper {
  const char* name;
  bpf_func_id id;
};
constexpr NamedHelper kHelpers[] = {{"probe_read_kernel", BPF_FUNC_probe_read_kernel},
                                    {"probe_read_user", BPF_FUNC_probe_read_user},
                                    {"get_current_cgroup_id", BPF_FUNC_get_current_cgroup_id},
                                    {"send_signal", BPF_FUNC_send_signal},
                                    {"get_stack", BPF_FUNC_get_stack},
                                    {"ktime_get_boot_ns", BPF_FUNC_ktime_get_boot_ns},
                                    {"ktime_get_tai_ns", BPF_FUNC_ktime_get_tai_ns},
                                    {"ringbuf_reserve", BPF_FUNC_ringbuf_reserve},
                                    {"loop", BPF_FUNC_loop},
                                    {"for_each_map_elem", BPF_FUNC_for_each_map_elem},
                                    {"map_lookup_percpu_elem", BPF_FUNC_map_lookup_percpu_elem},
                                    {"probe_write_user", BPF_FUNC_probe_write_user}};

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
  out += line("ring buffer", libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, nullptr) == 1);
  out += line("task storage", libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, nullptr) == 1);
  out += fmt::format("  lockdown: {}\n", first_line("/sys/kernel/security/lockdown"));
  return out;
}

std::string probe_types(const LiveTarget& target) {
  bool has_tracepoints = !target.tracepoints("sched", "sched_switch").empty();
  std::string out = "Probe types\n";
  out += line("kprobe", target.has(Feature::Kprobes));
  out += line("tracepoint", has_tracepoints);
  out += line("rawtracepoint", target.raw_tracepoint("sched_switch").ok());
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
  for (const NamedHelper& helper : kHelpers)
    out +=
        line(helper.name, libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, helper.id, nullptr) == 1);
  out += "\n" + kernel_features(target) + "\n" + probe_types(target);
  return out;
}

}  // namespace flowtap
