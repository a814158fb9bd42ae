"""Listeners and the connections they take, as the tools show them, beside what the sockets said of themselves."""

import json
import subprocess
import sys
from pathlib import Path

from processes import Running
from shared import LOADS, differing, histogram, histograms_of, json_rows, rows_by_option, rows_of_load, run_load


def tcpaccept_shows_every_connection_and_the_queue(root, flowtap):
    """the load's own accepts; TCP_INFO of the listener; Tcp:PassiveOpens"""
    done, rows, err = rows_of_load(flowtap, "listen", (7, 5, 11), "tcpaccept")
    expected = [(c["address"], c["near"], c["address"], c["far"], c["waiting"], 11) for c in done["accepted"]]
    found = [tuple(row[k] for k in ("raddr", "rport", "laddr", "lport", "queue", "limit")) for row in rows]
    return (differing("connections", expected, found) + differing("limit", {11}, {c["limit"] for c in done["accepted"]})
            + differing("Tcp:PassiveOpens", done["counted"]["PassiveOpens"], len(rows)) + err)


def tcpaccept_filters_in_the_kernel(root, flowtap):
    """the load's own accepts, by family, port, address and process"""
    expected = {"-4": 3, "-6": 5, "--lport=81": 8, "--lport=82": 0, "--rport=81": 0, "--port=81": 8, "--port=82": 0, "--pid=1": 0,
                "--addr=::1": 5, "--addr=10.0.0.0/8": 0, f"--comm={Path(sys.executable).name}": 8}
    _, rows, err = rows_by_option(flowtap, "tcpaccept", expected, lambda: run_load("listen", 3, 5, 9, 81))
    return differing("rows", expected, {option: len(found) for option, found in rows.items()}) + err


def tcpbind_shows_every_bind(root, flowtap):
    """the load's own calls, their errors and getsockname()"""
    done, rows, err = rows_of_load(flowtap, "bind", (1000,), "tcpbind")
    found = [[row[k] for k in ("addr", "wanted", "port", "reuse", "err")] for row in rows]
    errors = {row["err"] for row in rows}
    return (differing("binds", done["binds"], found)
            + differing("results", {0, "EADDRINUSE", "EINVAL", "EADDRNOTAVAIL"}, errors) + err)


def tcpbind_filters_in_the_kernel(root, flowtap):
    """the load's own calls, by family, port, address, result and process"""
    wanted = {"--errors": lambda b: b[4] != 0, "--port=1000": lambda b: 1000 in b[1:3], "-4": lambda b: "." in b[0],
              "-6": lambda b: ":" in b[0], "--pid=1": lambda b: False, "--addr=192.0.2.0/24": lambda b: b[0] == "192.0.2.1"}
    done, rows, err = rows_by_option(flowtap, "tcpbind", wanted, lambda: run_load("bind", 1000))
    expected = {option: [b[:2] for b in done["binds"] if is_wanted(b)] for option, is_wanted in wanted.items()}
    return differing("rows", expected, {option: [[row["addr"], row["wanted"]] for row in found] for option, found in rows.items()}) + err


class Backlog:
    """The load with full queues, step by step."""

    def __init__(self, *numbers):
        command = f"ip link set lo up && exec {sys.executable} {LOADS / 'backlog_load.py'} {' '.join(map(str, numbers))}"
        self.process = subprocess.Popen(["unshare", "-n", "sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def fill(self):
        self.process.stdin.write("go on\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.communicate("go on\n")


def listeners_shown(out, done):
    rows = [row for row in json_rows(out) if row["pid"] == done["pid"]]
    return sorted([row[k] for k in ("laddr", "lport", "queue", "syns", "limit", "drops")] for row in rows)


def listeners_told(done):
    return sorted([f["address"], f["port"], f["queue"], f["syns"], f["limit"], f["drops"]] for f in done["listeners"])


def tcpsynbl_shows_queues_and_drops(root, flowtap):
    """TCP_INFO and SO_MEMINFO of the listeners; /proc/net/tcp; TcpExt:ListenOverflows and ListenDrops"""
    running = Running(flowtap, "tcpsynbl", "-f", "json")
    load = Backlog(7, 3, 5)
    done = load.fill()
    out, err = running.stop()
    load.end()
    shown = listeners_shown(out, done)
    keys = {f"{f['port']},{f['limit']}": f["found"] for f in done["listeners"]}
    found_of = {name: {key: buckets for key, buckets in histograms_of(out, name).items() if key in keys} for name in ("@accept_queue", "@syn_queue")}
    refused = sum(row[-1] for row in shown)
    return (differing("listeners", listeners_told(done), shown)
            # A slow machine may drop an answer that comes too late, which only the socket counts.
            + differing("ListenDrops", True, 10 == done["counted"]["ListenDrops"] == done["counted"]["ListenOverflows"] <= refused)
            + differing("accept queues", {key: histogram(found["accept"]) for key, found in keys.items()}, found_of["@accept_queue"])
            + differing("SYN queues", {key: histogram(found["syn"]) for key, found in keys.items()}, found_of["@syn_queue"]) + err)


def tcpsynbl_knows_older_listeners(root, flowtap):
    """TCP_INFO and SO_MEMINFO of the listeners"""
    problem = ""
    for options in ((), ("--plan", "events")):
        load = Backlog(3, 2, 4)
        running = Running(flowtap, "tcpsynbl", "-f", "json", *options)
        done = load.fill()
        out, err = running.stop()
        load.end()
        problem += differing(f"listeners {options}", listeners_told(done), listeners_shown(out, done)) + err
    return problem


def tcpsynbl_shows_listeners_that_closed(root, flowtap):
    """SO_MEMINFO of the listeners"""
    running = Running(flowtap, "tcpsynbl", "-f", "json", "-6")
    load = Backlog(5, 0, 6)
    done = load.fill()
    load.end()
    out, err = running.stop()
    expected = [[f["address"], f["port"], f["drops"]] for f in done["listeners"] if ":" in f["address"]]
    return differing("listeners", expected, [[*row[:2], row[-1]] for row in listeners_shown(out, done)]) + err
