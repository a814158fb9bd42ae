"""TCP connections that lose what the load wants them to lose, for a network namespace of its own. A socket filter drops
segments as they arrive, so that no kernel needs a lossy device. Prints which connections lost what, and what the kernel
counted, as JSON."""

import json
import os
import socket
import sys
import time

from drop_filter import DROP_ALL, DROP_PAYLOAD_D, attach, detach
from tcp_counters import counters, grown

FAMILIES = {4: (socket.AF_INET, "127.0.0.1"), 6: (socket.AF_INET6, "::1")}


def listen(version):
    family, address = FAMILIES[version]
    listener = socket.socket(family)
    listener.bind((address, 0))
    listener.listen()
    return listener


def begin_connect(listener, program=None):
    client = socket.socket(listener.family)
    if program:
        attach(client, program)
    client.setblocking(False)
    client.connect_ex(listener.getsockname())
    return client


def pair(version):
    """A connection with small segments, of which the kernel sends several at once."""
    with listen(version) as listener:
        client = socket.socket(listener.family)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 500)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.connect(listener.getsockname())
        return client, listener.accept()[0]


def received(end, count):
    while count:
        count -= len(end.recv(count))


def ports(local, remote):
    return [local.getsockname()[0], local.getsockname()[1], remote.getsockname()[1]]


def lose(version, count):
    """What is lost: (type, local address, local port, remote port) of each connection."""
    silent, listener = listen(version), listen(version)
    attach(silent, DROP_ALL)
    lost = {"syn": [], "synack": [], "timer": [], "fast": []}
    open_ends, pairs = [silent, listener], []
    for _ in range(count):
        client = begin_connect(silent)
        lost["syn"].append(ports(client, silent))
        open_ends.append(client)

        client = begin_connect(listener, DROP_ALL)
        lost["synack"].append(ports(listener, client))
        open_ends.append(client)
    for kind in ("timer", "fast") * count:
        client, server = pair(version)
        attach(server, DROP_ALL if kind == "timer" else DROP_PAYLOAD_D)
        client.sendall(b"D" * 2000)
        if kind == "fast":
            client.sendall(b"x" * 1900)  # all within the first window; for these the peer tells that it misses the others
        lost[kind].append(ports(client, server))
        pairs.append((client, server, 3900 if kind == "fast" else 2000))
    return lost, pairs, open_ends


def main(v4, v6):
    before = counters()
    groups = [lose(version, count) for version, count in ((4, v4), (6, v6)) if count]
    time.sleep(1.15)  # the first SYN is sent again after a second
    pairs, open_ends = sum((group[1] for group in groups), []), sum((group[2] for group in groups), [])
    for end in open_ends:
        end.close()
    for _, server, _ in pairs:
        detach(server)
    for client, server, count in pairs:
        received(server, count)
        client.close()
        server.close()
    lost = {kind: sum((group[0][kind] for group in groups), []) for kind in groups[0][0]}
    print(json.dumps({"pid": os.getpid(), "lost": lost, "counted": grown(before)}))


main(*map(int, sys.argv[1:]))
