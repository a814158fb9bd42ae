"""Connects that have no outcome yet when they return, for a network namespace of its own: the listener drops what it gets.
Prints them as JSON."""

import errno
import json
import os
import socket
import sys

from drop_filter import DROP_ALL, attach

FAMILIES = {4: (socket.AF_INET, "127.0.0.1"), 6: (socket.AF_INET6, "::1")}


def attempts(version, count):
    family, address = FAMILIES[version]
    with socket.create_server((address, 0), family=family) as listener:
        attach(listener, DROP_ALL)
        for _ in range(count):
            with socket.socket(family) as client:
                client.setblocking(False)
                result = client.connect_ex(listener.getsockname())
                yield [address, client.getsockname()[1], listener.getsockname()[1], errno.errorcode.get(result, result)]


def main(v4, v6):
    print(json.dumps({"pid": os.getpid(), "attempts": [*attempts(4, v4), *attempts(6, v6)]}))


main(*map(int, sys.argv[1:]))
