"""What the machine offers to the tests; a case without what it needs is skipped with the reason."""

import functools
import os
import shutil
from pathlib import Path


def _kprobes():
    return Path("/sys/bus/event_source/devices/kprobe/type").exists()


FEATURES = {
    "bpf": (lambda: os.geteuid() == 0, "tracing needs root"),
    "btf": (lambda: Path("/sys/kernel/btf/vmlinux").exists(), "this kernel has no BTF"),
    "kprobe": (_kprobes, "this kernel has no kprobes"),
    "bash": (lambda: shutil.which("bash") is not None, "bash is not installed"),
    "hardware": (lambda: Path("/sys/bus/event_source/devices/cpu/type").exists(), "this machine has no hardware counters"),
}


@functools.cache
def has(name):
    return FEATURES[name][0]()


def reason(name):
    return FEATURES[name][1]
