"""The same scripts under Debian's bpftrace and flowtap must print the same text.

tests/differential/scripts.txt holds one script a line. Only what bpftrace 0.17 says differently by
design is evened out: its first line, blanks at line ends, and empty lines.
"""

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import features


def output(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "did not end"
    return done.stdout if done.returncode == 0 else f"exit code {done.returncode}\n{done.stdout}{done.stderr}"


def normal(text):
    lines = [line.rstrip() for line in text.split("\n")]
    return "\n".join(l for l in lines if l and not re.match(r"Attaching \d+ probes?\.\.\.", l))


def compare(root, script):
    theirs = normal(output(["bpftrace", "-e", script]))
    ours = normal(output([root / "build" / "flowtap", "-q", "--no-warnings", "-e", script]))
    if theirs == ours:
        return ""
    return f"  {script}\n  bpftrace:\n{theirs}\n  flowtap:\n{ours}\n"


def run(root, results):
    if not features.has("bpf"):
        results.add("differential", skipped=features.reason("bpf"))
        return
    if not shutil.which("bpftrace"):
        results.add("differential", skipped="bpftrace is not installed")
        return
    path = root / "tests" / "differential" / "scripts.txt"
    scripts = [l for l in path.read_text().split("\n") if l.strip() and not l.startswith("#")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for script, problem in zip(scripts, pool.map(lambda s: compare(root, s), scripts)):
            results.add(f"same text: {script}", problem)
