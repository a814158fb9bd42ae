"""Connections that take their time, for a network namespace of its own: through a link whose other end, a child in a second
namespace, cannot be addressed until the load says how, and on loopback. Prints between which bounds the network's part and the
program's part of each must be by the load's own clock, in microseconds, as JSON. Takes the name it is to have."""

import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

TCP_INFO_STATE_ESTABLISHED = 1
CLONE_NEWNET, PR_SET_PDEATHSIG = 0x40000000, 1
NEAR_MAC, FAR_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"
NEAR, FAR, PORT = "10.9.0.1", "10.9.0.2", 8080
libc = ctypes.CDLL(None, use_errno=True)
network, wakeup, failed = [], [], []


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def bounds(least, most):
    return {"least": max(least, 0) // 1000, "most": most // 1000}


def far_end():
    """The child: its namespace, then its end of the link and a listener. It answers nobody who asks for its address."""
    told, tell = os.pipe()
    ready, say = os.pipe()
    child = os.fork()
    if child == 0:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        libc.unshare(CLONE_NEWNET)
        os.write(say, b"x")
        os.read(told, 1)
        open("/proc/sys/net/ipv4/conf/far/arp_ignore", "w").write("8")
        ip("address", "add", f"{FAR}/24", "dev", "far")
        ip("link", "set", "far", "up")
        ip("neighbour", "replace", NEAR, "lladdr", NEAR_MAC, "nud", "permanent", "dev", "far")
        server = socket.socket()
        server.bind((FAR, PORT))
        server.listen()
        os.write(say, b"x")
        signal.pause()
    os.read(ready, 1)
    ip("link", "set", "far", "netns", str(child))
    os.write(tell, b"x")
    os.read(ready, 1)
    return child


def make_link():
    ip("link", "add", "near", "address", NEAR_MAC, "type", "veth", "peer", "name", "far", "address", FAR_MAC)
    child = far_end()
    ip("address", "add", f"{NEAR}/24", "dev", "near")
    ip("link", "set", "near", "up")
    open("/proc/sys/net/ipv4/neigh/near/mcast_solicit", "w").write("60")  # seconds that the first packet may wait
    return child


class Late:
    """Says after a while how to address the other end; until then the first packet waits."""

    def __init__(self, wait):
        ip("neighbour", "flush", "dev", "near")
        self.wait, self.said = wait, None
        self.thread = threading.Thread(target=self.say)
        self.thread.start()

    def say(self):
        time.sleep(self.wait)
        self.said = time.monotonic_ns()
        ip("neighbour", "replace", FAR, "lladdr", FAR_MAC, "nud", "permanent", "dev", "near")


def blocking_and_late(wait):
    client = socket.socket()
    late = Late(wait)
    before = time.monotonic_ns()
    client.connect((FAR, PORT))
    known = time.monotonic_ns()
    late.thread.join()
    network.append(bounds(late.said - before, known - before))
    wakeup.append(bounds(0, known - late.said))
    client.close()
    ip("neighbour", "del", FAR, "dev", "near")


def is_established(client):
    return client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == TCP_INFO_STATE_ESTABLISHED


def by_poll(client):
    poll = select.poll()
    poll.register(client, select.POLLOUT)
    return poll.poll


def by_select(client):
    return lambda: select.select([], [client], [])


def by_epoll(client):
    """Made after connect(): what this call gives is a descriptor, not a number of events."""
    epoll = select.epoll()
    epoll.register(client, select.EPOLLOUT)
    return epoll.poll


def by_ppoll(client):
    polled = (ctypes.c_int * 2)(client.fileno(), select.POLLOUT)
    return lambda: libc.ppoll(polled, 1, None, None)


def by_connect(client):
    return lambda: client.connect_ex(client.getpeername())


def poll_another(client):
    """Something else that is ready, on the same thread, in each of the three ways; the socket is not asked for."""
    read, write = os.pipe()
    os.write(write, b"x")
    select.select([read], [], [])
    for make in (select.poll, select.epoll):
        other = make()
        other.register(read, select.POLLIN)
        other.poll()
    os.close(read)
    os.close(write)


def learns_late(address, family, learn_by, earlier=None):
    """The connection is there at once, but the program asks only a while later."""
    client = socket.socket(family)
    client.setblocking(False)
    ask = earlier(client) if earlier else None
    before = time.monotonic_ns()
    client.connect_ex(address)
    while not is_established(client):
        pass
    there = time.monotonic_ns()
    poll_another(client)
    time.sleep(0.02)
    ask = ask or learn_by(client)
    asked = time.monotonic_ns()
    ask()
    known = time.monotonic_ns()
    network.append(bounds(0, there - before))
    wakeup.append(bounds(asked - there, known - before))
    client.close()


def never_asks(family, address):
    client = socket.socket(family)
    client.setblocking(False)
    before = time.monotonic_ns()
    client.connect_ex(address)
    while not is_established(client):
        pass
    network.append(bounds(0, time.monotonic_ns() - before))
    client.close()


def fails(family, address, error):
    with socket.socket(family) as client:
        client.connect_ex(address)
    failed.append(error)


def main():
    open("/proc/self/comm", "w").write(sys.argv[1])
    child = make_link()
    for wait in (0.01, 0.04, 0.08):
        blocking_and_late(wait)
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        server = socket.socket(family)
        server.bind((address, 0))
        server.listen()
        for way in (by_poll, by_ppoll, by_select, by_epoll, by_connect):
            learns_late(server.getsockname(), family, way)
        learns_late(server.getsockname(), family, None, earlier=by_epoll)
        fails(family, (address, 1), "Connection refused")
        never_asks(family, server.getsockname())
    fails(socket.AF_INET, ("203.0.113.1", 7), "Network is unreachable")
    os.kill(child, signal.SIGKILL)
    print(json.dumps({"network": network, "wakeup": wakeup, "failed": failed}))


main()
