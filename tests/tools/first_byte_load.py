"""Connections on loopback whose servers let them wait, for a network namespace of its own. Prints between which bounds the
time to each first byte must be by the load's own clock, as JSON."""

import json
import os
import select
import socket
import time

FAMILIES = {4: (socket.AF_INET, "127.0.0.1"), 6: (socket.AF_INET6, "::1")}
TCP, UDP = socket.SOCK_STREAM, socket.SOCK_DGRAM
times = []


def serve(end, kind, wait):
    """In a child: one answer of two parts to the first byte."""
    if os.fork():
        return
    if kind == TCP:
        end, _ = end.accept()
        end.recv(1)
        time.sleep(wait)
        end.sendall(b"yes")
        end.shutdown(socket.SHUT_WR)
        end.recv(1)
    else:
        _, peer = end.recvfrom(1)
        time.sleep(wait)
        end.sendto(b"yes", peer)
    os._exit(0)


# Ways to read the first byte; each gives the time when the call began that received it.
def recv(client):
    began = time.monotonic_ns()
    client.recv(2)
    return began


def peek(client):
    client.recv(2, socket.MSG_PEEK)
    time.sleep(0.03)
    return recv(client)


def read_after_nothing(client):
    """What finds nothing receives nothing."""
    client.setblocking(False)
    try:
        client.recv(2)
    except BlockingIOError:
        pass
    select.select([client], [], [])
    began = time.monotonic_ns()
    os.read(client.fileno(), 2)
    return began


def read_from_a_closed_connection(client):
    """Both directions have ended before the first byte is read."""
    client.shutdown(socket.SHUT_WR)
    time.sleep(0.05)
    began = time.monotonic_ns()
    client.recvmsg(2)
    return began


def ask(version, kind, wait, read, blocking=True):
    family, address = FAMILIES[version]
    with socket.socket(family, kind) as server:
        server.bind((address, 0))
        if kind == TCP:
            server.listen()
        serve(server, kind, wait)
        with socket.socket(family, kind) as client:
            before = time.monotonic_ns()
            if blocking:
                client.connect(server.getsockname())
            else:
                client.setblocking(False)
                client.connect_ex(server.getsockname())
                select.select([], [client], [])
                client.setblocking(True)
            after = time.monotonic_ns()
            answer = time.monotonic_ns() + int(wait * 1e9)
            client.send(b"?")
            least = max(answer, read(client)) - after
            most = time.monotonic_ns() - before
            if kind == TCP:
                client.recv(10)  # more than the first byte
    os.wait()
    times.append({"least": least // 1000, "most": most // 1000})


def never_answered():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client = socket.create_connection(server.getsockname())
        client.close()
    with socket.socket(type=UDP) as client:
        client.connect(("127.0.0.1", 9))


def main():
    for version in (4, 6):
        for kind in (TCP, UDP):
            for wait in (0, 0.01, 0.05):
                ask(version, kind, wait, recv)
            ask(version, kind, 0.005, peek)
            ask(version, kind, 0.02, read_after_nothing)
        ask(version, TCP, 0.01, read_from_a_closed_connection)
        ask(version, TCP, 0.01, recv, blocking=False)
    never_answered()
    print(json.dumps({"pid": os.getpid(), "times": times}))


main()
