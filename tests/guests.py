"""The tests again, on other kernels: both guests boot side by side and run parts of this suite inside."""

import re
import shlex
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "guest"))
import kernels
import machine

PARTS = ["lang", "kernel", "processes"]
SLOWER = 10  # how much longer things may take in a guest: its processor is emulated
TIME_LIMIT = 1500  # seconds; a guest that hangs is a failure
SUMMARY = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped")


class Guest(threading.Thread):
    def __init__(self, root, kernel, case):
        super().__init__()
        self.kernel, self.text, self.status = kernel, "", None
        runner = shlex.quote(str(root / "tests" / "run_tests.py"))
        self.command = f"modprobe dummy; FLOWTAP_GUEST={SLOWER} CASE={shlex.quote(case)} python3 {runner} {' '.join(PARTS)}"

    def run(self):
        try:
            self.status = machine.run(self.kernel, self.command, machine.Options(time_limit=TIME_LIMIT), self.take)
        except Exception as problem:  # of the download, say; nobody would see it in a thread
            self.text += f"{problem}\n"

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
        summary = SUMMARY.search(guest.text.splitlines()[-1]) if guest.text else None
        if summary:
            passed, failed, skipped = (int(n) for n in summary.groups())
            results.passed += passed
            results.failed += failed
            results.skipped += skipped
        else:
            results.add(f"guest with Linux {guest.kernel}", f"  it gave no results\n  {guest.text[-500:]}")
