#!/usr/bin/env python3
"""Start-up time, peak memory and cost per event of flowtap, beside bpftrace in the same run.

Times on a shared machine are noisy, so only ratios within one run mean something. The cost of an
event is the kernel's own: run_time_ns / run_cnt of the loaded programs (kernel.bpf_stats_enabled),
minus that of an empty program of the same tool.
"""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CALLS = 400_000
ROUNDS = 3
READ = "tracepoint:syscalls:sys_enter_read"

STARTS = {
    "BEGIN { exit(); }": "BEGIN { exit(); }",
    "one-liner that exits in BEGIN": READ + " { @[comm] = count(); } BEGIN { exit(); }",
}
EVENTS = {
    "@ = count()": READ + " { @ = count(); }",
    "@[comm] = count()": READ + " { @[comm] = count(); }",
    "@[pid, comm] = hist(args.count)": READ + " { @[pid, comm] = hist(args->count); }",
    "enter/exit latency of read": READ + " { @start[tid] = nsecs; } tracepoint:syscalls:sys_exit_read /@start[tid]/ "
    "{ @ns = hist(nsecs - @start[tid]); delete(@start[tid]); }",
}
EMPTY = {"one probe": READ + " { }", "two probes": READ + " { } tracepoint:syscalls:sys_exit_read { }"}


def start_up(measure, tool, script):
    """(median milliseconds, peak megabytes)"""
    times, peak = [], 0
    for _ in range(10):
        done = subprocess.run([measure, tool, "-e", script], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        milliseconds, kilobytes = done.stderr.split()[-2:]
        times.append(float(milliseconds))
        peak = max(peak, float(kilobytes) / 1024)
    return statistics.median(times), peak


def program_ids():
    programs = json.loads(subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True).stdout)
    return {p["id"]: (p.get("run_time_ns", 0), p.get("run_cnt", 0)) for p in programs}


def wait_until_attached(before):
    """bpftrace attaches some time after it starts; its programs appear when it does."""
    for _ in range(100):
        time.sleep(0.1)
        if set(program_ids()) - before:
            time.sleep(0.5)
            return
    sys.exit("nothing was attached")


def cost(tool, script, load):
    """Nanoseconds per read: the sum over the programs that ran for each."""
    rounds = []
    for _ in range(ROUNDS):
        before = set(program_ids())
        process = subprocess.Popen([tool, "-e", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until_attached(before)
        first = program_ids()
        subprocess.run([load, str(CALLS)], check=True)
        last = program_ids()
        process.send_signal(signal.SIGINT)
        process.wait()
        total = 0.0
        for number in set(last) - before:
            ns, runs = (last[number][i] - first.get(number, (0, 0))[i] for i in (0, 1))
            if runs >= CALLS:
                total += ns / runs
        rounds.append(total)
    return min(rounds)


def main():
    if os.geteuid() != 0:
        sys.exit("this has to run as root")
    flowtap = str(ROOT / "build" / "flowtap")
    tools = {"flowtap": flowtap}
    if shutil.which("bpftrace"):
        tools["bpftrace"] = shutil.which("bpftrace")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("read_load", "measure"):
            subprocess.run(["gcc", "-O2", "-o", Path(folder) / name, ROOT / "bench" / f"{name}.c"], check=True)
        stats = Path("/proc/sys/kernel/bpf_stats_enabled")
        was = stats.read_text()
        stats.write_text("1")
        try:
            report(tools, Path(folder))
        finally:
            stats.write_text(was)


def line(name, values, form):
    ratio = f"{values['flowtap'] / values['bpftrace']:8.2f}" if "bpftrace" in values else ""
    print(f"{name:40}" + "".join(f"{format(v, form):>12}" for v in values.values()) + ratio, flush=True)


def report(tools, folder):
    load = str(folder / "read_load")
    print(f"{'':40}" + "".join(f"{t:>12}" for t in tools) + ("   ratio" if len(tools) > 1 else ""))
    for name, script in STARTS.items():
        results = {t: start_up(str(folder / "measure"), path, script) for t, path in tools.items()}
        line(name + ", ms", {t: r[0] for t, r in results.items()}, ".1f")
        line(name + ", MB", {t: r[1] for t, r in results.items()}, ".1f")
    empty = {name: {t: cost(path, script, load) for t, path in tools.items()} for name, script in EMPTY.items()}
    for name, values in empty.items():
        line(f"empty program ({name}), ns", values, ".1f")
    for name, script in EVENTS.items():
        base = empty["two probes" if "sys_exit" in script else "one probe"]
        line(name + ", net ns", {t: cost(path, script, load) - base[t] for t, path in tools.items()}, ".1f")


if __name__ == "__main__":
    main()
