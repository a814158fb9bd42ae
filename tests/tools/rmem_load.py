"""Receive buffers that are read from and that overflow: UDP, TCP, and sockets that ping. Before each read the kernel is asked
for the state of the buffer. Prints as JSON what it told, and what the namespace counted."""

import json
import os
import socket
import struct
import sys

SO_MEMINFO = 55


def counter(group, name):
    file = "/proc/net/netstat" if group == "TcpExt" else "/proc/net/snmp"
    lines = [line.split() for line in open(file) if line.startswith(group + ":")]
    return int(dict(zip(lines[0][1:], lines[1][1:]))[name])


def memory(sock):
    """(used, limit) of its receive buffer"""
    return struct.unpack("9I", sock.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))[:2]


def read(states, sock):
    states.append(memory(sock))
    sock.recv(65536)


def overflow(family, address, packets, states):
    """A receiver with the smallest buffer, which reads only when all was sent."""
    receiver, sender = (socket.socket(family, socket.SOCK_DGRAM) for _ in range(2))
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    receiver.bind((address, 0))
    for _ in range(packets):
        sender.sendto(b"x" * 500, receiver.getsockname())
    used, limit = memory(receiver)
    port, inode = receiver.getsockname()[1], os.fstat(receiver.fileno()).st_ino
    drops = [int(line.split()[-1]) for name in ("udp", "udp6") for line in open("/proc/net/" + name)
             if line.split()[9] == str(inode)]
    receiver.setblocking(False)
    try:
        while True:
            read(states, receiver)
    except BlockingIOError:
        pass
    return {"address": address, "port": port, "inode": inode, "used": used, "limit": limit, "drops": sum(drops)}


def stream(states):
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    server, _ = listener.accept()
    for size in (1, 1000, 20000, 60000):
        client.sendall(b"y" * size)
        left = size
        while left:
            states.append(memory(server))
            left -= len(server.recv(10000))


def lost(sock, packets):
    """What came of packets that were sent to a socket before it read any."""
    inode = os.fstat(sock.fileno()).st_ino
    sock.setblocking(False)
    received = 0
    try:
        while sock.recv(65536):
            received += 1
    except BlockingIOError:
        return {"inode": inode, "lost": packets - received}


def ping(packets):
    with open("/proc/sys/net/ipv4/ping_group_range", "w") as file:
        file.write("0 0")
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    for number in range(packets):
        sock.sendto(struct.pack("!BBHHH", 8, 0, 0, 0, number) + b"z" * 500, ("127.0.0.1", 0))
    return lost(sock, packets)


def queue_drops():
    """Packets that came in order, and those that did not."""
    return counter("TcpExt", "TCPRcvQDrop") + counter("TcpExt", "TCPOFODrop")


def shrink():
    """A TCP socket whose buffer becomes smaller than the window it has promised; gives its ports."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        server, address = listener.accept()
        with server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(40):
                client.send(b"t" * 1000)
            return [listener.getsockname()[1], address[1]]


def main(name="rmem_load"):
    with open("/proc/self/comm", "w") as comm:
        comm.write(name)
    before = counter("Udp", "RcvbufErrors")
    states = []
    sockets = [overflow(socket.AF_INET, "127.0.0.1", 53, states)]
    errors = counter("Udp", "RcvbufErrors") - before  # IPv6 has a counter of its own
    sockets.append(overflow(socket.AF_INET6, "::1", 31, states))
    stream(states)
    with open("/proc/self/comm", "w") as comm:  # whose reads are not measured
        comm.write("other")
    pinged = ping(29)
    before = queue_drops()
    shrunk = [shrink() for _ in range(5)]
    dropped = queue_drops() - before
    print(json.dumps({"pid": os.getpid(), "states": states, "sockets": sockets, "errors": errors, "ping": pinged, "shrunk": shrunk,
                      "queue_drops": dropped}))


main(*sys.argv[1:])
