"""Names resolved against a name server of its own, on loopback of a network namespace of its own: its file
/etc/resolv.conf is put in place in a mount namespace of its own. Arguments: the program that resolves, then its lines
with '=' for the blank. Prints what the program says it did and what the server was asked, as JSON."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

OK, SERVFAIL, NXDOMAIN = 0, 2, 3
DELAY = 0.02  # before each answer of slow names


class Server(threading.Thread):
    """Answers by the first label: found, slow, missing, failing; silent gets no answer. Addresses are IPv4 only."""

    def __init__(self):
        super().__init__(daemon=True)
        self.asked = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))

    def run(self):
        while True:
            query, client = self.socket.recvfrom(512)
            name, end = self.name(query)
            kind = query[end:end + 2]
            first = name.split(".")[0]
            self.asked.append(name)
            if first == "silent":
                continue
            if first == "slow":
                time.sleep(DELAY)
            code = {"missing": NXDOMAIN, "failing": SERVFAIL}.get(first, OK)
            has_answer = code == OK and kind == b"\0\1"
            answer = b"\xc0\x0c" + kind + b"\0\1\0\0\0\0\0\4" + b"\x7f\0\0\1" if has_answer else b""
            flags = 0x8180 | code
            head = query[:2] + flags.to_bytes(2, "big") + b"\0\1" + (b"\0\1" if has_answer else b"\0\0") + b"\0\0\0\0"
            self.socket.sendto(head + query[12:end + 4] + answer, client)

    @staticmethod
    def name(query):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode())
            at += query[at] + 1
        return ".".join(labels), at + 1


def main(program, lines):
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("nameserver 127.0.0.1\noptions attempts:1 timeout:5\n")
        file.flush()
        subprocess.run(["mount", "--bind", file.name, "/etc/resolv.conf"], check=True)
        server = Server()
        server.start()
        process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        out, _ = process.communicate("".join(line.replace("=", " ") + "\n" for line in lines))
    calls = [json.loads(line) for line in out.splitlines()]
    print(json.dumps({"pid": process.pid, "calls": calls, "asked": server.asked, "delay": DELAY * 1000,
                      "netns": os.stat("/proc/self/ns/net").st_ino}))


main(sys.argv[1], sys.argv[2:])
