"""Random programs: what the kernel computes must be what Python computes.

Every program is well typed by construction, so a refusal by the checker or by the kernel's verifier is a failure too.
Expressions and statements are made together with a function that computes them, which knows the rules of the language and
nothing of the compiler. Numbers come out of a map, which keeps the compiler from working out results itself.
The seed is fixed; RANDOM_SEED and RANDOM_PROGRAMS in the environment try others.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import features

from .runner import try_program

PROGRAMS = 300
PROGRAMS_IN_GUEST = 40  # its processor is emulated


def run(root, results):
    first = int(os.environ.get("RANDOM_SEED", "1"))
    usual = PROGRAMS_IN_GUEST if features.IN_GUEST else PROGRAMS
    count = int(os.environ.get("RANDOM_PROGRAMS", usual))
    seeds = [seed for seed in range(first, first + count) if os.environ.get("CASE", "") in f"random program {seed}"]
    check = partial(try_program, str(root / "build" / "flowtap"), slowness=features.SLOWER)
    refusals = differences = left_out = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for verdict in pool.map(check, seeds, chunksize=8):
            reason = "" if verdict.is_compared else "the kernel had no memory for a key, and flowtap said so"
            results.add(f"random program {verdict.seed}", verdict.problem, skipped=reason)
            refusals += bool(verdict.problem) and verdict.is_refusal
            differences += bool(verdict.problem) and not verdict.is_refusal
            left_out += not verdict.is_compared
    print(
        f"random: {len(seeds)} programs, {refusals} refused, {differences} with a difference; "
        f"{left_out} not compared since the kernel had no memory for a key"
    )
