"""Sends ICMP echo requests and waits for each answer: echo_load.py COUNT ADDRESS... Prints what it sent and how long each took. With 'unanswered'
before the count it does not wait."""

import json
import os
import socket
import struct
import sys
import time

waits = sys.argv[1] != "unanswered"
count, *addresses = sys.argv[1 if waits else 2:]


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def echo(address, number, sequence):
    """How long the answer took, in microseconds"""
    v6 = ":" in address
    family, protocol = (socket.AF_INET6, socket.IPPROTO_ICMPV6) if v6 else (socket.AF_INET, socket.IPPROTO_ICMP)
    with socket.socket(family, socket.SOCK_RAW, protocol) as end:
        body = struct.pack("!HH", number, sequence) + b"x" * 56
        head = struct.pack("!BBH", 128 if v6 else 8, 0, 0)
        if not v6:  # of IPv6 the kernel does it
            head = struct.pack("!BBH", 8, 0, checksum(head + body))
        began = time.monotonic()
        end.sendto(head + body, (address, 0))
        while waits:
            answer = end.recv(2000)
            answer = answer if v6 else answer[20:]
            if answer[0] == (129 if v6 else 0) and answer[4:8] == body[:4]:
                return (time.monotonic() - began) * 1e6


sent = []
for address in addresses:
    for sequence in range(1, int(count) + 1):
        sent.append([address, os.getpid() & 0xFFFF, sequence, echo(address, os.getpid() & 0xFFFF, sequence)])
print(json.dumps({"pid": os.getpid(), "sent": sent}))
