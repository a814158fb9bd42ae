"""Listeners whose queues fill up, for a network namespace of its own. It listens, says so, waits for a line; fills the
queues, prints what they hold as the kernel tells it (TCP_INFO, SO_MEMINFO,
/proc/net/tcp), as JSON, and waits for another line."""

import json
import os
import socket
import struct
import subprocess
import sys

from drop_filter import DROP_ALL, attach
from listen_load import FAMILIES, queue_of
from tcp_counters import counters, grown

SYN_RECV = "03"
SO_MEMINFO = 55
GONE = {socket.AF_INET: "10.9.9.1", socket.AF_INET6: "fd00:9::1"}
kept = []


def listen(version, backlog):
    family, address = FAMILIES[version]
    listener = socket.socket(family)
    listener.bind((address, 0))
    listener.listen(backlog)
    return listener


def drops_of(listener):
    return struct.unpack("9I", listener.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))[8]


def unanswered(listener):
    """How many connections of this port wait for the client."""
    path, port = ("/proc/net/tcp", "/proc/net/tcp6")[listener.family == socket.AF_INET6], listener.getsockname()[1]
    lines = [line.split() for line in list(open(path))[1:]]
    return sum(words[3] == SYN_RECV and int(words[1].split(":")[1], 16) == port for words in lines)


def connect_and_leave(listener, source=None):
    """Begins to connect and goes before anything is sent again."""
    with socket.socket(listener.family) as client:
        if source:
            attach(client, DROP_ALL)
            client.bind((source, 0))
        client.setblocking(False)
        client.connect_ex(listener.getsockname())


def connect_silently(listener, count):
    """From an address that then vanishes while its route stays: what is sent there is lost, and nobody answers."""
    source = GONE[listener.family]
    is_v6 = listener.family == socket.AF_INET6
    device = [f"{source}/{128 if is_v6 else 32}", "dev", "lo"]
    subprocess.run(["ip", "address", "add", *device, *(["nodad"] if is_v6 else [])], check=True)
    for _ in range(count):
        connect_and_leave(listener, source)
    subprocess.run(["ip", "address", "delete", *device], check=True)
    subprocess.run(["ip", "route", "replace", *device], check=True)


def fill(listener, silent, refused):
    """The lengths that each new connection found."""
    found = {"accept": [], "syn": []}

    def connect():
        found["accept"].append(queue_of(listener)[0])
        found["syn"].append(unanswered(listener) + 1)  # with itself
        kept.append(socket.create_connection(listener.getsockname()[:2]))

    connect()
    kept.append(listener.accept()[0])
    connect_silently(listener, silent)
    for _ in range(queue_of(listener)[1] + 1):
        connect()
    for _ in range(refused):
        connect_and_leave(listener)
    return found


def state_of(listener, found):
    queue, limit = queue_of(listener)
    return {"address": listener.getsockname()[0], "port": listener.getsockname()[1], "queue": queue, "limit": limit,
            "syns": unanswered(listener), "drops": drops_of(listener), "found": found}


def main(backlog, silent, refused):
    listeners = [listen(version, backlog) for version in (4, 6)]
    print("listening", flush=True)
    sys.stdin.readline()
    before = counters()
    found = [fill(listener, silent, refused) for listener in listeners]
    filled = [state_of(*one) for one in zip(listeners, found)]
    print(json.dumps({"pid": os.getpid(), "listeners": filled, "counted": grown(before)}), flush=True)
    sys.stdin.readline()


main(*map(int, sys.argv[1:]))
