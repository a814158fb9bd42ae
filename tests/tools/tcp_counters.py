"""What the kernel counts of TCP in this network namespace, for loads."""


def counters():
    found = {}
    for path in ("/proc/net/snmp", "/proc/net/netstat"):
        lines = [line.split() for line in open(path) if line.startswith(("Tcp:", "TcpExt:"))]
        for names, numbers in zip(lines[::2], lines[1::2]):
            found.update(zip(names[1:], map(int, numbers[1:])))
    return found


def grown(before):
    """The counters that changed meanwhile, and by how much."""
    return {name: number - before[name] for name, number in counters().items() if number != before[name]}
