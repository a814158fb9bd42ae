"""The tests again, on other kernels: both guests boot side by side and run parts of this suite inside."""

import os
import re
import shlex
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "guest"))
import kernels
import machine

# What each boot of a guest runs: kernel arguments and parts. Lockdown cannot be undone.
BOOTS = {"": ["lang", "kernel", "processes", "security", "faults", "restricted", "tools", "random"], "lockdown=confidentiality": ["lockdown"]}
MODULES = "dummy veth nvme virtio_scsi sd_mod ext4 btrfs"  # that cases trace
SLOWER = 10  # how much longer things may take in a guest: its processor is emulated
TIME_LIMIT = 2700  # seconds; a guest that hangs is a failure
SUMMARY = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped")


class Guest(threading.Thread):
    def __init__(self, root, kernel, case):
        super().__init__()
        self.kernel, self.case = kernel, case
        self.runner = shlex.quote(str(root / "tests" / "run_tests.py"))
        self.texts = {}  # by kernel arguments

    def run(self):
        for arguments, parts in BOOTS.items():
            self.text = ""
            told = "TOOL_RESULTS=1 " if "TOOL_RESULTS" in os.environ else ""
            command = f"modprobe -a {MODULES}; {told}FLOWTAP_GUEST={SLOWER} CASE={shlex.quote(self.case)} python3 {self.runner} {' '.join(parts)}"
            try:
                machine.run(self.kernel, command, machine.Options(arguments, time_limit=TIME_LIMIT, disks=True), self.take)
            except Exception as problem:  # of the download, say; nobody would see it in a thread
                self.text += f"{problem}\n"
            self.texts[arguments] = self.text

    def take(self, text):
        self.text += text
        for line in text.splitlines():
            if not SUMMARY.fullmatch(line):
                print(f"{self.kernel}: {line}", flush=True)


def run(root, results, case):
    guests = [Guest(root, kernel, case) for kernel in kernels.META_PACKAGES]
    for guest in guests:
        guest.start()
    for guest in guests:
        guest.join()
        for arguments, text in guest.texts.items():
            add_results(results, f"guest with Linux {guest.kernel} {arguments}", text)


def add_results(results, name, text):
    summary = SUMMARY.search(text.splitlines()[-1]) if text else None
    if not summary:
        return results.add(name, f"  it gave no results\n  {text[-500:]}")
    passed, failed, skipped = (int(n) for n in summary.groups())
    results.passed += passed
    results.failed += failed
    results.skipped += skipped
