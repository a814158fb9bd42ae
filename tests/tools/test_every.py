"""All tools side by side, under one load: what they write is what they declare, and what they lose they tell."""

import re
import signal
import statistics
import subprocess

import features
from processes import Running, Skipped, kernel_memory
from shared import differing, json_records, named_namespace, require_all_events, run_load, tool_names

UNITS = ("ns", "us", "ms", "sec", "bytes")
LOADS = (("tcp", 4, 3, 2), ("socket", "connects"), ("socket", "accepts"), ("socket", "listens"), ("fd",), ("session",), ("udp", "talks"))
# Where a tool makes a row for each thing the load does, and can be told to look at its namespace alone.
EXACT = ("soaccept", "soconnect", "solisten", "tcpaccept", "tcpbind", "tcpconnect", "tcplife", "tcpstates", "udpconnect", "udplife")
AT_ONCE = 12  # tools side by side: more take long to detach in a guest
# These remember sockets, and so may run out of room.
REMEMBERING = ("solife", "tcplife", "tcpstates", "udplife")


def declared_keys(root, tool):
    """The JSON keys of each table of a tool, read from its script."""
    text = (root / "tools" / f"{tool}.bt").read_text()
    tables = []
    for body in re.findall(r"^table \w+ (?:sorted by \w+ )?\{(.*?)^\}", text, re.M | re.S):
        keys = []
        for kind, name in re.findall(r"^\s*(\w+)(?: \w+)?\s+(\w+)\s+\"", body, re.M):
            has_unit = kind in UNITS and name.lower() != kind and not name.lower().endswith("_" + kind)
            keys.append(name.lower() + (f"_{kind}" if has_unit else ""))
        tables.append(keys)
    return tables


def run_all(flowtap, tools, namespace, loads, options=(), is_stopped=False, **environment):
    """{tool: its records}. The tools run together; stopped ones read nothing before the load is over."""
    running = {tool: Running(flowtap, tool, "-f", "json", "--netns", namespace, *options, **environment) for tool in tools}
    for tool, one in running.items():
        if one.process.poll() is not None:
            raise RuntimeError(f"{tool} did not start: {one.process.stderr.read()}")
        if is_stopped:
            one.process.send_signal(signal.SIGSTOP)
    for load in loads:
        run_load(*load, inside=["ip", "netns", "exec", namespace])
    records = {}
    for tool, one in running.items():
        one.process.send_signal(signal.SIGCONT)
        out, err = one.stop()
        records[tool] = json_records(out) + [{"type": "stderr", "msg": err}] * bool(err)
    return records


def rows_of(records):
    return [record for record in records if "type" not in record]


def lost_of(records):
    return sum(record["data"]["events"] for record in records if record.get("type") == "lost_events")


def having(root, option):
    return [tool for tool in tool_names(root) if f"--{option} " in subprocess.run([root / "build" / "flowtap", "help", tool], capture_output=True, text=True).stdout]


def rows_are_what_the_tables_declare(root, flowtap):
    with named_namespace() as namespace:
        problem, tools, found = "", having(root, "netns"), {}
        for first in range(0, len(tools), AT_ONCE):
            found.update(run_all(flowtap, tools[first:first + AT_ONCE], namespace, LOADS))
        for tool, records in found.items():
            tables = declared_keys(root, tool)
            strange = [row for row in rows_of(records) if list(row) not in tables]
            if strange:
                problem += f"  {tool}: {strange[0]} is no row of {tables}\n"
            if tool in EXACT and not rows_of(records):
                problem += f"  {tool} showed nothing: {records}\n"
        return problem


MOST_MEMORY, MEDIAN_MEMORY = 10 << 20, 6_500_000  # bytes, with two CPUs


def every_tool_takes_little_kernel_memory(root, flowtap):
    """the kernel's own count for each map and program"""
    if features.has("kprobe"):
        return Skipped("kernels before Linux 6.4 count what maps could take; later ones are measured on this machine")
    sizes = {}
    for tool in tool_names(root):
        running = Running(flowtap, tool)
        if size := kernel_memory(running.process):  # 0: it does not run here
            sizes[tool] = size
        running.stop()
    large = {tool: size for tool, size in sizes.items() if size > MOST_MEMORY}
    median = statistics.median(sizes.values())
    return differing("tools that take more", {}, large) + differing("tools measured", True, len(sizes) > 50) + (
        f"  the median is {median} bytes\n" if median > MEDIAN_MEMORY else "")


def what_a_full_buffer_loses_is_told_exactly(root, flowtap):
    with named_namespace() as namespace:
        loads = [("tcp", 40, 30, 30), ("many", 120)]
        whole = run_all(flowtap, EXACT, namespace, loads)
        less = run_all(flowtap, EXACT, namespace, loads, is_stopped=True, FLOWTAP_PERF_RB_PAGES="1")
        for records in [*whole.values(), *less.values()]:
            require_all_events(records)
        problem = ""
        for tool in EXACT:
            rows, kept, lost = len(rows_of(whole[tool])), len(rows_of(less[tool])), lost_of(less[tool])
            problem += differing(f"{tool}: rows and lost rows", rows, kept + lost)
            if rows > 90 and not lost:
                problem += f"  {tool} lost nothing of {rows} rows: its buffer was not small\n"
        return problem


def a_full_map_is_told(root, flowtap):
    with named_namespace() as namespace:
        problem = ""
        for tool, records in run_all(flowtap, REMEMBERING, namespace, [("many", 40)], ["--max-keys", "10"]).items():
            if not any("is full" in record.get("msg", "") for record in records):
                problem += f"  {tool} --max-keys 10 does not say that a map is full: {records[-3:]}\n"
        return problem
