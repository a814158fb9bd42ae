"""What reaches the user: rows through to a file, large maps printed, and the time to end."""

import re
import signal
import statistics
import subprocess
import time

from machine import Tracer, vm_peak_megabytes
from table import Row

ENTER = "tracepoint:syscalls:sys_enter_read"
ROWS = 2_000_000
ROUNDS = 3
LARGE = {  # what: (keys, statement, seconds)
    "map of 1,000,000 keys": (1_000_000, "@[$i] = $i", 2),
    "hist of 100,000 keys": (100_000, "@[$i] = hist($i)", 3),
}


def rows_to_file(machine):
    """Every read of a load that runs flat out is a row; the rate is that of the load, all rows have to arrive."""
    path = machine.folder / "rows"
    script = ENTER + ' /comm == "read_load"/ { printf("%d %s %d\\n", pid, comm, args.count); }'
    rates, lost = [], 0
    for _ in range(ROUNDS):
        tracer = Tracer([machine.flowtap, "-o", str(path), "-e", script])
        begin = time.monotonic()
        subprocess.run([machine.tool("read_load"), str(ROWS)], check=True)
        seconds = time.monotonic() - begin
        tracer.stop()
        with open(path, "rb") as file:
            arrived = sum(b" read_load " in line for line in file)
        rates.append(arrived / seconds)
        lost += max(0, ROWS - arrived)
        path.unlink()
    yield Row("rows to a file, per s (as fast as the load can)", {"flowtap": statistics.median(rates)}, ".0f")
    yield Row(f"of {ROUNDS * ROWS} rows lost", {"flowtap": lost}, ".0f", {}, 0)


def end_with(machine, keys, statement):
    """Seconds from Ctrl-C until a map of so many keys is printed and the program has ended. A key that the kernel had no room
    for at once is tried again at the next call."""
    step = f"{ENTER} /comm == \"read_load\" && @next < {keys}/ {{ $i = @next; {statement}; if (has_key(@, $i)) {{ @next++; }} }}"
    script = f"config = {{ max_map_keys = {keys} }} {step}"
    process = Tracer([machine.flowtap, "-q", "-e", script], subprocess.PIPE).process
    for _ in range(8):
        subprocess.run(["taskset", "1", machine.tool("read_load"), str(keys // 2)], check=True)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    printed = sum(line.startswith(b"@[") for line in process.stdout)
    process.wait()
    if printed != keys:
        raise RuntimeError(f"{printed} of {keys} keys were printed")
    return time.monotonic() - begin


def large_maps(machine):
    for what, (keys, statement, limit) in LARGE.items():
        costs = [end_with(machine, keys, statement) for _ in range(ROUNDS)]
        yield Row(f"Ctrl-C to the end of printing a {what}, s", {"flowtap": statistics.median(costs)}, ".2f", {}, limit)


def peak_while_printing(machine, keys):
    """Megabytes after a large map was printed."""
    script = f"config = {{ max_map_keys = {keys} }} begin {{ for ($i : 0..{keys}) {{ @[$i] = $i; }} print(@); }} interval:s:1 {{ printf(\"it is up\\n\"); }}"
    process = subprocess.Popen([machine.flowtap, "-e", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for line in process.stdout:
        if line == b"it is up\n":
            break
    peak = vm_peak_megabytes(process.pid)
    process.kill()
    process.communicate()
    return peak


def memory_of_maps(machine):
    few, many = (peak_while_printing(machine, n) for n in (250_000, 1_000_000))
    yield Row("memory of 1,000,000 keys / of 250,000", {"flowtap": many / few}, ".2f", {}, 4.4)


def ending(machine):
    found = subprocess.run([machine.flowtap, "-l", "tracepoint:syscalls:sys_enter_*"], capture_output=True, text=True).stdout
    names = re.findall(r"tracepoint:syscalls:\w+", found)[:300]
    script = ",".join(names) + " { @[probe] = count(); }"
    tracer = Tracer([machine.flowtap, "-e", script])
    time.sleep(1)
    yield Row(f"end after Ctrl-C with {len(names)} probes, s", {"flowtap": tracer.stop()}, ".2f", {}, 2)


def measure(machine):
    yield from rows_to_file(machine)
    yield from large_maps(machine)
    yield from memory_of_maps(machine)
    yield from ending(machine)
