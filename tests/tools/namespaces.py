"""Network namespaces that a test works in from outside, alone or joined by a cable; and what the kernel counted in them."""

import ctypes
import fcntl
import itertools
import os
import socket
import struct
import subprocess
import threading
import time
from contextlib import contextmanager

import features

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
IFF_NAPI = 0x10


def enter(file):
    if LIBC.setns(file.fileno(), CLONE_NEWNET) != 0:
        raise RuntimeError(f"setns: {os.strerror(ctypes.get_errno())}")


class Namespace:
    """Lives as long as the `with` it stands in."""

    def __enter__(self):
        self.process = subprocess.Popen(["unshare", "-n", "sleep", "1000"])
        self.pid = self.process.pid
        while os.readlink(f"/proc/{self.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            time.sleep(0.001)
        self.run("ip link set lo up")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def run(self, command, check=True):
        done = subprocess.run(["nsenter", "-t", str(self.pid), "-n", "sh", "-c", command], capture_output=True, text=True)
        if check and done.returncode != 0:
            raise RuntimeError(f"{command}: {done.stderr}")
        return done.stdout

    @contextmanager
    def inside(self):
        with open("/proc/thread-self/ns/net") as home, open(f"/proc/{self.pid}/ns/net") as here:
            enter(here)
            try:
                yield
            finally:
                enter(home)

    def socket(self, family, kind=socket.SOCK_DGRAM, protocol=0):
        with self.inside():
            return socket.socket(family, kind, protocol)

    def counters(self):
        """As nstat names them: UdpNoPorts, TcpExtListenDrops, Ip6InCEPkts..."""
        found = {}
        for file in ("snmp", "netstat"):
            lines = open(f"/proc/{self.pid}/net/{file}").read().splitlines()
            for names, values in zip(lines[::2], lines[1::2]):
                group, *names = names.split()
                found |= {group[:-1] + name: int(value) for name, value in zip(names, values.split()[1:])}
        for line in open(f"/proc/{self.pid}/net/snmp6"):
            found[line.split()[0]] = int(line.split()[1])
        return found

    def device(self, name):
        """(packets received, bytes received, packets sent, bytes sent)"""
        for line in open(f"/proc/{self.pid}/net/dev"):
            if line.split()[0] == name + ":":
                numbers = line.split()[1:]
                return int(numbers[1]), int(numbers[0]), int(numbers[9]), int(numbers[8])
        raise RuntimeError(f"no device {name}")


def grown(before, after):
    return {name: after[name] - count for name, count in before.items() if after[name] != count}


@contextmanager
def cable():
    """Two namespaces with a device 'cable' each: 10.77.0.1 and fd77::1 here, 10.77.0.2 and fd77::2 there."""
    with Namespace() as here, Namespace() as there:
        here.run(f"ip link add cable address 02:00:00:00:00:01 type veth peer name cable address 02:00:00:00:00:02 netns {there.pid}")
        for number, end in ((1, here), (2, there)):
            # Quiet: the ends know each other and need not ask.
            end.run(f"""ip addr add 10.77.0.{number}/24 dev cable
                        ip addr add fd77::{number}/64 dev cable nodad
                        ip link set cable addrgenmode none up
                        ip neigh add 10.77.0.{3 - number} lladdr 02:00:00:00:00:0{3 - number} dev cable nud permanent
                        ip neigh add fd77::{3 - number} lladdr 02:00:00:00:00:0{3 - number} dev cable nud permanent""")
        yield here, there


def send(near, far, count, size=100, tos=0, version=4, port=9):
    """So many datagrams of so many bytes to an address. That nobody listens there is told at the next one, which is then not sent."""
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    end = near.socket(family)
    if tos:
        end.setsockopt(*((socket.IPPROTO_IP, socket.IP_TOS) if version == 4 else (socket.IPPROTO_IPV6, socket.IPV6_TCLASS)), tos)
    for _ in range(count):
        try:
            end.sendto(b"x" * size, (far, port))
        except ConnectionRefusedError:
            end.sendto(b"x" * size, (far, port))
    end.close()


def stream(near, far, size, address="10.77.0.2"):
    """So many bytes of TCP to an address of the far namespace."""
    listener = far.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((address, 0))
    listener.listen()
    with listener, near.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
        client.connect(listener.getsockname())
        server, _ = listener.accept()
        reader = threading.Thread(target=server.recv, args=(size, socket.MSG_WAITALL))
        reader.start()
        client.sendall(b"x" * size)
        reader.join()
        server.close()


def nearly(name, expected, found, least=0.95, most=None):
    """Equal, in a guest. On some machines BPF does not run for softirqs that interrupt a process of the system: a few may be missing there,
    of packets that all leave in softirqs more than of others. `most` is what the kernel counted from before the tool
    began until after it ended."""
    least = expected if features.SLOWER > 1 else expected * least
    return "" if least <= found <= (most or expected) else f"  {name}: expected {expected} to {most or expected}, found {found}\n"


@contextmanager
def tunnel(namespace, flags=0):
    """A device 'tunnel' whose packets the test reads from the descriptor it gets; 10.79.0.2 lies behind it."""
    TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
    subprocess.run(["modprobe", "tun"], capture_output=True)
    with namespace.inside():
        end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH22x", b"tunnel", IFF_TUN | IFF_NO_PI | flags))
    # Without IPv6 the kernel says nothing of its own there.
    namespace.run("""echo 1 > /proc/sys/net/ipv6/conf/tunnel/disable_ipv6
                     ip addr add 10.79.0.1 peer 10.79.0.2 dev tunnel
                     ip link set tunnel up""")
    try:
        yield end
    finally:
        os.close(end)


def packets_in(end):
    """How many packets wait at this end of a tunnel; they are read."""
    for number in itertools.count():
        try:
            os.read(end, 2000)
        except BlockingIOError:
            return number


def udp_packet(number):
    """A datagram to the namespace, as a tun device takes it; each of a flow of its own, so that none are put together."""
    udp = struct.pack("!HHHH", 1000 + number, 9, 12, 0) + b"data"
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), number, 0, 64, socket.IPPROTO_UDP, 0,
                       socket.inet_aton("10.79.0.2"), socket.inet_aton("10.79.0.1"))
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    return head[:10] + struct.pack("!H", ~total & 0xFFFF) + head[12:] + udp
