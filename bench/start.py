"""Milliseconds from starting a program to its first sign that all is attached, and its peak memory.

The sign is a line of output: the heading of a tool, or that of a timer.
"""

import os
import select
import statistics
import subprocess
import time

from machine import cpu_milliseconds, vm_peak_megabytes
from table import Row

ROUNDS = 7
# The C library of programs that do not care keeps lines back when they go to a pipe.
# flowtap writes READY when that variable is set: for tools without a heading.
READY = "__BPFTRACE_NOTIFY_PROBES_ATTACHED"
ENVIRONMENT = {**os.environ, "LD_PRELOAD": "/usr/libexec/coreutils/libstdbuf.so", "_STDBUF_O": "L", READY: "1"}
# bpftrace runs BEGIN before it attaches the rest, so an event is the sign.
UP = 'interval:ms:1 { printf("it is up\\n"); } '
ONE_LINER = UP + 'tracepoint:syscalls:sys_enter_openat { @[comm] = count(); }'
# What a person writes for bpftrace 0.17 to do as tcplife does, without kprobes.
TCPLIFE = UP + """
tracepoint:sock:inet_sock_set_state /args->protocol == 6/ {
  if (args->newstate < 4) { @birth[args->skaddr] = nsecs; @pid[args->skaddr] = pid; @comm[args->skaddr] = comm; }
  if (args->newstate == 7 && @birth[args->skaddr]) {
    printf("%d %s %s %d %s %d %d\\n", @pid[args->skaddr], @comm[args->skaddr], ntop(args->saddr), args->sport,
        ntop(args->daddr), args->dport, (nsecs - @birth[args->skaddr]) / 1000000);
    delete(@birth[args->skaddr]); delete(@pid[args->skaddr]); delete(@comm[args->skaddr]);
  }
}"""
STRUCTS = {
    "sock": "sk_rcvbuf sk_sndbuf sk_type sk_protocol sk_mark",
    "tcp_sock": "snd_cwnd srtt_us rcv_nxt snd_nxt mss_cache",
    "sk_buff": "len data_len mac_len hash priority",
    "net_device": "ifindex mtu flags type addr_len",
    "request": "tag __data_len __sector cmd_flags internal_tag",
    "bio": "bi_opf bi_flags bi_ioprio bi_vcnt bi_max_vecs",
    "inode": "i_mode i_flags i_ino i_bytes i_size",
    "dentry": "d_flags d_parent d_inode d_op d_sb",
    "file": "f_mode f_flags f_pos f_op f_cred",
    "super_block": "s_dev s_blocksize s_flags s_magic s_maxbytes",
    "mm_struct": "total_vm locked_vm data_vm exec_vm stack_vm",
    "vm_area_struct": "vm_start vm_end vm_pgoff vm_ops vm_file",
    "msghdr": "msg_name msg_namelen msg_control msg_flags msg_iocb",
    "nsproxy": "uts_ns ipc_ns mnt_ns net_ns cgroup_ns",
    "signal_struct": "nr_threads group_exit_code flags maj_flt min_flt",
    "socket": "state type flags sk ops",
    "request_queue": "nr_requests queue_flags id mq_ops elevator",
    "gendisk": "major first_minor minors flags state",
    "cgroup": "level max_depth nr_descendants nr_dying_descendants nr_threaded_children",
    "task_struct": "pid tgid prio exit_code policy",
}


def typed_accesses():
    """100 fields of 20 structs, in a branch that is compiled and never taken."""
    reads = "".join(f"$x = (uint64)((struct {s} *)curtask)->{f};\n" for s, fs in STRUCTS.items() for f in fs.split())
    return UP + 'tracepoint:syscalls:sys_enter_openat /pid == 1/ { ' + reads + " @ = $x; }"


def start(command, sign):
    """(milliseconds, milliseconds on a CPU, megabytes)"""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENVIRONMENT)
    seen = b""
    while sign.encode() not in seen:
        ready, _, _ = select.select([process.stdout], [], [], 120)
        piece = os.read(process.stdout.fileno(), 4096) if ready else b""
        if not piece:
            process.kill()
            raise RuntimeError(f"{' '.join(command)[:60]} did not start: {seen.decode()[:300]}")
        seen += piece
    milliseconds = (time.monotonic() - begin) * 1e3
    on_cpu = cpu_milliseconds(process.pid)
    time.sleep(0.1)
    megabytes = vm_peak_megabytes(process.pid)
    process.kill()  # bpftrace misses a Ctrl-C that comes this early
    process.communicate()
    return milliseconds, on_cpu, megabytes


def medians(commands, rounds):
    """{name: (ms, ms on a CPU, MB)} of {name: (command, sign)}; the programs take turns."""
    results = {name: [] for name in commands}
    for _ in range(rounds):
        for name, (command, sign) in commands.items():
            results[name].append(start(command, sign))
    return {name: [statistics.median(column) for column in zip(*rows)] for name, rows in results.items()}


def rows(what, commands, milliseconds, megabytes, rounds=ROUNDS):
    results = medians(commands, rounds)
    yield Row(f"{what}: start, ms", {n: r[0] for n, r in results.items()}, ".1f", {"bpftrace": 1 / 15, "libbpf": 1.5}, milliseconds)
    # No bar is set in these, but a busy machine does not disturb them.
    yield Row(f"{what}: of that on a CPU, ms", {n: r[1] for n, r in results.items()})
    if megabytes:
        yield Row(f"{what}: peak memory, MB", {n: r[2] for n, r in results.items()}, ".1f", {}, megabytes)


def scripts(machine, script):
    commands = {"flowtap": ([machine.flowtap, "-e", script], "it is up")}
    if machine.bpftrace:
        commands["bpftrace"] = ([machine.bpftrace, "-B", "none", "-e", script], "it is up")
    return commands


def measure(machine):
    one_liner = scripts(machine, ONE_LINER)
    if machine.hand:
        one_liner["C"] = ([*machine.hand, "comm"], "attached")
    yield from rows("one-liner", one_liner, 30, 10)
    tool = {"flowtap": ([machine.flowtap, "tcplife"], "LADDR")}
    if machine.bpftrace:
        tool["bpftrace"] = ([machine.bpftrace, "-B", "none", "-e", TCPLIFE], "it is up")
    if machine.tcplife:
        tool["libbpf"] = ([machine.tcplife], "LADDR")
    yield from rows("tcplife", tool, 30, 12)
    yield from rows("100 typed fields", {"flowtap": ([machine.flowtap, "--no-warnings", "-e", typed_accesses()], "it is up")}, 60, None)


def measure_guest(machine):
    """What needs kprobes and fentry. An emulated CPU is many times slower, so milliseconds have no bar there."""
    script = UP + '%s:tcp_sendmsg { @[comm] = count(); }'
    fentry = scripts(machine, script % "fentry")
    if machine.bpftrace:
        fentry["bpftrace"] = ([machine.bpftrace, "-B", "none", "-e", script % "kfunc"], "it is up")
    yield from rows("fentry one-liner", fentry, None, None, 3)
    if machine.tcprtt:
        tool = {"flowtap": ([machine.flowtap, "tcprtt"], READY), "libbpf": ([machine.tcprtt], "Tracing TCP RTT")}
        yield from rows("tcprtt", tool, None, None, 3)
    wildcard = {"flowtap": ([machine.flowtap, "-e", UP + 'kprobe:tcp_* { @[func] = count(); }'], "it is up")}
    yield from rows("kprobe:tcp_*", wildcard, None, 25, 3)
