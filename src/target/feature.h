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

  bool is_of_kernel() const { return feature < Feature::KprobeAsFentry; }
};

std::span<const FeatureRow> all_features();
const FeatureRow* find_feature(std::string_view name);  // null when there is none
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
