"""Connections that are all open at the same time, for a network namespace of its own."""

import json
import os
import socket
import sys


def main(count):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(count)
        clients = [socket.create_connection(listener.getsockname()) for _ in range(count)]
        servers = [listener.accept()[0] for _ in range(count)]
        talks = [socket.socket(type=socket.SOCK_DGRAM) for _ in range(count)]
        for talk in talks:
            talk.connect(("127.0.0.1", 9))
        for end in clients + servers + talks:
            end.close()
    print(json.dumps({"pid": os.getpid(), "count": count}))


main(int(sys.argv[1]))
