"""Asks Wi-Fi interfaces to scan, all at once: scan_load.py MHZ,MHZ... INTERFACE... Prints how long each took."""

import json
import os
import socket
import struct
import sys
import time

NETLINK_GENERIC, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP = 16, 270, 1
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_ATTR_MCAST_GROUPS = 16, 3, 1, 2, 7
NLM_F_REQUEST, NLM_F_ACK = 1, 4
TRIGGER_SCAN, NEW_SCAN_RESULTS, ATTR_IFINDEX, ATTR_SCAN_FREQUENCIES = 33, 34, 3, 44


def attribute(kind, value):
    return struct.pack("HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def attributes(data):
    while len(data) >= 4:
        length, kind = struct.unpack_from("HH", data)
        yield kind & 0x3FFF, data[4:length]
        data = data[(length + 3) & ~3:]


def request(end, family, command, body, flags=NLM_F_REQUEST):
    message = struct.pack("BBH", command, 1, 0) + body
    end.send(struct.pack("IHHII", 16 + len(message), family, flags, 1, 0) + message)


def family_of(end, name):
    """(its number, {group: number})"""
    request(end, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, attribute(CTRL_ATTR_FAMILY_NAME, name.encode() + b"\0"))
    found = dict(attributes(end.recv(65536)[20:]))
    groups = [dict(attributes(group)) for _, group in attributes(found[CTRL_ATTR_MCAST_GROUPS])]
    return struct.unpack("H", found[CTRL_ATTR_FAMILY_ID])[0], {g[1].rstrip(b"\0").decode(): struct.unpack("I", g[2])[0] for g in groups}


def main(frequencies, interfaces):
    ask = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    hear = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    for end in (ask, hear):
        end.bind((0, 0))
        end.settimeout(60)
    family, groups = family_of(ask, "nl80211")
    hear.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, groups["scan"])
    channels = b"".join(attribute(i, struct.pack("I", f)) for i, f in enumerate(frequencies))
    began = time.monotonic()
    for interface in interfaces:
        body = attribute(ATTR_IFINDEX, struct.pack("I", socket.if_nametoindex(interface))) + attribute(ATTR_SCAN_FREQUENCIES | 0x8000, channels)
        request(ask, family, TRIGGER_SCAN, body, NLM_F_REQUEST | NLM_F_ACK)
        error = struct.unpack_from("i", ask.recv(65536), 16)[0]
        if error:
            raise OSError(-error, os.strerror(-error))
    took = {}
    while len(took) < len(interfaces):
        message = hear.recv(65536)
        if message[16] == NEW_SCAN_RESULTS:
            index = struct.unpack("I", dict(attributes(message[20:]))[ATTR_IFINDEX])[0]
            took[socket.if_indextoname(index)] = (time.monotonic() - began) * 1000
    print(json.dumps({"pid": os.getpid(), "took": took}))


main(list(map(int, sys.argv[1].split(","))), sys.argv[2:])
