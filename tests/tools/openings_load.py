"""Connections opened and accepted through sockets of several families, types and protocols, and some that fail. Prints as
JSON how many of each."""

import json
import os
import socket
import sys
import tempfile


def listen(family, address):
    listener = socket.socket(family)
    listener.bind(address)
    listener.listen()
    return listener


def open_streams(add, name, family, address, count):
    listener = listen(family, address)
    for _ in range(count):
        client = socket.socket(family)
        client.connect(listener.getsockname())
        add("connect", family, "SOCK_STREAM", name)
        listener.accept()
        add("accept", family, "SOCK_STREAM", name)
    listener.setblocking(False)
    for _ in range(2):
        try:
            listener.accept()
        except BlockingIOError:
            add("accept", family, "SOCK_STREAM", name, "EAGAIN")


def fail_to_connect(add, name, family, kind, address, error):
    with socket.socket(family, getattr(socket, kind)) as client:
        try:
            client.connect(address)
        except OSError as reason:
            assert type(reason) is error[1], reason
            add("connect", family, kind, name, error[0])


def main():
    counts = {}

    def add(call, family, kind, protocol, error=0):
        key = (call, "AF_" + family.name[3:], kind, protocol, error)
        counts[key] = counts.get(key, 0) + 1

    refused = ("ECONNREFUSED", ConnectionRefusedError)
    with tempfile.TemporaryDirectory() as folder:
        open_streams(add, "TCP", socket.AF_INET, ("127.0.0.1", 0), 7)
        open_streams(add, "TCPv6", socket.AF_INET6, ("::1", 0), 5)
        open_streams(add, "UNIX-STREAM", socket.AF_UNIX, folder + "/stream", 3)
        for _ in range(4):
            fail_to_connect(add, "TCP", socket.AF_INET, "SOCK_STREAM", ("127.0.0.1", 1), refused)
        for _ in range(2):
            fail_to_connect(add, "TCPv6", socket.AF_INET6, "SOCK_STREAM", ("::1", 1), refused)
        fail_to_connect(add, "UNIX", socket.AF_UNIX, "SOCK_DGRAM", folder + "/missing", ("ENOENT", FileNotFoundError))
    for _ in range(6):
        socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).connect(("::1", 9))
        add("connect", socket.AF_INET6, "SOCK_DGRAM", "UDPv6")
    print(json.dumps({"pid": os.getpid(), "openings": [[*key, count] for key, count in counts.items()]}))


main()
