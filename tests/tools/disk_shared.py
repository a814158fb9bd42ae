"""What the tests of disk tools share: disks to play with, and loads on them. A loop device on a file stands for a disk; what other
disks do at the same time is left out by --disk."""

import contextlib
import subprocess
import tempfile
from pathlib import Path

import features
from processes import Running, wait_for
from shared import json_records, run_load

MEGABYTE = 1 << 20


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout.strip()


def load_module(name, *parameters):
    """False where there is neither the module nor such a thing built in."""
    return features.IN_GUEST and subprocess.run(["modprobe", name, *parameters], capture_output=True).returncode == 0


@contextlib.contextmanager
def loop_disk(megabytes=16):
    """(its name, the file behind it)"""
    load_module("loop")
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(megabytes * MEGABYTE)
        path = run("losetup", "--find", "--show", file.name)
        try:
            yield Path(path).name, Path(file.name)
        finally:
            run("losetup", "--detach", path)


@contextlib.contextmanager
def scheduler(disk, name):
    path = Path(f"/sys/block/{disk}/queue/scheduler")
    path.write_text(name)
    yield
    path.write_text("none")


def output_during(flowtap, disk, steps, *arguments):
    """(what the load did, what the tool wrote, its errors)"""
    running = Running(flowtap, *arguments, "-f", "json")
    done = run_load("disk", disk, *steps, inside=())
    out, err = running.stop()
    return done, json_records(out), err


def histograms(lines, name):
    """{key: number of values} of a map of histograms"""
    return {key: sum(bucket["count"] for bucket in buckets)
            for line in lines if line.get("type") == "hist" for key, buckets in line["data"].get(name, {}).items()}


@contextlib.contextmanager
def zram_disk(megabytes=16):
    """A disk without requests."""
    load_module("zram")
    control = Path("/sys/class/zram-control")
    number = (control / "hot_add").read_text().strip()
    try:
        Path(f"/sys/block/zram{number}/disksize").write_text(f"{megabytes}M")
        yield f"zram{number}"
    finally:
        Path(f"/sys/block/zram{number}/reset").write_text("1")
        (control / "hot_remove").write_text(number)


@contextlib.contextmanager
def slow_disk(milliseconds):
    """A disk that takes exactly so long, or None where there is none."""
    if not load_module("null_blk", "gb=1", "nr_devices=1", "irqmode=2", f"completion_nsec={milliseconds * 1000000}", "submit_queues=1"):
        yield None
        return
    yield "nullb0"
    run("rmmod", "null_blk")


@contextlib.contextmanager
def crypt_disk(below):
    """A disk of dm whose I/O other disks get from kernel threads, or None where there is none."""
    if not load_module("dm_crypt"):
        yield None
        return
    sectors = Path(f"/sys/block/{below}/size").read_text().strip()
    run("dmsetup", "create", "test-crypt", "--table", f"0 {sectors} crypt aes-xts-plain64 {'01' * 32}{'02' * 32} 0 /dev/{below} 0")
    try:
        yield "dm-" + run("dmsetup", "info", "-c", "--noheadings", "-o", "minor", "test-crypt")
    finally:
        run("dmsetup", "remove", "--retry", "test-crypt")


def make_file_system(disk, *options):
    run("mke2fs", "-q", "-t", "ext4", *options, "-E", "lazy_itable_init=0", f"/dev/{disk}")


@contextlib.contextmanager
def mounted(disk):
    with tempfile.TemporaryDirectory() as folder:
        run("mount", f"/dev/{disk}", folder)
        try:
            yield Path(folder)
        finally:
            run("umount", folder)


@contextlib.contextmanager
def scsi_disk(**parameters):
    """A disk of scsi_debug, or None where there is none."""
    before = {path.name for path in Path("/sys/block").iterdir()}
    if not load_module("sd_mod") or not load_module("scsi_debug", "dev_size_mb=16", *(f"{name}={value}" for name, value in parameters.items())):
        yield None
        return
    try:
        found = wait_for(lambda: {path.name for path in Path("/sys/block").iterdir()} - before)
        disk = sorted({path.name for path in Path("/sys/block").iterdir()} - before)[0] if found else ""
        wait_for(lambda: Path(f"/dev/{disk}").exists() and Path(f"/sys/block/{disk}/stat").exists())
        yield disk
    finally:
        Path("/sys/bus/pseudo/drivers/scsi_debug/every_nth").write_text("0")
        subprocess.run(["rmmod", "scsi_debug"], capture_output=True)


@contextlib.contextmanager
def ftrace(event, disk):
    """A list that holds, at the end, the lines that the kernel's own tracer wrote about an event of the block layer."""
    instance = Path(f"/sys/kernel/tracing/instances/flowtap-test-{disk}")
    instance.mkdir()
    lines = []
    major, minor = map(int, Path(f"/sys/block/{disk}/dev").read_text().split(":"))
    try:
        (instance / f"events/block/{event}/filter").write_text(f"dev == {major << 20 | minor}")
        (instance / f"events/block/{event}/enable").write_text("1")
        yield lines
        (instance / f"events/block/{event}/enable").write_text("0")
        lines += [line for line in (instance / "trace").read_text().splitlines() if f" {event}: " in line]
    finally:
        instance.rmdir()


@contextlib.contextmanager
def raid_disk(first, second):
    """A mirror of md on two disks, or None where there is none."""
    if not load_module("raid1"):
        yield None
        return
    Path("/sys/module/md_mod/parameters/new_array").write_text("md_test")
    array = Path("/sys/block/md_test/md")
    for name, value in (("metadata_version", "none"), ("level", "raid1"), ("raid_disks", "2"), ("component_size", "8192")):
        (array / name).write_text(value)
    for slot, disk in enumerate((first, second)):
        (array / "new_dev").write_text(Path(f"/sys/block/{disk}/dev").read_text().strip())
        (array / f"dev-{disk}/slot").write_text(str(slot))
    (array / "array_state").write_text("active")
    try:
        yield "md_test"
    finally:
        (array / "array_state").write_text("clear")
