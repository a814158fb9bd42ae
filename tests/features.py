"""What the machine offers to the tests; a case without what it needs is skipped with the reason."""

import functools
import os
import shutil
import subprocess
from pathlib import Path


def _kprobes():
    return Path("/sys/bus/event_source/devices/kprobe/type").exists()


def _kernel_is_at_least(major, minor):
    return tuple(int(n) for n in os.uname().release.split("-")[0].split(".")[:2]) >= (major, minor)


def _probe_type(kind):
    flowtap = Path(__file__).resolve().parent.parent / "build" / "flowtap"
    text = subprocess.run([flowtap, "--info"], capture_output=True, text=True).stdout
    return f"{kind}: yes" in text


def _python_markers():
    python = Path("/usr/bin/python3")
    return python.exists() and b"stapsdt" in python.read_bytes()


FEATURES = {
    "bpf": (lambda: os.geteuid() == 0, "tracing needs root"),
    "btf": (lambda: Path("/sys/kernel/btf/vmlinux").exists(), "this kernel has no BTF"),
    "kprobe": (_kprobes, "this kernel has no kprobes"),
    "kfunc": (lambda: _kernel_is_at_least(6, 12), "kfuncs in tracepoints need Linux 6.12"),
    "fentry": (lambda: _probe_type("fentry"), "this kernel does not permit fentry"),
    "markers": (_python_markers, "python3 was built without markers"),
    "watchpoint": (lambda: Path("/sys/bus/event_source/devices/breakpoint").exists(), "this machine has no watchpoints"),
    "cgroup2": (lambda: Path("/sys/fs/cgroup/cgroup.procs").exists(), "cgroup v2 is not mounted at /sys/fs/cgroup"),
    "x86": (lambda: os.uname().machine == "x86_64", "only instructions of x86-64 are checked"),
    "bpffs": (lambda: Path("/sys/fs/bpf").is_mount(), "no BPF file system is mounted at /sys/fs/bpf"),
    "bash": (lambda: shutil.which("bash") is not None, "bash is not installed"),
    "hardware": (lambda: Path("/sys/bus/event_source/devices/cpu/type").exists(), "this machine has no hardware counters"),
}


@functools.cache
def has(name):
    return FEATURES[name][0]()


def reason(name):
    return FEATURES[name][1]
