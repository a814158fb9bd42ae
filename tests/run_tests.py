#!/usr/bin/env python3
"""Runs the parts of the test suite and adds up their results; see ./test."""

import functools
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import features
import functions
import lanes
import skips
from batch import Pool
from cases import indent, mismatch, read_cases
from results import IS_WITHIN, Results

ROOT = Path(__file__).resolve().parent.parent
FLOWTAP = ROOT / "build" / "flowtap"
BATCH = ROOT / "build" / "flowtap_batch"
PROGRAMS = ROOT / "build" / "programs"  # what cases call %PROGRAMS%
TIME_LIMIT = 60 * features.SLOWER  # seconds for one case: a hang is a failure, slowness is not


# --- cases ----------------------------------------------------------------------------------------
NEEDS_PROCESS = {"during", "files", "inside", "env"}  # parts of a case that need a process started for it


def run_case(case, batch=None):
    """(problem, reason for skipping), both empty when the case passed."""
    missing = [f for f in case.parts.get("needs", "").split() if not features.has(f)]
    if missing:
        return "", features.reason(missing[0])
    case.script = case.script.replace("%PROGRAMS%", str(PROGRAMS))
    case.parts = {part: text.replace("%PROGRAMS%", str(PROGRAMS)) for part, text in case.parts.items()}
    with tempfile.TemporaryDirectory() as folder:
        words = [*shlex.split(case.parts.get("options", "")), "-q"]
        if "during" in case.parts:
            words += ["-c", "/bin/sh -c " + shlex.quote(case.parts["during"].strip())]
        words += script_arguments(case, folder)
        words += shlex.split(case.parts.get("params", ""))
        try:
            done = batch.run(words, TIME_LIMIT) if batch and not NEEDS_PROCESS & set(case.parts) else run_process(case, words, folder)
        except subprocess.TimeoutExpired:
            return "    did not end", ""
    return judge(case, done), ""


def run_process(case, words, folder):
    command = [str(FLOWTAP), *words]
    if "inside" in case.parts:
        command = ["unshare", "-m", "sh", "-ec", case.parts["inside"], "sh", *command]
    environment = dict(os.environ, **dict(l.split("=", 1) for l in case.parts.get("env", "").split()))
    return subprocess.run(command, capture_output=True, cwd=folder, env=environment, timeout=TIME_LIMIT)


def try_case(case, batch=None):
    """(problems of tries that failed, problem of the last one, reason for skipping, seconds); see functions.may_miss_events."""
    began, failed = time.monotonic(), []
    tries = functions.MOST_TRIES if "may miss" in case.parts and not features.IN_GUEST else 1
    for _ in range(tries):
        problem, skipped = run_case(case, batch)
        if not problem:
            break
        failed.append(problem)
    return failed, problem, skipped, time.monotonic() - began


def script_arguments(case, folder):
    if "files" not in case.parts:
        needs_none = case.parts.get("options", "").startswith(("-l", "check"))
        return ["-e", case.script] if case.script or not needs_none else []
    Path(folder, "main.bt").write_text(case.script)
    name = None
    for line in case.parts["files"].split("\n"):
        if line.startswith(">> "):
            name = Path(folder, line[3:].strip())
            name.parent.mkdir(parents=True, exist_ok=True)
            name.write_text("")
        elif name:
            name.write_text(name.read_text() + line + "\n")
    return ["main.bt"]


def judge(case, done):
    problems = []
    code = int(case.parts.get("code", "0"))
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if done.returncode != code:
        problems.append(f"exit code {done.returncode}, expected {code}\n{err}")
    for part, text in (("out", out), ("err", err)):
        if part in case.parts:
            difference = mismatch(case.parts[part], text)
            if difference:
                problems.append(f"standard {'output' if part == 'out' else 'error'}:\n{difference}")
    if "err" not in case.parts and code == 0 and err:
        problems.append(f"standard error, of which the case says nothing:\n{indent(err.splitlines())}")
    if "out" not in case.parts and "err" not in case.parts:
        problems.append("the case expects nothing, so it could not fail")
    return "".join(f"  {p}\n" for p in problems)


def build_programs():
    """Programs that cases trace, one per source file in tests/programs."""
    if features.IN_GUEST:
        return
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    for source in sorted((ROOT / "tests" / "programs").glob("*.c*")):
        program = PROGRAMS / source.stem
        if program.exists() and program.stat().st_mtime >= source.stat().st_mtime:
            continue
        if source.name.endswith(".bpf.c"):
            compiler = ["clang", "-target", "bpf", "-O2", "-c", f"-I/usr/include/{os.uname().machine}-linux-gnu"]
        else:
            compiler = ["gcc" if source.suffix == ".c" else "g++", "-O1", "-no-pie", "-fno-omit-frame-pointer"]
        subprocess.run([*compiler, "-g", "-o", program, source], check=True)


def run_cases(folder, results):
    build("build", "Release")
    build_programs()
    if not features.has("bpf"):
        results.add(folder, skipped=features.reason("bpf"))
        return
    wanted = os.environ.get("CASE", "")
    cases = [c for path in sorted((ROOT / "tests" / folder).glob("**/*.cases")) for c in read_cases(path)]
    cases = [c for c in cases if wanted in c.name]
    names = set()
    for case in cases:
        if case.name in names:
            results.add(case.name, f"  two cases have this name ({case.file}:{case.line})")
        names.add(case.name)
    batch = Pool(BATCH, os.cpu_count()) if features.IN_GUEST else None
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, (failed, problem, skipped, seconds) in zip(cases, pool.map(lambda case: try_case(case, batch), cases)):
            name = f"{case.name} ({Path(case.file).relative_to(ROOT)}:{case.line})"
            for text in failed if len(failed) > 1 or not problem else []:
                results.tried_again(name, text)
            results.add(name, problem and f"  {case.script}\n{problem}", skipped, seconds)
    if batch:
        batch.end()


# --- the parts --------------------------------------------------------------------------------------
BUILT = ("flowtap", "flowtap_batch")


def build(directory, kind, *targets):
    if features.IN_GUEST or IS_WITHIN and directory == "build":  # done before the lanes began
        return
    done = subprocess.run([ROOT / "scripts" / "build.sh", ROOT / directory, kind, *targets], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout + done.stderr)
        sys.exit("the build failed")


def part_unit(results):
    build("build-sanitize", "Sanitize", "unit_tests")
    done = subprocess.run([ROOT / "build-sanitize" / "unit_tests", "--gtest_brief=1"], capture_output=True, text=True)
    text = done.stdout + done.stderr
    count = lambda pattern: int((re.search(pattern, text) or [0, "0"])[1])
    passed, skipped = count(r"\[  PASSED  \] (\d+)"), count(r"\[  SKIPPED \] (\d+)")
    failed = len(set(re.findall(r"\[  FAILED  \] (\S+\.\S+)", text)))
    results.passed += passed
    results.skipped += skipped
    for line in re.findall(r"^.*: Skipped\n.*$", text, re.M):
        print("skipped unit:", line.split("\n")[-1])
    if done.returncode != 0:
        results.failed += max(1, failed)
        print(text)


def part_fuzz(results):
    """Every input that the fuzzers of tests/fuzz keep, once more."""
    build("build-sanitize", "Sanitize", "fuzz_replay")
    done = subprocess.run([ROOT / "build-sanitize" / "tests" / "fuzz" / "fuzz_replay", ROOT / "tests" / "fuzz" / "corpus"],
                          capture_output=True, text=True, errors="replace")
    lines = done.stdout.splitlines()
    failed = done.returncode != 0 or not lines or not lines[-1].endswith(" inputs")
    for name in sorted({Path(line).parent.name for line in lines if "/" in line}):
        results.add(f"fuzz {name}", f"  {lines[-1]}\n{done.stderr}" if failed and name in lines[-1] else "")
    if failed and not lines:
        results.add("fuzz", f"  {done.stderr}")


def part_structure(results):
    import structure
    structure.run(ROOT, results)


def part_format(results):
    folders = (ROOT / "src", ROOT / "tests" / "fuzz")
    sources = sorted(str(p) for folder in folders for p in folder.glob("**/*") if p.suffix in (".cc", ".h"))
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", *sources], capture_output=True, text=True)
    results.add("clang-format", done.stderr[:3000] if done.returncode else "")
    done = subprocess.run([ROOT / "scripts" / "tidy.sh", ROOT / "build-tidy"], capture_output=True, text=True)
    results.add("clang-tidy", (done.stdout + done.stderr)[:3000] if done.returncode else "")


def part_lang(results):
    run_cases("lang", results)


def part_errors(results):
    run_cases("errors", results)


def part_golden(results):
    import golden
    build("build", "Release")
    golden.run(ROOT, results)


def part_kernel(results):
    run_cases("kernel", results)


def part_restricted(results):
    run_cases("restricted", results)


def part_lockdown(results):
    if not features.has("lockdown"):
        return results.add("lockdown", skipped=features.reason("lockdown"))
    run_cases("lockdown", results)


def part_processes(results):
    import combinations
    import foreign_files
    import processes
    import same_answers
    import unwinding
    import uprobe_sites
    build("build", "Release")
    build_programs()
    functions.run((combinations, foreign_files, processes, same_answers, unwinding, uprobe_sites), ROOT, results)


def part_security(results):
    import security
    build("build", "Release")
    functions.run((security,), ROOT, results)


def part_faults(results):
    import faults
    build("build", "Release")
    build_programs()
    functions.run((faults,), ROOT, results)


def part_tools(results):
    import tools
    build("build", "Release")
    build_programs()
    tools.run(ROOT, results)


def part_many_cpus(results):
    """In a guest of its own; see guests.py."""
    import many_cpus
    functions.run((many_cpus,), ROOT, results)


def part_docs(results):
    import documents
    build("build", "Release")
    documents.run(ROOT, results)


def part_random(results):
    import random_programs
    build("build", "Release")
    if not features.has("bpf"):
        return results.add("random programs", skipped=features.reason("bpf"))
    random_programs.run(ROOT, results)


def part_differential(results):
    import differential
    build("build", "Release")
    differential.run(ROOT, results)


def part_guest(results, kernel):
    import guests
    build("build", "Release", *BUILT)
    build_programs()
    guests.run(ROOT, results, kernel)


PARTS = {name[5:]: function for name, function in list(globals().items()) if name.startswith("part_") and name != "part_guest"}
PARTS |= {name: functools.partial(part_guest, kernel=name.removeprefix("guest-")) for name in lanes.GUESTS}


def run_parts(names, results):
    for name in names:
        began, before = time.time(), (results.passed, results.failed)
        results.skipped_names.clear()
        PARTS[name](results)
        if name not in lanes.GUESTS:
            skips.check(name, results.skipped_names, results)
        results.parts[name] = time.time() - began
        print(f"{name}: {results.passed - before[0]} passed, {results.failed - before[1]} failed in {results.parts[name]:.0f} s", flush=True)


def main(arguments):
    os.environ.pop("PYTHONUNBUFFERED", None)  # a line that a workload prints is one write
    names = lanes.parts(arguments)
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"there is no part '{unknown[0]}'; the parts are {', '.join([*PARTS, *lanes.GROUPS])}")
    results = Results()
    apart = lanes.divide(names)
    if len(apart) == 1:
        run_parts(names, results)
    else:
        build("build", "Release", *BUILT)
        build_programs()
        lanes.run(apart, results)
    if IS_WITHIN:
        results.hand_over()
    else:
        if skips.IS_PINNING:
            skips.pin(results)
        results.report()
    return 1 if results.failed or not results.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
