"""The documents: what their code blocks show must be what flowtap does.

    ```flowtap ARGUMENTS...     a script: it must compile and load (flowtap -q --dry-run -e SCRIPT)
    ```text output              after a script: exactly what it prints, so the script is really run
    ```text errors              the same for standard error; such a script may fail
    ```flowtap file=NAME        not run by itself: a file that the later blocks of the page can use
    ```sh                       every command that begins with 'flowtap ' is tried with --dry-run; needs=FEATURE as above

ARGUMENTS are options and parameters as a shell would split them. A word needs=FEATURE (see
features.py) skips the block where the machine lacks it, saying so. Output is matched as in
cases.py: '~' begins a regular expression, '...' stands for any lines.

The pages that flowtap writes itself must be what it writes, and docs/language.md must speak of
every builtin and probe kind there is.
"""

import os
import re
import shlex
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import features
from cases import mismatch

TIME_LIMIT = 60  # seconds for one block: a hang is a failure, slowness is not
GENERATED = ("builtins", "probes", "tools", "options")


@dataclass
class Block:
    file: str
    line: int
    info: str
    text: str = ""
    expected: dict = field(default_factory=dict)  # "output" or "errors" -> text


# --- reading ----------------------------------------------------------------------------------------
def read_blocks(path, name):
    blocks, block = [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        fence = re.match(r"```(.*)$", line)
        if fence and block is None:
            block = Block(name, number, fence[1].strip())
        elif fence:
            blocks.append(block)
            block = None
        elif block is not None:
            block.text += line + "\n"
    if block is not None:
        block.info = "open " + block.info  # refused below
        blocks.append(block)
    return blocks


def attach_expectations(blocks):
    """Blocks without the expectations, which are put into the script before them."""
    kept = []
    for block in blocks:
        words = block.info.split()
        if words[:1] == ["text"] and len(words) == 2 and kept:
            kept[-1].expected[words[1]] = block.text
        else:
            kept.append(block)
    return kept


# --- one block --------------------------------------------------------------------------------------
def run_flowtap(flowtap, arguments, folder):
    try:
        return subprocess.run([str(flowtap), *arguments], capture_output=True, cwd=folder, timeout=TIME_LIMIT,
                              stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None


def try_script(flowtap, block, folder):
    """(problem, reason for skipping)"""
    words = shlex.split(block.info)[1:]
    missing = [w[6:] for w in words if w.startswith("needs=") and not features.has(w[6:])]
    if missing:
        return "", features.reason(missing[0])
    words = [w for w in words if not w.startswith("needs=")]
    dry = [] if block.expected else ["--dry-run"]
    command = words[:1] if words[:1] == ["check"] else []
    arguments = [*command, "-q", *dry, "-e", block.text.rstrip("\n"), *words[len(command):]]
    done = run_flowtap(flowtap, arguments, folder)
    if done is None:
        return "  did not end\n", ""
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    problem = ""
    if done.returncode != 0 and "errors" not in block.expected:
        problem = f"  exit code {done.returncode}\n{err}"
    for part, text in (("output", out), ("errors", err)):
        if part in block.expected:
            problem += mismatch(block.expected[part], text)
    return problem, ""


def commands_of(text):
    """The commands of a shell block; one whose quotes are open goes on in the next line."""
    command = ""
    for line in text.split("\n"):
        command += ("\n" if command else "") + re.sub(r"^# (?=flowtap )|^\$ ", "", line)
        try:
            words = shlex.split(command, comments=True)
        except ValueError:
            continue
        if words[:1] == ["flowtap"]:
            ends = [i for i, word in enumerate(words) if word in ("|", ">", "&&", "&", ";")]
            yield words[1 : min(ends, default=len(words))]
        command = ""
    if command:
        yield None


def try_shell(flowtap, block, folder):
    missing = [need for need in re.findall(r"\bneeds=(\S+)", block.info) if not features.has(need)]
    if missing:
        return "", features.reason(missing[0])
    for words in commands_of(block.text):
        if words is None:
            return "  a quote is not closed\n", ""
        done = run_flowtap(flowtap, ["--dry-run", *words], folder)
        if done is None or done.returncode != 0:
            reason = done.stderr.decode(errors="replace") if done else "did not end"
            return f"  flowtap {shlex.join(words)}\n{reason}", ""
    return "", ""


# --- all of it --------------------------------------------------------------------------------------
def check_page(flowtap, path, name, results):
    blocks = attach_expectations(read_blocks(path, name))
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for block in blocks:
            kind = block.info.split()[0] if block.info else ""
            named = re.search(r"\bfile=(\S+)", block.info)
            if kind == "flowtap" and named:
                Path(folder, named[1]).write_text(block.text)
            elif kind == "flowtap":
                jobs.append((block, try_script))
            elif kind == "sh":
                jobs.append((block, try_shell))
            elif kind == "open" or "output" in block.info.split() or block.expected:
                results.add(f"{name}:{block.line}", "  this block is not closed, or expects output of no script\n")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            outcomes = pool.map(lambda job: job[1](flowtap, job[0], folder), jobs)
            for (block, _), (problem, skipped) in zip(jobs, outcomes):
                results.add(f"{name}:{block.line}", problem and f"{block.text}{problem}", skipped)


def check_generated(root, flowtap, results):
    for subject in GENERATED:
        done = run_flowtap(flowtap, ["--docs", subject], root)
        path = root / "docs" / f"{subject}.md"
        same = path.exists() and done is not None and path.read_bytes() == done.stdout
        hint = f"  write it again: build/flowtap --docs {subject} > docs/{subject}.md\n"
        results.add(f"docs/{subject}.md is what flowtap writes", "" if same else hint)


def check_complete(root, flowtap, results):
    language = (root / "docs" / "language.md").read_text()
    for subject in GENERATED:
        rows = run_flowtap(flowtap, ["--docs", subject], root).stdout.decode().split("\n## Software")[0]
        for name in re.findall(r"^\| `(?:@ = )?([a-z_0-9]+)", rows, re.M):
            known = re.search(rf"(?<![a-z_]){name}(?![a-z_0-9])", language)
            results.add(f"docs/language.md speaks of {name}", "" if known else f"  '{name}' is not mentioned\n")


def run(root, results):
    flowtap = root / "build" / "flowtap"
    check_generated(root, flowtap, results)
    check_complete(root, flowtap, results)
    if not features.has("bpf"):
        results.add("the examples of the documents", skipped=features.reason("bpf"))
        return
    pages = sorted((root / "docs").glob("*.md")) + [root / "README.md"]
    for path in pages:
        if path.exists():
            check_page(flowtap, path, str(path.relative_to(root)), results)
