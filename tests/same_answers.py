"""What makes flowtap cheap changes no answer: each choice beside the same script without it, on all CPUs at once."""

import os
import subprocess
import sys
from collections import Counter

import typed_reads
from processes import Running

# Calls itself by each name in turn, on one CPU, and fails to make a directory so many times by each.
RENAMES = """
import ctypes, os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
libc = ctypes.CDLL(None)
for name, calls in zip(sys.argv[2::2], sys.argv[3::2]):
    libc.prctl(15, name.encode(), 0, 0, 0)
    for _ in range(int(calls)):
        libc.mkdir(b"/no/such/place", 0)
"""
NAMES = {"fifteen-letters": 101, "f": 103, "seven-l": 107, "eight-le": 109, "nine-lett": 113, "ft": 127}


def rename_on_all_cpus():
    """How often each name was used."""
    words = [word for name, calls in NAMES.items() for word in (name, str(calls))]
    cpus = os.sched_getaffinity(0)
    children = [subprocess.Popen([sys.executable, "-c", RENAMES, str(cpu), *words]) for cpu in cpus]
    for child in children:
        child.wait()
    return {name: calls * len(cpus) for name, calls in NAMES.items()}


def names_in_the_task_are_those_of_the_helper(flowtap):
    script = "tracepoint:syscalls:sys_enter_mkdir { @[comm] = count(); }"
    tracers = [Running(flowtap, "-e", script), Running(flowtap, "--no-feature", "comm_in_place", "-e", script)]
    expected = rename_on_all_cpus()
    for tracer in tracers:
        lines = Counter(tracer.stop()[0].splitlines())
        for name, calls in expected.items():
            # Bytes left over from a longer name would give a second line for the name.
            found = [line for line in lines.elements() if line.startswith(f"@[{name}]:")]
            if found != [f"@[{name}]: {calls}"]:
                return f"{calls} calls by '{name}' became {found}"
    return ""


def name_in_the_task_is_part_of_keys_and_rows(flowtap):
    script = 'tracepoint:syscalls:sys_enter_mkdir /comm == "nine-lett"/ { @[cpu, comm, pid] = count(); printf("%s|\\n", comm); }'
    running = Running(flowtap, "-e", script)
    cpus = len(os.sched_getaffinity(0))
    rename_on_all_cpus()
    lines = running.stop()[0].splitlines()
    rows = lines.count("nine-lett|")
    keys = [line for line in lines if "nine-lett, " in line and line.endswith(": 113")]
    return "" if rows == 113 * cpus and len(keys) == cpus else f"{rows} rows, keys {keys}"


def maps_that_nothing_uses_take_no_room(flowtap):
    script = 'begin { if (getopt("all", false)) { @all[comm] = count(); } @one[1] = count(); print(@all); clear(@all); exit(); }'
    said = {}
    for entries, options in {"1": [], "4096": ["--no-feature", "small_maps"]}.items():
        done = subprocess.run([flowtap, "-q", "-d", "maps", *options, "-e", script], capture_output=True, text=True)
        maps = [line for line in done.stderr.splitlines() if line.startswith("@all: type")]
        if [line.rsplit(" ", 1)[1] for line in maps] != [entries]:
            return f"{options}: {done.stdout}{done.stderr}"
        said[entries] = done.stdout
    if said["1"] != said["4096"] or "@one[1]: 1" not in said["1"]:
        return str(said)
    done = subprocess.run([flowtap, "-q", "-e", script, "--", "--all"], capture_output=True, text=True)
    return "" if "@all[flowtap]: 1" in done.stdout else done.stdout + done.stderr


def typed_reads_give_what_helpers_give(flowtap):
    return "".join(typed_reads.problems_of(flowtap, name) for name in typed_reads.STRUCTS)
