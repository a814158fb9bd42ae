"""The tests again, on another kernel: a guest boots and runs parts of this suite inside."""

import os
import re
import shlex
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import results as results_module

sys.path.insert(0, str(Path(__file__).resolve().parent / "guest"))
import kernels
import machine

KERNELS = list(kernels.META_PACKAGES)


@dataclass
class Boot:
    parts: list
    name: str = ""
    options: machine.Options = field(default_factory=machine.Options)
    kernels: list = field(default_factory=lambda: KERNELS)


BOOTS = [
    Boot(["lang", "kernel", "processes", "security", "restricted", "tools", "random", "faults"]),
    Boot(["lockdown"], "lockdown=confidentiality", machine.Options(arguments="lockdown=confidentiality")),  # which cannot be undone
    Boot(["many_cpus"], "many-cpus", machine.Options(cpus=9, possible_cpus=128), ["6.1"]),  # 6.12 prepares for no more than there are
]
MODULES = "dummy veth nvme virtio_scsi sd_mod ext4 btrfs"  # that cases trace
SLOWER = 10  # how much longer things may take in a guest: its processor is emulated
TIME_LIMIT = 2700  # seconds; a guest that hangs is a failure


class Reader:
    """Takes the results out of what a guest prints, and shows the rest."""

    def __init__(self, results, name):
        self.results, self.name = results, name
        self.line, self.is_complete, self.end = "", False, ""

    def take(self, text):
        *lines, self.line = (self.line + text).split("\n")
        for line in lines:
            if line.startswith(results_module.MARK):
                self.results.take_over(line, f"{self.name}: ")
                self.is_complete = True
            else:
                print(f"{self.name}: {line}", flush=True)
                self.end = (self.end + line + "\n")[-500:]


def run(root, results, kernel):
    for boot in BOOTS:
        if kernel not in boot.kernels:
            continue
        reader = Reader(results, f"{kernel} {boot.name}".strip())
        try:
            machine.run(kernel, command_for(root, boot.parts, reader.name), replace(boot.options, time_limit=TIME_LIMIT, disks=True), reader.take)
        except Exception as problem:  # of the download, say
            reader.take(f"{problem}\n")
        if not reader.is_complete:
            results.add(f"guest with Linux {reader.name}", f"  it gave no results\n  {reader.end}")


def command_for(root, parts, name):
    names = ("CASE", "TOOL_RESULTS", "RANDOM_SEED", "RANDOM_PROGRAMS", "PIN_SKIPS")
    passed_on = "".join(f"{name}={shlex.quote(os.environ[name])} " for name in names if name in os.environ)
    kernel = shlex.quote("guest-" + re.sub(r"\W*=", "-", name).replace(" ", "-"))
    runner = shlex.quote(str(root / "tests" / "run_tests.py"))
    return f"modprobe -a {MODULES}; FLOWTAP_TESTS_WITHIN=1 FLOWTAP_GUEST={SLOWER} FLOWTAP_KERNEL={kernel} {passed_on}python3 {runner} {' '.join(parts)}"
