// The rows of features; see feature.h.

#include "target/feature.h"

#include <fmt/format.h>
#include <linux/bpf.h>

#include "base/check.h"

namespace flowtap {

static constexpr FeatureRow helper(Feature feature, std::string_view name, int32_t number,
                                   KernelVersion since) {
  return {.feature = feature, .name = name, .since = since, .helper = number};
}

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
    helper(Feature::MapLookup, "bpf_map_lookup_elem", BPF_FUNC_map_lookup_elem, {3, 19}),
    helper(Feature::MapUpdate, "bpf_map_update_elem", BPF_FUNC_map_update_elem, {3, 19}),
    helper(Feature::MapDelete, "bpf_map_delete_elem", BPF_FUNC_map_delete_elem, {3, 19}),
    helper(Feature::Random, "bpf_get_prandom_u32", BPF_FUNC_get_prandom_u32, {4, 1}),
    helper(Feature::CpuNumber, "bpf_get_smp_processor_id", BPF_FUNC_get_smp_processor_id, {4, 1}),
    helper(Feature::MonotonicClock, "bpf_ktime_get_ns", BPF_FUNC_ktime_get_ns, {4, 1}),
    helper(Feature::CurrentPid, "bpf_get_current_pid_tgid", BPF_FUNC_get_current_pid_tgid, {4, 2}),
    helper(Feature::CurrentUser, "bpf_get_current_uid_gid", BPF_FUNC_get_current_uid_gid, {4, 2}),
    helper(Feature::CurrentComm, "bpf_get_current_comm", BPF_FUNC_get_current_comm, {4, 2}),
    helper(Feature::CurrentTask, "bpf_get_current_task", BPF_FUNC_get_current_task, {4, 8}),
    helper(Feature::ProbeWriteUser, "bpf_probe_write_user", BPF_FUNC_probe_write_user, {4, 8}),
    helper(Feature::NumaNode, "bpf_get_numa_node_id", BPF_FUNC_get_numa_node_id, {4, 10}),
    helper(Feature::OverrideHelper, "bpf_override_return", BPF_FUNC_override_return, {4, 16}),
    helper(Feature::GetStack, "bpf_get_stack", BPF_FUNC_get_stack, {4, 18}),
    helper(Feature::CurrentCgroup, "bpf_get_current_cgroup_id", BPF_FUNC_get_current_cgroup_id,
           {4, 18}),
    helper(Feature::SendSignal, "bpf_send_signal", BPF_FUNC_send_signal, {5, 3}),
    helper(Feature::ReadUser, "bpf_probe_read_user", BPF_FUNC_probe_read_user, {5, 5}),
    helper(Feature::ReadUserText, "bpf_probe_read_user_str", BPF_FUNC_probe_read_user_str, {5, 5}),
    helper(Feature::ReadKernel, "bpf_probe_read_kernel", BPF_FUNC_probe_read_kernel, {5, 5}),
    helper(Feature::ReadKernelText, "bpf_probe_read_kernel_str", BPF_FUNC_probe_read_kernel_str,
           {5, 5}),
    helper(Feature::SendSignalThread, "bpf_send_signal_thread", BPF_FUNC_send_signal_thread,
           {5, 6}),
    helper(Feature::Jiffies, "bpf_jiffies64", BPF_FUNC_jiffies64, {5, 6}),
    helper(Feature::PidInNamespace, "bpf_get_ns_current_pid_tgid", BPF_FUNC_get_ns_current_pid_tgid,
           {5, 7}),
    helper(Feature::BootClock, "bpf_ktime_get_boot_ns", BPF_FUNC_ktime_get_boot_ns, {5, 8}),
    helper(Feature::RingReserve, "bpf_ringbuf_reserve", BPF_FUNC_ringbuf_reserve, {5, 8}),
    helper(Feature::RingSubmit, "bpf_ringbuf_submit", BPF_FUNC_ringbuf_submit, {5, 8}),
    helper(Feature::IteratorOutput, "bpf_seq_write", BPF_FUNC_seq_write, {5, 8}),
    helper(Feature::FilePath, "bpf_d_path", BPF_FUNC_d_path, {5, 10}),
    helper(Feature::CurrentTaskBtf, "bpf_get_current_task_btf", BPF_FUNC_get_current_task_btf,
           {5, 11}),
    helper(Feature::TaskStorageGet, "bpf_task_storage_get", BPF_FUNC_task_storage_get, {5, 13}),
    helper(Feature::ForEachMapElem, "bpf_for_each_map_elem", BPF_FUNC_for_each_map_elem, {5, 13}),
    helper(Feature::AttachCookie, "bpf_get_attach_cookie", BPF_FUNC_get_attach_cookie, {5, 15}),
    helper(Feature::FunctionAddress, "bpf_get_func_ip", BPF_FUNC_get_func_ip, {5, 15}),
    helper(Feature::SavedRegisters, "bpf_task_pt_regs", BPF_FUNC_task_pt_regs, {5, 15}),
    helper(Feature::Loop, "bpf_loop", BPF_FUNC_loop, {5, 17}),
    helper(Feature::FunctionArgument, "bpf_get_func_arg", BPF_FUNC_get_func_arg, {5, 17}),
    helper(Feature::MapLookupPercpu, "bpf_map_lookup_percpu_elem", BPF_FUNC_map_lookup_percpu_elem,
           {5, 19}),
    helper(Feature::TaiClock, "bpf_ktime_get_tai_ns", BPF_FUNC_ktime_get_tai_ns, {6, 1}),
    {.feature = Feature::MappedArrays,
     .name = "mapped_arrays",
     .since = {5, 5},
     .sign = "BPF_F_MMAPABLE"},
    {.feature = Feature::RunPrograms,
     .name = "run_programs",
     .since = {5, 10},
     .sign = "bpf_prog_test_run_raw_tp",
     .wording = "BPF_PROG_RUN of raw tracepoints"},
    {.feature = Feature::RingBuffers,
     .name = "ring_buffers",
     .label = "ring buffer",
     .why_not = "the kernel does not make such maps",
     .since = {5, 8},
     .sign = "BPF_MAP_TYPE_RINGBUF",
     .map_type = BPF_MAP_TYPE_RINGBUF},
    {.feature = Feature::TaskStorageMaps,
     .name = "task_storage_maps",
     .label = "task storage",
     .why_not = "the kernel does not make such maps",
     .since = {5, 11},
     .sign = "BPF_MAP_TYPE_TASK_STORAGE",
     .map_type = BPF_MAP_TYPE_TASK_STORAGE},
};
static_assert(std::size(kRows) == kFeatures, "each feature has a row");

std::span<const FeatureRow> all_features() { return kRows; }

std::string FeatureRow::sign_in_btf() const {
  return helper ? "BPF_FUNC_" + std::string(name.substr(4)) : std::string(sign);
}

std::string FeatureRow::needed() const {
  return fmt::format("{} needs Linux {}.{} or later",
                     !wording.empty() ? wording
                     : helper         ? name
                                      : sign,
                     since.major, since.minor);
}

const FeatureRow& feature_row(Feature feature) {
  for (const FeatureRow& row : kRows)
    if (row.feature == feature) return row;
  UNREACHABLE("a feature without a row");
}

const FeatureRow* find_helper(int32_t helper) {
  for (const FeatureRow& row : kRows)
    if (row.helper != 0 && row.helper == helper) return &row;
  return nullptr;
}

std::optional<Feature> need_of(Feature feature) {
  if (feature == Feature::HotKeys || feature == Feature::HashedKeys) return Feature::Loop;
  if (feature == Feature::TaskStorage) return Feature::TaskStorageGet;
  if (feature == Feature::CommInPlace || feature == Feature::PidInPlace)
    return Feature::CurrentTaskBtf;
  return std::nullopt;
}

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
