"""A known load of TCP connections on loopback, for a network namespace of its own. Prints what it did, and what the
kernel counted in the namespace meanwhile, as JSON."""

import json
import os
import socket
import sys
import time

FAMILIES = {4: (socket.AF_INET, "127.0.0.1"), 6: (socket.AF_INET6, "::1")}


def counters():
    lines = [line.split() for line in open("/proc/net/snmp") if line.startswith("Tcp:")]
    return dict(zip(lines[0][1:], map(int, lines[1][1:])))


def receive(end, count):
    while count:
        count -= len(end.recv(min(count, 65536)))


def connection(version, sent, answered):
    """One connection that the client ends; what each side saw of it."""
    family, address = FAMILIES[version]
    with socket.socket(family) as listener:
        listener.bind((address, 0))
        listener.listen()
        began = time.monotonic()
        client = socket.socket(family)
        client.connect(listener.getsockname())
        server, _ = listener.accept()
        client.sendall(b"x" * sent)
        receive(server, sent)
        server.sendall(b"y" * answered)
        receive(client, answered)
        near, far = client.getsockname()[1], listener.getsockname()[1]
        client.shutdown(socket.SHUT_WR)
        server.recv(1)
        server.close()
        client.recv(1)
        client.close()
        lasted = (time.monotonic() - began) * 1000
    return {"address": address, "near": near, "far": far, "sent": sent, "answered": answered, "ms": lasted}


def refused(version):
    family, address = FAMILIES[version]
    with socket.socket(family) as client:
        client.bind((address, 0))
        near = client.getsockname()[1]
        try:
            client.connect((address, 1))
        except ConnectionRefusedError:
            pass
    return {"address": address, "near": near, "far": 1}


def main(v4, v6, failing):
    done = {"pid": os.getpid(), "connections": [], "refused": []}
    before = counters()
    for i in range(v4 + v6):
        done["connections"].append(connection(4 if i < v4 else 6, 1009 * i, 7 * i + (300000 if i == 3 else 0)))
    for i in range(failing):
        done["refused"].append(refused(4 if i % 2 else 6))
    after = counters()
    done["counted"] = {name: after[name] - before[name] for name in after}
    print(json.dumps(done))


main(*map(int, sys.argv[1:]))
