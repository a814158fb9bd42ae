"""TCP connections as the tools show them, beside what the load did and what the kernel counted."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from processes import Running
from shared import differing, flowtap_text, named_namespace, rows_during, rows_of_load, run_load


def tcpconnect_shows_every_attempt(root, flowtap):
    """the load's own ports and results; Tcp:ActiveOpens, Tcp:AttemptFails"""
    done, rows, err = rows_during(flowtap, (13, 7, 5), "tcpconnect")
    rows = [row for row in rows if row["pid"] == done["pid"]]
    found = sorted((row["laddr"], row["lport"], row["raddr"], row["rport"], row["err"]) for row in rows)
    expected = sorted([(c["address"], c["near"], c["address"], c["far"], 0) for c in done["connections"]]
                      + [(c["address"], c["near"], c["address"], c["far"], "ECONNREFUSED") for c in done["refused"]], key=str)
    return (differing("attempts", expected, sorted(found, key=str))
            + differing("Tcp:ActiveOpens", done["counted"]["ActiveOpens"], len(rows))
            + differing("Tcp:AttemptFails", done["counted"]["AttemptFails"], sum(row["err"] != 0 for row in rows)) + err)


def tcpconnect_shows_attempts_without_an_outcome(root, flowtap):
    """what connect() gave to the load"""
    done, rows, err = rows_of_load(flowtap, "silent", (3, 2), "tcpconnect")
    found = [[row["laddr"], row["lport"], row["rport"], row["err"]] for row in rows]
    return differing("attempts", done["attempts"], found) + differing("results", {"EINPROGRESS"}, {a[3] for a in done["attempts"]}) + err


def tcpconnect_filters_in_the_kernel(root, flowtap):
    problem = ""
    for option, wanted in (("-4", "127.0.0.1"), ("-6", "::1")):
        done, rows, _ = rows_during(flowtap, (3, 5, 2), "tcpconnect", option)
        expected = sum(c["address"] == wanted for c in done["connections"] + done["refused"])
        problem += differing(option, expected, sum(row["pid"] == done["pid"] for row in rows))
    done, rows, _ = rows_during(flowtap, (3, 2, 5), "tcpconnect", "--errors")
    problem += differing("--errors", 5, sum(row["pid"] == done["pid"] for row in rows))
    done, rows, _ = rows_during(flowtap, (3, 2, 5), "tcpconnect", "--rport=1")
    problem += differing("--rport", 5, sum(row["pid"] == done["pid"] for row in rows))
    for prefix, wanted in (("127.0.0.0/8", "127.0.0.1"), ("::/96", "::1"), ("10.0.0.0/8", "")):
        done, rows, _ = rows_during(flowtap, (3, 2, 5), "tcpconnect", "--addr", prefix)
        expected = sum(c["address"] == wanted for c in done["connections"] + done["refused"])
        problem += differing(prefix, expected, sum(row["pid"] == done["pid"] for row in rows))
    done, rows, _ = rows_during(flowtap, (3, 2, 5), "tcpconnect", "-p", "1")
    return problem + differing("-p", 0, len(rows))


def tcplife_counts_payload_exactly(root, flowtap):
    """the load's own bytes, ports and times"""
    done, rows, err = rows_during(flowtap, (11, 7, 3), "tcplife")
    expected, found = [], []
    for c in done["connections"]:
        expected.append((done["pid"], c["address"], c["near"], c["address"], c["far"], c["sent"], c["answered"]))
        expected.append((done["pid"], c["address"], c["far"], c["address"], c["near"], c["answered"], c["sent"]))
    for row in rows:
        found.append(tuple(row[k] for k in ("pid", "laddr", "lport", "raddr", "rport", "tx_bytes", "rx_bytes")))
    lasted = {c["near"]: c["ms"] for c in done["connections"]}
    longer = [row for row in rows if row["life_ms"] <= 0 or row["life_ms"] > lasted[min(row["lport"], row["rport"], key=lambda p: p not in lasted)]]
    return differing("connections", sorted(expected), sorted(found)) + differing("longer than the load saw", [], longer) + err


def tcpstates_shows_every_change_in_order(root, flowtap):
    """the states that TCP prescribes for the load; Tcp:ActiveOpens, Tcp:PassiveOpens"""
    done, rows, err = rows_during(flowtap, (7, 5, 3), "tcpstates")
    paths = {}
    for row in rows:
        path = paths.setdefault(row["socket"], [[row["old"]]])
        if path[-1][-1] == "CLOSE" and len(path[-1]) > 1:
            path.append([row["old"]])  # the memory of a socket is used again
        path[-1].append(row["new"])
    found = {}
    for path in (path for all_paths in paths.values() for path in all_paths):
        found[" ".join(path)] = found.get(" ".join(path), 0) + 1
    connections = len(done["connections"])
    expected = {"CLOSE SYN_SENT ESTABLISHED FIN_WAIT1 FIN_WAIT2 CLOSE": connections,
                "LISTEN SYN_RECV ESTABLISHED CLOSE_WAIT LAST_ACK CLOSE": connections,
                "CLOSE LISTEN CLOSE": connections, "CLOSE SYN_SENT CLOSE": len(done["refused"])}
    changes = [(row["old"], row["new"]) for row in rows]
    owners = {row["pid"] for row in rows if row["new"] == "CLOSE"}
    return (differing("paths", expected, found) + differing("owners at the end", {done["pid"]}, owners)
            + differing("Tcp:ActiveOpens", done["counted"]["ActiveOpens"], changes.count(("CLOSE", "SYN_SENT")))
            + differing("Tcp:PassiveOpens", done["counted"]["PassiveOpens"], changes.count(("LISTEN", "SYN_RECV"))) + err)


EDGE = re.compile(r'  "([^"]+)" -> "([^"]+)" \[label="port (\d+), connections: (\d+), bytes there: (\d+), back: (\d+)"\];')


def tcpgraph_draws_what_was_carried(root, flowtap):
    """the load's own connections"""
    with named_namespace() as name:
        running = Running(flowtap, "tcpgraph", "--netns", name)
        single = run_load("tcp", 3, 2, 1, inside=["ip", "netns", "exec", name])
        several = run_load("listen", 5, 3, 9, 81, inside=["ip", "netns", "exec", name])
        out, err = running.stop()
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=out, text=True, check=True, capture_output=True)
    process, expected = Path(sys.executable).name, []
    for c in single["connections"]:
        expected += [(a, b, c["far"], 1, c["sent"], c["answered"]) for a, b in ((process, c["address"]), (c["address"], process))]
    for address in ("127.0.0.1", "::1"):
        count = sum(c["address"] == address for c in several["accepted"])
        expected += [(a, b, 81, count, 0, 0) for a, b in ((process, address), (address, process))]
    first, second, *edges, last = out.strip().splitlines()
    found = [match.groups() if (match := EDGE.fullmatch(edge)) else edge for edge in edges]
    return (differing("frame", ["digraph connections {", "  rankdir=LR;", "}"], [first, second, last])
            + differing("edges", sorted(tuple(map(str, edge)) for edge in expected), sorted(found)) + err)


def tcplife_leaves_out_what_was_short(root, flowtap):
    done, rows, _ = rows_during(flowtap, (3, 2, 0), "tcplife", "--min-ms", "60000")
    problem = differing("--min-ms 60000", [], rows)
    done, rows, _ = rows_during(flowtap, (3, 2, 0), "tcplife", "--min-ms=0")
    return problem + differing("--min-ms=0", 10, len(rows))


def a_network_namespace_is_chosen_by_name(root, flowtap):
    with named_namespace() as name:
        problem = ""
        for tool, each in (("tcpconnect", 1), ("tcplife", 2), ("tcpstates", 12)):
            running = Running(flowtap, tool, "--netns", name, "-f", "json")
            run_load("tcp", 3, 2, 0)  # in another one
            inside = run_load("tcp", 2, 3, 0, inside=["ip", "netns", "exec", name])
            out, err = running.stop()
            rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
            problem += differing(f"rows of {tool}", each * len(inside["connections"]), len(rows)) + err
        code, _, err = flowtap_text(flowtap, "tcplife", "--netns", "no-such-name")
        return problem + differing("exit code", 2, code)
