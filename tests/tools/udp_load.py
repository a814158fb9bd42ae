"""Known UDP sockets on loopback, for a network namespace of its own: the first argument says which. Prints what it did
as JSON."""

import errno
import json
import os
import socket
import subprocess
import sys

from session_load import Session, connected, sessions

FAMILIES = {4: (socket.AF_INET, "127.0.0.1"), 6: (socket.AF_INET6, "::1")}


def connected_ones():
    """What ss(8) says of connected UDP sockets: (local port, remote address, remote port)."""
    text = subprocess.run(["ss", "-Huan", "state", "established"], capture_output=True, text=True, check=True).stdout
    rows = [line.split()[2:4] for line in text.splitlines()]
    ends = [(near.rsplit(":", 1), far.rsplit(":", 1)) for near, far in rows]
    return sorted((int(near[1]), far[0].strip("[]").replace("::ffff:", ""), int(far[1])) for near, far in ends)


def connect(family, address):
    end = socket.socket(family, socket.SOCK_DGRAM)
    error = end.connect_ex(address)
    near = end.getsockname()
    far = end.getpeername() if not error else address
    return end, {"laddr": near[0], "lport": near[1], "raddr": far[0], "rport": far[1], "err": errno.errorcode[error] if error else 0}


def connects():
    calls, ends = [], []
    for version, count in ((4, 5), (6, 3)):
        family, local = FAMILIES[version]
        for i in range(count):
            end, call = connect(family, (local, 5300 + i))
            ends.append(end)
            calls.append(call)
    end, call = connect(socket.AF_INET, ("0.0.0.0", 5310))  # means this machine
    ends.append(end)
    calls.append(call)
    end, call = connect(socket.AF_INET6, ("::ffff:127.0.0.1", 5311))
    ends.append(end)
    calls.append(call)
    ss = connected_ones()
    calls.append(connect(socket.AF_INET, ("203.0.113.1", 53))[1])  # no route
    with socket.socket() as other:
        other.connect_ex(("127.0.0.1", 1))  # no UDP
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as other:
        other.connect(("127.0.0.1", 0))  # no UDP either
    return {"calls": calls, "ss": ss}


def talk(client, server, sizes):
    """Datagrams both ways, in several ways of sending and receiving; what the client sent and received."""
    sends = (client.send, lambda text: os.write(client.fileno(), text), lambda text: client.sendmsg([text[:3], text[3:]]))
    receives = (client.recv, lambda size: os.read(client.fileno(), size), client.recvmsg)
    for i, size in enumerate(sizes):
        text = b"x" * size
        sends[i % 3](text)
        _, peer = server.recvfrom(70000)
        server.sendto(text + b"yy", peer)
        client.recv(70000, socket.MSG_PEEK)  # is not yet received
        receives[i % 3](70000)
    return {"tx_bytes": sum(sizes), "rx_bytes": sum(sizes) + 2 * len(sizes)}


def talks():
    for family, address, bound in ((socket.AF_INET, "127.0.0.1", "127.0.0.1"), (socket.AF_INET6, "::1", "::1"),
                                   (socket.AF_INET6, "::ffff:127.0.0.1", "::")):
        with socket.socket(family, socket.SOCK_DGRAM) as server:
            server.bind((bound, 0))
            port = server.getsockname()[1]
            for sizes in ((), (100,), (0, 1, 1009, 4001, 30011), tuple(range(50))):
                session = Session(lambda: connected(socket.SOCK_DGRAM, (address, port), family))
                del session.row["proto"]
                session.row.update(talk(session.end, server, sizes))
                session.ends(session.end.close)
            with socket.socket(family, socket.SOCK_DGRAM) as loose:
                loose.sendto(b"x", (address, port))  # never connected
    return {"sessions": sessions}


def main(what):
    print(json.dumps({"pid": os.getpid(), **{"connects": connects, "talks": talks}[what]()}))


main(*sys.argv[1:])
