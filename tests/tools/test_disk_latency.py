"""biolatency, biosnoop and the others that time requests, beside what the load did and what the kernel counted of the disk."""

import contextlib
import os
import sys
from collections import Counter

from disk_counters import counters
from disk_shared import (crypt_disk, ftrace, histograms, loop_disk, make_file_system, mounted, output_during, run,
                         slow_disk, zram_disk)
from functions import may_miss_events
from processes import Running, Skipped, wait_for
from shared import differing, json_rows

GROUP = "disks"  # they share devices, and the name of their workload

MIXED = ("read:101:4096", "write:53:65536", "dirty:64:4096", "flush:3:0")


@may_miss_events("requests that end in softirq")
def biolatency_counts_every_request(root, flowtap):
    """/sys/block/DISK/stat: reads, writes, flushes"""
    with loop_disk() as (disk, _):
        done, lines, err = output_during(flowtap, disk, MIXED, "biolatency", "--disk", disk, "--by-disk", "--by-flags")
        counted = done["counted"]
        # The load's flushes, and that at the end of its buffered writes, are writes without data.
        expected = {f"{disk},RS": counted["reads"], f"{disk},WS": counted["writes"] - 4, f"{disk},FF": counted["flushes"]}
        problem = differing("device time", expected, histograms(lines, "@usecs")) + err
        done, lines, err = output_during(flowtap, disk, MIXED, "biolatency", "--disk", disk, "--by-disk", "--queue")
        counted = done["counted"]
        return problem + differing("queue time", {disk: counted["reads"] + counted["writes"]}, histograms(lines, "@usecs")) + err


@may_miss_events("requests that end in softirq")
def biolatency_counts_bios_of_devices_without_requests(root, flowtap):
    """/sys/block/zram0/stat: reads, writes"""
    with zram_disk() as disk:
        done, lines, err = output_during(flowtap, disk, ("write:31:4096", "read:17:4096"), "biolatency", "--disk", disk, "--bios", "--by-flags", "--linear")
        counted = done["counted"]
        return differing("bios", {"RS": counted["reads"], "WS": counted["writes"]}, histograms(lines, "@usecs")) + err


def biolatency_times_the_device(root, flowtap):
    """a disk (null_blk) that takes 7 ms"""
    with slow_disk(7) as disk:
        if not disk:
            return Skipped("this kernel has no null_blk")
        done, lines, err = output_during(flowtap, disk, ("read:23:4096",), "biolatency", "--disk", disk, "--linear")
        buckets = [bucket for line in lines for bucket in line["data"]["@usecs"]["all"] if bucket["count"]]
        early = [bucket for bucket in buckets if bucket["max"] < 7000]
        return differing("requests", 23, sum(bucket["count"] for bucket in buckets)) + differing("faster than the disk", [], early) + err


def requests_of(rows, op):
    return [(row["sector"], row["bytes"]) for row in rows if row["op"] == op and row["bytes"]]


@may_miss_events("requests that end in softirq")
def biosnoop_shows_every_request(root, flowtap):
    """the load's own I/O; /sys/block/DISK/stat"""
    with loop_disk() as (disk, _):
        done, rows, err = output_during(flowtap, disk, ("randread:37:8192", "write:11:65536", "flush:2:0"), "biosnoop", "--disk", disk)
    mine = [row for row in rows if row["pid"] == done["pid"]]
    problem = "".join(differing(op, [(call["sector"], call["bytes"]) for call in done["calls"] if call["op"] == op], requests_of(mine, op))
                      for op in ("read", "write"))
    problem += "".join(differing("row", "its times add up", row) for row in rows if abs(row["queue_us"] + row["device_us"] - row["lat_us"]) > 0.01)
    counted = done["counted"]
    found = {"reads": sum(row["op"] == "read" for row in rows), "writes": sum(row["op"] == "write" for row in rows),
             "flushes": sum(row["op"] == "flush" for row in rows)}
    return problem + differing("counters", {name: counted[name] for name in found}, found) + err


@may_miss_events("requests that end in softirq")
def biosnoop_shows_what_a_file_system_does(root, flowtap):
    """/sys/block/DISK/stat; flags in the kernel's own trace of block_rq_issue"""
    with loop_disk() as (disk, _), contextlib.ExitStack() as stack:
        make_file_system(disk)
        before = counters(disk)
        running = Running(flowtap, "biosnoop", "--disk", disk, "-f", "json")
        trace = stack.enter_context(ftrace("block_rq_issue", disk))
        with mounted(disk) as folder:
            for n in range(7):
                with open(folder / f"file{n}", "wb") as file:
                    file.write(b"x" * 8192)
                    file.flush()
                    os.fsync(file.fileno())
        wait_for(lambda: counters(disk)["in_flight"] == 0)
        counted = {name: value - before[name] for name, value in counters(disk).items()}
        out, err = running.stop()
    rows = json_rows(out)
    found = {name: sum(row["op"] == op for row in rows) for name, op in (("reads", "read"), ("writes", "write"), ("flushes", "flush"))}
    flags = Counter(row["flags"] for row in rows if row["bytes"] or row["op"] == "flush")
    issued = Counter(line.split(" block_rq_issue: ")[1].split()[1] for line in trace)
    return (differing("counters", {name: counted[name] for name in found}, found) + differing("flags", issued, flags)
            + differing("any journal", True, any("M" in letters for letters in flags)) + err)


WRITE = "import os, sys\nwith open(sys.argv[1], 'wb') as f: f.write(b'x' * 163840)\nprint(os.getpid())\n"


@may_miss_events("requests that end in softirq")
def biosnoop_names_the_process_of_buffered_writes(root, flowtap):
    """the process that wrote the file, and its size"""
    with loop_disk() as (disk, _):
        make_file_system(disk, "-O", "^has_journal")
        with mounted(disk) as folder:
            running = Running(flowtap, "biosnoop", "--disk", disk, "-f", "json")
            writer = int(run(sys.executable, "-c", WRITE, folder / "file"))
            run("sync", "-f", folder / "file")
            out, err = running.stop()
    written = sum(row["bytes"] for row in json_rows(out) if row["pid"] == writer and row["op"] == "write")
    return differing("bytes of its writes", 163840, written) + err


def biosnoop_names_the_process_above_dm(root, flowtap):
    """the load's own I/O above dm-crypt"""
    with loop_disk() as (disk, _), crypt_disk(disk) as above:
        if not above:
            return Skipped("this kernel has no dm-crypt")
        done, rows, err = output_during(flowtap, above, ("write:13:8192", "read:17:4096"), "biosnoop", "--disk", disk)
    mine = [row for row in rows if row["pid"] == done["pid"]]
    return "".join(differing(op, [(call["sector"], call["bytes"]) for call in done["calls"] if call["op"] == op], sorted(requests_of(mine, op)))
                   for op in ("read", "write")) + err


def biosnoop_times_queue_and_device(root, flowtap):
    """a disk (null_blk) that takes 7 ms"""
    with slow_disk(7) as disk:
        if not disk:
            return Skipped("this kernel has no null_blk")
        done, rows, err = output_during(flowtap, disk, ("read:5:4096",), "biosnoop", "--disk", disk, "--min-ms", "7")
        _, none, _ = output_during(flowtap, disk, ("read:5:4096",), "biosnoop", "--disk", disk, "--comm", "nobody")
    return differing("rows of 7 ms and more", 5, sum(row["device_us"] >= 7000 for row in rows)) + differing("rows of nobody", [], none) + err
