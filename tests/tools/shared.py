"""What the tests of tools share: running flowtap beside a known load, and comparing. Loads run on loopback in a network
namespace that the test makes."""

import itertools
import collections
import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import features
from functions import Missed, NotPossible
from processes import Running

LOADS = Path(__file__).resolve().parent
TIME_LIMIT = 60 * features.SLOWER


def flowtap_text(flowtap, *arguments, **environment):
    done = subprocess.run([flowtap, *arguments], capture_output=True, text=True, timeout=TIME_LIMIT,
                          env=dict(os.environ, **environment))
    return done.returncode, done.stdout, done.stderr


def tool_names(root):
    return sorted(path.stem for path in (root / "tools").glob("*.bt"))


def run_load(name, *numbers, inside=("unshare", "-n")):
    """What the load tests/tools/NAME_load.py says it did, in a namespace with nothing but loopback."""
    command = "ip link set lo up && exec " + " ".join([sys.executable, str(LOADS / f"{name}_load.py"), *map(str, numbers)])
    done = subprocess.run([*inside, "sh", "-c", command], capture_output=True, text=True, timeout=TIME_LIMIT)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def belongs(row, ports, pid):
    """Rows of the load's sockets: its listeners have ports of their own, a child no process before it is accepted."""
    return row.get("pid") in (0, pid) and (row["lport"] in ports or row["rport"] in ports)


def json_records(out):
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def json_rows(out):
    """Only rows have no type."""
    return [record for record in json_records(out) if "type" not in record]


def require_all_events(records):
    """A run of which flowtap itself says that events were missed, since one interrupted another, proves nothing."""
    missed = [record["msg"] for record in records if "missed" in str(record.get("msg"))]
    if missed:
        raise Missed(missed)


def run_all_beside(flowtap, commands, load):
    """(what the load gives, the JSON of each command, everything on stderr)"""
    running = [Running(flowtap, *command, "-f", "json") for command in commands]
    done = load()
    outs, errs = zip(*[one.stop() for one in running])
    for out in outs:
        require_all_events(json_records(out))
    return done, outs, "".join(errs)


def run_beside(flowtap, arguments, load):
    """(what the load gives, the tool's JSON, everything on stderr)"""
    done, outs, err = run_all_beside(flowtap, [arguments], load)
    return done, outs[0], err


def rows_by_option(flowtap, tool, options, load):
    """(what the load did, {option: the tool's rows of its process}, everything on stderr)"""
    done, outs, err = run_all_beside(flowtap, [(tool, option) for option in options], load)
    return done, {option: [row for row in json_rows(out) if row.get("pid", done["pid"]) == done["pid"]] for option, out in zip(options, outs)}, err


def rows_during(flowtap, load, *arguments):
    """(what the load did, the tool's rows that belong to it, everything on stderr)"""
    done, out, err = run_beside(flowtap, arguments, lambda: run_load("tcp", *load))
    ports = {c["near"] for c in done["connections"] + done["refused"]} | {c["far"] for c in done["connections"]}
    return done, [row for row in json_rows(out) if belongs(row, ports, done["pid"])], err


def rows_of_load(flowtap, load, numbers, *arguments):
    """(what the load did, the tool's rows of its process, everything on stderr)"""
    done, out, err = run_beside(flowtap, arguments, lambda: run_load(load, *numbers))
    return done, [row for row in json_rows(out) if row.get("pid") == done["pid"]], err


@contextlib.contextmanager
def named_namespace():
    """The name of a network namespace of ip-netns(8)."""
    name = f"flowtap-test-{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode != 0:
        raise NotPossible("no named network namespace can be made here")
    try:
        yield name
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


def plans_that_work(flowtap, tool):
    """As 'flowtap check' tells, which tries them."""
    lines = flowtap_text(flowtap, "check", tool)[1].splitlines()[1:]
    return [words[0] for words in map(str.split, lines) if words[1:2] == ["yes"]]


def differing(name, expected, found):
    return "" if expected == found else f"  {name}: expected {expected}, found {found}\n"


def rows_of_process(flowtap, load, *arguments):
    """(what the load did, the tool's rows of its processes, everything on stderr)"""
    running = Running(flowtap, *arguments, "-f", "json")
    done = run_load(*load)
    out, err = running.stop()
    pids = done["pids"] if "pids" in done else [done["pid"]]
    return done, [row for row in json_rows(out) if row.get("pid") in pids], err


def same_calls(done, rows, err, wanted=lambda call: True):
    """Nothing when the rows are the load's calls, in their order."""
    expected = [call for call in done["calls"] if wanted(call)]
    found = [{key: row[key] for key in expected[0]} for row in rows]
    pairs = itertools.zip_longest(expected, found)
    return "".join(differing(f"call {i}", call, row) for i, (call, row) in enumerate(pairs)) + err


def same_lives(done, rows, err, wanted=lambda row: True):
    """Nothing when the rows are the load's sessions and last as long as it saw."""
    expected = [session for session in done["sessions"] if wanted(session["row"])]
    problem = differing("sessions", sorted(str(session["row"]) for session in expected),
                        sorted(str({key: row[key] for key in done["sessions"][0]["row"]}) for row in rows))
    for session in expected if not problem else []:
        # One pair of ports may be used again.
        if not any(session["row"].items() <= row.items() and session["least"] <= row["life_ms"] <= session["most"] for row in rows):
            problem += f"  no row is as long as {session}: {[row for row in rows if session['row'].items() <= row.items()]}\n"
    return problem + err


def histograms_of(out, name):
    """{key: [(min, max, count)...]} of a map of histograms in a tool's JSON, without empty buckets, counts of all reports
    added up. The key of a map that has none is empty."""
    found = {}
    for row in json_records(out):
        all_buckets = row.get("data", {}).get(name, {}) if row.get("type") == "hist" else {}
        for key, buckets in (all_buckets if isinstance(all_buckets, dict) else {"": all_buckets}).items():
            for bucket in (bucket for bucket in buckets if bucket["count"]):
                place = (bucket.get("min", 0), bucket["max"])
                found.setdefault(key, {})[place] = found.get(key, {}).get(place, 0) + bucket["count"]
    return {key: [(*place, count) for place, count in sorted(buckets.items())] for key, buckets in found.items()}


def histogram(values):
    """[(min, max, count)...] as flowtap counts: 0, 1, and powers of two."""
    counts = collections.Counter(1 << (value.bit_length() - 1) if value else 0 for value in values)
    return [(low, max(2 * low - 1, 0), count) for low, count in sorted(counts.items())]


# Microseconds: BPF programs and processes have read clocks of an emulated processor up to 0.6 ms apart.
CLOCKS_DIFFER = 1000 if features.IN_GUEST else 0


def misfits(times, buckets):
    """Nothing when each time, known to be between two bounds, can be in a bucket so that all counts are right."""
    times = [{"least": time["least"] - CLOCKS_DIFFER, "most": time["most"] + CLOCKS_DIFFER} for time in times]
    left = sorted(times, key=lambda time: time["most"])
    for low, high, count in sorted(buckets):
        fitting = [time for time in left if time["least"] <= high and time["most"] >= low][:count]
        if len(fitting) < count:
            return f"  {count} in [{low}, {high}], but only {len(fitting)} of the load: {buckets}, {times}\n"
        for time in fitting:
            left.remove(time)
    return f"  not counted: {left} of {times}: {buckets}\n" if left else ""


def left_in_queues(records):
    """How many packets the tool says that it leaves out, since they are no loss."""
    told = [re.search(r"not shown: (\d+) packets?", record.get("msg", "")) for record in records]
    return sum(int(one[1]) for one in told if one)


def has_tracepoint(name):
    """Of sockets; some are younger than Linux 6.1."""
    return any(Path(f"/sys/kernel/{place}/events/sock/{name}").exists() for place in ("tracing", "debug/tracing"))
