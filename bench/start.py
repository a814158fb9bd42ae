"""Milliseconds from starting a program until each of its BPF programs that a load reaches has run, and its peak memory.

bench/c/first_run.c makes the load and asks the kernel for the runs, so that nothing is added to what is measured.
"""

import os
import signal
import statistics
import subprocess
import time

from machine import vm_peak_megabytes
from table import Row

ROUNDS = 7
ONE_LINER = "tracepoint:syscalls:sys_enter_openat { @[comm] = count(); }"
# What a person writes for bpftrace 0.17 to do as tcplife does, without kprobes.
TCPLIFE = """
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
    return 'tracepoint:syscalls:sys_enter_openat /pid == 1/ { ' + reads + " @ = $x; }"


def start(machine, load, command):
    """(milliseconds, milliseconds on a CPU, megabytes)"""
    watcher = subprocess.Popen([machine.tool("first_run"), load, str(machine.nap), *command], stdout=subprocess.PIPE, text=True)
    line = watcher.stdout.readline().split()
    if not line:
        watcher.wait()
        raise RuntimeError(f"{' '.join(command)[:60]} did not start")
    pid = int(line[0])
    time.sleep(0.1)
    megabytes = vm_peak_megabytes(pid)
    os.kill(pid, signal.SIGKILL)  # bpftrace misses a Ctrl-C that comes this early
    watcher.communicate()
    return float(line[1]), float(line[2]), megabytes


def medians(machine, load, commands, rounds):
    """{name: (ms, ms on a CPU, MB)} of {name: command}; the programs take turns."""
    results = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            results[name].append(start(machine, load, command))
    return {name: [statistics.median(column) for column in zip(*rows)] for name, rows in results.items()}


def rows(machine, what, load, commands, milliseconds, megabytes, rounds=ROUNDS):
    results = medians(machine, load, commands, rounds)
    yield Row(f"{what}: start, ms", {n: r[0] for n, r in results.items()}, ".1f", {"bpftrace": 1 / 15, "libbpf": 1.5}, milliseconds)
    # No bar is set in these; the rest is waiting.
    yield Row(f"{what}: of that on a CPU, ms", {n: r[1] for n, r in results.items()})
    if megabytes:
        yield Row(f"{what}: peak memory, MB", {n: r[2] for n, r in results.items()}, ".1f", {}, megabytes)


def scripts(machine, script, bpftrace_script=None):
    commands = {"flowtap": [machine.flowtap, "-e", script]}
    if machine.bpftrace:
        commands["bpftrace"] = [machine.bpftrace, "-B", "none", "-e", bpftrace_script or script]
    return commands


def measure(machine):
    one_liner = scripts(machine, ONE_LINER)
    if machine.hand:
        one_liner["C"] = [*machine.hand, "comm"]
    yield from rows(machine, "one-liner", "files", one_liner, 30, 10)
    tool = {**scripts(machine, TCPLIFE), "flowtap": [machine.flowtap, "tcplife"]}
    if machine.tcplife:
        tool["libbpf"] = [machine.tcplife]
    yield from rows(machine, "tcplife", "tcp", tool, 30, 12)
    typed = {"flowtap": [machine.flowtap, "--no-warnings", "-e", typed_accesses()]}
    yield from rows(machine, "100 typed fields", "files", typed, 60, None)


def measure_guest(machine):
    """What needs kprobes and fentry. An emulated CPU is many times slower, so milliseconds have no bar there."""
    # Its CPUs take turns: one that never rests leaves half of the time to the other, and is waited for when it must answer.
    machine.nap = 500
    script = "%s:tcp_sendmsg { @[comm] = count(); }"
    yield from rows(machine, "fentry one-liner", "tcp", scripts(machine, script % "fentry", script % "kfunc"), None, None, 5)
    if machine.tcprtt:
        tool = {"flowtap": [machine.flowtap, "tcprtt"], "libbpf": [machine.tcprtt]}
        yield from rows(machine, "tcprtt", "tcp", tool, None, None, 5)
    wildcard = {"flowtap": [machine.flowtap, "-e", "kprobe:tcp_* { @[func] = count(); }"]}
    yield from rows(machine, "kprobe:tcp_*", "tcp", wildcard, None, 25, 5)
