"""biolatency, biosnoop and the others that time requests, beside what the load did and what the kernel counted of the disk."""

from disk_shared import histograms, loop_disk, output_during, retry_on_host, slow_disk, zram_disk
from processes import Skipped
from shared import differing

MIXED = ("read:101:4096", "write:53:65536", "dirty:64:4096", "flush:3:0")


@retry_on_host
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


@retry_on_host
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
