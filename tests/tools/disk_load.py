"""I/O of known counts and places on a disk: disk_load.py DISK STEP..., a step being KIND:COUNT:SIZE. Kinds: read and write (direct, one
after the other), randread (direct, places in no order), back (direct reads, each before the last), dirty (buffered writes of a page's
neighbours, then written by fsync), flush (fsync). Prints each I/O, and what the kernel counted of the disk meanwhile."""

import json
import mmap
import os
import random
import sys
import time

from disk_counters import FIELDS, counters


def places(kind, count, size):
    if kind == "randread":
        chosen = random.Random(count).sample(range(1, 4 * count), count)
        return [place * size for place in chosen]
    return [n * size for n in (range(count - 1, -1, -1) if kind == "back" else range(count))]


def run_step(path, kind, count, size):
    buffer = mmap.mmap(-1, max(size, 4096))
    fd = os.open(path, os.O_RDWR | (0 if kind in ("dirty", "flush") else os.O_DIRECT))
    done = []
    for offset in places(kind, count, size):
        if kind == "flush":
            os.fsync(fd)
        elif kind in ("write", "dirty"):
            os.pwritev(fd, [memoryview(buffer)[:size]], offset)
        else:
            try:
                os.preadv(fd, [memoryview(buffer)[:size]], offset)
            except OSError as error:
                done.append({"op": "read", "sector": offset // 512, "bytes": size, "errno": error.errno})
                continue
        done.append({"op": {"write": "write", "dirty": "write", "flush": "flush"}.get(kind, "read"), "sector": offset // 512, "bytes": size})
    if kind == "dirty":
        os.fsync(fd)
    os.close(fd)
    return done


def main(disk, *steps):
    with open("/proc/self/comm", "w") as name:
        name.write("disk_load")  # no other process is called so
    before, calls = counters(disk), []
    for step in steps:
        kind, count, size = step.split(":")
        calls += run_step(f"/dev/{disk}", kind, int(count), int(size))
    time.sleep(0.05)  # the last one is counted after its process was woken
    after = counters(disk)
    print(json.dumps({"pid": os.getpid(), "calls": calls, "counted": {name: after[name] - before[name] for name in FIELDS}}))


main(*sys.argv[1:])
