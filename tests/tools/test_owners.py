"""Which process a connection belongs to, as the tools say, beside the two processes that made it."""

import contextlib
import json
import os
import socket

from functions import may_miss_events
from owner_load import abort, answer, leave_unread, server_on
from processes import Running
from shared import differing, json_rows


@contextlib.contextmanager
def traced(flowtap, tool, is_older):
    """(listener, what is running): a listener that is there before the tool, or comes after it"""
    listener = socket.create_server(("127.0.0.1", 0)) if is_older else None
    running = Running(flowtap, tool, "-f", "json")
    with listener or socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener, running


def ends_of(out, near, far):
    """[(local port, process...)] of the rows of these connections"""
    return [(row["lport"], row["pid"]) for row in json_rows(out) if {row["lport"], row["rport"]} & set(near) and far in (row["lport"], row["rport"])]


@may_miss_events("packets in softirq")
def tcplife_names_who_aborts(root, flowtap):
    """the processes of a server that closes with data unread, and of its client"""
    problem = ""
    for is_older in (True, False):
        with traced(flowtap, "tcplife", is_older) as (listener, running), server_on(listener, leave_unread) as server:
            far = listener.getsockname()[1]
            near = [abort(listener) for _ in range(11)]
            out, err = running.stop()
        expected = sorted([(port, os.getpid()) for port in near] + [(far, server)] * len(near))
        problem += differing(f"owners, listener is older: {is_older}", expected, sorted(ends_of(out, near, far))) + err
    return problem


@may_miss_events("packets in softirq")
def listener_names_its_connections(root, flowtap):
    """the process of a listener that is older than the tool, and of the client"""
    problem = ""
    for tool in ("tcpstates", "tcpwin"):
        with socket.create_server(("127.0.0.1", 0)) as listener, server_on(listener, leave_unread) as server:
            running = Running(flowtap, tool, "-f", "json")
            far = listener.getsockname()[1]
            near = [abort(listener) for _ in range(3)]
            out, err = running.stop()
        # The listener itself was made by this process, which had it open before the server had.
        owners = set(ends_of(out, near, far))
        known = {(port, os.getpid()) for port in near} | {(far, os.getpid()), (far, server)}
        problem += differing(f"{tool}: owners that are strange", set(), owners - known) + differing(f"{tool}: rows", True, bool(owners)) + err
    return problem


@may_miss_events("packets in softirq")
def tcplife_shows_connections_from_before(root, flowtap):
    """what two processes sent through connections that are older than tcplife, and what through younger ones"""
    with socket.create_server(("127.0.0.1", 0)) as listener, server_on(listener, answer) as server:
        older = socket.create_connection(listener.getsockname())
        near = [older.getsockname()[1]]
        older.sendall(b"x" * 1009)
        older.recv(2018, socket.MSG_WAITALL)
        running = Running(flowtap, "tcplife", "-f", "json")
        older.close()
        with socket.create_connection(listener.getsockname()) as younger:
            near.append(younger.getsockname()[1])
            younger.sendall(b"x" * 503)
            younger.recv(1006, socket.MSG_WAITALL)
        # It ends when the server has seen that.
        abort_marker = socket.create_connection(listener.getsockname())
        abort_marker.sendall(b"x")
        abort_marker.recv(2)
        out, err = running.stop()
        abort_marker.close()
        far = listener.getsockname()[1]
    rows = [row for row in json_rows(out) if {row["lport"], row["rport"]} & set(near)]
    found = sorted((row["lport"], row["rport"], row["pid"], row["tx_bytes"], row["rx_bytes"], row["more"]) for row in rows)
    expected = sorted([(near[0], far, os.getpid(), 1009, 2018, "+"), (far, near[0], server, 2018, 1009, "+"),
                       (near[1], far, os.getpid(), 503, 1006, ""), (far, near[1], server, 1006, 503, "")])
    return differing("connections", expected, found) + err


def solife_and_udplife_show_what_was_open_before(root, flowtap):
    """sockets of this process that it connected before the tools began, and closed after that"""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        stream = socket.create_connection(listener.getsockname())
        datagrams = socket.socket(type=socket.SOCK_DGRAM)
        datagrams.connect(("127.0.0.1", 9))
        ports = [end.getsockname()[1] for end in (stream, datagrams)]
        running = [Running(flowtap, tool, "-f", "json") for tool in ("solife", "udplife")]
        stream.close()
        datagrams.close()
        outs, errs = zip(*[one.stop() for one in running])
    found = [{row["lport"]: (row["pid"], row["more"]) for row in map(json.loads, out.splitlines()) if row.get("lport") in ports} for out in outs]
    mine = (os.getpid(), "+")
    return differing("sockets", [{ports[0]: mine, ports[1]: mine}, {ports[1]: mine}], found) + "".join(errs)
