"""Net nanoseconds per event: the kernel's own run time of the programs, less that of an empty one.

One tracer is attached at a time, in turns. All at the same time would be simpler, but the first program after a
system call's entry finds the branch predictors cold: of two equal programs it costs about 45 ns more.

The load goes before ordinary processes, so that a burst is not torn; the lower quartile of the bursts is that of a
round, and the median of the rounds counts. Every round loads the program again, since the kernel puts it at another
place each time, which is worth some nanoseconds. An empty program is measured twice in every round: what two equal
programs differ by cannot be told apart.
"""

import os
import statistics
import subprocess
import time

from machine import Tracer, program_statistics
from table import Row

ENTER = "tracepoint:syscalls:sys_enter_read"
EXIT = "tracepoint:syscalls:sys_exit_read"
CALLS = 100_000
ROUNDS = int(os.environ.get("ROUNDS", 15))
BURSTS = 4

# what: (script, name of the program in hand.bpf.c)
SCRIPTS = {
    "count": (ENTER + " { @ = count(); }", "count"),
    "count by comm": (ENTER + " { @[comm] = count(); }", "comm"),
    "hist by pid, comm": (ENTER + " { @[pid, comm] = hist(args->count); }", "hist"),
    "latency pair": (
        f"{ENTER} {{ @start[tid] = nsecs; }} {EXIT} /@start[tid]/ {{ @ns = hist(nsecs - @start[tid]); delete(@start[tid]); }}",
        "latency",
    ),
    "count by three keys": (ENTER + " { @[args->fd, args->count, pid] = count(); }", "three"),
    "count by string": (ENTER + " { @[str(args->buf)] = count(); }", "text"),
    "count by kstack": (ENTER + " { @[kstack] = count(); }", "stack"),
    "row": (ENTER + ' { printf("%d %s %d\\n", pid, comm, args->count); }', "row"),
}
# What nobody can leave out of some of them: (what, program in hand.bpf.c).
LEAST = {
    "count by string": [("reading that string, and no more", "only_text"), ("the same, counted by its first 8 bytes", "only_word")],
    "count by kstack": [("finding that stack, and no more", "only_walk")],
}
# bpftrace 0.17 keeps 64 bytes of a string, flowtap 1024: compared with the same.
SAME_STRINGS = "config = { max_strlen = 64 } "


def burst(machine, tracer, expected):
    """Nanoseconds per call, summed over the programs that ran for each; so many are expected."""
    for _ in range(20):
        first = program_statistics()
        subprocess.run(["chrt", "-f", "1", machine.tool("read_load"), str(CALLS)], check=True)
        last = program_statistics()
        deltas = [[last[p][i] - first[p][i] for i in (0, 1)] for p in last if p in first and p not in tracer.before]
        costs = [ns / runs for ns, runs in deltas if runs >= CALLS]
        if len(costs) == expected:
            return sum(costs)
        time.sleep(0.3)  # loaded, but not attached yet
    raise RuntimeError(f"{tracer.process.args[0]} does not see all events")


def net_costs(machine, script, hand_name, least, flowtap_options=()):
    """({name: net nanoseconds}, what cannot be told apart)"""
    probes = [ENTER, EXIT] if EXIT in script else [ENTER]
    empty = [machine.flowtap, "-e", " ".join(p + " { }" for p in probes)]
    commands = {"empty": empty, "flowtap": [machine.flowtap, *flowtap_options, "-e", SAME_STRINGS + script]}
    if machine.bpftrace:
        commands["bpftrace"] = [machine.bpftrace, "-e", script]
    if machine.hand:
        commands["C"] = [*machine.hand, hand_name]
        commands.update({name: [*machine.hand, name] for _, name in least})
    commands["empty again"] = empty
    costs = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            tracer = Tracer(command)
            try:
                bursts = [burst(machine, tracer, len(probes)) for _ in range(BURSTS)]
                costs[name].append(statistics.quantiles(bursts, n=4)[0])
            finally:
                tracer.stop()
    medians = {name: statistics.median(rounds) for name, rounds in costs.items()}
    resolution = statistics.median(abs(a - b) for a, b in zip(costs.pop("empty"), costs.pop("empty again")))
    return {name: medians[name] - medians["empty"] for name in costs}, resolution


def measure(machine):
    for what, (script, hand_name) in SCRIPTS.items():
        least = LEAST.get(what, []) if machine.hand else []
        costs, resolution = net_costs(machine, script, hand_name, least)
        yield Row(f"{what}, net ns", costs, ".1f", {"bpftrace": 0.5, "C": 1.15}, resolution=resolution)
        for words, name in least:
            yield Row(f"  {words}", {"C": costs[name]})
