"""Listeners on loopback whose connections wait before they are accepted, for a network namespace of its own. Prints what
each accept() gave, what the listener then said of itself (TCP_INFO), and what the kernel counted, as JSON."""

import ctypes
import json
import os
import socket
import struct
import sys

from tcp_counters import counters, grown

FAMILIES = {4: (socket.AF_INET, "127.0.0.1"), 6: (socket.AF_INET6, "::1")}
LIBC = ctypes.CDLL(None, use_errno=True)


def queue_of(listener):
    """(waiting, limit): for a listener the fields tcpi_unacked and tcpi_sacked mean these."""
    return struct.unpack_from("II", listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 64), 24)


def accept_without_flags(listener):
    """accept(2), where Python itself calls accept4(2)."""
    return socket.socket(fileno=LIBC.accept(listener.fileno(), None, None))


def connections(version, count, backlog, port):
    family, address = FAMILIES[version]
    accepted = []
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(backlog)
        clients, found_waiting = [], []
        for _ in range(count):
            found_waiting.append(queue_of(listener)[0])
            clients.append(socket.create_connection(listener.getsockname()[:2]))
        for i in range(count):
            server = accept_without_flags(listener) if i % 2 else listener.accept()[0]
            waiting, limit = queue_of(listener)
            accepted.append({"address": address, "near": server.getpeername()[1], "far": listener.getsockname()[1],
                             "waiting": waiting, "limit": limit, "found_waiting": found_waiting[i]})
            server.close()
        for client in clients:
            client.close()
    return accepted


def main(v4, v6, backlog, port=0):
    before = counters()
    done = {"pid": os.getpid(), "accepted": connections(4, v4, backlog, port) + connections(6, v6, backlog, port)}
    done["counted"] = grown(before)
    print(json.dumps(done))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
