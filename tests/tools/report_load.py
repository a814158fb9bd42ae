"""Two processes, each on a CPU of its own where there are two, that send many small messages to themselves. Takes a name for both and
how many messages; prints what they sent, as JSON."""

import json
import os
import socket
import sys


def send(count, cpu):
    os.sched_setaffinity(0, {cpu})
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    message, room = b"x" * 11, bytearray(64)
    for _ in range(count):
        left.send(message)
        right.recv_into(room)


def main(name, count):
    with open("/proc/self/comm", "w") as comm:
        comm.write(name)
    cpus = sorted(os.sched_getaffinity(0))
    children = []
    for cpu in (cpus[0], cpus[-1]):
        child = os.fork()
        if child == 0:
            send(count, cpu)
            os._exit(0)
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    print(json.dumps({"pids": children, "statuses": statuses, "messages": 2 * count, "bytes": 22 * count}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
