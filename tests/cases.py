"""Case files: many small scripts with what they must print, in one readable text.

    === integer_division_truncates_toward_zero
    begin { print(-7 / 2); }
    --- out
    -3

A case begins with '=== name'. Then come the script and, each after a line '--- word', any of
    options   arguments for flowtap, as a shell would split them; a case that lists (-l) or checks needs no script
    params    arguments after the script
    env       NAME=value lines
    inside    a shell text that changes the machine in a mount namespace of its own, and ends with running "$@"
    during    a shell command, run with -c while the script traces
    files     '>> name' lines start files that are put beside the script; the script becomes main.bt
    code      the exit code, 0 when not given
    needs     a word per feature the case needs (see features.py); skipped without it, saying so
    out       what must come on standard output
    err       what must come on standard error; without it and with the code 0, nothing may
    may miss  why the kernel of this machine may not run BPF programs for all of its events; see functions.py
Lines of 'out' and 'err' that begin with '~' are regular expressions for the rest of the line, a
line '...' stands for any number of lines. Blank lines at the end do not count.
"""

import re
from dataclasses import dataclass, field


@dataclass
class Case:
    name: str
    file: str
    line: int
    script: str = ""
    parts: dict = field(default_factory=dict)


def read_cases(path):
    cases, case, part = [], None, None
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("=== "):
                case = Case(line[4:].strip(), str(path), number)
                cases.append(case)
                part = None
            elif case is None:
                continue  # a comment before the first case
            elif line.startswith("--- "):
                part = line[4:].strip()
                case.parts[part] = ""
            elif part is None:
                case.script += line + "\n"
            else:
                case.parts[part] += line + "\n"
    for case in cases:
        case.script = case.script.strip("\n")
        if case.script.count("\n") == 0:
            case.script = case.script.strip()
    return cases


def mismatch(expected, actual):
    """Empty when the text is as expected, else what differs."""
    want, got = expected.rstrip("\n").split("\n"), actual.rstrip("\n").split("\n")
    if matches(want, got):
        return ""
    return "expected:\n" + indent(want) + "found:\n" + indent(got)


def matches(want, got):
    if not want:
        return not got
    if want[0] == "...":
        return any(matches(want[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and line_matches(want[0], got[0]) and matches(want[1:], got[1:])


def line_matches(want, got):
    if want.startswith("~"):
        return re.fullmatch(want[1:], got) is not None
    return want == got


def indent(lines):
    if len(lines) > 60:  # a loop that did not end, say
        lines = lines[:60] + [f"... and {len(lines) - 60} lines more"]
    lines = [line if len(line) < 2000 else line[:2000] + "..." for line in lines]
    return "".join("    " + line + "\n" for line in lines)
