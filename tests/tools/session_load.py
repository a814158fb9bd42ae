"""Connections that end in all the ways there are, on loopback, for a network namespace of its own. Prints the ends of each,
and between which bounds its life must be by the load's own clock, as JSON."""

import ctypes
import json
import os
import socket
import struct
import time

FAMILIES = {4: (socket.AF_INET, "127.0.0.1"), 6: (socket.AF_INET6, "::1")}
TCP, UDP = socket.SOCK_STREAM, socket.SOCK_DGRAM
NAMES = {(socket.AF_INET, TCP): "TCP", (socket.AF_INET6, TCP): "TCPv6", (socket.AF_INET, UDP): "UDP", (socket.AF_INET6, UDP): "UDPv6"}
libc = ctypes.CDLL(None, use_errno=True)
sessions = []


class Session:
    """A socket that is connected now, by `connect`, which gives it."""

    def __init__(self, connect, pid=None):
        self.before = time.monotonic_ns()
        self.end = connect()
        self.after = time.monotonic_ns()
        near, far = self.end.getsockname(), self.end.getpeername()
        self.row = {"pid": pid or os.getpid(), "proto": NAMES[self.end.family, self.end.type], "laddr": near[0], "lport": near[1],
                    "raddr": far[0], "rport": far[1]}

    def ends(self, close):
        """Its last descriptor goes away in `close`, which may know better when that began."""
        shortest = time.monotonic_ns() - self.after
        known = close()
        shortest = known - self.after if known else shortest
        sessions.append({"row": self.row, "least": shortest / 1e6, "most": (time.monotonic_ns() - self.before) / 1e6})


def connected(kind, address, family):
    end = socket.socket(family, kind)
    end.connect(address)
    return end


def pair(version):
    """Both sides of a TCP connection."""
    family, address = FAMILIES[version]
    with socket.socket(family) as server:
        server.bind((address, 0))
        server.listen()
        client = Session(lambda: connected(TCP, server.getsockname(), family))
        return client, Session(lambda: server.accept()[0])


def udp(version, port=5300):
    family, address = FAMILIES[version]
    return Session(lambda: connected(UDP, (address, port), family))


def nap():
    time.sleep(0.01)


def ordinary():
    for version in (4, 6):
        client, server = pair(version)
        client.end.sendall(b"x" * 1000)
        server.end.recv(1000)
        nap()
        client.ends(client.end.close)
        nap()
        server.ends(server.end.close)
        end = udp(version)
        nap()
        end.ends(end.end.close)


def closed_late():
    """A peer's reset and a shutdown end the connection, not the session."""
    client, server = pair(4)
    server.end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    server.ends(server.end.close)
    nap()
    client.ends(client.end.close)
    client, server = pair(6)
    client.end.shutdown(socket.SHUT_RDWR)
    server.end.shutdown(socket.SHUT_RDWR)
    nap()
    server.ends(server.end.close)
    client.ends(client.end.close)


def shared(make):
    """More than one descriptor: a duplicate, and a child's, which goes away as the child ends."""
    session = make()
    more = os.dup(session.end.fileno())
    session.end.close()
    nap()
    session.ends(lambda: os.close(more))
    session = make()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        nap()
        os.write(write, struct.pack("q", time.monotonic_ns()))
        os._exit(0)
    session.end.close()

    def wait():
        os.waitpid(child, 0)
        return struct.unpack("q", os.read(read, 8))[0]

    session.ends(wait)


def many_at_once(make):
    """close_range(2), and a descriptor that dup2(2) puts in the place of another."""
    session = make()
    high = os.dup(session.end.fileno())
    os.dup2(high, 900)
    session.end.close()
    os.close(high)
    session.ends(lambda: libc.close_range(899, 2000, 0) and None)
    session = make()
    session.ends(lambda: os.dup2(0, session.end.fileno()) and None)


def udp_again():
    """Connecting a UDP socket elsewhere, or to nothing, ends what was."""
    session = udp(4, 5301)
    end = session.end

    def reconnect():
        end.connect(("127.0.0.1", 5302))
        return end

    second = []
    session.ends(lambda: second.append(Session(reconnect)))
    nothing = struct.pack("H14x", socket.AF_UNSPEC)
    second[0].ends(lambda: libc.connect(end.fileno(), nothing, len(nothing)) and None)
    end.close()


def refused():
    with socket.socket() as client:
        client.connect_ex(("127.0.0.1", 1))
    with socket.socket() as client:
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", 1))


def main():
    keep = socket.socket()  # a TCP listener whose peers nobody closes
    keep.bind(("127.0.0.1", 0))
    keep.listen()
    ordinary()
    closed_late()
    for make in (lambda: udp(4), lambda: Session(lambda: connected(TCP, keep.getsockname(), socket.AF_INET))):
        shared(make)
        many_at_once(make)
    udp_again()
    refused()
    print(json.dumps({"pid": os.getpid(), "sessions": sessions}))


if __name__ == "__main__":
    main()
