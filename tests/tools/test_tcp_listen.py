"""Listeners and the connections they take, as the tools show them, beside what the sockets said of themselves."""

import sys
from pathlib import Path

from shared import differing, rows_of_load


def tcpaccept_shows_every_connection_and_the_queue(root, flowtap):
    """the load's own accepts; TCP_INFO of the listener; Tcp:PassiveOpens"""
    done, rows, err = rows_of_load(flowtap, "listen", (7, 5, 11), "tcpaccept")
    expected = [(c["address"], c["near"], c["address"], c["far"], c["waiting"], 11) for c in done["accepted"]]
    found = [tuple(row[k] for k in ("raddr", "rport", "laddr", "lport", "queue", "limit")) for row in rows]
    return (differing("connections", expected, found) + differing("limit", {11}, {c["limit"] for c in done["accepted"]})
            + differing("Tcp:PassiveOpens", done["counted"]["PassiveOpens"], len(rows)) + err)


def tcpaccept_filters_in_the_kernel(root, flowtap):
    """the load's own accepts, by family, port and process"""
    problem = ""
    for option, expected in (("-4", 3), ("-6", 5), ("--lport=81", 8), ("--lport=82", 0), ("--rport=81", 0), ("--port=81", 8),
                             ("--port=82", 0), ("--pid=1", 0), ("--addr=::1", 5), ("--addr=10.0.0.0/8", 0), (f"--comm={Path(sys.executable).name}", 8)):
        done, rows, _ = rows_of_load(flowtap, "listen", (3, 5, 9, 81), "tcpaccept", option)
        problem += differing(option, expected, len(rows))
    return problem


def tcpbind_shows_every_bind(root, flowtap):
    """the load's own calls, their errors and getsockname()"""
    done, rows, err = rows_of_load(flowtap, "bind", (1000,), "tcpbind")
    found = [[row[k] for k in ("addr", "wanted", "port", "reuse", "err")] for row in rows]
    errors = {row["err"] for row in rows}
    return (differing("binds", done["binds"], found)
            + differing("results", {0, "EADDRINUSE", "EINVAL", "EADDRNOTAVAIL"}, errors) + err)


def tcpbind_filters_in_the_kernel(root, flowtap):
    """the load's own calls, by family, port, result and process"""
    problem = ""
    for option, wanted in (("--errors", lambda b: b[4] != 0), ("--port=1000", lambda b: 1000 in b[1:3]), ("-4", lambda b: "." in b[0]),
                           ("-6", lambda b: ":" in b[0]), ("--pid=1", lambda b: False), ("--addr=192.0.2.0/24", lambda b: b[0] == "192.0.2.1")):
        done, rows, _ = rows_of_load(flowtap, "bind", (1000,), "tcpbind", option)
        problem += differing(option, [b[:2] for b in done["binds"] if wanted(b)], [[row["addr"], row["wanted"]] for row in rows])
    return problem
