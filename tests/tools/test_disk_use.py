"""biotop, bitesize, seeksize, biopattern and the others that tell what disks are used for."""

import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from disk_shared import loop_disk, output_during
from functions import may_miss_events
from processes import Running
from quick_reports import reports_that_do_not_add_up
from shared import differing, run_load

GROUP = "disks"  # they share devices, and the name of their workload

ME = "disk_load"


def buckets(lines, name, key):
    """{lower bound: count} of one histogram"""
    found = Counter()
    for line in lines:
        for bucket in line.get("data", {}).get(name, {}).get(key, []) if line.get("type") == "hist" else []:
            found[bucket["min"]] += bucket["count"]
    return +found


def powers(values):
    return Counter(0 if value == 0 else 1 << (value.bit_length() - 1) for value in values)


@may_miss_events("requests that end in softirq")
def biotop_sums_what_processes_did(root, flowtap):
    """/sys/block/DISK/stat: requests and sectors; the load's process"""
    with loop_disk() as (disk, _):
        done, rows, err = output_during(flowtap, disk, ("read:41:8192", "write:19:65536"), "biotop", "--disk", disk)
        _, none, _ = output_during(flowtap, disk, ("read:5:4096",), "biotop", "--disk", disk, "-p", "1")
    found = Counter()
    for row in rows:
        found.update({(row["pid"], row["op"], "io"): row["io"], (row["pid"], row["op"], "bytes"): row["bytes"]})
    counted, pid = done["counted"], done["pid"]
    expected = {(pid, "read", "io"): counted["reads"], (pid, "read", "bytes"): counted["read_sectors"] * 512,
                (pid, "write", "io"): counted["writes"], (pid, "write", "bytes"): counted["write_sectors"] * 512}
    return differing("sums", expected, {key: found[key] for key in found if key[0] == pid}) + differing("of process 1", [], none) + err


@may_miss_events("requests that end in softirq")
def bitesize_has_every_size(root, flowtap):
    """the load's own sizes"""
    with loop_disk() as (disk, _):
        _, lines, err = output_during(flowtap, disk, ("read:41:8192", "read:7:512", "write:19:65536", "flush:2:0"), "bitesize", "--disk", disk)
    return (differing("reads", {8192: 41, 512: 7}, buckets(lines, "@bytes", f"{ME},read"))
            + differing("writes", {65536: 19}, buckets(lines, "@bytes", f"{ME},write")) + err)


def seeks(calls):
    ends = [call["sector"] + call["bytes"] // 512 for call in calls]
    return [call["sector"] - end for call, end in zip(calls[1:], ends)]


@may_miss_events("requests that end in softirq")
def seeksize_has_every_distance(root, flowtap):
    """the load's own places, in both orders"""
    problem = ""
    for options in ((), ("--done",)):
        with loop_disk() as (disk, _):
            done, lines, err = output_during(flowtap, disk, ("read:31:4096", "back:23:4096", "randread:64:4096"), "seeksize", "--disk", disk, *options)
        distances = seeks(done["calls"])
        problem += differing(f"ahead {options}", powers(d for d in distances if d >= 0), buckets(lines, "@ahead", f"{ME},{disk}"))
        problem += differing(f"back {options}", powers(-d for d in distances if d < 0), buckets(lines, "@back", f"{ME},{disk}")) + err
    return problem


@may_miss_events("requests that end in softirq")
def biopattern_tells_sequential_from_random(root, flowtap):
    """the load's own places; /sys/block/DISK/stat: sectors"""
    with loop_disk() as (disk, _):
        done, rows, err = output_during(flowtap, disk, ("read:61:4096", "randread:40:4096"), "biopattern", "--disk", disk)
    sequential = sum(distance == 0 for distance in seeks(done["calls"]))  # of 100 distances
    expected = [{"disk": disk, "sequential": sequential, "random": 100 - sequential, "io": 101, "bytes": done["counted"]["read_sectors"] * 512}]
    return differing("rows", expected, [{key: row.get(key, row.get(f"{key}_bytes")) for key in expected[0]} for row in rows]) + err


def completions_that_are_missed_are_reported_once(root, flowtap):
    """copies of the tools that see no completion; a disk that uses its requests again"""
    problem = ""
    with loop_disk() as (disk, _), tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        shutil.copytree(root / "tools" / "lib", Path(folder, "lib"))
        for tool in ("biosnoop", "biotop", "bitesize", "seeksize", "bioerr", "biolatency"):
            text = (root / "tools" / f"{tool}.bt").read_text()
            text = text.replace("rawtracepoint:block_rq_complete {", "rawtracepoint:block_rq_complete /false/ {")
            Path(folder, f"{tool}.bt").write_text(text.replace("rawtracepoint:block_rq_complete /", "rawtracepoint:block_rq_complete /false && "))
            running = Running(flowtap, tool, FLOWTAP_TOOLS=folder)
            run_load("disk", disk, "read:1000:4096", inside=())
            _, err = running.stop()
            places = set(re.findall(r"(?m)^(\S+): warning: \d+ completions? w", err))  # while it runs, and with the final count
            problem += differing(f"{tool}: places", 1, len(places))
    return problem


@may_miss_events("requests that end in softirq")
def reports_of_disks_add_up(root, flowtap):
    """one report of the same tool for the same requests"""
    with loop_disk(32) as (disk, _):
        of_disk = ("--disk", disk)
        return reports_that_do_not_add_up(root, flowtap, {"biotop": (of_disk, ("io", "bytes")), "biopattern": (of_disk, ("io", "bytes"))},
                                          lambda: run_load("disk", disk, "read:5000:4096", inside=()))
