"""The tools: what every one must have, and what each shows beside an independent source. A test is a function of
tests/tools/test_*.py that takes (root, flowtap) and gives what went wrong, or nothing."""

import importlib
import inspect
import json
import os
import sys
import traceback
from pathlib import Path

import features
from processes import Skipped

TESTS = Path(__file__).resolve().parent / "tools"


def test_functions():
    sys.path.insert(0, str(TESTS))
    for path in sorted(TESTS.glob("test_*.py")):
        for name, function in list(vars(importlib.import_module(path.stem)).items()):
            if inspect.isfunction(function) and list(inspect.signature(function).parameters) == ["root", "flowtap"]:
                yield f"{name} ({path.relative_to(TESTS.parent.parent)})", function


def tell(root, function, verdict):
    """For tests/guest/tool_matrix: the tool a test is about is the first word of its name, what it compares with its docstring."""
    tool = function.__name__.split("_")[0]
    if "TOOL_RESULTS" in os.environ and (root / "tools" / f"{tool}.bt").exists():
        result = {"tool": tool, "test": function.__name__, "truth": function.__doc__ or "", "verdict": verdict}
        print(os.environ["TOOL_RESULTS"] + json.dumps(result), flush=True)


def run(root, results):
    flowtap = root / "build" / "flowtap"
    if not features.has("bpf"):
        return results.add("tools", skipped=features.reason("bpf"))
    wanted = os.environ.get("CASE", "")
    for name, function in test_functions():
        if wanted not in name:
            continue
        try:
            problem = function(root, flowtap)
        except Exception:  # one that broke must not hide the others
            problem = traceback.format_exc()
        if isinstance(problem, Skipped):
            results.add(name, skipped=problem.reason)
            tell(root, function, "skipped")
        else:
            results.add(name, problem)
            tell(root, function, "failed" if problem else "passed")
