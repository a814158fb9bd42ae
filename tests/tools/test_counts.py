"""Tools that count what processes do with sockets, beside what a program knows it did."""

import json
import os

from processes import Running
from shared import differing, run_load


def reported(flowtap, load, *arguments):
    """(what the load did, every row of the tool's reports, everything on stderr)"""
    running = Running(flowtap, *arguments, "-f", "json")
    done = run_load(*load)
    out, err = running.stop()
    return done, [json.loads(line) for line in out.splitlines()], err


def of(done, rows):
    return [row for row in rows if row.get("pid") == done["pid"]]


def messages_of(entries):
    return sorted((e["dir"], e["proto"], e["rport"], str(e["err"]), len(e["sizes"]), sum(e["sizes"])) for e in entries)


def counted(rows):
    return sorted((row["dir"], row["proto"], row["rport"], str(row["err"]), row["count"], row["bytes"]) for row in rows)


def socketio_counts_every_message(root, flowtap):
    """a program's own count of each call and its bytes"""
    done, rows, err = reported(flowtap, ("io",), "socketio")
    problem = differing("messages", messages_of(done["done"]), counted(of(done, rows))) + err
    order = [row["count"] for row in rows]
    return problem + differing("order", sorted(order, reverse=True), order)


def socketio_filters_in_the_kernel(root, flowtap):
    """a program's own count of each call and its bytes"""
    problem = ""
    for arguments, wanted in ((["--errors"], lambda e: e["err"] != 0),
                              (["-4"], lambda e: e["proto"] == "TCP"),
                              (["-6"], lambda e: e["proto"] == "UDPv6"),
                              (["--addr", "::1/128"], lambda e: e["proto"] == "UDPv6"),
                              (["--addr", "10.0.0.0/8"], lambda e: False),
                              (["--comm", "no-such-name"], lambda e: False),
                              (["--top", "1"], None)):
        done, rows, err = reported(flowtap, ("io",), "socketio", *arguments)
        if wanted is None:
            problem += differing(f"{arguments}", 1, len(rows)) + err
        else:
            expected = [e for e in done["done"] if wanted(e)]
            problem += differing(f"{arguments}", messages_of(expected), counted(of(done, rows))) + err
    return problem
