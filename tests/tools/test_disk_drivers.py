"""mdflush, scsilatency, scsiresult, nvmelatency, biotimeout: what drivers do with requests."""

import ctypes
import fcntl
import mmap
import os
import re
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import features
from disk_shared import histograms, load_module, loop_disk, output_during, raid_disk, scsi_disk
from processes import Running, Skipped, wait_for
from shared import differing, json_records

GROUP = "disks"  # they share devices, and the name of their workload


def mdflush_shows_every_flush(root, flowtap):
    """the load's own calls of fsync"""
    with loop_disk() as (first, _), loop_disk() as (second, _), raid_disk(first, second) as disk:
        if not disk:
            return Skipped("this kernel has no md")
        done, rows, err = output_during(flowtap, disk, ("flush:7:0", "write:5:4096"), "mdflush")
        _, none, _ = output_during(flowtap, disk, ("flush:2:0",), "mdflush", "--disk", "md_other")
    found = [(row["pid"], row["comm"], row["disk"]) for row in rows]
    return differing("flushes", [(done["pid"], "disk_load", disk)] * 7, found) + differing("of another array", [], none) + err


def biosnoop_names_the_process_above_md(root, flowtap):
    """the load's own I/O above a mirror of md"""
    with loop_disk() as (first, _), loop_disk() as (second, _), raid_disk(first, second) as disk:
        if not disk:
            return Skipped("this kernel has no md")
        done, rows, err = output_during(flowtap, disk, ("write:11:8192",), "biosnoop", "--disk", second)
    found = [(row["sector"], row["bytes"]) for row in rows if row["pid"] == done["pid"] and row["op"] == "write" and row["bytes"]]
    return differing("writes of the second disk", [(call["sector"], call["bytes"]) for call in done["calls"]], sorted(found)) + err


def scsilatency_times_every_command(root, flowtap):
    """/sys/block/DISK/stat: reads, writes, flushes"""
    with scsi_disk() as disk:
        if not disk:
            return Skipped("this kernel has no scsi_debug")
        done, lines, err = output_during(flowtap, disk, ("read:23:4096", "write:19:8192", "flush:3:0"), "scsilatency", "--disk", disk)
    counted = done["counted"]
    expected = {f"{disk},read(10)": counted["reads"], f"{disk},write(10)": counted["writes"] - 3, f"{disk},synchronize cache": counted["flushes"]}
    return differing("commands", expected, histograms(lines, "@usecs")) + differing("reads", 23, counted["reads"]) + err


def scsiresult_counts_every_result(root, flowtap):
    """a disk (scsi_debug) with a bad sector 0x1234; its iodone_cnt"""
    with scsi_disk(opts=2) as disk:
        if not disk:
            return Skipped("this kernel has no scsi_debug")
        ended = Path(f"/sys/block/{disk}/device/iodone_cnt")
        before = int(ended.read_text(), 16)
        done, rows, err = output_during(flowtap, disk, ("read:600:4096",), "scsiresult", "--disk", disk)
        counted = int(ended.read_text(), 16) - before
        _, errors, _ = output_during(flowtap, disk, ("read:600:4096",), "scsiresult", "--disk", disk, "--errors")
    failed = sum("errno" in call for call in done["calls"])
    bad = [(row["command"], row["host"], row["status"], row["sense"], row["asc"], row["commands"]) for row in rows if row["status"] != "SAM_STAT_GOOD"]
    expected = [("read(10)", "DID_OK", "SAM_STAT_CHECK_CONDITION", "medium error", "0x11", failed)]
    return (differing("refused", expected, bad) + differing("all", counted, sum(row["commands"] for row in rows)) + differing("bad reads", 2, failed)
            + differing("rows with --errors", 1, len(errors)) + err)


def nvme_disk(number=1):
    """The name of a disk: 1 is fast, 2 slow; none: "". Linux may name them in any order. The controller is then asked no more."""
    disks = [Path("/sys/block/nvme0n1"), Path("/sys/block/nvme0n2")]
    if not features.IN_GUEST or not load_module("nvme") or not wait_for(lambda: all(Path("/dev", disk.name).exists() for disk in disks)):
        return ""
    return next(disk.name for disk in disks if int((disk / "nsid").read_text()) == number)


def nvmelatency_times_every_command(root, flowtap):
    """/sys/block/nvme0n1/stat: reads, writes, flushes"""
    disk = nvme_disk()
    if not disk:
        return Skipped("this machine has no NVMe disk to play with")
    done, lines, err = output_during(flowtap, disk, ("read:29:4096", "write:17:8192", "flush:3:0"), "nvmelatency", "--disk", disk)
    counted = done["counted"]
    expected = {f"{disk},read": counted["reads"], f"{disk},write": counted["writes"] - 3, f"{disk},flush": counted["flushes"]}
    return differing("commands", expected, histograms(lines, "@usecs")) + differing("reads", 29, counted["reads"]) + err


NVME_IOCTL_ADMIN_CMD = 0xC0484E41


def admin_command(opcode, cdw10):
    """The status that the controller gave."""
    buffer = bytearray(4096)
    address = ctypes.addressof((ctypes.c_char * 4096).from_buffer(buffer))
    command = bytearray(struct.pack("<BBHIIIQQIIIIIIIIII", opcode, 0, 0, 0, 0, 0, 0, address, 0, 4096, cdw10, 0, 0, 0, 0, 0, 0, 0))
    fd = os.open("/dev/nvme0", os.O_RDWR)
    try:
        return fcntl.ioctl(fd, NVME_IOCTL_ADMIN_CMD, command)
    finally:
        os.close(fd)


def nvmelatency_decodes_admin_commands_and_errors(root, flowtap):
    """the test's own commands, and the status they got"""
    if not nvme_disk():
        return Skipped("this machine has no NVMe disk to play with")
    running = Running(flowtap, "nvmelatency", "--disk", "nvme0", "-f", "json")
    identify, get_log_page = 6, 2
    good = [admin_command(identify, 1) for _ in range(5)]
    bad = [admin_command(get_log_page, 0x03ff00ee) for _ in range(2)]  # there is no log of that number
    out, err = running.stop()
    lines = json_records(out)
    rows = [(row["device"], row["command"], int(row["status"], 16)) for row in lines if "retries" in row]
    return (differing("admin commands", {"nvme0,identify": 5, "nvme0,get_log_page": 2}, histograms(lines, "@admin_usecs"))
            + differing("errors", [("nvme0", "get_log_page", status & 0x7ff) for status in bad], rows)
            + differing("status", ([0] * 5, True), (good, all(bad))) + err)


def read_at_once(disk, sectors):
    """One direct read of a page for each, all under way together."""
    fd = os.open(f"/dev/{disk}", os.O_RDONLY | os.O_DIRECT)
    with ThreadPoolExecutor(len(sectors)) as threads:
        list(threads.map(lambda sector: os.preadv(fd, [mmap.mmap(-1, 4096)], sector * 512), sectors))
    os.close(fd)


def timeouts_in_the_log():
    log = subprocess.run(["dmesg"], capture_output=True, text=True, check=True).stdout
    return len(re.findall(r"nvme nvme0: I/O .* QID \d+ timeout,", log))


def biotimeout_shows_what_an_nvme_disk_did_not_answer(root, flowtap):
    """the kernel's log: nvme0: I/O ... timeout"""
    disk = nvme_disk(2)
    if not disk:
        return Skipped("this machine has no NVMe disk to play with")
    limit = Path(f"/sys/block/{disk}/queue/io_timeout")
    usual = limit.read_text()
    limit.write_text("1000")
    before = timeouts_in_the_log()
    running = Running(flowtap, "biotimeout", "--disk", disk, "-f", "json")
    # The disk does two in a second, and the kernel looks once a second: the last is late, and no other one twice.
    sectors = [800 * n for n in range(1, 7)]
    for _ in range(3):  # reads that a slow guest does not start at once may all be in time
        read_at_once(disk, sectors)
        counted = timeouts_in_the_log() - before
        if counted:
            break
    out, err = running.stop()
    limit.write_text(usual)
    rows = json_records(out)
    wrong = [row for row in rows if (row["disk"], row["op"], row["bytes"]) != (disk, "read", 4096) or row["sector"] not in sectors or row["age_ms"] < 1000]
    return (differing("timeouts", counted, sum(row["event"] == "timeout" for row in rows)) + differing("any", True, counted > 0)
            + differing("other than late reads", [], wrong) + err)
