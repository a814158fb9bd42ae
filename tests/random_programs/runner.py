"""Runs a program and compares what it prints with what it should."""

import re
import subprocess
from dataclasses import dataclass

from .program import Generator

TIMEOUT_SECONDS = 60


@dataclass
class Verdict:
    seed: int
    problem: str = ""  # empty: as expected
    is_refusal: bool = False  # the checker or the kernel did not take it


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


def try_program(flowtap, seed, slowness=1):
    script, lines, entries = Generator(seed).program()
    try:
        done = subprocess.run(
            [flowtap, "-q", "--no-warnings", "-e", script], capture_output=True, text=True, errors="replace",
            timeout=TIMEOUT_SECONDS * slowness,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Verdict(seed, f"  seed {seed} does not end\n{script}")
    if done.returncode != 0:
        return Verdict(seed, f"  seed {seed}, exit code {done.returncode}\n{done.stderr[:3000]}\n{script}", True)
    found = done.stdout.split("\n")
    printed, rest = found[: len(lines)], "\n".join(found[len(lines):])
    if printed != lines:
        problem = difference(lines, printed)
    elif sorted(map_entries(rest)) != sorted(entries):
        problem = difference(sorted(entries), sorted(map_entries(rest)))
    else:
        return Verdict(seed)
    return Verdict(seed, f"  seed {seed}\n{problem}\n{done.stderr[:1000]}\n{script}")
