"""A TCP connection that carries data in rounds, for a network namespace of its own. After each round, when all is
acknowledged, the sender tells its window (TCP_INFO, SO_MEMINFO), and its peer sends one byte. Prints what it told, as JSON."""

import json
import os
import socket
import struct
import sys
import time

FAMILIES = {4: (socket.AF_INET, "127.0.0.1"), 6: (socket.AF_INET6, "::1")}
SO_MEMINFO = 55


def window_of(end):
    info = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    memory = struct.unpack("9I", end.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))
    unacked, rtt, ssthresh, cwnd = (struct.unpack_from("I", info, at)[0] for at in (24, 68, 76, 80))
    return {"cwnd": cwnd, "ssthresh": ssthresh, "flight": unacked, "srtt_us": rtt, "sndbuf_bytes": memory[3], "queued_bytes": memory[5]}


def carry(version, rounds):
    family, address = FAMILIES[version]
    with socket.create_server((address, 0), family=family) as listener:
        client = socket.socket(family)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
        client.connect(listener.getsockname())
        server = listener.accept()[0]
    told = []
    for i in range(rounds):
        client.sendall(b"x" * 5000 * (i + 1))
        left = 5000 * (i + 1)
        while left:
            left -= len(server.recv(left))
        while window_of(client)["flight"]:
            time.sleep(0.001)
        told.append(window_of(client))
        server.sendall(b"y")
        client.recv(1)
    ends = [address, client.getsockname()[1], server.getsockname()[1]]
    client.close()
    server.close()
    return {"ends": ends, "told": told}


def main(rounds):
    print(json.dumps({"pid": os.getpid(), "connections": [carry(4, rounds), carry(6, rounds)]}))


main(int(sys.argv[1]))
