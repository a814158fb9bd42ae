"""Tests that are functions of one parameter, `flowtap`, the program's path. Each gives what went wrong, or nothing."""

import inspect
import os
from dataclasses import dataclass

import features


@dataclass
class Skipped:
    """What a test gives instead when the kernel lacks what it needs."""
    reason: str


class NotPossible(Exception):
    """What a test needs cannot be had here: it is skipped."""


def run(module, root, results):
    name = module.__name__
    if not features.has("bpf"):
        return results.add(name, skipped=features.reason("bpf"))
    wanted = os.environ.get("CASE", "")
    for test in list(vars(module).values()):
        is_test = inspect.isfunction(test) and test.__module__ == name and list(inspect.signature(test).parameters) == ["flowtap"]
        if not is_test or wanted not in test.__name__:
            continue
        try:
            problem = test(str(root / "build" / "flowtap"))
        except NotPossible as reason:
            problem = Skipped(str(reason))
        if isinstance(problem, Skipped):
            results.add(test.__name__, skipped=problem.reason)
        else:
            results.add(test.__name__, problem and f"  {problem}")
