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


def round_trips(machine):
    """Per second, in the best of some bursts that go before ordinary processes: what other work leaves in the caches is no loss
    of the tool."""
    command = ["chrt", "-f", "1", machine.tool("ping_pong"), str(MILLISECONDS)]
    return max(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(BURSTS))


def percent_lost(machine, *arguments):
    losses = []
    for _ in range(PAIRS):
        without = round_trips(machine)
        tracer = Tracer([machine.flowtap, *arguments])
        during = round_trips(machine)
        tracer.stop()
        losses.append(100 * (1 - during / ((without + round_trips(machine)) / 2)))
    return statistics.median(losses)


def measure(machine):
    before = STATISTICS.read_text()
    STATISTICS.write_text("0")
    try:
        for tool, limit in TOOLS.items():
            yield Row(f"TCP ping-pong with {tool}, % lost", {"flowtap": percent_lost(machine, tool)}, ".1f", {}, limit)
        yield Row("  with empty programs where socketio has its own", {"flowtap": percent_lost(machine, "-e", EMPTY)})
    finally:
        STATISTICS.write_text(before)
