"""What a TCP ping-pong loses while a tool is attached, in turns with none. The kernel takes no statistics meanwhile:
they cost something for every event."""

import statistics
import subprocess

from machine import STATISTICS, Tracer
from table import Row

PAIRS = 25
BURSTS = 5
MILLISECONDS = 20
TOOLS = {"tcplife": 1, "tcptop": 3, "socketio": 5}  # percent
# socketio learns of messages here; nobody who does can cost less. tcptop needs the second only.
EMPTY = "rawtracepoint:sock_send_length { } rawtracepoint:sock_recv_length { }"


def bursts(machine):
    """Round trips per second of some bursts that go before ordinary processes."""
    command = ["chrt", "-f", "1", machine.tool("ping_pong"), str(MILLISECONDS)]
    return [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(BURSTS)]


def percent_lost(machine, *arguments):
    """By the best tenth of all bursts: what else the machine does can only slow one down."""
    without, during = [], []
    for _ in range(PAIRS):
        without += bursts(machine)
        tracer = Tracer([machine.flowtap, *arguments])
        during += bursts(machine)
        tracer.stop()
    best = lambda numbers: statistics.quantiles(numbers, n=10)[-1]
    return 100 * (1 - best(during) / best(without))


def measure(machine):
    before = STATISTICS.read_text()
    STATISTICS.write_text("0")
    try:
        for tool, limit in TOOLS.items():
            yield Row(f"TCP ping-pong with {tool}, % lost", {"flowtap": percent_lost(machine, tool)}, ".1f", {}, limit)
        yield Row("  with empty programs where socketio has its own", {"flowtap": percent_lost(machine, "-e", EMPTY)})
    finally:
        STATISTICS.write_text(before)
