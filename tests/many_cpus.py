"""What depends on the number of CPUs, in a guest that prepares for 128 and has nine of them. Each function is one test and gives what
went wrong, or nothing."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

from functions import alone
from processes import Running

POSSIBLE = 128
MOST_FOR_HISTOGRAM, MOST_FOR_KEY = 8192, 8256  # bytes; a key that no CPUs can share has 64 bytes for each
MOST_FOR_TOOL = 60_000_000
SAME_LANE = (0, 8)  # CPUs that share a lane of a histogram


def keys_of(flowtap, statement):
    script = f"begin {{ for ($i : 0..1000) {{ {statement} }} exit(); }}"
    done = subprocess.run([flowtap, "-q", "-f", "json", "-e", script], capture_output=True, text=True)
    return [len(map_) for line in done.stdout.splitlines() for map_ in json.loads(line)["data"].values()], done.stderr


def has_as_many_cpus(flowtap):
    found = subprocess.run([flowtap, "-q", "-e", "begin { print(ncpus); exit(); }"], capture_output=True, text=True).stdout.strip()
    online = len(os.sched_getaffinity(0))
    return "" if (found, online) == (str(POSSIBLE), 9) else f"{found} possible CPUs, {online} there"


def a_burst_of_new_keys_is_kept(flowtap):
    problem = ""
    for statement in ("@[$i] = hist($i);", "@[$i] = lhist($i, 0, 1000, 10);", "@[$i] = count();", "@[$i] = stats($i);", "@[$i] = max($i);", "@[$i] = $i;"):
        counts, err = keys_of(flowtap, statement)
        problem += "" if (counts, err) == ([1000], "") else f"  {statement}: {counts} {err}\n"
    return problem


def a_key_takes_at_most_eight_kilobytes(flowtap):
    script = "begin { @h[1] = hist(1); @l[1] = lhist(1, 0, 1000, 10); @c[1] = count(); @s[1] = stats(1); @x[1] = max(1); }"
    listed = subprocess.run([flowtap, "--dry-run", "-d", "maps", "-e", script], capture_output=True, text=True).stderr
    sizes = {name: int(size) for name, size in re.findall(r"^(@\w+): .*value (\d+),", listed, re.M)}
    large = {name: size for name, size in sizes.items() if size > (MOST_FOR_HISTOGRAM if name in ("@h", "@l") else MOST_FOR_KEY)}
    return "" if len(sizes) == 5 and not large else f"{sizes}"


def free_memory():
    return 1024 * int(re.search(r"MemFree:\s*(\d+)", Path("/proc/meminfo").read_text())[1])


@alone
def a_thousand_keys_take_little_memory(flowtap):
    """By what the machine has left: before Linux 6.4 the kernel tells what a map could take, not what it takes."""
    problem = ""
    keys = "begin { for ($i : 0..1000) { @h[$i] = hist($i); @c[$i, 1] = count(); @s[$i, comm] = stats(1); } }"
    for words in (["-e", keys], ["biolatency"], ["napi"], ["softirqs"], ["socketio"], ["tcplife"]):
        time.sleep(2)  # the kernel frees what the one before had
        before = free_memory()
        running = Running(flowtap, *words)
        taken = before - free_memory()
        running.stop()
        problem += "" if 1_000_000 < taken < MOST_FOR_TOOL else f"  {words}: {taken} bytes\n"
    return problem


def cpus_that_share_a_lane_lose_nothing(flowtap):
    """Two processes on CPUs of one lane, whose calls interrupt each other's programs."""
    calls = 20_000
    script = "tracepoint:syscalls:sys_enter_getppid { @h[1] = hist(args.__syscall_nr); @l[2] = lhist(1, 0, 10, 1); @a[3] = avg(8); }"
    running = Running(flowtap, "-f", "json", "-e", script)
    work = f"import os; [os.getppid() for _ in range({calls})]"
    processes = [subprocess.Popen(["taskset", "-c", str(cpu), "python3", "-c", work]) for cpu in SAME_LANE]
    for process in processes:
        process.wait()
    out, err = running.stop()
    found = dict(pair for line in out.splitlines() for pair in json.loads(line)["data"].items())
    totals = [sum(bucket["count"] for bucket in found[name][key]) for name, key in (("@h", "1"), ("@l", "2"))]
    expected = calls * len(SAME_LANE)
    is_right = totals == [expected, expected] and found["@a"] == {"3": 8} and not err
    return "" if is_right else f"expected {expected}, found {totals} {found['@a']}\n{err}"
