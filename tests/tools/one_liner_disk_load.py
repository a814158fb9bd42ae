#!/usr/bin/env python3
"""What the disk one-liners count, on a loop device: 13 direct writes of 64 KiB, 1 MiB written through the cache and flushed,
and one write that fails, since the file system behind the device has no room for it."""

import json
import mmap
import os
import subprocess
import tempfile

STEP = 64 << 10


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def write(device):
    buffer = mmap.mmap(-1, STEP)
    direct = os.open(device, os.O_WRONLY | os.O_DIRECT)
    for i in range(13):
        os.pwrite(direct, buffer, i * STEP)
    cached = os.open(device, os.O_WRONLY)
    for i in range(16):
        os.pwrite(cached, b"x" * STEP, (2 << 20) + i * STEP)
    os.fsync(cached)
    try:
        for i in range(64):
            os.pwrite(direct, buffer, (4 << 20) + i * STEP)
    except OSError:
        pass
    os.close(cached)
    os.close(direct)


with tempfile.TemporaryDirectory() as folder:
    run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder)
    try:
        with open(f"{folder}/disk", "wb") as file:
            file.truncate(8 << 20)
        subprocess.run(["modprobe", "-q", "loop"], check=False)
        device = run("losetup", "-f", "--show", f"{folder}/disk")
        try:
            write(device)
        finally:
            run("losetup", "-d", device)
    finally:
        run("umount", "-l", folder)  # the device lets go of its file a little later
print(json.dumps({"pid": os.getpid()}))
