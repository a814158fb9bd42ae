"""TCP connections that send in all modes, for a network namespace of its own. Prints how many calls sent in which mode, and
after which of them, and how long, data was held back, as JSON."""

import fcntl
import json
import os
import socket
import struct
import sys
import time

from drop_filter import DROP_ALL, attach, detach

FAMILIES = {4: (socket.AF_INET, "127.0.0.1"), 6: (socket.AF_INET6, "::1")}
SIOCOUTQNSD = 0x894B
done = {"sends": {}, "held": {}, "times": []}


def pair(version, *options):
    family, address = FAMILIES[version]
    with socket.create_server((address, 0), family=family) as listener:
        client = socket.create_connection(listener.getsockname()[:2])
        server = listener.accept()[0]
    for option in options:
        client.setsockopt(socket.IPPROTO_TCP, option, 1)
    return client, server


def unsent(end):
    return struct.unpack("i", fcntl.ioctl(end, SIOCOUTQNSD, b"\0" * 4))[0]


def send(client, mode, count):
    client.sendall(b"x" * count)
    done["sends"][mode] = done["sends"].get(mode, 0) + 1
    if unsent(client) or "CORK" in mode:  # a cork goes by itself after a while
        done["held"][mode] = done["held"].get(mode, 0) + 1


def receive(server, count):
    while count:
        count -= len(server.recv(count))


def small_writes(version):
    """The second write waits for the answer to the first, which comes only when the filter is gone."""
    client, server = pair(version)
    attach(server, DROP_ALL)
    send(client, "ON", 50)
    began = time.monotonic()
    send(client, "ON", 50)
    is_held = time.monotonic()
    time.sleep(0.05)
    is_released = time.monotonic()
    detach(server)
    receive(server, 100)
    done["times"].append(["nagle", (is_released - is_held) * 1e6, (time.monotonic() - began) * 1e6])


def without_delay(version):
    client, server = pair(version, socket.TCP_NODELAY)
    for _ in range(5):
        send(client, "OFF", 50)
    receive(server, 250)


def corked(version, mode, *options):
    client, server = pair(version, socket.TCP_CORK, *options)
    began = time.monotonic()
    send(client, mode, 50)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
    receive(server, 50)
    done["times"].append(["cork", 0, (time.monotonic() - began) * 1e6])


def full_window(version):
    """The peer reads nothing until it has no more room."""
    client, server = pair(version, socket.TCP_NODELAY)
    began, sent = 0, 0
    while unsent(client) == 0:
        began = time.monotonic()
        send(client, "OFF", 1000)
        sent += 1000
    receive(server, sent)
    done["times"].append(["receive window", 0, (time.monotonic() - began) * 1e6])


def main(*versions):
    open("/proc/sys/net/ipv4/tcp_early_retrans", "w").write("0")  # no probes for lost tails, which send what is held
    open("/proc/sys/net/ipv4/tcp_rmem", "w").write("4096 20000 20000")
    for version in versions:
        small_writes(version)
        without_delay(version)
        corked(version, "CORK")
        corked(version, "OFF|CORK", socket.TCP_NODELAY)
        full_window(version)
    print(json.dumps(dict(done, pid=os.getpid())))


main(*map(int, sys.argv[1:]))
