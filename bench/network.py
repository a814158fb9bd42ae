"""What a TCP ping-pong loses while a tool is attached, in turns with none."""

import statistics
import subprocess

from machine import Tracer
from table import Row

PAIRS = 15
MILLISECONDS = 250
TOOLS = {"tcplife": 1, "tcptop": 3, "socketio": 5}  # percent


def round_trips(machine):
    return float(subprocess.run([machine.tool("ping_pong"), str(MILLISECONDS)], capture_output=True, text=True, check=True).stdout)


def measure(machine):
    for tool, limit in TOOLS.items():
        losses = []
        for _ in range(PAIRS):
            without = round_trips(machine)
            tracer = Tracer([machine.flowtap, tool])
            during = round_trips(machine)
            tracer.stop()
            losses.append(100 * (1 - during / ((without + round_trips(machine)) / 2)))
        yield Row(f"TCP ping-pong with {tool}, % lost", {"flowtap": statistics.median(losses)}, ".1f", {}, limit)
