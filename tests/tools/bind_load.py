"""TCP sockets bound in all ways, for a network namespace of its own. Prints what each bind() asked for and got, as JSON."""

import errno
import json
import os
import socket
import sys

FAMILIES = {4: (socket.AF_INET, "127.0.0.1"), 6: (socket.AF_INET6, "::1")}
IP_BIND_ADDRESS_NO_PORT = 24
SHARING = {"-": (), "addr": (socket.SO_REUSEADDR,), "port": (socket.SO_REUSEPORT,), "both": (socket.SO_REUSEADDR, socket.SO_REUSEPORT)}
done = []


def bind(end, address, port, reuse="-"):
    for option in SHARING[reuse]:
        end.setsockopt(socket.SOL_SOCKET, option, 1)
    error, got = 0, 0
    try:
        end.bind((address, port))
        got = end.getsockname()[1]
    except OSError as failed:
        error = errno.errorcode[failed.errno]
    done.append([address, port, got, reuse, error])
    return end


def main(port):
    for family, address in FAMILIES.values():
        with socket.socket(family) as first, socket.socket(family) as second, socket.socket(family) as third:
            bind(first, address, port)
            bind(second, address, port)          # taken
            bind(second, address, 0)
            bind(second, address, 0)             # has a port already
            bind(third, "192.0.2.1" if family == socket.AF_INET else "2001:db8::1", port)  # not of this machine
            bind(third, "0.0.0.0" if family == socket.AF_INET else "::", 0, "addr")
        for reuse in ("port", "both"):
            with socket.socket(family) as end:
                bind(end, address, port, reuse)
        with socket.socket(family, socket.SOCK_DGRAM) as other:
            other.bind((address, port))          # not TCP
    with socket.socket() as late:
        late.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
        bind(late, "127.0.0.1", 0)
    print(json.dumps({"pid": os.getpid(), "binds": done}))


main(int(sys.argv[1]))
