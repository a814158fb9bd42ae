#pragma once
// One row per probe kind: its names, the BPF program type behind it and what its context offers.

#include <span>
#include <string_view>

#include "bpf/image.h"

namespace flowtap {

enum ProbeFlag : uint16_t {
  kHasArgs = 1,  // args.name
  kHasArgN = 2,  // arg0, reg()
  kHasRetval = 4,
  kHasFunc = 8,
  kUserSpace = 16,      // plain pointers are user pointers
  kAttachesToPid = 32,  // -p and -c narrow the attachment itself
  kFilteredByPid = 64,  // -p adds a check to the program
  kRunByFlowtap = 128,  // no event of the kernel: flowtap runs it itself
};

struct ProbeRow {
  ProbeKind kind;
  std::string_view name;
  std::string_view aliases;  // separated by blanks
  ProgramType program;
  uint16_t flags;
  std::string_view forms;
  std::string_view doc;

  bool has(ProbeFlag flag) const { return (flags & flag) != 0; }
};

std::span<const ProbeRow> all_probe_kinds();
const ProbeRow& probe_row(ProbeKind kind);
// By name or alias; begin and end in any case. Null when there is none.
const ProbeRow* find_probe_kind(std::string_view name);

struct PerfEventName {
  std::string_view name;
  std::string_view alias;  // empty for none
  uint32_t config;         // PERF_COUNT_*
  uint64_t default_period;
};
std::span<const PerfEventName> software_events();
std::span<const PerfEventName> hardware_events();

}  // namespace flowtap
