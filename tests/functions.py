"""Tests that are functions of one parameter, `flowtap`, the program's path. Each gives what went wrong, or nothing."""

import functools
import inspect
import os
import traceback
from dataclasses import dataclass

import features


@dataclass
class Skipped:
    """What a test gives instead when the kernel lacks what it needs."""
    reason: str


MISSED = "missed: they came while a probe was running"


class NotPossible(Exception):
    """What a test needs cannot be had here: it is skipped."""


def attempt(test, *arguments):
    try:
        return test(*arguments)
    except NotPossible as reason:
        return Skipped(str(reason))
    except Exception:  # one that broke must not hide the others
        return traceback.format_exc()


def settled(name, first, try_again, times=1):
    """The last of several attempts. The kernel has other work than the tests: a timer in the middle of a program, say, hides an event from it.
    So what fails is tried again, and says so: a fault that shows at times is still a fault. More often where flowtap told that it missed events."""
    for done in range(4):
        if not first or isinstance(first, Skipped) or (done >= times and MISSED not in first):
            break
        print(f"again: {name}\n{first}", flush=True)
        first = try_again()
    return first


def run(module, root, results):
    name = module.__name__
    if not features.has("bpf"):
        return results.add(name, skipped=features.reason("bpf"))
    wanted = os.environ.get("CASE", "")
    for test in list(vars(module).values()):
        is_test = inspect.isfunction(test) and test.__module__ == name and list(inspect.signature(test).parameters) == ["flowtap"]
        if not is_test or wanted not in test.__name__:
            continue
        try_it = functools.partial(attempt, test, str(root / "build" / "flowtap"))
        problem = settled(test.__name__, try_it(), try_it)
        if isinstance(problem, Skipped):
            results.add(test.__name__, skipped=problem.reason)
        else:
            results.add(test.__name__, problem and f"  {problem}")
