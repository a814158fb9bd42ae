"""Runs a program and compares what it prints with what it should."""

import re
import subprocess
from dataclasses import dataclass

from .program import Generator

TIMEOUT_SECONDS = 60
MOST_RUNS = 3


@dataclass
class Verdict:
    seed: int
    problem: str = ""  # empty: as expected
    is_refusal: bool = False  # the checker or the kernel did not take it
    is_compared: bool = True  # False: the kernel lacked memory, and flowtap said so


def map_entries(text):
    """The entries of printed maps; a histogram is one entry with its rows."""
    found = []
    for line in text.split("\n"):
        if re.match(r"@\w*(\[.*\])?:", line):
            found.append(line)
        elif line and found:
            found[-1] += "\n" + line
        elif line:
            found.append(line)
    return found


def difference(expected, found):
    pairs = [(e, f) for e, f in zip(expected, found) if e != f]
    if pairs:
        return "\n".join(f"    expected {e}\n    found    {f}" for e, f in pairs[:3])
    more, whose = (expected, "missing") if len(expected) > len(found) else (found, "too much")
    return f"    {whose}: {more[min(len(expected), len(found))]}"


def messages(stderr):
    """Errors and losses, without the many warnings about the script."""
    wanted = re.compile(r"error|internal|refused|lost|full|missed|report")
    return "\n".join(line for line in stderr.split("\n") if wanted.search(line))[:3000]


def run_script(flowtap, script, seconds):
    """Answers what came of it, and whether it can be compared. The kernel takes memory for the keys of large maps when they
    come, and has little ready, above all with interrupts off. A key is lost then, and flowtap says so."""
    for _ in range(MOST_RUNS):
        done = subprocess.run([flowtap, "-q", "-e", script], capture_output=True, text=True, errors="replace", timeout=seconds)
        if not re.search(r"refused \d+ updates?: Cannot allocate memory", done.stderr):
            return done, True
    return done, False


def try_program(flowtap, seed, slowness=1):
    script, lines, entries = Generator(seed).program()
    try:
        done, is_compared = run_script(flowtap, script, TIMEOUT_SECONDS * slowness)
    except subprocess.TimeoutExpired:
        return Verdict(seed, f"  seed {seed} does not end\n{script}")
    if done.returncode != 0:
        return Verdict(seed, f"  seed {seed}, exit code {done.returncode}\n{messages(done.stderr)}\n{script}", True)
    if not is_compared:
        return Verdict(seed, is_compared=False)
    found = done.stdout.split("\n")
    printed, rest = found[: len(lines)], "\n".join(found[len(lines):])
    if printed != lines:
        problem = difference(lines, printed)
    elif sorted(map_entries(rest)) != sorted(entries):
        problem = difference(sorted(entries), sorted(map_entries(rest)))
    else:
        return Verdict(seed)
    return Verdict(seed, f"  seed {seed}\n{problem}\n{messages(done.stderr)}\n{script}")
