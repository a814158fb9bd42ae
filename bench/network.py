"""What a TCP ping-pong loses while a tool is attached, in turns with none. The kernel takes no statistics meanwhile:
they cost something for every event."""

import statistics
import subprocess

from machine import STATISTICS, Tracer
from table import Row

PAIRS = 40
BURSTS = 5
MILLISECONDS = 20
TOOLS = {"tcplife": 1, "tcptop": 3, "socketio": 5}  # percent
# socketio learns of messages here; nobody who does can cost less. tcptop needs the second only.
EMPTY = "rawtracepoint:sock_send_length { } rawtracepoint:sock_recv_length { }"


def costs(machine):
    """Of round trips over TCP, in round trips through pipes, in some bursts that go before ordinary processes."""
    command = ["chrt", "-f", "1", machine.tool("ping_pong"), str(MILLISECONDS)]
    return [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(BURSTS)]


def percent_lost(machine, *arguments):
    """The median of all pairs of bursts without and with."""
    kept = []
    for _ in range(PAIRS):
        without = statistics.median(costs(machine))
        tracer = Tracer([machine.flowtap, *arguments])
        kept.append(without / statistics.median(costs(machine)))
        tracer.stop()
    return 100 * (1 - statistics.median(kept))


def measure(machine):
    before = STATISTICS.read_text()
    STATISTICS.write_text("0")
    try:
        for tool, limit in TOOLS.items():
            yield Row(f"TCP ping-pong with {tool}, % lost", {"flowtap": percent_lost(machine, tool)}, ".1f", {}, limit)
        yield Row("  with empty programs where socketio has its own", {"flowtap": percent_lost(machine, "-e", EMPTY)})
    finally:
        STATISTICS.write_text(before)
