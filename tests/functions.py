"""Tests that are functions. Each gives what went wrong, or nothing. They run side by side, each in a process of its own.

    @alone                      not beside others: it changes the whole machine, or counts what all processes do;
                                IS_ALONE = True says so of all tests of a module
    GROUP = "name"              tests of modules with one name do not run beside each other
    raise Missed(what)          flowtap said that events were missed, as it must: such a run proves nothing, and the test is tried
                                at most twice more, everywhere
    @may_miss_events("why")     the kernel of this machine does not run BPF programs for some events (docs/reliability.md); such
                                a test is tried at most twice more there, never in a guest
"""

import inspect
import os
import sys
import traceback
from dataclasses import dataclass

import features
import side_by_side

WORKERS = 2 if features.IN_GUEST else 6  # most of them wait most of the time
MOST_TRIES = 3


@dataclass
class Skipped:
    """What a test gives instead when the kernel lacks what it needs."""
    reason: str


class NotPossible(Exception):
    """What a test needs cannot be had here: it is skipped."""


class Missed(Exception):
    """flowtap told of events that it missed, since one interrupted another."""


def alone(test):
    test.is_alone = True
    return test


def may_miss_events(why):
    def mark(test):
        test.may_miss = why
        return test
    return mark


def attempt(test, *arguments):
    try:
        return test(*arguments)
    except NotPossible as reason:
        return Skipped(str(reason))
    except Missed as missed:
        return missed
    except Exception:  # one that broke must not hide the others
        return traceback.format_exc()


def outcome(job):
    """(problems of tries that failed, problem of the last one or nothing or why it was skipped)"""
    _, test, arguments = job
    may_fail = hasattr(test, "may_miss") and not features.IN_GUEST
    failed = []
    while True:
        problem = attempt(test, *arguments)
        if not problem or isinstance(problem, Skipped):
            return failed, problem
        may_repeat = may_fail or isinstance(problem, Missed)
        failed.append(str(problem))
        if not may_repeat or len(failed) == MOST_TRIES:
            return failed, str(problem)


def run_all(jobs, results, told=lambda job, verdict: None, group=lambda job: ""):
    """Jobs are (name, test, its arguments). Those of one group, or of modules with one GROUP, do not run at the same time."""
    of_module = lambda job, name, default: getattr(sys.modules[job[1].__module__], name, default)
    is_alone = lambda job: getattr(job[1], "is_alone", False) or of_module(job, "IS_ALONE", False)
    group_of = lambda job: of_module(job, "GROUP", "") or group(job)
    together, apart = [job for job in jobs if not is_alone(job)], [job for job in jobs if is_alone(job)]
    for batch, workers in ((together, WORKERS), (apart, 1)):
        for job, answer, seconds in side_by_side.run(batch, outcome, workers, group_of):
            name = job[0]
            failed, problem = ([], answer) if isinstance(answer, str) else answer
            for text in failed if len(failed) > 1 or not problem else []:
                results.tried_again(name, text)
            if isinstance(problem, Skipped):
                results.add(name, skipped=problem.reason)
            else:
                results.add(name, problem and f"  {problem}", seconds=seconds)
            told(job, "skipped" if isinstance(problem, Skipped) else "failed" if problem else "passed")


def tests_of(module, parameters):
    return [test for test in list(vars(module).values())
            if inspect.isfunction(test) and test.__module__ == module.__name__ and list(inspect.signature(test).parameters) == parameters]


def run(modules, root, results):
    """All tests of these modules, which have one parameter, `flowtap`, the program's path."""
    if not features.has("bpf"):
        return results.add(modules[0].__name__, skipped=features.reason("bpf"))
    wanted = os.environ.get("CASE", "")
    tests = [test for module in modules for test in tests_of(module, ["flowtap"])]
    run_all([(test.__name__, test, (str(root / "build" / "flowtap"),)) for test in tests if wanted in test.__name__], results)
