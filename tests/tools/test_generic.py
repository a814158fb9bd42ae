"""The generic tools beside a load whose calls are counted: QUERIES and RESETS of personality(2), SLEEPS of 20 ms."""

import os
import re
import sys
import time

import features
from processes import Running, Skipped
from shared import LOADS, differing, flowtap_text, json_records

GROUP = "personality"  # they count the calls of all processes

QUERIES, RESETS, SLEEPS = 13, 7, 3
CALLS = QUERIES + RESETS
LOAD = f"{sys.executable} {LOADS / 'personality_load.py'} {QUERIES} {RESETS} {SLEEPS}"
EVENT = "t:syscalls:sys_enter_personality"
FUNCTION = "__x64_sys_personality"
NAMES = ("argdist", "funccount", "funclatency", "funcslower", "stackcount", "trace")


def text_of(flowtap, *words):
    code, out, err = flowtap_text(flowtap, "-c", LOAD, *words)
    if code != 0 or err:
        raise RuntimeError(f"{words}: exit code {code}\n{err}")
    return out.rstrip("\n") + "\n"


def objects_of(flowtap, *words):
    code, out, err = flowtap_text(flowtap, "-f", "json", "-c", LOAD, *words)
    if code != 0 or err:
        raise RuntimeError(f"{words}: exit code {code}\n{err}")
    return json_records(out)


def summed(objects, kind, name):
    """A map that may have been reported several times, as one."""
    total = {}
    for data in (o["data"] for o in objects if o.get("type") == kind and name in o["data"]):
        values = data[name] if isinstance(data[name], dict) else {"": data[name]}
        for key, value in values.items():
            total[key] = total.get(key, 0) + value
    return total


def buckets(objects, name):
    return sum(bucket["count"] for o in objects if o.get("type") == "hist" and name in o["data"] for bucket in o["data"][name])


def generic_tools_are_listed_and_explained(root, flowtap):
    problem = ""
    _, listed, _ = flowtap_text(flowtap, "tools")
    for name in NAMES:
        code, text, _ = flowtap_text(flowtap, "help", name)
        for part in (f"usage: flowtap {name} [options] ", "options:", "needs:", "overhead:", "example: flowtap"):
            if part not in text:
                problem += f"  the help of {name} lacks '{part}'\n"
        if code != 0 or f"  {name} " not in listed or not flowtap_text(flowtap, "--docs", "man", name)[1].startswith(".TH"):
            problem += f"  {name} is not listed or has no man page\n"
        if flowtap_text(flowtap, name, "--help")[1] != text:
            problem += f"  {name} --help differs from help {name}\n"
    return problem


def generic_source_is_the_script_that_runs(root, flowtap):
    code, script, _ = flowtap_text(flowtap, "source", "funccount", EVENT)
    if code != 0 or not script.startswith(f"// flowtap funccount {EVENT}\n"):
        return f"  {code} {script}"
    _, direct, _ = flowtap_text(flowtap, "-q", "-c", LOAD, "-e", script)
    return differing("the script by itself", text_of(flowtap, "funccount", EVENT), direct.rstrip("\n") + "\n")


def generic_check_tries_the_script(root, flowtap):
    code, out, _ = flowtap_text(flowtap, "check", "funccount", EVENT)
    return differing("check", (0, True), (code, "yes" in out))


def generic_mistakes_are_explained(root, flowtap):
    problem = ""
    for words, message in (
        (["funccount"], "error: no function or event is named\nhint: name one, such as 'tcp_*', t:block:block_rq_issue or c:malloc\n"),
        (["funccout", "x"], "error: there is neither a file nor a tool 'funccout'\nhint: did you mean 'funccount'?\n"),
        (["argdist", "-H", "p::f(int"], "error: there is no ')' for this '('\n  p::f(int\n      ^\n"
         "hint: a signature is written as (struct sock *sk, size_t size), or ()\n"),
        (["trace", "f \"%d\""], "error: the format has 1 conversion for 0 values\n  f \"%d\"\n    ^\n"),
        (["funccount", "-r", "("], "error: '^([^:]*:)*(()' is not a regular expression\n"),
    ):
        code, _, err = flowtap_text(flowtap, *words)
        problem += differing(" ".join(words), (2, message), (code, err))
    return problem


def counted(flowtap, *words):
    return {row["func"]: row["count"] for row in objects_of(flowtap, "funccount", *words)}


def funccount_counts_events(root, flowtap):
    return differing("count", {"tracepoint:syscalls:sys_enter_personality": CALLS}, counted(flowtap, EVENT)) + differing(
        "wildcard", CALLS, counted(flowtap, "t:syscalls:sys_*_personality")["tracepoint:syscalls:sys_exit_personality"])


def funccount_counts_user_functions(root, flowtap):
    """also by u:, which stands for markers first"""
    problem = ""
    for words in (["c:personality"], ["p:c:personality"], ["u:libc:personality"], ["-r", "c:^personal(ity)$"]):
        problem += differing(words, {"personality": CALLS}, counted(flowtap, *words))
    return problem


def funccount_reports_at_intervals(root, flowtap):
    code, out, err = flowtap_text(flowtap, "funccount", "-i", "1", "-d", "2", "-T", "t:syscalls:sys_enter_*")
    times = re.findall(r"^\d\d:\d\d:\d\d$", out, re.M)
    return differing("reports", (0, 2, ""), (code, len(times), err))


def generic_reports_lose_nothing(root, flowtap):
    """the test's own calls, which it makes while three reports are written"""
    call, mine = "t:syscalls:sys_enter_getppid", ("-p", str(os.getpid()), "-i", "1")
    running = [Running(flowtap, *words, *mine, call) for words in (("funccount",), ("stackcount", "-f", "-U"))]
    calls, end = 0, time.monotonic() + 3.5
    while time.monotonic() < end:
        for _ in range(10_000):
            os.getppid()
        calls += 10_000
    outs, errs = zip(*[one.stop() for one in running])
    counts = re.findall(r"^ *(\d+)  tracepoint:", outs[0], re.M), re.findall(r" (\d+)$", outs[1], re.M)
    return (differing("sums", [calls] * 2, [sum(map(int, each)) for each in counts]) + differing("reports", True, len(counts[0]) > 2)
            + "".join(errs))


def argdist_counts_values(root, flowtap):
    found = objects_of(flowtap, "argdist", "-C", f"{EVENT}():u32:args->personality")
    return differing("values", {"4294967295": QUERIES, "0": RESETS}, summed(found, "map", "@personality"))


def argdist_filters_and_labels(root, flowtap):
    found = objects_of(flowtap, "argdist", "-C", f"{EVENT}():u32:args->personality:args->personality == 0#reset", "-H",
                       f"{EVENT}():u32:args->personality")
    return differing("filtered", {"0": RESETS}, summed(found, "map", "@reset")) + differing(
        "histogram", CALLS, buckets(found, "@personality"))


def argdist_knows_signatures_and_entries(root, flowtap):
    found = objects_of(flowtap, "argdist", "-C", "p:c:personality(unsigned long persona):u32:persona#entered",
                       "r:c:personality(unsigned long persona):int,u32:$retval,$entry(persona)#returned")
    return differing("entered", {"4294967295": QUERIES, "0": RESETS}, summed(found, "map", "@entered")) + differing(
        "returned", {"0,4294967295": QUERIES, "0,0": RESETS}, summed(found, "map", "@returned"))


def argdist_measures_latency(root, flowtap):
    found = objects_of(flowtap, "argdist", "-H", "r:c:usleep():u64:$latency/1000000")
    shown = [bucket for o in found if o.get("type") == "hist" for bucket in o["data"]["@latency"]]
    return differing("sleeps", SLEEPS, sum(bucket["count"] for bucket in shown if bucket["max"] >= 20))


def stackcount_folds_stacks(root, flowtap):
    lines = text_of(flowtap, "stackcount", "-f", "c:personality").splitlines()
    ends = [re.fullmatch(r"(\S+);(.*;)?personality (\d+)", line) for line in lines]
    return differing("calls", CALLS, sum(int(end[3]) for end in ends if end)) + "".join(
        f"  not a folded stack: {line}\n" for line, end in zip(lines, ends) if not end)


def stackcount_shows_kernel_stacks(root, flowtap):
    out = text_of(flowtap, "stackcount", "-K", "t:sched:sched_switch")
    return differing("stacks", True, bool(re.search(r"^@\[\n(        \S+\+\d+\n)*?        __schedule\+\d+\n", out, re.M)))


def trace_prints_a_line_for_each_call(root, flowtap):
    lines = text_of(flowtap, "trace", f'{EVENT} (args->personality == 0) "to %x", args->personality').splitlines()
    rows = [line for line in lines if re.fullmatch(r"\d+ +\d+ +\S+ +sys_enter_personality to 0", line)]
    return differing("lines", (RESETS, RESETS + 1), (len(rows), len(lines))) + differing(
        "heading", ["PID", "TID", "COMM", "FUNC", "-"], lines[0].split())


def trace_counts_arguments_from_one(root, flowtap):
    out = text_of(flowtap, "trace", "-TC", 'c:personality "%lx", arg1', 'r:c:personality "= %d", $retval')
    return differing("calls", QUERIES, len(re.findall(r"^\d\d:\d\d:\d\d \d+ .* personality +ffffffff$", out, re.M))) + differing(
        "returns", CALLS, len(re.findall(r" = 0$", out, re.M)))


def trace_ends_after_so_many_events(root, flowtap):
    out = text_of(flowtap, "trace", "-M", "3", EVENT)
    return differing("lines", 4, len(out.splitlines()))


def trace_reads_texts(root, flowtap):
    out = text_of(flowtap, "trace", 't:syscalls:sys_enter_openat (STRCMP("/proc/self/maps", args->filename)) "%s", args->filename',
                  't:syscalls:sys_enter_execve "%s", args->filename')
    return differing("text", True, f"sys_enter_execve {sys.executable}" in out)


def latencies(flowtap, *words):
    stats = [o["data"]["@total"] for o in objects_of(flowtap, "funclatency", *words) if o.get("type") == "stats"]
    return stats[0] if stats else None


def funclatency_measures_functions(root, flowtap):
    problem = differing("calls", CALLS, latencies(flowtap, "c:personality")["count"])
    sleeps = latencies(flowtap, "-m", "c:usleep")
    if sleeps["count"] != SLEEPS or sleeps["average"] < 20:
        problem += f"  sleeps of 20 ms: {sleeps}\n"
    return problem


def funclatency_keeps_functions_apart(root, flowtap):
    """a pattern, with one function inside the other"""
    found = latencies(flowtap, "-uF", "-r", "c:(usleep|clock_nanosleep|personality)$")
    counts = {name: stats["count"] for name, stats in found.items() if name in ("usleep", "personality")}
    return differing("calls", {"usleep": SLEEPS, "personality": CALLS}, counts)


def funcslower_shows_slow_calls(root, flowtap):
    rows = objects_of(flowtap, "funcslower", "-m", "15", "-a", "1", "c:usleep", "c:personality")
    found = [(row["func"], row["arg1"], row["rval"], row["lat_ms"] >= 20) for row in rows]
    return differing("rows", [("usleep", hex(20000), "0x0", True)] * SLEEPS, found)


def generic_tools_trace_kernel_functions(root, flowtap):
    if not features.has("kprobe"):
        return Skipped(features.reason("kprobe"))
    problem = differing("funccount", {FUNCTION: CALLS}, counted(flowtap, FUNCTION))
    problem += differing("pattern", {FUNCTION: CALLS}, counted(flowtap, "__x64_sys_personalit*"))
    problem += differing("regexp", {FUNCTION: CALLS}, counted(flowtap, "-r", "^__x64_sys_personal.ty$"))
    found = objects_of(flowtap, "argdist", "-C", f"r::{FUNCTION}():int:$retval:$retval==0",
                       f"p::{FUNCTION}(struct pt_regs *regs):u32:regs->di")
    problem += differing("results", {"0": CALLS}, summed(found, "map", "@retval"))
    problem += differing("arguments", {"4294967295": QUERIES, "0": RESETS}, summed(found, "map", "@di"))
    problem += differing("latency", CALLS, latencies(flowtap, FUNCTION)["count"])
    problem += differing("latency by function", CALLS, latencies(flowtap, "-F", "__x64_sys_personalit*")[FUNCTION]["count"])
    rows = objects_of(flowtap, "funcslower", "-m", "15", "do_nanosleep")
    mine = [row for row in rows if row["func"] == "do_nanosleep" and row["lat_ms"] < 1000 and row["comm"] == "personality"]
    problem += differing("slow calls", SLEEPS, len(mine))
    out = text_of(flowtap, "trace", f'r::{FUNCTION} "%d", $retval')
    problem += differing("trace", CALLS, len(re.findall(rf" {FUNCTION} 0$", out, re.M)))
    out = text_of(flowtap, "trace", 'do_sys_openat2 (STRCMP("/etc/ld.so.cache", arg2@user)) "%s", arg2@user')
    problem += differing("user memory", True, " do_sys_openat2   /etc/ld.so.cache\n" in out)
    folded = text_of(flowtap, "stackcount", "-Kf", FUNCTION).splitlines()
    return problem + differing("stacks", CALLS, sum(int(line.rsplit(" ", 1)[1]) for line in folded))
