"""What the tests found: counts, times, what was skipped, what had to be tried again."""

import json
import os
import re
import threading
from pathlib import Path

TESTS = Path(__file__).resolve().parent
MARK = "RESULTS "  # begins the line by which a run within another one, in a guest say, hands over its results
IS_WITHIN = "FLOWTAP_TESTS_WITHIN" in os.environ


class Results:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, 0
        self.failures, self.flaky = [], []
        self.skipped_names = []
        self.skips = {}  # by kernel and part; see skips.py
        self.times = {}  # by test
        self.parts = {}  # seconds by part
        self.lock = threading.Lock()

    def add(self, name, problem="", skipped="", seconds=0.0):
        with self.lock:
            if seconds:
                self.times[name] = seconds
            if skipped:
                self.skipped += 1
                self.skipped_names.append(re.sub(r" \(.*|:\d+$", "", name))  # without file and line
                print(f"skipped {name}: {skipped}", flush=True)
            elif problem:
                self.failed += 1
                self.failures.append(name)
                print(f"FAILED {name}\n{problem}", flush=True)
            else:
                self.passed += 1

    def tried_again(self, name, problem):
        with self.lock:
            self.flaky.append(name)
            print(f"again: {name}\n{problem}", flush=True)

    def hand_over(self):
        fields = ("passed", "failed", "skipped", "failures", "flaky", "times", "parts", "skips")
        print(MARK + json.dumps({field: getattr(self, field) for field in fields}), flush=True)

    def take_over(self, line, where):
        """What a run within this one has handed over."""
        there = json.loads(line[len(MARK):])
        with self.lock:
            self.passed += there["passed"]
            self.failed += there["failed"]
            self.skipped += there["skipped"]
            self.failures += [where + name for name in there["failures"]]
            self.flaky += [where + name for name in there["flaky"]]
            self.times |= {where + name: seconds for name, seconds in there["times"].items()}
            for kernel, parts in there["skips"].items():
                self.skips.setdefault(kernel, {}).update(parts)
            self.parts |= {where + name: seconds for name, seconds in there["parts"].items()}

    def report(self):
        """The last lines of a run."""
        slowest = sorted(self.times.items(), key=lambda item: -item[1])[:20]
        if len(self.parts) > 1:
            print("times of all parts: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in self.parts.items()))
            print("the slowest tests: " + ", ".join(f"{name.split(' (')[0]} {seconds:.0f} s" for name, seconds in slowest))
        for name, seconds in self.parts.items():
            if seconds > 2 * budgets().get(name, seconds):
                print(f"over its budget: {name} took {seconds:.0f} s, twice the {budgets()[name]:.0f} s of tests/budgets.txt")
        for name in self.failures:
            print(f"failed: {name}")
        print(f"flaky: {len(self.flaky)}" + "".join(f" {name.split(' (')[0]}" for name in self.flaky))
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)


def budgets():
    """Seconds by part, on two cores with everything side by side."""
    path = TESTS / "budgets.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    return {name: float(seconds) for name, seconds in (line.rsplit(" ", 1) for line in lines if line and line[0] != "#")}
