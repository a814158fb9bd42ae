"""Listeners and their queues, beside what the test did and what ss says."""

import re
import socket
import time

from namespaces import Namespace, grown
from processes import Running
from shared import differing, json_rows


def listener(namespace, address, port=0, backlog=50):
    end = namespace.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    end.bind((address, port))
    end.listen(backlog)
    end.setblocking(False)
    return end


def connect(namespace, far, count):
    """Connections that are there, unless the listener is full"""
    ends = []
    for _ in range(count):
        end = namespace.socket(far.family, socket.SOCK_STREAM)
        end.setblocking(False)
        end.connect_ex(far.getsockname()[:2])
        ends.append(end)
    return ends


def accept_all(end):
    """How many came"""
    found = []
    while True:
        try:
            found.append(end.accept()[0])
        except BlockingIOError:
            break
    for connection in found:
        connection.close()
    return len(found)


def backlog_shows_queues_and_drops(root, flowtap):
    """ss -ltn: Recv-Q, Send-Q; TcpExt:ListenDrops"""
    with Namespace() as here:
        running = Running(flowtap, "backlog", "-f", "json", "--netns", str(here.pid))
        slow, quick = listener(here, "127.0.0.1", backlog=3), listener(here, "::1", backlog=20)
        before = here.counters()
        ends = connect(here, slow, 9) + connect(here, quick, 7)
        time.sleep(0.1)
        accepted = accept_all(quick)
        queues = {int(port): (int(queue), int(limit))
                  for queue, limit, port in re.findall(r"LISTEN\s+(\d+)\s+(\d+)\s+\S+:(\d+)\s", here.run("ss -Hltn"))}
        for end in ends:  # else those that were dropped go on trying
            end.close()
        dropped = grown(before, here.counters()).get("TcpExtListenDrops", 0)
        out, err = running.stop()
        ports = slow.getsockname()[1], quick.getsockname()[1]
        for end in (slow, quick):
            end.close()
    rows = {row["lport"]: row for row in json_rows(out)}
    found = {port: (rows[port]["queue"], rows[port]["limit"]) for port in rows}
    return (differing("listeners", set(ports), set(rows)) + differing("queues", queues, found)
            + differing("accepted", 7, accepted) + differing("connections", (4, 7), tuple(rows[port]["conns"] for port in ports))
            + differing("peaks", (4, 7), tuple(rows[port]["peak"] for port in ports))
            + differing("drops", (dropped, 0), tuple(rows[port]["drops"] for port in ports)) + differing("some were dropped", True, dropped > 0) + err)


def backlog_shows_the_share_of_each_listener(root, flowtap):
    """what each of four sockets with SO_REUSEPORT accepted"""
    with Namespace() as here:
        running = Running(flowtap, "backlog", "-f", "json", "--netns", str(here.pid))
        first = listener(here, "127.0.0.1")
        port = first.getsockname()[1]
        listeners = [first] + [listener(here, "127.0.0.1", port) for _ in range(3)]
        other = listener(here, "127.0.0.2", port)
        ends = connect(here, first, 40) + connect(here, other, 3)
        time.sleep(0.1)
        accepted = [accept_all(end) for end in listeners]
        listeners.pop(0).close()  # is still shown
        out, err = running.stop()
        for end in (*listeners, other, *ends):
            end.close()
    rows = json_rows(out)
    shares = sorted((n, n * 100 // 40, 4) for n in accepted if n)
    return (differing("connections", 40, sum(accepted))
            + differing("shares", shares, sorted((r["conns"], r["share"], r["of"]) for r in rows if r["laddr"] == "127.0.0.1"))
            + differing("other address", [(3, 100, 1)], [(r["conns"], r["share"], r["of"]) for r in rows if r["laddr"] == "127.0.0.2"]) + err)


def backlog_filters(root, flowtap):
    """the test's own listeners, by port, family and process"""
    problem = ""
    for options, expected in ((["-4"], {"127.0.0.1"}), (["-6"], {"::1"}), (["--lport=1"], set()), (["--pid=1"], set())):
        with Namespace() as here:
            running = Running(flowtap, "backlog", "-f", "json", "--netns", str(here.pid), *options)
            far = [listener(here, "127.0.0.1"), listener(here, "::1")]
            ends = [end for one in far for end in connect(here, one, 2)]
            time.sleep(0.05)
            out, err = running.stop()
            for end in (*far, *ends):
                end.close()
        problem += differing(f"{options}", expected, {row["laddr"] for row in json_rows(out)}) + err
    return problem
