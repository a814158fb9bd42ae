"""The tools: what every one must have, and what each shows beside an independent source. A test is a function of
tests/tools/test_*.py that takes (root, flowtap) and gives what went wrong, or nothing."""

import functools
import importlib
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import features
import functions

TESTS = Path(__file__).resolve().parent / "tools"


def test_functions():
    sys.path.insert(0, str(TESTS))
    for path in sorted(TESTS.glob("test_*.py")):
        for name, function in list(vars(importlib.import_module(path.stem)).items()):
            if inspect.isfunction(function) and list(inspect.signature(function).parameters) == ["root", "flowtap"]:
                yield f"{name} ({path.relative_to(TESTS.parent.parent)})", function


def tool_of(root, function):
    """The first word of the name of a test, or the first two: qdisc_fq_... is about qdisc-fq."""
    words = function.__name__.split("_")
    names = ("-".join(words[:2]), words[0])
    return next((name for name in names if (root / "tools" / f"{name}.bt").exists()), "")


@functools.cache
def plan_of(root, tool):
    """The plan that this kernel takes; nothing when there is none."""
    done = subprocess.run([root / "build" / "flowtap", "check", "-f", "json", tool], capture_output=True, text=True)
    plans = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return next((plan["name"] for plan in plans if plan["works"]), "")


def tell(root, function, verdict):
    """For tests/guest/tool_matrix. What a test compares with is its docstring."""
    tool = tool_of(root, function)
    if tool and "TOOL_RESULTS" in os.environ:
        result = {"tool": tool, "plan": plan_of(root, tool), "test": function.__name__, "truth": function.__doc__ or "", "verdict": verdict}
        print("RESULT " + json.dumps(result), flush=True)


def may_lose_calls(root, test):
    """A call that waits while a probe is attached to its function, or detached, does not reach fexit (docs/kernels.md). These tools
    depend on it where tracepoints are missing; tests of all tools attach to everything."""
    waits = {"so1stbyte", "socketio", "socksize", "sockstat", "tcptop", "udplife", ""}
    return not Path("/sys/kernel/tracing/events/sock/sock_recv_length").exists() and tool_of(root, test) in waits


def run(root, results):
    if not features.has("bpf"):
        return results.add("tools", skipped=features.reason("bpf"))
    wanted = os.environ.get("CASE", "")
    jobs = [(name, test, (root, root / "build" / "flowtap")) for name, test in test_functions() if wanted in name]
    functions.run_all(jobs, results, lambda job, verdict: tell(root, job[1], verdict),
                      lambda job: "calls that wait" if may_lose_calls(root, job[1]) else "")
