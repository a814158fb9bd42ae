// The table of probe kinds and of the perf events that software and hardware probes name.

#include "builtins/probes.h"

#include <linux/perf_event.h>

#include "base/check.h"
#include "base/text.h"

namespace flowtap {

static constexpr uint16_t kFunctionEntry = kHasArgN | kHasFunc;

static constexpr ProbeRow kProbes[] = {
    {ProbeKind::Begin, "begin", "", ProgramType::RawTracepoint, kRunByFlowtap, "begin",
     "before anything is attached"},
    {ProbeKind::End, "end", "", ProgramType::RawTracepoint, kRunByFlowtap, "end",
     "after everything is detached"},
    {ProbeKind::Self, "self", "", ProgramType::RawTracepoint, kRunByFlowtap,
     "self:signal:SIGUSR1 self:report[:TIME]",
     "when flowtap gets that signal; when it is time to report"},
    {ProbeKind::Test, "test", "", ProgramType::RawTracepoint, kRunByFlowtap, "test:NAME",
     "a test, run by --test"},
    {ProbeKind::Bench, "bench", "", ProgramType::RawTracepoint, kRunByFlowtap, "bench:NAME",
     "a benchmark, run by --bench"},
    {ProbeKind::Kprobe, "kprobe", "k", ProgramType::Kprobe, kFunctionEntry | kFilteredByPid,
     "kprobe:[module:]function[+offset]", "entry of a kernel function"},
    {ProbeKind::Kretprobe, "kretprobe", "kr", ProgramType::Kprobe,
     kHasRetval | kHasFunc | kFilteredByPid, "kretprobe:[module:]function",
     "return of a kernel function"},
    {ProbeKind::Fentry, "fentry", "f kfunc", ProgramType::Fentry,
     kHasArgs | kHasFunc | kFilteredByPid, "fentry:[module:]function, fentry:bpf:[id:]function",
     "entry of a kernel function or BPF program, with typed arguments"},
    {ProbeKind::Fexit, "fexit", "fr kretfunc", ProgramType::Fexit,
     kHasArgs | kHasRetval | kHasFunc | kFilteredByPid,
     "fexit:[module:]function, fexit:bpf:[id:]function",
     "return of a kernel function or BPF program, with typed arguments and result"},
    {ProbeKind::Uprobe, "uprobe", "u", ProgramType::Kprobe,
     kFunctionEntry | kHasArgs | kUserSpace | kAttachesToPid, "uprobe:binary:function[+offset]",
     "entry of a user function"},
    {ProbeKind::Uretprobe, "uretprobe", "ur", ProgramType::Kprobe,
     kHasRetval | kHasFunc | kUserSpace | kAttachesToPid, "uretprobe:binary:function",
     "return of a user function"},
    {ProbeKind::Usdt, "usdt", "U", ProgramType::Kprobe, kHasArgN | kUserSpace | kAttachesToPid,
     "usdt:binary:[provider:]name", "a marker compiled into a program"},
    {ProbeKind::Tracepoint, "tracepoint", "t", ProgramType::Tracepoint, kHasArgs | kFilteredByPid,
     "tracepoint:category:event", "an event the kernel declares"},
    {ProbeKind::RawTracepoint, "rawtracepoint", "rt", ProgramType::BtfTracepoint,
     kHasArgs | kHasArgN | kFilteredByPid, "rawtracepoint:event",
     "the same event with the kernel's own arguments"},
    {ProbeKind::Profile, "profile", "p", ProgramType::PerfEvent, kAttachesToPid, "profile:hz:99",
     "regularly, on every CPU"},
    {ProbeKind::Interval, "interval", "i", ProgramType::PerfEvent, 0, "interval:s:1",
     "regularly, on one CPU"},
    {ProbeKind::Software, "software", "s", ProgramType::PerfEvent, kAttachesToPid,
     "software:event:count", "every so many software events"},
    {ProbeKind::Hardware, "hardware", "h", ProgramType::PerfEvent, kAttachesToPid,
     "hardware:event:count", "every so many hardware events"},
    {ProbeKind::Watchpoint, "watchpoint", "w", ProgramType::PerfEvent, kAttachesToPid,
     "watchpoint:address:length:mode", "access to an address"},
    {ProbeKind::Iter, "iter", "it", ProgramType::Iter, kHasArgs, "iter:kind[:pin]",
     "once per object of a kind: task, tcp, udp..."},
};

std::span<const ProbeRow> all_probe_kinds() { return kProbes; }

const ProbeRow& probe_row(ProbeKind kind) {
  for (const ProbeRow& row : kProbes)
    if (row.kind == kind) return row;
  UNREACHABLE("a probe kind without a row");
}

static bool has_alias(const ProbeRow& row, std::string_view name) {
  if (row.aliases.empty()) return false;
  for (const std::string& alias : split(row.aliases, ' '))
    if (alias == name) return true;
  return false;
}

const ProbeRow* find_probe_kind(std::string_view name) {
  for (const ProbeRow& row : kProbes) {
    bool any_case = row.kind == ProbeKind::Begin || row.kind == ProbeKind::End;
    if (row.name == (any_case ? to_lower(name) : std::string(name)) || has_alias(row, name))
      return &row;
  }
  return nullptr;
}

static constexpr PerfEventName kSoftware[] = {
    {"alignment-faults", "", PERF_COUNT_SW_ALIGNMENT_FAULTS, 1},
    {"bpf-output", "", PERF_COUNT_SW_BPF_OUTPUT, 1},
    {"context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, 1000},
    {"cpu-clock", "cpu", PERF_COUNT_SW_CPU_CLOCK, 1000000},
    {"cpu-migrations", "", PERF_COUNT_SW_CPU_MIGRATIONS, 1},
    {"dummy", "", PERF_COUNT_SW_DUMMY, 1},
    {"emulation-faults", "", PERF_COUNT_SW_EMULATION_FAULTS, 1},
    {"major-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1},
    {"minor-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MIN, 100},
    {"page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, 100},
    {"task-clock", "", PERF_COUNT_SW_TASK_CLOCK, 1000000},
};

static constexpr PerfEventName kHardware[] = {
    {"backend-stalls", "", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 1000000},
    {"branch-instructions", "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100000},
    {"branch-misses", "", PERF_COUNT_HW_BRANCH_MISSES, 100000},
    {"bus-cycles", "", PERF_COUNT_HW_BUS_CYCLES, 100000},
    {"cache-misses", "", PERF_COUNT_HW_CACHE_MISSES, 1000000},
    {"cache-references", "", PERF_COUNT_HW_CACHE_REFERENCES, 1000000},
    {"cpu-cycles", "cycles", PERF_COUNT_HW_CPU_CYCLES, 1000000},
    {"frontend-stalls", "", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 1000000},
    {"instructions", "", PERF_COUNT_HW_INSTRUCTIONS, 1000000},
    {"ref-cycles", "", PERF_COUNT_HW_REF_CPU_CYCLES, 1000000},
};

std::span<const PerfEventName> software_events() { return kSoftware; }
std::span<const PerfEventName> hardware_events() { return kHardware; }

}  // namespace flowtap
