// The table of functions and what replaces them; see replacements.h. Versions are those of the
// kernels where each was tried: 6.1, 6.12 and 6.18.

#include "builtins/replacements.h"

#include <fmt/format.h>

namespace flowtap {

namespace {

// Answers that several functions share.
constexpr Answer kSend = {"tracepoint:sock:sock_send_length", "args.ret is what was sent"};
constexpr Answer kTcpSend = {"tracepoint:sock:sock_send_length",
                             "with args.protocol == IPPROTO_TCP; args.ret is what was sent"};
constexpr Answer kUdpSend = {"tracepoint:sock:sock_send_length",
                             "with args.protocol == IPPROTO_UDP; args.ret is what was sent"};
constexpr Answer kReceive = {"tracepoint:sock:sock_recv_length", "args.ret is what was received"};
constexpr Answer kTcpReceive = {"tracepoint:sock:sock_recv_length",
                                "with args.protocol == IPPROTO_TCP; args.ret is what was received"};
constexpr Answer kUdpReceive = {"tracepoint:sock:sock_recv_length",
                                "with args.protocol == IPPROTO_UDP; args.ret is what was received"};
constexpr Answer kSendCall = {"tracepoint:syscalls:sys_enter_sendto", "and the other send calls"};
constexpr Answer kReceiveCall = {"tracepoint:syscalls:sys_exit_recvfrom",
                                 "and the other receive calls"};
constexpr Answer kSecuritySend = {"kprobe:security_socket_sendmsg", "is on the path of every send"};
constexpr Answer kState = {"tracepoint:sock:inet_sock_set_state", "shows every change of state"};
constexpr Answer kConnect = {"tracepoint:sock:inet_sock_set_state",
                             "with args.newstate == TCP_SYN_SENT"};
constexpr Answer kSynReceived = {"tracepoint:sock:inet_sock_set_state",
                                 "with args.oldstate == TCP_LISTEN"};
constexpr Answer kDrop = {"tracepoint:skb:kfree_skb", "args.reason says why"};
constexpr Answer kRetransmit = {"tracepoint:tcp:tcp_retransmit_skb", ""};
constexpr Answer kIssue = {"tracepoint:block:block_rq_issue", ""};
constexpr Answer kInsert = {"tracepoint:block:block_rq_insert", ""};
constexpr Answer kComplete = {"tracepoint:block:block_rq_complete", ""};
constexpr Answer kNvmeComplete = {"tracepoint:nvme:nvme_complete_rq", "sees every request"};
constexpr Answer kScsiStart = {"tracepoint:scsi:scsi_dispatch_cmd_start", ""};
constexpr Answer kScsiDone = {"tracepoint:scsi:scsi_dispatch_cmd_done", ""};
constexpr Answer kEnqueue = {"tracepoint:qdisc:qdisc_enqueue", "is common to all qdiscs"};
constexpr Answer kDequeue = {"tracepoint:qdisc:qdisc_dequeue", "is common to all qdiscs"};
constexpr Answer kConnectCall = {"tracepoint:syscalls:sys_enter_connect", ""};
constexpr Answer kAllocate = {"tracepoint:kmem:kmem_cache_alloc", ""};
constexpr Answer kReadCall = {"tracepoint:syscalls:sys_enter_read", "and the other read calls"};
constexpr Answer kWriteCall = {"tracepoint:syscalls:sys_enter_write", "and the other write calls"};

constexpr Answer kOpenCall = {"tracepoint:syscalls:sys_enter_openat", "and the other open calls"};
constexpr Answer kLookup = {"tracepoint:syscalls:sys_enter_openat",
                            "which shows the names that processes open"};
constexpr Answer kSyncCall = {"tracepoint:syscalls:sys_enter_fsync", "and sys_enter_fdatasync"};
constexpr Answer kUnixReceive = {"tracepoint:sock:sock_recv_length",
                                 "with args.family == AF_UNIX; args.ret is what was received"};
constexpr Answer kIoStart = {"tracepoint:block:block_io_start", ""};
constexpr Answer kIoDone = {"tracepoint:block:block_io_done", ""};
constexpr Answer kSwapIn = {"tracepoint:exceptions:page_fault_user",
                            "or count major faults with 'software:major-faults:1'"};

constexpr std::string_view kAlways = "*";

constexpr Replacement kReplacements[] = {
    // sockets
    {"sock_sendmsg",
     "is not called by send calls any more",
     kAlways,
     {kSend, {"kprobe:__sock_sendmsg", "is what send calls use"}, kSecuritySend}},
    {"__sock_sendmsg", "is inlined (not in Linux 6.12)", "", {kSend, kSecuritySend, kSendCall}},
    {"sock_recvmsg", "", "", {kReceive, kReceiveCall}},
    {"sock_sendpage",
     "is gone (not in Linux 6.12)",
     "",
     {{{"kprobe:splice_to_socket", ""}, kSend}}},
    {"kernel_sendpage",
     "is gone (not in Linux 6.12)",
     "",
     {{{"kprobe:splice_to_socket", ""}, kSend}}},
    {"inet_listen", "", "", {{{"tracepoint:syscalls:sys_enter_listen", ""}}}},
    {"inet_bind", "", "", {{{"tracepoint:syscalls:sys_enter_bind", ""}}}},
    {"__inet_bind", "", "", {{{"tracepoint:syscalls:sys_enter_bind", ""}}}},
    {"__inet6_bind", "", "", {{{"tracepoint:syscalls:sys_enter_bind", ""}}}},
    {"unix_stream_recvmsg", "", "", {kUnixReceive, kReceiveCall}},
    {"unix_dgram_recvmsg", "", "", {kUnixReceive, kReceiveCall}},
    {"unix_stream_read_actor", "", "", {kUnixReceive, kReceiveCall}},
    {"skb_copy_datagram_iter", "", "", {{{"tracepoint:skb:skb_copy_datagram_iovec", ""}}}},
    {"__scm_send", "", "", {{{"tracepoint:syscalls:sys_enter_sendmsg", ""}}}},
    {"scm_fp_copy",
     "is inlined",
     "",
     {{{"kprobe:__scm_send", ""}, {"tracepoint:syscalls:sys_enter_sendmsg", ""}}}},
    {"scm_detach_fds", "", "", {{{"tracepoint:syscalls:sys_exit_recvmsg", ""}}}},
    // TCP
    {"tcp_v4_connect", "", "", {kConnect}},
    {"tcp_v6_connect", "", "", {kConnect}},
    {"tcp_connect", "", "", {kConnect}},
    {"inet_csk_accept",
     "",
     "",
     {{{"tracepoint:syscalls:sys_exit_accept4", "and sys_exit_accept"}}}},
    {"tcp_set_state", "", "", {kState}},
    {"inet_sk_state_store", "", "", {kState}},
    {"tcp_retransmit_skb", "", "", {kRetransmit}},
    {"__tcp_retransmit_skb", "", "", {kRetransmit}},
    {"tcp_send_loss_probe", "", "", {kRetransmit}},
    {"tcp_drop", "is gone (not in Linux 6.1)", "", {kDrop}},
    {"kfree_skb", "is inlined (not in Linux 6.1)", "", {kDrop}},
    {"kfree_skb_reason", "is gone (not in Linux 6.12)", "", {kDrop}},
    {"sk_skb_reason_drop", "is new (not in Linux 6.1)", "", {kDrop}},
    {"tcp_v4_syn_recv_sock", "", "", {kSynReceived}},
    {"tcp_v6_syn_recv_sock", "", "", {kSynReceived}},
    {"tcp_conn_request", "", "", {kSynReceived}},
    {"tcp_rcv_established", "", "", {{{"tracepoint:tcp:tcp_probe", ""}}}},
    {"tcp_sendmsg", "", "", {kTcpSend, kSendCall}},
    {"tcp_recvmsg", "", "", {kTcpReceive, kReceiveCall}},
    // UDP
    {"udp_sendmsg", "", "", {kUdpSend, kSendCall}},
    {"udpv6_sendmsg", "", "", {kUdpSend, kSendCall}},
    {"udp_recvmsg", "", "", {kUdpReceive, kReceiveCall}},
    {"udpv6_recvmsg", "", "", {kUdpReceive, kReceiveCall}},
    {"ip4_datagram_connect",
     "is not called for UDP any more (since Linux 6.13)",
     "udp_connect",
     {{{"kprobe:udp_connect", ""}, kConnectCall}}},
    {"ip6_datagram_connect",
     "is not called for UDP any more (since Linux 6.13)",
     "udpv6_connect",
     {{{"kprobe:udpv6_connect", ""}, kConnectCall}}},
    {"udp_lib_close",
     "may not be traced, and there are several of this name",
     "",
     {{{"kprobe:udp_destroy_sock", ""}}}},
    // memory of packets
    {"kmem_cache_alloc", "has another name (not in Linux 6.12)", "", {kAllocate}},
    {"kmem_cache_alloc_node", "has another name (not in Linux 6.12)", "", {kAllocate}},
    {"kmem_cache_free", "", "", {{{"tracepoint:kmem:kmem_cache_free", ""}}}},
    {"__napi_alloc_skb",
     "has another name (not in Linux 6.12)",
     "",
     {{{"kprobe:napi_alloc_skb", ""}}}},
    {"napi_alloc_skb", "is new (not in Linux 6.1)", "", {{{"kprobe:__napi_alloc_skb", ""}}}},
    // disks
    {"blk_account_io_start", "is inlined, or may not be traced", "", {kIoStart, kIssue}},
    {"__blk_account_io_start", "may not be traced", "", {kIoStart, kIssue}},
    {"blk_account_io_done", "may not be traced", "", {kIoDone, kComplete}},
    {"__blk_account_io_done", "may not be traced", "", {kIoDone, kComplete}},
    {"__blk_mq_end_request", "may not be traced", "", {kIoDone, kComplete}},
    {"md_flush_request",
     "",
     "",
     {{{"tracepoint:block:block_bio_queue",
        "with 'F' in args.rwbs, for the device of the array"}}}},
    {"blk_mq_start_request", "", "", {kIssue}},
    {"__elv_add_request", "is gone (not in Linux 6.1)", "", {kInsert}},
    {"blk_start_request", "is gone (not in Linux 6.1)", "", {kIssue}},
    {"blk_start_plug",
     "",
     "",
     {{{"tracepoint:block:block_plug", "comes with the first request, not before"}}}},
    {"blk_flush_plug_list",
     "is gone (not in Linux 6.1)",
     "",
     {{{"kprobe:__blk_flush_plug", "arg0 is the plug; the scheduler calls it too"},
       {"tracepoint:block:block_unplug", "pairs with block_plug of the same thread"}}}},
    {"nvme_setup_cmd", "", "", {{{"tracepoint:nvme:nvme_setup_cmd", ""}}}},
    {"nvme_complete_rq",
     "misses the requests that complete in batches, which are nearly all",
     kAlways,
     {kNvmeComplete}},
    {"nvme_complete_batch_req", "", "", {kNvmeComplete}},
    {"nvme_process_cq", "is inlined", "", {{{"kprobe:nvme_irq", ""}, kNvmeComplete}}},
    {"nvme_free_iod", "is inlined", "", {{{"kprobe:nvme_irq", ""}, kNvmeComplete}}},
    {"scsi_init_io", "is gone (not in Linux 6.1)", "", {kScsiStart}},
    {"scsi_mq_done", "is gone (not in Linux 6.1)", "", {{{"kprobe:scsi_done", ""}, kScsiDone}}},
    {"scsi_done", "", "", {kScsiDone}},
    {"scsi_dispatch_cmd", "is inlined", "", {kScsiStart}},
    // Wi-Fi
    {"ieee80211_request_scan", "", "", {{{"tracepoint:cfg80211:rdev_scan", ""}}}},
    {"ieee80211_scan_completed", "", "", {{{"tracepoint:cfg80211:cfg80211_scan_done", ""}}}},
    {"ieee80211_get_channel", "is inlined", "", {{{"kprobe:ieee80211_get_channel_khz", ""}}}},
    // files
    {"vfs_read", "", "", {kReadCall}},
    {"vfs_readv", "", "", {kReadCall}},
    {"vfs_write", "", "", {kWriteCall}},
    {"vfs_writev", "", "", {kWriteCall}},
    {"vfs_open", "", "", {kOpenCall}},
    {"vfs_create",
     "",
     "",
     {{{"tracepoint:syscalls:sys_enter_openat", "with O_CREAT in args.flags"}}}},
    {"vfs_fsync", "", "", {kSyncCall}},
    {"vfs_fsync_range", "", "", {kSyncCall}},
    {"vfs_dedupe_get_page",
     "is gone (not in Linux 6.1)",
     "",
     {{{"tracepoint:syscalls:sys_enter_ioctl", "with args.cmd == 0xc0189436 (FIDEDUPERANGE)"}}}},
    {"d_lookup", "", "", {kLookup}},
    {"lookup_fast", "", "", {kLookup}},
    {"xfs_file_read_iter",
     "",
     "",
     {{{"tracepoint:xfs:xfs_file_buffered_read", "and xfs_file_direct_read"}, kReadCall}}},
    {"xfs_file_write_iter",
     "",
     "",
     {{{"tracepoint:xfs:xfs_file_buffered_write", "and xfs_file_direct_write"}, kWriteCall}}},
    {"xfs_file_open", "", "", {kOpenCall}},
    {"xfs_file_fsync", "", "", {{{"tracepoint:xfs:xfs_file_fsync", ""}, kSyncCall}}},
    // memory and privileges
    {"oom_kill_process", "", "", {{{"tracepoint:oom:mark_victim", "args.pid is the victim"}}}},
    {"swap_readpage", "has another name (not in Linux 6.12)", "", {kSwapIn}},
    {"swap_read_folio", "is new (not in Linux 6.1)", "", {kSwapIn}},
    {"cap_capable", "", "", {{{"tracepoint:capability:cap_capable", ""}}}},
    // qdiscs
    {"fq_codel_enqueue", "", "", {kEnqueue}},
    {"fq_codel_dequeue", "", "", {kDequeue}},
    {"fq_enqueue", "", "", {kEnqueue}},
    {"fq_dequeue", "", "", {kDequeue}},
    {"codel_qdisc_enqueue", "", "", {kEnqueue}},
    {"codel_qdisc_dequeue", "", "", {kDequeue}},
    {"red_enqueue", "", "", {kEnqueue}},
    {"red_dequeue", "", "", {kDequeue}},
    {"tbf_enqueue", "", "", {kEnqueue}},
    {"tbf_dequeue", "", "", {kDequeue}},
    {"cbs_enqueue", "", "", {kEnqueue}},
    {"cbs_dequeue", "", "", {kDequeue}},
    {"cbq_enqueue", "is gone with its qdisc", "", {kEnqueue}},
    {"cbq_dequeue", "is gone with its qdisc", "", {kDequeue}},
};

}  // namespace

std::span<const Replacement> all_replacements() { return kReplacements; }

const Replacement* find_replacement(std::string_view function) {
  for (const Replacement& row : kReplacements)
    if (row.function == function) return &row;
  return nullptr;
}

// Functions of system calls have changed their names twice; their events have not.
static std::string syscall_hint(std::string_view function, const HasProbe& has_probe) {
  for (std::string_view prefix : {"sys_", "SyS_", "__x64_sys_", "__arm64_sys_"}) {
    if (!function.starts_with(prefix)) continue;
    std::string event = fmt::format("syscalls:sys_enter_{}", function.substr(prefix.size()));
    if (has_probe("tracepoint", event)) return fmt::format("use 'tracepoint:{}'", event);
  }
  // Each file operation is behind a call of its own.
  if (function.starts_with("vfs_") && has_probe("tracepoint", "syscalls:sys_enter_openat"))
    return "use 'tracepoint:syscalls:sys_enter_*' with the calls in question";
  return {};
}

std::string replacement_hint(std::string_view function, const HasProbe& has_probe) {
  const Replacement* row = find_replacement(function);
  if (!row) return syscall_hint(function, has_probe);
  for (const Answer& answer : row->answers) {
    if (answer.probe.empty()) continue;
    size_t colon = answer.probe.find(':');
    if (!has_probe(answer.probe.substr(0, colon), answer.probe.substr(colon + 1))) continue;
    std::string fate = row->fate.empty() ? "" : fmt::format("'{}' {}: ", function, row->fate);
    return fmt::format("{}use '{}'{}{}", fate, answer.probe, answer.note.empty() ? "" : ", ",
                       answer.note);
  }
  return {};
}

}  // namespace flowtap
