"""What the machine offers to the tests; a case without what it needs is skipped with the reason."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

import known_kernels

# In a guest (see guests.py) nothing is built, and everything may take this many times as long.
IN_GUEST = "FLOWTAP_GUEST" in os.environ
SLOWER = int(os.environ.get("FLOWTAP_GUEST", "1"))


def _kprobes():
    return Path("/sys/bus/event_source/devices/kprobe/type").exists()


def _is_locked_down():
    lockdown = Path("/sys/kernel/security/lockdown")
    return lockdown.exists() and "[confidentiality]" in lockdown.read_text()


def _paranoia():
    return int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())


def _kernel_is_at_least(major, minor):
    return tuple(int(n) for n in os.uname().release.split("-")[0].split(".")[:2]) >= (major, minor)


def _syscall_stacks():
    script = "tracepoint:syscalls:sys_enter_getcwd /pid == cpid/ { print(len(kstack(3))); }"
    done = subprocess.run([known_kernels.FLOWTAP, "-q", "-e", script, "-c", "/bin/pwd"], capture_output=True, text=True)
    return "\n3\n" in "\n" + done.stdout


def _python_markers():
    python = Path("/usr/bin/python3")
    return python.exists() and b"stapsdt" in python.read_bytes()


def _hard_links():
    """An overlay makes a copy of a file before it links it."""
    kind = subprocess.run(["stat", "-f", "-c", "%T", Path(__file__).parent], capture_output=True, text=True).stdout
    return kind.strip() != "overlayfs"


FEATURES = {
    "bpf": (lambda: os.geteuid() == 0, "tracing needs root"),
    "btf": (lambda: Path("/sys/kernel/btf/vmlinux").exists(), "this kernel has no BTF"),
    "lockdown": (_is_locked_down, "this kernel is not locked down for confidentiality"),
    "kprobe": (_kprobes, "this kernel has no kprobes"),
    "no_kprobe": (lambda: not _kprobes(), "this kernel has kprobes"),
    "kfunc": (lambda: _kernel_is_at_least(6, 12), "kfuncs in tracepoints need Linux 6.12"),
    "kprobe_multi": (lambda: not known_kernels.lacks("kprobe.multi"), "this kernel has no kprobe.multi"),
    "fentry": (lambda: not known_kernels.lacks("fentry"), "this kernel does not permit fentry"),
    "no_fentry": (lambda: not _kprobes() and known_kernels.lacks("fentry"), "this kernel permits fentry, or kprobes in its place"),
    "stack_args": (lambda: _kernel_is_at_least(6, 6), "fentry of more than 6 arguments needs Linux 6.6"),
    "no_stack_args": (lambda: not _kernel_is_at_least(6, 6), "this kernel takes fentry of more than 6 arguments"),
    "missed_returns": (lambda: _kprobes() and _kernel_is_at_least(6, 7), "counts of missed returns need kprobes and Linux 6.7"),
    "markers": (_python_markers, "python3 was built without markers"),
    "perfmon": (lambda: _paranoia() <= 2, "this kernel lets nobody but root open perf events"),
    "strict_perf": (lambda: _paranoia() > 2, "this kernel lets CAP_PERFMON open perf events"),
    "watchpoint": (lambda: Path("/sys/bus/event_source/devices/breakpoint").exists(), "this machine has no watchpoints"),
    "cgroup2": (lambda: Path("/sys/fs/cgroup/cgroup.procs").exists(), "cgroup v2 is not mounted at /sys/fs/cgroup"),
    "x86": (lambda: os.uname().machine == "x86_64", "only instructions of x86-64 are checked"),
    "veth": (lambda: Path("/sys/module/veth").exists(), "the module 'veth' is not loaded"),
    "nvme": (lambda: IN_GUEST and Path("/sys/block/nvme0n1").exists(), "this machine has no NVMe disk to play with"),
    "namesakes": (lambda: all(Path("/sys/module", m).exists() for m in ("ext4", "btrfs")), "the modules 'ext4' and 'btrfs' are not loaded"),
    "scsi": (lambda: Path("/sys/kernel/tracing/events/scsi").exists() and _kprobes(), "this kernel has no SCSI disks, or no kprobes"),
    "dummy": (lambda: Path("/sys/module/dummy").exists(), "the module 'dummy' is not loaded"),
    "syscall_stack": (_syscall_stacks, "this kernel gives no kernel stacks at system call tracepoints"),
    "debugfs": (lambda: "\tdebugfs" in Path("/proc/filesystems").read_text(), "this kernel has no debugfs"),
    "hard_links": (_hard_links, "on an overlay a hard link is another file"),
    "bpffs": (lambda: Path("/sys/fs/bpf").is_mount(), "no BPF file system is mounted at /sys/fs/bpf"),
    "bash": (lambda: shutil.which("bash") is not None, "bash is not installed"),
    "hardware": (lambda: Path("/sys/bus/event_source/devices/cpu/type").exists(), "this machine has no hardware counters"),
}


@functools.cache
def has(name):
    return FEATURES[name][0]()


def reason(name):
    return FEATURES[name][1]
