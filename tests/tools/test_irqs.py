"""Interrupts, beside what the kernel counted."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from functions import may_miss_events
from namespaces import Namespace, nearly, send
from processes import Running
from shared import differing, flowtap_text, json_records, json_rows

KERNEL_NAMES = {"HI": "hi", "TIMER": "timer", "NET_TX": "net_tx", "NET_RX": "net_rx", "BLOCK": "block", "IRQ_POLL": "irq_poll",
                "TASKLET": "tasklet", "SCHED": "sched", "HRTIMER": "hrtimer", "RCU": "rcu"}


def counted_softirqs():
    lines = open("/proc/softirqs").read().splitlines()[1:]
    return {KERNEL_NAMES[line.split(":")[0].strip()]: sum(map(int, line.split()[1:])) for line in lines}


def counted_interrupts():
    """{(number, names): how often}, of those that have a number"""
    lines = open("/proc/interrupts").read().splitlines()
    cpus = len(lines[0].split())
    fields = [line.split() for line in lines[1:]]
    return {int(f[0][:-1]): sum(map(int, f[1:1 + cpus])) for f in fields if f[0][:-1].isdigit()}


def between(name, inner, outer, found):
    """Not less than came while it certainly ran, not more than came in all."""
    return "".join(differing(f"{name} {key}: {inner.get(key, 0)} to {outer.get(key, 0)}, found {found.get(key, 0)}", "",
                             nearly(key, max(inner.get(key, 0), found.get(key, 0)), found.get(key, 0), 0.8)
                             + ("" if found.get(key, 0) <= outer.get(key, 0) else "too many")) for key in inner.keys() | found.keys())


def grown(before, after):
    return {key: after[key] - before.get(key, 0) for key in after if after[key] > before.get(key, 0)}


def around(flowtap, counted, *arguments):
    """(rows, growth while the tool certainly ran, growth in all, stderr)"""
    outer = counted()
    running = Running(flowtap, *arguments, "-f", "json")
    inner = counted()
    with Namespace() as namespace:
        send(namespace, "127.0.0.1", 300)
    subprocess.run(["dd", "if=/dev/urandom", "of=/dev/null", "bs=1M", "count=20"], capture_output=True)
    inner = grown(inner, counted())
    out, err = running.stop()
    return json_rows(out), inner, grown(outer, counted()), err


def softirqs_counts_every_run(root, flowtap):
    """/proc/softirqs"""
    rows, inner, outer, err = around(flowtap, counted_softirqs, "softirqs")
    rows = [row for row in rows if "softirq" in row]
    wrong = [row for row in rows if not row["avg_us"] <= row["max_us"] <= row["total_us"]]
    return (between("softirq", inner, outer, {row["softirq"]: row["count"] for row in rows})
            + differing("net_rx of the load", True, any(row["softirq"] == "net_rx" and row["count"] >= 240 for row in rows))
            + differing("order of times", [], wrong) + err)


def softirqs_shows_histograms_and_slow_ones(root, flowtap):
    """the table beside the histogram; nothing takes 100 s"""
    code, out, err = flowtap_text(flowtap, "softirqs", "--hist", "--duration", "1", "-f", "json")
    _, slow, _ = flowtap_text(flowtap, "softirqs", "--min-us", "100000000", "--duration", "1", "-f", "json")
    counts, found = {}, {}
    for data in map(json.loads, out.splitlines()):
        if data.get("type") == "hist":
            counts = {name: sum(bucket["count"] for bucket in buckets) for name, buckets in data["data"]["@usecs"].items()}
        elif "softirq" in data:
            found[data["softirq"]] = data["count"]
    return differing("histograms", found, counts) + differing("some", True, bool(found)) + differing("slow", [], json_rows(slow)) + err


@may_miss_events("interrupts of a process of the system")
def hardirqs_counts_every_handler(root, flowtap):
    """/proc/interrupts"""
    rows, inner, outer, err = around(flowtap, counted_interrupts, "hardirqs")
    rows = [row for row in rows if "irq" in row]
    names = {line.split(":")[0].strip(): line for line in open("/proc/interrupts")}
    wrong = [row for row in rows if row["name"] not in names[str(row["irq"])]]
    return (between("irq", inner, outer, {row["irq"]: row["count"] for row in rows}) + differing("names", [], wrong)
            + differing("CPUs", {-1} if rows else set(), {row["cpu"] for row in rows}) + err)


def softirqs_counts_ends_that_it_did_not_see(root, flowtap):
    """the tool without the end of timers: the next begins while the last is still open"""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(root / "tools" / "lib", Path(folder) / "lib")
        os.chmod(folder, 0o755)
        text = (root / "tools" / "softirqs.bt").read_text()
        (Path(folder) / "softirqs.bt").write_text(text.replace("rawtracepoint:softirq_exit {", "rawtracepoint:softirq_exit /args.vec_nr != TIMER_SOFTIRQ/ {"))
        running = Running(flowtap, "softirqs", "-f", "json", FLOWTAP_TOOLS=folder)
        until = time.monotonic() + 0.3  # a CPU that is busy has timers
        while time.monotonic() < until:
            pass
        out, err = running.stop()
    said = [record["msg"] for record in json_records(out) if re.search(r"exits? (was|were) not seen", record.get("msg", ""))]
    return differing("what is said", 1, len(said)) + err
