#!/usr/bin/env python3
"""What the network one-liners count: 17 connections and 5 refused ones, 100 bytes there and 3000 back on each, 11 datagrams
of 200 bytes, and poll(2) of 3 descriptors 19 times."""

import json
import os
import select
import socket
import time

server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
for _ in range(17):
    client = socket.create_connection(server.getsockname())
    peer, _ = server.accept()
    client.send(b"x" * 100)
    peer.recv(1000)
    peer.send(b"y" * 3000)
    client.recv(5000)
    client.close()
    peer.close()
closed = socket.socket()
closed.bind(("127.0.0.1", 0))
for _ in range(5):
    with socket.socket() as client:
        client.connect_ex(closed.getsockname())
receiver, sender = (socket.socket(type=socket.SOCK_DGRAM) for _ in range(2))
receiver.bind(("127.0.0.1", 0))
for _ in range(11):
    sender.sendto(b"z" * 200, receiver.getsockname())
    receiver.recvfrom(1000)
poll = select.poll()
for watched in (server, receiver, sender):
    poll.register(watched, select.POLLIN)
for _ in range(19):
    poll.poll(0)
time.sleep(1)  # names of its functions can be found while it is there
print(json.dumps({"pid": os.getpid()}))
