"""biostacks, bioerr, biotimeout, biomerge, biocpu, iosched, blkplug: what happens to requests on their way."""

import re
from collections import Counter
from pathlib import Path

from disk_shared import ftrace, histograms, loop_disk, output_during, scheduler, scsi_disk
from functions import may_miss_events
from processes import Skipped
from shared import differing
from test_disk_use import ME, buckets

GROUP = "disks"  # they share devices, and the name of their workload


@may_miss_events("requests that end in softirq")
def biostacks_has_every_request_under_its_call(root, flowtap):
    """the load's own calls, by the function of the system call"""
    with loop_disk() as (disk, _):
        _, lines, err = output_during(flowtap, disk, ("read:31:4096", "write:17:8192"), "biostacks", "--disk", disk, "--comm", ME)
    found = Counter()
    for stack, count in histograms(lines, "@usecs").items():
        found.update({call: count for call in ("preadv", "pwritev") if call in stack})
    return differing("requests by call", {"preadv": 31, "pwritev": 17}, found) + err


@may_miss_events("requests that end in softirq")
def bioerr_shows_reads_beyond_the_end(root, flowtap):
    """the errors the load got, on a loop device whose file was cut"""
    with loop_disk() as (disk, file):
        with open(file, "r+b") as behind:
            behind.truncate(10 * 65536)
        done, rows, err = output_during(flowtap, disk, ("read:14:65536",), "bioerr", "--disk", disk)
    if not any("errno" in call for call in done["calls"]):
        return Skipped("loop devices of this kernel give zeros beyond the end of their files")
    expected = [(done["pid"], call["sector"], call["bytes"], "read", "EIO") for call in done["calls"] if "errno" in call]
    found = [(row["pid"], row["sector"], row["bytes"], row["op"], row["err"]) for row in rows]
    return differing("number of errors", 4, len(expected)) + differing("errors", expected, found) + err


def bioerr_decodes_the_status(root, flowtap):
    """a disk (scsi_debug) with a bad sector 0x1234"""
    with scsi_disk(opts=2) as disk:
        if not disk:
            return Skipped("this kernel has no scsi_debug")
        done, rows, err = output_during(flowtap, disk, ("read:600:4096",), "bioerr", "--disk", disk)
    failed = [call["sector"] for call in done["calls"] if "errno" in call]
    found = [(row["sector"], row["status"], row["err"]) for row in rows]
    return differing("reads that failed", [0x1230, 0x1238], failed) + differing("rows", [(sector, "medium", "ENODATA") for sector in failed], found) + err


def biotimeout_shows_unanswered_commands(root, flowtap):
    """/sys/block/DISK/device/iotmo_cnt"""
    with scsi_disk() as disk:
        if not disk:
            return Skipped("this kernel has no scsi_debug")
        device, driver = Path(f"/sys/block/{disk}/device"), Path("/sys/bus/pseudo/drivers/scsi_debug")
        (device / "timeout").write_text("1")
        before = int((device / "iotmo_cnt").read_text(), 16)
        (driver / "opts").write_text("4")
        (driver / "every_nth").write_text("8")  # no answer to each eighth command
        done, rows, err = output_during(flowtap, disk, ("read:9:4096",), "biotimeout", "--disk", disk)
        counted = int((device / "iotmo_cnt").read_text(), 16) - before
    early = [row for row in rows if row["age_ms"] < 1000]
    return (differing("timeouts", counted, sum(row["event"] == "timeout" for row in rows)) + differing("any", True, counted > 0)
            + differing("younger than the timeout", [], early) + err)


@may_miss_events("requests that end in softirq")
def biomerge_counts_merges_and_pieces(root, flowtap):
    """/sys/block/DISK/stat: merges, requests"""
    with loop_disk() as (disk, _):
        done, lines, err = output_during(flowtap, disk, ("dirty:64:4096", "read:13:4096"), "biomerge", "--disk", disk)
    counted = done["counted"]
    merges = {row["how"]: row["merges"] for row in lines if "how" in row}
    return (differing("merges", counted["write_merges"] + counted["read_merges"], sum(merges.values()))
            + differing("reads", {1: counted["reads"]}, buckets(lines, "@pieces", f"{disk},read"))
            + differing("writes", {64: 1}, buckets(lines, "@pieces", f"{disk},write")) + err)


def linear_buckets(lines, name, key):
    """{lower bound: count} of one linear histogram"""
    return {bucket["min"]: bucket["count"] for line in lines for bucket in line.get("data", {}).get(name, {}).get(key, []) if bucket["count"]}


@may_miss_events("requests that end in softirq")
def biocpu_counts_completions_by_cpu(root, flowtap):
    """CPUs in the kernel's own trace of block_rq_complete"""
    with loop_disk() as (disk, _), ftrace("block_rq_complete", disk) as trace:
        done, lines, err = output_during(flowtap, disk, ("read:83:4096",), "biocpu", "--disk", disk)
    cpus = Counter(int(re.search(r"\[(\d+)\]", line)[1]) for line in trace)
    found = linear_buckets(lines, "@cpu", disk)
    return differing("completions", dict(cpus), found) + differing("reads", done["counted"]["reads"], sum(found.values())) + err


@may_miss_events("requests that end in softirq")
def biocpu_counts_issues_by_cpu(root, flowtap):
    """CPUs in the kernel's own trace of block_rq_issue"""
    with loop_disk() as (disk, _), ftrace("block_rq_issue", disk) as trace:
        _, lines, err = output_during(flowtap, disk, ("read:61:4096",), "biocpu", "--disk", disk, "--issue")
    cpus = Counter(int(re.search(r"\[(\d+)\]", line)[1]) for line in trace)
    return differing("issues", dict(cpus), linear_buckets(lines, "@cpu", disk)) + err


@may_miss_events("requests that end in softirq")
def iosched_counts_what_passes_the_scheduler(root, flowtap):
    """the load's own I/O; the kernel's own trace of block_rq_insert"""
    with loop_disk() as (disk, _), scheduler(disk, "mq-deadline"), ftrace("block_rq_insert", disk) as trace:
        _, lines, err = output_during(flowtap, disk, ("read:43:4096", "write:19:8192"), "iosched", "--disk", disk, "--by-op")
    found = histograms(lines, "@usecs")
    expected = {f"mq-deadline,{disk},read": 43, f"mq-deadline,{disk},write": 19}
    return differing("times", expected, found) + differing("inserted", len(trace), sum(found.values())) + err


@may_miss_events("requests that end in softirq")
def blkplug_counts_plugs_and_their_requests(root, flowtap):
    """the kernel's own trace of block_unplug"""
    with loop_disk() as (disk, _):
        instance = Path(f"/sys/kernel/tracing/instances/flowtap-test-{disk}")
        instance.mkdir()
        try:
            (instance / "events/block/block_unplug/enable").write_text("1")
            _, lines, err = output_during(flowtap, disk, ("dirty:300:4096", "write:3:2097152"), "blkplug", "--comm", ME)
            (instance / "events/block/block_unplug/enable").write_text("0")
            trace = (instance / "trace").read_text()
        finally:
            instance.rmdir()
    depths = [int(depth) for depth in re.findall(rf"block_unplug: \[{ME}\] (\d+)", trace)]
    found = buckets(lines, "@depth", ME)
    return differing("unplugs", Counter(1 << (depth.bit_length() - 1) for depth in depths), found) + differing(
        "times", len(depths), histograms(lines, "@usecs").get(ME, 0)) + differing("any", True, len(depths) > 0) + err
