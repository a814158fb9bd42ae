"""Which parts of the suite run side by side. A lane is a process that runs its parts one after the other: each guest is one,
since its emulated processor takes one of ours; so is what compiles for long; the rest is the third."""

import os
import subprocess
import sys
import threading
from pathlib import Path

from results import MARK

RUNNER = Path(__file__).resolve().parent / "run_tests.py"
COMPILING = ["unit", "fuzz", "format"]
GUESTS = ["guest-6.1", "guest-6.12"]
HOST = ["structure", "lang", "errors", "golden", "kernel", "restricted", "lockdown", "processes", "security", "tools", "docs",
        "random", "differential", "faults"]
GROUPS = {"all": [*GUESTS, *COMPILING, *HOST], "guests": GUESTS, "quick": ["unit", "structure", "golden", "errors", "lang"]}


def parts(arguments):
    """The parts that the words of a command line name."""
    return [name for word in arguments or ["all"] for name in GROUPS.get(word, [word])]


def divide(names):
    lanes = [[name] for name in names if name in GUESTS]
    lanes += [[name for name in names if name in COMPILING], [name for name in names if name not in COMPILING + GUESTS]]
    return [lane for lane in lanes if lane]


def run(lanes, results):
    threads = [threading.Thread(target=follow, args=(lane, results)) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def follow(lane, results):
    # Tests on this machine wait for each other's processes; guests and compilers do not mind.
    nice = [] if lane[0] in HOST else ["nice", "-n", "5"]
    environment = dict(os.environ, FLOWTAP_TESTS_WITHIN="1")
    process = subprocess.Popen([*nice, sys.executable, RUNNER, *lane], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace")
    end, is_complete = "", False
    for line in process.stdout:
        if line.startswith(MARK):
            results.take_over(line, "")
            is_complete = True
        else:
            print(line, end="", flush=True)
            end = (end + line)[-500:]
    process.wait()
    if not is_complete:
        results.add(f"the lane of {', '.join(lane)}", f"  it gave no results (exit code {process.returncode})\n  {end}")
