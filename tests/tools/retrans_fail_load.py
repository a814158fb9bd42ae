"""A TCP connection whose device drops what it sends again, for a network namespace of its own. Prints its ports and
what the kernel counted, as JSON."""

import json
import os
import socket
import subprocess
import time

from drop_filter import DROP_ALL, attach, detach
from tcp_counters import counters, grown


def change_queue(how):
    """A queue that takes nothing larger than its bucket."""
    limits = ["tbf", "rate", "8kbit", "burst", "200", "limit", "200"] if how == "add" else []
    subprocess.run(["tc", "qdisc", how, "dev", "lo", "root", *limits], check=True)


def main():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server = listener.accept()[0]
    before = counters()
    attach(server, DROP_ALL)
    client.sendall(b"x" * 1000)
    change_queue("add")
    while not grown(before).get("TCPRetransFail"):
        time.sleep(0.05)
    change_queue("delete")
    detach(server)
    server.recv(1000)
    ports = [client.getsockname()[1], server.getsockname()[1]]
    print(json.dumps({"pid": os.getpid(), "ports": ports, "counted": grown(before)}))


main()
