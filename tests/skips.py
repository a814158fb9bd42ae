"""What is skipped on which kernel is pinned in tests/skips/KERNEL, a line 'part: test' for each. A new skip fails, and so does one
that vanished: a feature that is no longer found would otherwise hide all of its tests. `PIN_SKIPS=1 ./test` writes the files anew."""

import os

from known_kernels import kernel
from results import TESTS

FOLDER = TESTS / "skips"
IS_PINNING = "PIN_SKIPS" in os.environ
VARYING = ["random"]  # it skips programs for which the kernel has no memory


def pinned(part):
    path = FOLDER / kernel()
    if not path.exists():
        return None
    return {line.split(": ", 1)[1] for line in path.read_text().splitlines() if line.startswith(f"{part}: ")}


def check(part, names, results):
    """Compares what a whole part has skipped."""
    results.skips.setdefault(kernel(), {})[part] = sorted(names)
    expected = pinned(part)
    if IS_PINNING or os.environ.get("CASE") or part in VARYING:
        return
    if expected is None:
        print(f"skips on this kernel are not pinned: there is no tests/skips/{kernel()}")
    elif expected != set(names):
        new = "".join(f"  skipped now: {name}\n" for name in sorted(set(names) - expected))
        gone = "".join(f"  no longer skipped: {name}\n" for name in sorted(expected - set(names)))
        results.add(f"skips of {part}", f"{new}{gone}  if this is right: PIN_SKIPS=1 ./test {part}")


def pin(results):
    FOLDER.mkdir(exist_ok=True)
    for name, parts in results.skips.items():
        path = FOLDER / name
        old = path.read_text().splitlines() if path.exists() else []
        lines = [line for line in old if line.split(": ", 1)[0] not in parts]
        lines += [f"{part}: {test}" for part, tests in parts.items() for test in tests]
        path.write_text("".join(f"{line}\n" for line in sorted(lines)))
