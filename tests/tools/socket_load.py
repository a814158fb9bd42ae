"""Known calls of IP sockets on loopback, for a network namespace of its own: the first argument says which. Prints each
call with its ends and its error as JSON."""

import ctypes
import errno
import json
import os
import signal
import socket
import subprocess
import sys

FAMILIES = {4: (socket.AF_INET, "127.0.0.1"), 6: (socket.AF_INET6, "::1")}
TCP, UDP = socket.SOCK_STREAM, socket.SOCK_DGRAM
NAMES = {(4, TCP): "TCP", (6, TCP): "TCPv6", (4, UDP): "UDP", (6, UDP): "UDPv6"}
libc = ctypes.CDLL(None, use_errno=True)


def counters():
    lines = [line.split() for line in open("/proc/net/snmp") if line.startswith("Tcp:")]
    return dict(zip(lines[0][1:], map(int, lines[1][1:])))


def error_name(number):
    names = {0: 0, **errno.errorcode, errno.EOPNOTSUPP: "EOPNOTSUPP"}  # which ENOTSUP is too
    return names[number]


def new_socket(version, kind=TCP, bound=False):
    end = socket.socket(FAMILIES[version][0], kind)
    if bound:
        end.bind((FAMILIES[version][1], 0))
    return end


def listener(version):
    end = new_socket(version, bound=True)
    end.listen()
    return end


def connect(version, kind, address, client=None):
    client = client or new_socket(version, kind)
    error = client.connect_ex(address)
    near = client.getsockname()
    return client, {"proto": NAMES[version, kind], "laddr": near[0], "lport": near[1], "raddr": address[0],
                    "rport": address[1], "err": error_name(error)}


def connects():
    calls = []
    for version, count in ((4, 5), (6, 3)):
        local = FAMILIES[version][1]
        with listener(version) as server:
            for _ in range(count):
                client, call = connect(version, TCP, server.getsockname()[:2])
                calls.append(call)
            calls.append(connect(version, TCP, server.getsockname()[:2], client)[1])  # EISCONN
            client = new_socket(version)
            client.setblocking(False)
            client, call = connect(version, TCP, server.getsockname()[:2], client)
            calls.append(call)  # EINPROGRESS
        calls.append(connect(version, TCP, (local, 1))[1])
        calls.append(connect(version, UDP, (local, 53))[1])
        calls.append(connect(version, TCP, ("203.0.113.1" if version == 4 else "2001:db8::1", 7))[1])  # no route
    socket.socketpair()  # no IP
    bad = bytes(socket.AF_INET.to_bytes(2, "little") + (9).to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8))
    libc.connect(1000, bad, len(bad))
    calls.append({"proto": "", "laddr": "0.0.0.0", "lport": 0, "raddr": "127.0.0.1", "rport": 9,
                  "err": error_name(ctypes.get_errno())})
    return calls


def accept(server, version, wants_peer=True, fd=None):
    """accept(2) as a C program calls it: the address of the peer may be left out."""
    peer, size = ctypes.create_string_buffer(128), ctypes.c_uint(128)
    fd = libc.accept(server.fileno() if fd is None else fd, peer if wants_peer else None, ctypes.byref(size) if wants_peer else None)
    error = ctypes.get_errno() if fd < 0 else 0
    near = server.getsockname()
    far = ("0.0.0.0" if version == 4 else "::", 0)
    if fd >= 0:
        end = socket.socket(fileno=fd)
        near, far = end.getsockname(), end.getpeername()
        end.close()
    return {"proto": NAMES[version, TCP], "laddr": near[0], "lport": near[1], "raddr": far[0], "rport": far[1],
            "err": error_name(error)}


def interrupt(*_):
    pass


def accepts():
    calls = []
    signal.signal(signal.SIGALRM, interrupt)
    signal.siginterrupt(signal.SIGALRM, True)
    for version, count in ((4, 5), (6, 3)):
        with listener(version) as server:
            for i in range(count):
                client = new_socket(version)
                client.connect(server.getsockname()[:2])
                calls.append(accept(server, version, wants_peer=i % 2 == 0))
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            calls.append(accept(server, version))  # EINTR
            server.setblocking(False)
            calls.append(accept(server, version))  # EAGAIN
        with new_socket(version, bound=True) as server:
            calls.append(accept(server, version))  # EINVAL: it does not listen
    with socket.socket(socket.AF_UNIX) as local:
        libc.accept(local.fileno(), None, None)  # no IP
    libc.accept(1000, None, None)
    calls.append({"proto": "", "laddr": "0.0.0.0", "lport": 0, "raddr": "0.0.0.0", "rport": 0,
                  "err": error_name(ctypes.get_errno())})
    return calls


def listening():
    """What ss(8) says of each listening port: connections that may wait."""
    text = subprocess.run(["ss", "-Hltn"], capture_output=True, text=True, check=True).stdout
    return {int(line.split()[3].rsplit(":", 1)[1]): int(line.split()[2]) for line in text.splitlines()}


def listens():
    calls = []
    netns = os.stat("/proc/self/ns/net").st_ino
    for version, backlogs in ((4, (7, 1000000, -1, 0)), (6, (11, 70000))):
        for backlog in backlogs:
            with new_socket(version, bound=True) as server:
                for asked in (backlog, 5):  # the second call changes the backlog only
                    server.listen(asked) if asked >= 0 else libc.listen(server.fileno(), asked)
                    address, port = server.getsockname()[:2]
                    calls.append({"netns": netns, "proto": NAMES[version, TCP], "backlog": asked, "limit": listening()[port],
                                  "addr": address, "port": port, "err": 0})
    with new_socket(4, UDP, bound=True) as server:
        libc.listen(server.fileno(), 3)
        calls.append({"netns": netns, "proto": "UDP", "backlog": 3, "limit": 0, "addr": "127.0.0.1",
                      "port": server.getsockname()[1], "err": error_name(ctypes.get_errno())})
    with socket.socket(socket.AF_UNIX) as local:
        libc.listen(local.fileno(), 1)  # no IP
    return calls


def main(what):
    before = counters()
    calls = {"connects": connects, "accepts": accepts, "listens": listens}[what]()
    after = counters()
    print(json.dumps({"pid": os.getpid(), "calls": calls, "counted": {name: after[name] - before[name] for name in after}}))


main(*sys.argv[1:])
