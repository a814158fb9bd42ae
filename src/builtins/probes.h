#pragma once
// One row per probe kind: its names, what the attach point looks like (its family), the BPF program
// type behind it and what its context offers. Kinds of one family are expanded, attached and listed
// by the same code, which asks the row for the differences.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

namespace flowtap {

enum class ProgramType : uint8_t {
  RawTracepoint,
  BtfTracepoint,
  Tracepoint,
  Kprobe,
  PerfEvent,
  Fentry,
  Fexit,
  Iter
};

enum class ProbeKind : uint8_t {
  Begin,
  End,
  Self,
  Test,
  Bench,
  Kprobe,
  Kretprobe,
  Fentry,
  Fexit,
  Uprobe,
  Uretprobe,
  Usdt,
  Tracepoint,
  RawTracepoint,
  Profile,
  Interval,
  Software,
  Hardware,
  Watchpoint,
  Iter,
};

enum class ProbeFamily : uint8_t {
  Special,        // begin
  Self,           // self:report
  Named,          // test:NAME
  Function,       // kprobe:vfs_read
  UserFunction,   // uprobe:/bin/bash:readline
  Marker,         // usdt:BINARY:NAME
  Tracepoint,     // tracepoint:CATEGORY:EVENT
  RawTracepoint,  // rawtracepoint:EVENT
  Clock,          // interval:s:1
  Counter,        // software:faults:100
  Watchpoint,     // watchpoint:ADDRESS:LENGTH:MODE
  Iterator,       // iter:task
};

enum ProbeFlag : uint16_t {
  kHasArgs = 1,  // args.name
  kHasArgN = 2,  // arg0, reg()
  kHasRetval = 4,
  kHasFunc = 8,
  kUserSpace = 16,      // plain pointers are user pointers
  kAttachesToPid = 32,  // -p and -c narrow the attachment itself
  kFilteredByPid = 64,  // -p adds a check to the program
  kRunByFlowtap = 128,  // no event of the kernel: flowtap runs it itself
  kOnDemand = 256,      // ...for an option of the command line alone
  kTakesOffset = 512,   // function+offset
  kCanOverride = 1024,
  kOfAnyKind = 2048,     // one of those that `*:name` stands for
  kNewestFirst = 4096,   // of the programs at one place, the one attached last runs first
  kListedByName = 8192,  // too many, or nothing without a target: listed when asked for by name
  kOneCpu = 16384,
};

struct PerfEventName {
  std::string_view name;
  std::string_view alias;  // empty for none
  uint32_t config;         // PERF_COUNT_*
  uint64_t default_period;
};

struct PerfEvents {
  uint32_t type;  // PERF_TYPE_*
  std::span<const PerfEventName> names;
  std::string_view why_missing;  // empty: they never are
};
extern const PerfEvents kSoftwareEvents, kHardwareEvents;

struct ProbeRow {
  ProbeKind kind;
  std::string_view name;
  std::string_view aliases;  // separated by blanks
  ProbeFamily family;
  ProgramType program;
  uint16_t flags;
  std::string_view forms;
  std::string_view doc;
  const PerfEvents* events = nullptr;  // of a Counter

  constexpr bool has(ProbeFlag flag) const { return (flags & flag) != 0; }
  // begin, end, self: they run with the script, but are no events of the kernel.
  constexpr bool is_special() const { return has(kRunByFlowtap) && !has(kOnDemand); }
};

inline constexpr uint16_t kFunctionEntry = kHasArgN | kHasFunc;

inline constexpr ProbeRow kProbes[] = {
    {ProbeKind::Begin, "begin", "", ProbeFamily::Special, ProgramType::RawTracepoint, kRunByFlowtap,
     "begin", "before anything is attached"},
    {ProbeKind::End, "end", "", ProbeFamily::Special, ProgramType::RawTracepoint, kRunByFlowtap,
     "end", "after everything is detached"},
    {ProbeKind::Self, "self", "", ProbeFamily::Self, ProgramType::RawTracepoint, kRunByFlowtap,
     "self:signal:SIGUSR1 self:report[:TIME]",
     "when flowtap gets that signal; when it is time to report"},
    {ProbeKind::Test, "test", "", ProbeFamily::Named, ProgramType::RawTracepoint,
     kRunByFlowtap | kOnDemand, "test:NAME", "a test, run by --test"},
    {ProbeKind::Bench, "bench", "", ProbeFamily::Named, ProgramType::RawTracepoint,
     kRunByFlowtap | kOnDemand, "bench:NAME", "a benchmark, run by --bench"},
    {ProbeKind::Kprobe, "kprobe", "k", ProbeFamily::Function, ProgramType::Kprobe,
     kFunctionEntry | kFilteredByPid | kTakesOffset | kOfAnyKind | kNewestFirst | kCanOverride,
     "kprobe:[module:]function[+offset]", "entry of a kernel function"},
    {ProbeKind::Kretprobe, "kretprobe", "kr", ProbeFamily::Function, ProgramType::Kprobe,
     kHasRetval | kHasFunc | kFilteredByPid | kNewestFirst | kListedByName,
     "kretprobe:[module:]function", "return of a kernel function"},
    {ProbeKind::Fentry, "fentry", "f kfunc", ProbeFamily::Function, ProgramType::Fentry,
     kHasArgs | kHasFunc | kFilteredByPid | kOfAnyKind | kNewestFirst,
     "fentry:[module:]function, fentry:bpf:[id:]function",
     "entry of a kernel function or BPF program, with typed arguments"},
    {ProbeKind::Fexit, "fexit", "fr kretfunc", ProbeFamily::Function, ProgramType::Fexit,
     kHasArgs | kHasRetval | kHasFunc | kFilteredByPid | kNewestFirst | kListedByName,
     "fexit:[module:]function, fexit:bpf:[id:]function",
     "return of a kernel function or BPF program, with typed arguments and result"},
    {ProbeKind::Uprobe, "uprobe", "u", ProbeFamily::UserFunction, ProgramType::Kprobe,
     kFunctionEntry | kHasArgs | kUserSpace | kAttachesToPid | kTakesOffset | kOfAnyKind |
         kNewestFirst | kListedByName,
     "uprobe:binary:function[+offset]", "entry of a user function"},
    {ProbeKind::Uretprobe, "uretprobe", "ur", ProbeFamily::UserFunction, ProgramType::Kprobe,
     kHasRetval | kHasFunc | kUserSpace | kAttachesToPid | kNewestFirst | kListedByName,
     "uretprobe:binary:function", "return of a user function"},
    {ProbeKind::Usdt, "usdt", "U", ProbeFamily::Marker, ProgramType::Kprobe,
     kHasArgN | kUserSpace | kAttachesToPid | kOfAnyKind | kNewestFirst | kListedByName,
     "usdt:binary:[provider:]name", "a marker compiled into a program"},
    {ProbeKind::Tracepoint, "tracepoint", "t", ProbeFamily::Tracepoint, ProgramType::Tracepoint,
     kHasArgs | kFilteredByPid | kOfAnyKind, "tracepoint:category:event",
     "an event the kernel declares"},
    {ProbeKind::RawTracepoint, "rawtracepoint", "rt", ProbeFamily::RawTracepoint,
     ProgramType::BtfTracepoint, kHasArgs | kHasArgN | kFilteredByPid | kOfAnyKind,
     "rawtracepoint:event", "the same event with the kernel's own arguments"},
    {ProbeKind::Profile, "profile", "p", ProbeFamily::Clock, ProgramType::PerfEvent,
     kAttachesToPid | kListedByName, "profile:hz:99", "regularly, on every CPU"},
    {ProbeKind::Interval, "interval", "i", ProbeFamily::Clock, ProgramType::PerfEvent,
     kOneCpu | kListedByName, "interval:s:1", "regularly, on one CPU"},
    {ProbeKind::Software, "software", "s", ProbeFamily::Counter, ProgramType::PerfEvent,
     kAttachesToPid | kNewestFirst, "software:event:count", "every so many software events",
     &kSoftwareEvents},
    {ProbeKind::Hardware, "hardware", "h", ProbeFamily::Counter, ProgramType::PerfEvent,
     kAttachesToPid, "hardware:event:count", "every so many hardware events", &kHardwareEvents},
    {ProbeKind::Watchpoint, "watchpoint", "w", ProbeFamily::Watchpoint, ProgramType::PerfEvent,
     kAttachesToPid, "watchpoint:address:length:mode", "access to an address"},
    {ProbeKind::Iter, "iter", "it", ProbeFamily::Iterator, ProgramType::Iter, kHasArgs,
     "iter:kind[:pin]", "once per object of a kind: task, tcp, udp..."},
};

constexpr bool has_row_for_each_kind() {
  for (size_t i = 0; i < std::size(kProbes); i++)
    if (kProbes[i].kind != static_cast<ProbeKind>(i)) return false;
  return std::size(kProbes) == static_cast<size_t>(ProbeKind::Iter) + 1;
}
static_assert(has_row_for_each_kind(), "each ProbeKind has one row, in the order of ProbeKind");

constexpr std::span<const ProbeRow> all_probe_kinds() { return kProbes; }
constexpr const ProbeRow& probe_row(ProbeKind kind) { return kProbes[static_cast<size_t>(kind)]; }
// By name or alias; begin and end in any case. Null when there is none.
const ProbeRow* find_probe_kind(std::string_view name);

}  // namespace flowtap
