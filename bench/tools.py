"""All tools: milliseconds from exec to attached, kernel memory of their maps and programs, own memory, and a dry run; beside
libbpf-tools where a tool of the same name starts.

A tool is attached when it says so on standard output; one of libbpf-tools, which cannot, when it has had the same kernel objects
for a while, so its time is a lower bound that counts up to the last new object."""

import os
import re
import shutil
import signal
import statistics
import subprocess
import time
from pathlib import Path

from machine import ROOT, vm_peak_megabytes
from table import Row

ROUNDS = int(os.environ.get("ROUNDS", 5))
READY = "__BPFTRACE_NOTIFY_PROBES_ATTACHED"
OBJECT = re.compile(r"^(?:map|prog)_id:\s*(\d+)$", re.M)
SETTLED = 0.3  # seconds without a new kernel object
MOST_MILLISECONDS, MOST_MEGABYTES = 30, 10
MEDIAN_MILLISECONDS, MEDIAN_MEGABYTES = 12, 5


def kernel_objects(pid):
    """{kind and id: bytes} of the maps and programs that a process has open."""
    found = {}
    for descriptor in Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            text = descriptor.read_text()
        except OSError:  # closed meanwhile
            continue
        bytes_, name = re.search(r"^memlock:\s*(\d+)$", text, re.M), OBJECT.search(text)
        if bytes_ and name:
            found[name[0]] = int(bytes_[1])
    return found


def end(process):
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)


def start_flowtap(flowtap, tool):
    """(milliseconds, kernel megabytes, own megabytes); None when the tool does not run here."""
    begin = time.monotonic()
    process = subprocess.Popen([flowtap, "-q", tool], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, **{READY: "1"}))
    is_ready = any(line.strip() == READY for line in process.stdout)
    milliseconds = 1000 * (time.monotonic() - begin)
    if not is_ready:
        process.wait()
        return None
    result = milliseconds, sum(kernel_objects(process.pid).values()) / 1e6, vm_peak_megabytes(process.pid)
    end(process)
    return result


def start_libbpf(path):
    begin = last = time.monotonic()
    process = subprocess.Popen([path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    objects = {}
    while process.poll() is None and time.monotonic() - last < SETTLED:
        now = kernel_objects(process.pid)
        if set(now) - set(objects):
            last = time.monotonic()
        objects |= now
        time.sleep(0.001)
    if process.poll() is not None or not objects:
        process.wait()
        return None
    result = 1000 * (last - begin), sum(objects.values()) / 1e6, vm_peak_megabytes(process.pid)
    end(process)
    return result


def dry_run(flowtap, tool):
    begin = time.monotonic()
    subprocess.run([flowtap, "--dry-run", tool], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return 1000 * (time.monotonic() - begin)


def medians(rows):
    return [statistics.median(column) for column in zip(*rows)]


def measure_one(flowtap, tool):
    """The medians of what start_flowtap() gives and of a dry run, and of the tool of libbpf-tools; None for what does not start."""
    ours, theirs = [], []
    path = shutil.which(tool)
    for _ in range(ROUNDS):
        started = start_flowtap(flowtap, tool)
        if started is None:
            return None, None
        ours.append((*started, dry_run(flowtap, tool)))
        other = start_libbpf(path) if path and is_libbpf_tool(path) else None
        if other:
            theirs.append(other)
    return medians(ours), medians(theirs) if len(theirs) == ROUNDS else None


def is_libbpf_tool(path):
    """Not the script of the same name that bpfcc-tools or perf-tools have."""
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def measure(machine):
    columns = ("start, ms", "kernel memory, MB", "own memory, MB", "dry run, ms")
    limits = (MOST_MILLISECONDS, MOST_MEGABYTES, None, None)
    all_tools = []
    for tool in sorted(path.stem for path in (ROOT / "tools").glob("*.bt")):
        ours, theirs = measure_one(machine.flowtap, tool)
        if ours is None:
            print(f"# {tool} does not run here", flush=True)
            continue
        all_tools.append(ours)
        for i, (column, limit) in enumerate(zip(columns, limits)):
            values = {"flowtap": ours[i]} | ({"libbpf": theirs[i]} if theirs and i < len(theirs) else {})
            yield Row(f"{tool}: {column}", values, at_most=limit)
    middle = medians(all_tools)
    for column, value, limit in zip(columns, middle, (MEDIAN_MILLISECONDS, MEDIAN_MEGABYTES, None, None)):
        yield Row(f"median of {len(all_tools)} tools: {column}", {"flowtap": value}, at_most=limit)
