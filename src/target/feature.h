#pragma once
// Features: what a kernel may have or lack, and what the compiler and the runtime may use or leave.
// One row each, which serves --no-feature, --info, check, described machines and the compiler.

#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "target/kernel_version.h"

namespace flowtap {

enum class Feature : uint8_t {
  // Of the kernel: a Target knows.
  Btf,
  Kprobes,
  Fentry,
  FentryStackArgs,  // of functions with more arguments than registers
  KprobeMulti,
  UprobeMulti,
  DirectReads,     // typed kernel memory is read without a helper
  KernelReads,     // programs may read kernel memory; not under lockdown for confidentiality
  WriteUser,       // write_user()
  OverrideReturn,  // override()
  // What programs and maps are made of, which a version of Linux brought: helpers...
  MapLookup,
  MapUpdate,
  MapDelete,
  Random,
  CpuNumber,
  MonotonicClock,
  CurrentPid,
  CurrentUser,
  CurrentComm,
  CurrentTask,
  ProbeWriteUser,
  NumaNode,
  OverrideHelper,
  GetStack,
  CurrentCgroup,
  SendSignal,
  ReadUser,
  ReadUserText,
  ReadKernel,
  ReadKernelText,
  SendSignalThread,
  Jiffies,
  PidInNamespace,
  BootClock,
  RingReserve,
  RingSubmit,
  IteratorOutput,
  FilePath,
  CurrentTaskBtf,
  TaskStorageGet,
  ForEachMapElem,
  AttachCookie,
  FunctionAddress,
  SavedRegisters,
  Loop,
  FunctionArgument,
  MapLookupPercpu,
  TaiClock,
  // ...and the rest.
  MappedArrays,  // flowtap sees their values in its own memory
  RunPrograms,   // the probes begin, end and the like are run on demand
  RingBuffers,
  TaskStorageMaps,
  // Of flowtap: always there, unless --no-feature names them.
  KprobeAsFentry,  // kprobes become fentry where that means the same, and the reverse
  CommInPlace,     // `comm` is read by two loads from the task and not by a helper
  PidInPlace,      // `pid` and `tid` are read from the task where `comm` is
  SmallMaps,       // maps that no program uses have room for one key
  HashedKeys,      // maps with large keys are keyed by a digest of them
  SmallRing,       // a small ring buffer where records are rare
  CpuLanes,        // small per-CPU maps become plain ones
  HotKeys,         // keys that come often are counted in a table in front of the map
  TaskStorage,     // maps by `tid` lie with their threads
  StoredZeros,     // rooms for strings are cleared without calling a helper
  LazyTypes,       // of the kernel's types no more is read than is asked for
};
inline constexpr size_t kFeatures = static_cast<size_t>(Feature::LazyTypes) + 1;

struct FeatureRow {
  Feature feature;
  std::string_view name;  // of --no-feature and in described machines: "kprobe_multi"
  bool can_be_unused;     // by --no-feature
  // Those of the kernel that --info and check show, with the reason when it is missing. Probe kinds
  // among them are tried by check in another way.
  std::string_view label;
  std::string_view why_not;
  // For what a version of Linux brought: the version. Older ones with a backport show that they
  // have it by an enumerator or function in their BTF; that of a helper follows from its name.
  KernelVersion since;
  std::string_view sign;
  std::string_view wording;  // for messages; empty: the helper's name, or the sign
  int32_t helper = 0;        // BPF_FUNC_*; 0 for what is none
  int32_t map_type = 0;      // BPF_MAP_TYPE_*; likewise

  bool is_of_kernel() const { return feature < Feature::KprobeAsFentry; }
  std::string sign_in_btf() const;
  bool has_version() const { return since != KernelVersion(); }
  std::string needed() const;  // "bpf_loop needs Linux 5.17 or later"
};

std::span<const FeatureRow> all_features();
const FeatureRow& feature_row(Feature feature);
const FeatureRow* find_feature(std::string_view name);  // null when there is none
const FeatureRow* find_helper(int32_t helper);          // likewise, by its BPF_FUNC_*
// What a feature of flowtap's own is made of.
std::optional<Feature> need_of(Feature feature);
// Names of --no-feature: "kprobe_as_fentry, kprobe...".
std::string optional_features();

class FeatureSet {
 public:
  FeatureSet() = default;
  FeatureSet(std::initializer_list<Feature> features) {
    for (Feature feature : features) add(feature);
  }
  void add(Feature feature) { bits_.set(static_cast<size_t>(feature)); }
  bool has(Feature feature) const { return bits_.test(static_cast<size_t>(feature)); }

 private:
  std::bitset<kFeatures> bits_;
};

}  // namespace flowtap
