"""Samples of the CPU, beside the CPU time that the load used."""

import json
import re
import subprocess
import sys

from functions import alone
from processes import Running
from shared import LOADS, differing, json_rows


def profile_of_load(flowtap, *arguments):
    """(what the load did, what the tool wrote, stderr)"""
    load = subprocess.Popen([sys.executable, LOADS / "busy_load.py", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    load.stdout.readline()  # it has started, and used CPU time for that
    running = Running(flowtap, "profile", "-p", str(load.pid), *arguments)
    done = json.loads(load.communicate("go\n")[0])
    out, err = running.process.communicate(timeout=60)
    return done, out, err


@alone
def profile_counts_cpu_time(root, flowtap):
    """the load's own CPU time (getrusage), 99 samples of each second"""
    done, out, err = profile_of_load(flowtap, "-f", "json")
    rows = json_rows(out)
    samples, expected = sum(row["count"] for row in rows), done["seconds"] * 99
    in_function = sum(row["count"] for row in rows if "memfrob" in str(row["ustack"]))
    return (differing("processes", {done["pid"]}, {row["pid"] for row in rows})
            + differing(f"{expected:.0f} samples, found {samples}", True, expected * 0.7 <= samples <= expected * 1.3 + 5)
            + differing(f"most in memfrob, found {in_function}", True, in_function >= samples * 0.8) + err)


@alone
def profile_folds_stacks(root, flowtap):
    """the load's own CPU time (getrusage), and the function it spent it in"""
    done, out, err = profile_of_load(flowtap, "--folded", "--user")
    found = [re.fullmatch(r"(\S.*) (\d+)", line) for line in out.splitlines() if line]
    samples, expected = sum(int(line[2]) for line in found if line), done["seconds"] * 99
    inside = sum(int(line[2]) for line in found if line and re.fullmatch(r"python3[^;]*;(.*;)?memfrob", line[1]))
    return (differing("lines of another form", [], [line for line, match in zip(filter(None, out.splitlines()), found) if not match])
            + differing(f"{expected:.0f} samples, found {samples}", True, expected * 0.7 <= samples <= expected * 1.3 + 5)
            + differing(f"most in memfrob, found {inside}", True, inside >= samples * 0.8) + err)
