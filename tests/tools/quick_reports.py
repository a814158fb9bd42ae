"""Copies of tools that report every millisecond, and whether their reports add up to what the tool itself shows in one."""

import contextlib
import shutil
import tempfile
from pathlib import Path

from processes import Running
from shared import differing, json_rows


@contextlib.contextmanager
def quick_copies(root, tools):
    """A folder for FLOWTAP_TOOLS"""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        shutil.copytree(root / "tools" / "lib", Path(folder, "lib"))
        for tool in tools:
            text = (root / "tools" / f"{tool}.bt").read_text()
            Path(folder, f"{tool}.bt").write_text(text.replace("self:report:1 {", "self:report {").replace("self:report {", "self:report:1ms {"))
        yield folder


def sums_of(rows, columns):
    return {column: sum(row.get(column, 0) for row in rows) for column in columns}


def reports_that_do_not_add_up(root, flowtap, tools, load):
    """`tools` is {name: (its options, columns)}; the load is what each then sees, twice."""
    with quick_copies(root, tools) as folder:
        many, one = ({tool: Running(flowtap, tool, "-f", "json", *options, *more, **environment) for tool, (options, _) in tools.items()}
                     for more, environment in (((), {"FLOWTAP_TOOLS": folder}), (("--interval", "1000"), {})))
        load()
        (quick, quick_errors), (whole, errors) = (zip(*[running.stop() for running in group.values()]) for group in (many, one))
    problem = "".join(quick_errors + errors)
    for (tool, (_, columns)), often, once in zip(tools.items(), map(json_rows, quick), map(json_rows, whole)):
        expected = sums_of(once, columns)
        problem += differing(f"{tool}: sums of {len(often)} rows", expected, sums_of(often, columns))
        problem += differing(f"{tool}: many reports, and columns that are not zero", (True, []), (len(often) > 5, [c for c in columns if not expected[c]]))
    return problem
