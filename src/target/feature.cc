// The rows of features; see feature.h.

#include "target/feature.h"

namespace flowtap {

// In the order that help shows.
static constexpr FeatureRow kRows[] = {
    {Feature::Btf, "btf", false, "BTF", "the kernel does not describe its types"},
    {Feature::KprobeAsFentry, "kprobe_as_fentry", true, "", ""},
    {Feature::Kprobes, "kprobe", true, "", ""},
    {Feature::Fentry, "fentry", true, "", ""},
    {Feature::KprobeMulti, "kprobe_multi", true, "kprobe.multi",
     "wildcards are attached one function at a time"},
    {Feature::UprobeMulti, "uprobe_multi", true, "uprobe.multi",
     "wildcards are attached one function at a time"},
    {Feature::DirectReads, "direct_reads", true, "", ""},
    {Feature::CommInPlace, "comm_in_place", true, "", ""},
    {Feature::PidInPlace, "pid_in_place", true, "", ""},
    {Feature::SmallMaps, "small_maps", true, "", ""},
    {Feature::HashedKeys, "hashed_keys", true, "", ""},
    {Feature::SmallRing, "small_ring", true, "", ""},
    {Feature::CpuLanes, "cpu_lanes", true, "", ""},
    {Feature::HotKeys, "hot_keys", true, "", ""},
    {Feature::TaskStorage, "task_storage", true, "", ""},
    {Feature::StoredZeros, "stored_zeros", true, "", ""},
    {Feature::LazyTypes, "lazy_types", true, "", ""},
    {Feature::FentryStackArgs, "fentry_stack_args", false, "", ""},
    {Feature::KernelReads, "kernel_reads", false, "", ""},
    {Feature::WriteUser, "write_user", false, "write_user()",
     "lockdown or missing privileges forbid writing to memory"},
    {Feature::OverrideReturn, "override_return", false, "override()",
     "the kernel was built without error injection, or forbids it"},
};
static_assert(std::size(kRows) == kFeatures, "each feature has a row");

std::span<const FeatureRow> all_features() { return kRows; }

const FeatureRow* find_feature(std::string_view name) {
  for (const FeatureRow& row : kRows)
    if (row.name == name) return &row;
  return nullptr;
}

std::string optional_features() {
  std::string out;
  for (const FeatureRow& row : kRows)
    if (row.can_be_unused) out += (out.empty() ? "" : ", ") + std::string(row.name);
  return out;
}

}  // namespace flowtap
