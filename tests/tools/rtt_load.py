"""TCP connections that exchange small messages and end with a reset, for a network namespace of its own. Prints the round-trip
times that the sockets told (TCP_INFO), and how many packets came to established connections, as JSON."""

import json
import os
import socket
import struct
import sys

from tcp_counters import counters, grown

FAMILIES = {4: (socket.AF_INET, "127.0.0.1"), 6: (socket.AF_INET6, "::1")}
OPENING = 3  # SYN, SYN with ACK, and the ACK that makes the connection


def rtt_of(end):
    return struct.unpack_from("I", end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 68)[0]


def exchange(version, rounds):
    """What the client told before each answer came."""
    family, address = FAMILIES[version]
    told = []
    with socket.create_server((address, 0), family=family) as listener:
        client = socket.create_connection(listener.getsockname()[:2])
        server = listener.accept()[0]
    for _ in range(rounds):
        client.sendall(b"x" * 50)
        server.recv(50)
        told.append(rtt_of(client))
        server.sendall(b"y" * 50)
        client.recv(50)
    for end in (client, server):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end.close()
    return told


def main(v4, v6):
    done = {"pid": os.getpid(), "hosts": {}}
    for version, rounds in ((4, v4), (6, v6)):
        before = counters()
        told = exchange(version, rounds)
        done["hosts"][FAMILIES[version][1]] = {"told": told, "packets": grown(before)["InSegs"] - OPENING}
    print(json.dumps(done))


main(*map(int, sys.argv[1:]))
