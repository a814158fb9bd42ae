"""A known number of each way to send and receive through sockets: TCP over IPv4, MPTCP where there is one, UDP over IPv6, connected and not,
UNIX streams. The argument is the name the process takes. Prints as JSON what was done: the messages that went through its
sockets, the other calls, and the ports."""

import ctypes
import json
import os
import socket
import sys
import tempfile

libc = ctypes.CDLL(None, use_errno=True)


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_char_p), ("length", ctypes.c_size_t)]


class Message(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("name_length", ctypes.c_uint32), ("vectors", ctypes.POINTER(Vector)),
                ("vector_count", ctypes.c_size_t), ("control", ctypes.c_void_p), ("control_length", ctypes.c_size_t),
                ("flags", ctypes.c_int), ("padding", ctypes.c_int), ("length", ctypes.c_uint)]


def messages(sizes, name=None):
    array = (Message * len(sizes))()
    for message, size in zip(array, sizes):
        vector = Vector(b"m" * size, size)
        message.vectors, message.vector_count = ctypes.pointer(vector), 1
        if name:
            message.name, message.name_length = name, len(name)
    return array


class Ledger:
    """What was done: (direction, protocol, remote port, error) -> sizes of the messages"""

    def __init__(self):
        self.entries = {}

    def add(self, end, direction, *sizes, error=0):
        self.entries.setdefault((direction, *end, error), []).extend(sizes)

    def dump(self):
        return [{"dir": d, "proto": p, "rport": r, "err": e, "sizes": s} for (d, p, r, e), s in self.entries.items()]


def stream(ledger, sender, receiver, near, far):
    """Every call for streams: `near` and `far` are what the ends look like to their processes."""
    def sent(size, received):
        ledger.add(near, "write", size)
        assert len(received) == size
        ledger.add(far, "read", size)

    os.write(sender.fileno(), b"w" * 101)
    sent(101, os.read(receiver.fileno(), 4096))
    os.writev(sender.fileno(), [b"v" * 50, b"v" * 53])
    buffer = bytearray(4096)
    sent(103, buffer[:os.readv(receiver.fileno(), [buffer])])
    sender.send(b"s" * 107)
    sent(107, receiver.recv(4096))
    sender.sendmsg([b"g" * 109])
    assert len(receiver.recv(4096, socket.MSG_PEEK)) == 109
    ledger.add(far, "peek", 109)
    sent(109, receiver.recvmsg(4096)[0])
    with tempfile.TemporaryFile() as file:
        file.write(b"f" * 113)
        file.flush()
        os.sendfile(sender.fileno(), file.fileno(), 0, 113)
    sent(113, receiver.recv(4096))
    receiver.setblocking(False)
    for _ in range(3):
        try:
            receiver.recv(4096)
        except BlockingIOError:
            ledger.add(far, "read", 0, error="EAGAIN")
    receiver.setblocking(True)


def broken(ledger, sender, receiver, near):
    receiver.close()
    for _ in range(2):
        try:
            sender.send(b"x")
        except BrokenPipeError:
            ledger.add(near, "write", 0, error="EPIPE")


def datagrams(ledger):
    """To an address that is given with each message: three by one call each way, and one by one; then to a connected socket."""
    server, client = (socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) for _ in range(2))
    server.bind(("::1", 0))
    client.bind(("::1", 0))
    port, near = server.getsockname()[1], client.getsockname()[1]
    name = socket.AF_INET6.to_bytes(2, "little") + port.to_bytes(2, "big") + bytes(4) + socket.inet_pton(socket.AF_INET6, "::1") + bytes(4)
    sizes = [127, 131, 137]
    assert libc.sendmmsg(client.fileno(), messages(sizes, name), 3, 0) == 3
    ledger.add(("UDPv6", port), "write", *sizes)
    senders = [ctypes.create_string_buffer(28) for _ in range(3)]
    into = messages([2000] * 3)
    for message, sender in list(zip(into, senders))[:2]:  # who sent the third is not asked
        message.name, message.name_length = ctypes.cast(sender, ctypes.c_char_p), 28
    assert libc.recvmmsg(server.fileno(), into, 3, 0, None) == 3
    assert [message.length for message in into] == sizes
    ledger.add(("UDPv6", near), "read", *sizes[:2])
    ledger.add(("UDPv6", 0), "read", sizes[2])
    for size, send, receive in ((151, client.sendto, server.recvfrom),
                                (157, lambda data, to: client.sendmsg([data], [], 0, to), server.recvmsg)):
        send(b"d" * size, ("::1", port))
        ledger.add(("UDPv6", port), "write", size)
        assert len(server.recvfrom(4096, socket.MSG_PEEK)[0]) == size
        ledger.add(("UDPv6", near), "peek", size)
        assert len(receive(4096)[0]) == size
        ledger.add(("UDPv6", near), "read", size)
    server.setblocking(False)
    try:
        server.recvfrom(4096)
    except BlockingIOError:
        ledger.add(("UDPv6", 0), "read", 0, error="EAGAIN")
    server.setblocking(True)
    client.connect(("::1", port))
    for size in (139, 149, 0):
        client.sendto(b"d" * size, ("::1", port)) if size == 149 else client.send(b"d" * size)
        ledger.add(("UDPv6", port), "write", size)
        assert len(server.recv(4096)) == size  # from whom is not asked
        ledger.add(("UDPv6", 0), "read", size)
    return port


def connect_multipath():
    """Both ends of a connection of MPTCP, and what they look like."""
    listener, client = (socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP) for _ in range(2))
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    client.connect(listener.getsockname())
    server, address = listener.accept()
    return client, server, ("MPTCP", listener.getsockname()[1]), ("MPTCP", address[1])


def main(name="io_load"):
    with open("/proc/self/comm", "w") as comm:
        comm.write(name)
    ledger = Ledger()
    listener, client = socket.socket(), socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    client.connect(listener.getsockname())
    server, address = listener.accept()
    near, far = ("TCP", listener.getsockname()[1]), ("TCP", address[1])
    stream(ledger, client, server, near, far)
    calls = {"socket": 5, "bind": 3, "listen": 1, "connect": 2, "accept": 1}
    if os.path.exists("/proc/sys/net/mptcp"):
        stream(ledger, *connect_multipath())
        calls = {"socket": 7, "bind": 4, "listen": 2, "connect": 3, "accept": 2}
    left, right = socket.socketpair()
    stream(ledger, left, right, ("UNIX-STREAM", 0), ("UNIX-STREAM", 0))
    broken(ledger, left, right, ("UNIX-STREAM", 0))
    udp = datagrams(ledger)
    print(json.dumps({"pid": os.getpid(), "done": ledger.dump(), "calls": calls, "tcp": near[1], "tcp_client": far[1], "udp": udp}))


main(*sys.argv[1:])
