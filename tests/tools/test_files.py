"""Calls on files, beside what the load did."""

import json
import subprocess
import sys

from processes import Running
from shared import LOADS, differing, json_rows


def calls_during(flowtap, *arguments):
    """(what the load did, rows of its process, stderr)"""
    load = subprocess.Popen([sys.executable, LOADS / "file_load.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    running = Running(flowtap, "filetype", "-f", "json", *[str(load.pid) if word == "PID" else word for word in arguments])
    done = json.loads(load.communicate("go\n")[0])
    out, err = running.process.communicate(timeout=30) if "PID" in arguments else running.stop()
    return done, [row for row in json_rows(out) if row["pid"] == done["pid"]], err


def as_calls(rows):
    return [[row["kind"], row["call"], row["calls"], row["errors"], row["bytes"]] for row in rows]


def filetype_counts_calls_by_kind(root, flowtap):
    """the load's own calls"""
    done, rows, err = calls_during(flowtap)
    # Python itself reads and writes more: its stdin, stdout and modules.
    others = {("socket", "write"), ("socket", "read"), ("fifo", "readv"), ("regular", "pwrite64"), ("regular", "pread64"),
              ("regular", "writev"), ("none", "write"), ("directory", "pread64")}
    expected = [call for call in done["calls"] if tuple(call[:2]) in others]
    found = [call for call in as_calls(rows) if tuple(call[:2]) in others]
    return (differing("calls", sorted(expected), sorted(found))
            + differing("order", sorted((r["calls"] for r in rows), reverse=True), [r["calls"] for r in rows]) + err)


def filetype_chooses_process_and_kind(root, flowtap):
    """the load's own calls"""
    done, rows, err = calls_during(flowtap, "-p", "PID", "--kind", "socket")
    expected = [call for call in done["calls"] if call[0] == "socket"]
    _, none, _ = calls_during(flowtap, "--comm", "no-such-name")
    return differing("sockets", sorted(expected), sorted(as_calls(rows))) + differing("another process", [], none) + err
