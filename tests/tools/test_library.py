"""The pieces that tools are made of (tools/lib), each by itself, beside what a process knows of its own sockets."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from shared import TIME_LIMIT, differing

# What the process knows is printed before it asks the kernel for the name of each descriptor, which is when the script looks.
ENDS = """
import json, os, socket
def pair(family, kind, address):
    listener = socket.socket(family, kind)
    listener.bind((address, 0))
    client = socket.socket(family, kind)
    if kind == socket.SOCK_STREAM: listener.listen()
    client.connect(listener.getsockname())
    return [client, listener] + ([listener.accept()[0]] if kind == socket.SOCK_STREAM else [])
ends = []
for family, address in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        ends += pair(family, kind, address)
def peer(end):
    try: return end.getpeername()[:2]
    except OSError: return ('::' if end.family == socket.AF_INET6 else '0.0.0.0', 0)
print(json.dumps([[os.fstat(e.fileno()).st_ino, e.family, e.proto or (6 if e.type == socket.SOCK_STREAM else 17), *e.getsockname()[:2], *peer(e)] for e in ends]))
for e in ends: os.fchown(e.fileno(), -1, -1)
os.fchown(0, -1, -1)
"""

SCRIPT = """
import "lib/filter.bt";
import "lib/sock.bt";
import "lib/socket.bt";
config = { print_maps_on_exit = false }
tracepoint:syscalls:sys_enter_fchown /pid == cpid/ {
  $sk = socket_of_fd(args.fd);
  $file = (struct file *)file_of_fd(args.fd);
  printf("[%d, %d, %d, \\"%s\\", %d, \\"%s\\", %d, %d]\\n", $sk ? $file.f_inode.i_ino : 0, family_of($sk), transport_of($sk),
         local_address_of($sk), bound_port_of($sk), remote_address_of($sk), remote_port_of($sk), is_tcp_sock($sk));
}
"""


def run_script(flowtap, script, program):
    """(lines that the script printed, what the program printed as JSON)"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "script.bt")
        path.write_text(script)
        Path(folder, "program.py").write_text(program)
        command = f"{sys.executable} {folder}/program.py"
        done = subprocess.run(["unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$@"', "sh", flowtap, "-q", path, "-c", command],
                              capture_output=True, text=True, timeout=TIME_LIMIT, stdin=subprocess.DEVNULL)
    lines = [line for line in done.stdout.splitlines() if line.startswith("[")]
    known = [json.loads(line) for line in lines if line.startswith("[[")]
    return [json.loads(line) for line in lines if not line.startswith("[[")], known[0] if known else [], done.stderr


def sockets_behind_descriptors_are_found_with_their_ends(root, flowtap):
    found, known, err = run_script(flowtap, SCRIPT, ENDS)
    expected = [[*end, 1 if end[2] == 6 else 0] for end in known] + [[0, 0, 0, "0.0.0.0", 0, "0.0.0.0", 0, 0]]
    return differing("sockets", expected, found) + err


PACKETS = """
import json, socket
ends = []
for family, address in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):
    listener = socket.socket(family)
    listener.bind((address, 0))
    listener.listen()
    client = socket.socket(family)
    client.connect(listener.getsockname())
    ends.append([address, client.getsockname()[1], listener.getsockname()[1]])
    client.close()
    listener.close()
print(json.dumps(ends))
"""

# SYN packets alone: each connection has one.
HEADERS = """
import "lib/skb.bt";
rawtracepoint:net_dev_queue {
  $tcp = (struct tcphdr *)tcp_header_of((uint64)args.skb);
  if ($tcp && $tcp.syn && !$tcp.ack && args.skb.sk.__sk_common.skc_net.net.ns.inum == curtask.nsproxy.net_ns.ns.inum) {
    printf("[\\"%s\\", %d, %d, \\"%s\\", %d]\\n", source_address_of((uint64)args.skb), bswap($tcp.source), bswap($tcp.dest),
           tcp_flags_text((uint64)$tcp), ip_version_of((uint64)args.skb));
  }
}
"""


def headers_of_packets_are_read(root, flowtap):
    found, known, err = run_script(flowtap, HEADERS, PACKETS)
    expected = [[*end, "S", 6 if ":" in end[0] else 4] for end in known]
    mine = [packet for packet in found if packet[1:3] in [end[1:3] for end in known]]
    return differing("packets", expected, mine) + err


# Each socket is asked about while it has one descriptor, two, one again, and another one in a child.
SHARED = """
import json, os, socket
ends = [socket.socket(), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM), socket.socketpair()[0]]
for end in ends:
    os.fchown(end.fileno(), -1, -1)
    more = os.dup(end.fileno())
    os.fchown(end.fileno(), -1, -1)
    os.close(more)
    os.fchown(end.fileno(), -1, -1)
    done, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(done, 1)
        os._exit(0)
    os.fchown(end.fileno(), -1, -1)
    os.close(go)
    os.waitpid(child, 0)
    os.fchown(end.fileno(), -1, -1)
os.fchown(0, -1, -1)
print(json.dumps([[1], [0], [1], [0], [1]] * len(ends) + [[0]]))
"""

LAST = """
import "lib/session.bt";
import "lib/socket.bt";
config = { print_maps_on_exit = false }
tracepoint:syscalls:sys_enter_fchown /pid == cpid/ { printf("[%d]\\n", socket_closed_with(args.fd) != 0); }
"""


def the_last_descriptor_of_a_socket_is_known(root, flowtap):
    found, known, err = run_script(flowtap, LAST, SHARED)
    return differing("last ones", known, found) + ("" if known else "  the program said nothing\n") + err
