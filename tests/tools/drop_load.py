"""TCP packets that the kernel drops, for a network namespace of its own: to closed ports, and by the filter of a socket.
Prints which packets they were and what the sockets and the kernel counted, as JSON."""

import json
import os
import socket
import struct
import sys
import time

from drop_filter import DROP_ALL, attach
from tcp_counters import counters, grown

FAMILIES = {4: (socket.AF_INET, "127.0.0.1"), 6: (socket.AF_INET6, "::1")}
SO_MEMINFO, DROPS = 55, 8
kept = []


def drops_of(end):
    return struct.unpack("9I", end.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))[DROPS]


def to_closed_port(version, port):
    family, address = FAMILIES[version]
    with socket.socket(family) as client:
        client.bind((address, 0))
        client.connect_ex((address, port))
        return [address, client.getsockname()[1], port]


def filtered(version, count):
    """A connection of which one end drops all it gets, and how many packets that were."""
    family, address = FAMILIES[version]
    with socket.create_server((address, 0), family=family) as listener:
        client = socket.create_connection(listener.getsockname()[:2])
        server = listener.accept()[0]
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    attach(server, DROP_ALL)
    for _ in range(count):
        client.sendall(b"x" * 100)
    while drops_of(server) <= count:  # the last ones again
        time.sleep(0.01)
    ends = [address, client.getsockname()[1], server.getsockname()[1]]
    for end in (client, server):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()  # with a reset, which is dropped like the rest; nothing more comes
    kept.append(server)
    return ends + [drops_of(server)]


def main(v4, v6, port):
    before = counters()
    done = {"pid": os.getpid(), "closed": [], "filtered": []}
    for version, count in ((4, v4), (6, v6)):
        done["closed"] += [to_closed_port(version, port) for _ in range(count)]
        done["filtered"].append(filtered(version, count))
    done["counted"] = grown(before)
    print(json.dumps(done))


main(*map(int, sys.argv[1:]))
