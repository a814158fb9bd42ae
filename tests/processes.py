"""flowtap as a process: signals, pipes, kills, files, losses. Each function is one test and gives
what went wrong, or nothing."""

import contextlib
import fcntl
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import features
import known_kernels
import options
from functions import Skipped, alone

READY = "__BPFTRACE_NOTIFY_PROBES_ATTACHED"


def line_from(descriptor):
    """The next line, and not a byte more: communicate() does not see what a file object has read ahead."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(descriptor, 1)):
        line += byte
    return line.decode()


class Running:
    """A flowtap that has attached its probes; `inside` is a command that starts it, the rest goes to its environment."""

    def __init__(self, flowtap, *arguments, inside=(), **environment):
        self.process = subprocess.Popen([*inside, flowtap, "-q", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=dict(os.environ, **{READY: "1"}, **environment))
        while (line := line_from(self.process.stdout.fileno())) and line.strip() != READY:
            pass

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.communicate(timeout=30 * features.SLOWER)


def make_directories(count):
    for _ in range(count):
        try:
            os.mkdir("/no/such/place")
        except OSError:
            pass


def wait_for(happens):
    """Whether something comes true within five seconds; the kernel frees after a grace period."""
    for _ in range(50 * features.SLOWER):
        if happens():
            return True
        time.sleep(0.1)
    return False


def count_of_mine():
    return f"tracepoint:syscalls:sys_enter_mkdir /pid == {os.getpid()}/ {{ @ = count(); }}"


def interrupt_prints_the_maps(flowtap):
    running = Running(flowtap, "-e", count_of_mine())
    make_directories(23)
    out, _ = running.stop(signal.SIGINT)
    return "" if "@: 23" in out and running.process.returncode == 0 else out


def terminate_prints_the_maps(flowtap):
    running = Running(flowtap, "-e", count_of_mine())
    make_directories(29)
    out, _ = running.stop(signal.SIGTERM)
    return "" if "@: 29" in out and running.process.returncode == 0 else out


def end_probe_runs_after_an_interrupt(flowtap):
    running = Running(flowtap, "-e", count_of_mine() + ' end { printf("over\\n"); }')
    out, _ = running.stop()
    return "" if "over" in out else out


def own_signal_probe_runs(flowtap):
    running = Running(flowtap, "-e", 'self:signal:SIGUSR1 { printf("usr1\\n"); exit(); }')
    out, _ = running.stop(signal.SIGUSR1)
    return "" if out.startswith("usr1") else out


def rows_reach_a_pipe_at_once(flowtap):
    running = Running(flowtap, "-e", f'tracepoint:syscalls:sys_enter_mkdir /pid == {os.getpid()}/ {{ printf("row\\n"); }}')
    make_directories(1)
    line = running.process.stdout.readline()  # would wait for ever if the row were kept back
    running.stop()
    return "" if line == "row\n" else line


def lost_by_clearing(flowtap, key):
    reads = 500000 // features.SLOWER
    load = f"dd if=/dev/zero of=/dev/null bs=1 count={reads} status=none"
    script = (f'rawtracepoint:sys_enter /comm == "dd" && args.id == 0/ {{ @[{key}] = count(); @all = count(); }} '
              'interval:ms:20 { print(@); clear(@); }')
    done = subprocess.run([flowtap, "-q", "-e", script, "-c", f"/bin/sh -c '{load} & {load}; wait'"], capture_output=True, text=True)
    shown = sum(int(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("@["))
    whole = int(re.search(r"^@all: (\d+)", done.stdout, re.M)[1])
    rows = done.stdout.count("@[")
    # An event whose key is taken while it is being counted may be lost, on every CPU but the one that takes it.
    is_right = whole >= 2 * reads and whole - rows * 0.1 - 5 <= shown <= whole and rows > 5
    return "" if is_right else f"by {key}: {shown} of {whole} in {rows} rows: {done.stderr}"


@alone
def maps_that_are_printed_and_cleared_lose_nothing(flowtap):
    return lost_by_clearing(flowtap, "cpu") + lost_by_clearing(flowtap, "cpu, (string[200])comm")


def commands_do_not_hold_up_an_interrupt(flowtap):
    script = 'interval:ms:1 { system("sleep 0.2"); @ = count(); } end { system("echo the end"); }'
    running = Running(flowtap, "--unsafe", "-e", script)
    time.sleep(1)
    out, err = running.stop()
    is_told = re.search(r"could not run \d+ commands of system\(\) before the end", err)
    return "" if is_told and "the end" in out and re.search(r"^@: \d+", out, re.M) else out + err


def closed_pipe_ends_the_script(flowtap):
    running = Running(flowtap, "-e", 'interval:ms:10 { printf("row\\n"); }')
    running.process.stdout.close()
    try:
        running.process.wait(timeout=10 * features.SLOWER)
    except subprocess.TimeoutExpired:
        running.process.kill()
        return "it went on writing"
    return ""


def objects_of(process):
    """The BPF objects that a process holds: (kind, id) pairs."""
    found = set()
    for info in Path(f"/proc/{process.pid}/fdinfo").iterdir():
        for kind, number in re.findall(r"^(prog|map|link)_id:\s*(\d+)$", info.read_text(), re.M):
            found.add((kind, int(number)))
    return found


def all_objects():
    """The same of the whole machine."""
    found = set()
    for kind in ("prog", "map", "link"):
        done = subprocess.run(["bpftool", "-j", kind, "show"], capture_output=True, text=True)
        found |= {(kind, o["id"]) for o in json.loads(done.stdout or "[]") if "id" in o}  # an object that goes meanwhile is an error
    return found


def kill_leaves_nothing_behind(flowtap):
    running = Running(flowtap, "-e", count_of_mine() + " uprobe:libc:malloc { @m = count(); } profile:hz:10 { @p = count(); } "
                      "rawtracepoint:sched_switch { @r = count(); } interval:s:1 { }")
    held = objects_of(running.process)
    if {kind for kind, _ in held} != {"prog", "map", "link"}:
        return f"it holds {held}, so nothing is shown"
    running.process.kill()
    running.process.wait()
    left = lambda: held & all_objects()
    return "" if wait_for(lambda: not left()) else f"left behind: {left()}"


def lines_of(path):
    """None of them when it cannot be read."""
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def kernel_places():
    """Functions that the kernel calls somebody in, and events that somebody has named."""
    lines = lines_of("/sys/kernel/debug/kprobes/list") + lines_of("/sys/kernel/tracing/enabled_functions")
    events = lines_of("/sys/kernel/tracing/kprobe_events") + lines_of("/sys/kernel/tracing/uprobe_events")
    return {word.split("+")[0] for line in lines for word in line.split() if re.match(r"(do|vfs)_\w+", word)} | set(events)


def kill_leaves_no_function_probe_behind(flowtap):
    """By every kind that patches code. Functions are those that nobody else is likely to trace."""
    guarded = Guarded(flowtap)
    script = f"uprobe:{guarded.path}:take_line {{ @u = count(); }} uretprobe:{guarded.path}:take_line {{ @r = count(); }} usdt:{guarded.path}:line {{ @m = count(); }}"
    functions = set()
    if features.has("kprobe"):
        script += " kprobe:do_mkdirat { @k = count(); } kretprobe:do_rmdir { @e = count(); } kprobe:vfs_mk* { @w[func] = count(); }"
        functions |= {"do_mkdirat", "do_rmdir", "vfs_mkdir", "vfs_mknod"}
    if features.has("fentry"):
        script += " fentry:do_linkat { @f = count(); } fexit:do_linkat { @x = count(); }"
        functions |= {"do_linkat"}
    before = kernel_places()
    running = Running(flowtap, "--no-feature", "kprobe_as_fentry", "-e", script)
    held, during = objects_of(running.process), kernel_places() - before
    semaphore = guarded.line()
    running.process.kill()
    running.process.wait()
    if semaphore != 1 or not functions <= during or {kind for kind, _ in held} != {"prog", "map", "link"}:
        return f"it holds {held} and functions {during}, so nothing is shown"
    left = lambda: (held & all_objects()) | (kernel_places() - before)
    is_clean = wait_for(lambda: not left() and guarded.line() == 0)
    guarded.end()
    return "" if is_clean else f"left behind: {left()}"


def ends_after(process, *signals):
    """The exit code after these signals, with time between them, or None when they do not end it."""
    for number in signals:
        process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=5 * features.SLOWER)
    return None


def blocked(flowtap, *arguments):
    """A flowtap whose standard output is a pipe that is full."""
    script = 'begin { @kept = 42; } interval:ms:1 { for ($i : 0..100) { printf("%0200d\\n", $i); } }'
    running = Running(flowtap, *arguments, "-e", script)
    size = fcntl.fcntl(running.process.stdout, fcntl.F_GETPIPE_SZ)
    held = lambda: struct.unpack("i", fcntl.ioctl(running.process.stdout, termios.FIONREAD, b"    "))[0]
    wait_for(lambda: held() > size - 8192)
    return running.process


def blocked_pipe_does_not_keep_it(flowtap):
    problem = ""
    for number in (signal.SIGTERM, signal.SIGHUP):
        process = blocked(flowtap)
        code = ends_after(process, number)
        said = process.stderr.read() if code is not None else process.kill()
        problem += "" if code == 3 and "its reader has stopped; later output was lost" in said else f"  {number.name}: {code} {said}\n"
    return problem


def pager_gets_everything_after_ctrl_c(flowtap):
    """A reader that rests is not given up; a signal more than two seconds later ends flowtap."""
    process = blocked(flowtap)
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    out, err = process.communicate(timeout=30 * features.SLOWER)
    problem = "" if process.returncode == 0 and out.endswith("@kept: 42\n") else f"  {process.returncode} {out[-100:]} {err}\n"
    process = blocked(flowtap)
    process.send_signal(signal.SIGINT)
    time.sleep(2.5)  # what comes within two seconds is the same request
    code = ends_after(process, signal.SIGINT)
    said = process.stderr.read() if code is not None else process.kill()
    return problem + ("" if code == -signal.SIGINT and "the rest of the output was not printed" in said else f"  twice: {code} {said}")


SIGNAL_RUNS = int(os.environ.get("SIGNAL_RUNS", "0")) or 40 // features.SLOWER


def signalled_repeatedly(flowtap, seed):
    """What is wrong with the end of a script that gets two or three signals within 0.6 seconds."""
    chance = random.Random(seed)
    running = Running(flowtap, "-e", 'interval:ms:1 { @n = count(); @[nsecs % 1000] = hist(nsecs); } end { printf("end ran\\n"); @end = 1; }')
    sent = []
    for _ in range(chance.choice((2, 3))):
        sent.append((chance.choice((signal.SIGINT, signal.SIGTERM)), chance.choice((0, chance.random() * 0.02, chance.random() * 0.3))))
        with contextlib.suppress(ProcessLookupError):
            running.process.send_signal(sent[-1][0])
        time.sleep(sent[-1][1])
    out, err = running.process.communicate(timeout=60 * features.SLOWER)
    is_whole = running.process.returncode == 0 and "end ran\n" in out and "@end: 1\n" in out
    return "" if is_whole and not err else f"  seed {seed}: {sent}: {running.process.returncode} {out[-200:]} {err}\n"


@alone
def several_signals_are_one_request(flowtap):
    """With both CPUs busy. SIGNAL_RUNS=200 tries more."""
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    try:
        with ThreadPoolExecutor(4) as pool:
            return "".join(pool.map(lambda seed: signalled_repeatedly(flowtap, seed), range(SIGNAL_RUNS)))
    finally:
        for process in busy:
            process.kill()
            process.wait()


def signal_does_not_wait_for_a_command(flowtap):
    problem = ""
    for command in ("sleep 1000", "trap : TERM; while :; do sleep 0.1; done"):
        with tempfile.TemporaryDirectory() as folder:
            script = f'begin {{ @kept = 42; }} interval:ms:10 {{ system("touch {folder}/begun; {command}"); }}'
            running = Running(flowtap, "--unsafe", "-e", script)
            wait_for(Path(folder, "begun").exists)
            code = ends_after(running.process, signal.SIGINT)
        out, err = running.process.communicate() if code is not None else ("", running.process.kill())
        if code != 0 or "@kept: 42" not in out or "was ended by a signal to flowtap" not in err:
            problem += f"  {command}: {code} {out} {err}\n"
    return problem


def signal_ends_it_while_it_starts(flowtap):
    """It is killed while it compiles, and ends in order once it has begun to attach."""
    for script in ("tracepoint:syscalls:* { @[probe] = count(); }", "rawtracepoint:sched_switch { @[kstack, comm] = count(); }"):
        for delay in (0, 0.02, 0.05, 0.1, 0.2, 0.4):
            process = subprocess.Popen([flowtap, "-q", "-e", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            code = ends_after(process, signal.SIGTERM)
            if code not in (0, -signal.SIGTERM):
                process.kill()
                return f"{script}, after {delay} s: {code}"
    return ""


def kill_ends_the_command(flowtap):
    """The command of -c does not outlive flowtap, whether it was held at its entry point (dw_ustack) or not."""
    problem = ""
    for key in ("pid", "dw_ustack"):
        script = f"tracepoint:syscalls:sys_enter_mkdir /pid == cpid/ {{ @[{key}] = count(); }}"
        running = Running(flowtap, "-c", "sleep 1000", "-e", script)
        pid = running.process.pid
        child = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        stat = Path(f"/proc/{child}/stat")
        is_gone = lambda: not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"  # nobody may wait for it
        was_there = not is_gone()
        running.process.kill()
        running.process.wait()
        if not was_there or not wait_for(is_gone):
            problem += f"  {script}: the command was there: {was_there}, and is gone: {is_gone()}\n"
    return problem


def exit_ends_at_once(flowtap):
    """exit() wakes the reader: 20 scripts that end by an event take no 20 poll time-outs."""
    began = time.time()
    for _ in range(20):
        subprocess.run([flowtap, "-q", "-e", "interval:ms:1 { exit(); }"], stdout=subprocess.DEVNULL, check=True)
    return "" if time.time() - began < 15 * features.SLOWER else "it waits before it ends"


def output_goes_to_a_file(flowtap):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "out")
        done = subprocess.run([flowtap, "-q", "-o", path, "-e", 'begin { printf("kept\\n"); @a = 1; }'], capture_output=True, text=True)
        return "" if path.read_text() == "kept\n\n\n@a: 1\n" and not done.stdout else path.read_text() + done.stdout


def lost_records_are_counted(flowtap):
    """More than the ring buffer holds, written by one run of one program."""
    script = 'config = { perf_rb_pages = 1 } begin { for ($i : 0..5000) { printf("%d\\n", $i); } }'
    done = subprocess.run([flowtap, "-q", "-f", "json", "-e", script], capture_output=True, text=True)
    records = [json.loads(l) for l in done.stdout.split("\n") if l]
    shown = sum(r["type"] == "printf" for r in records)
    lost = sum(r["data"]["events"] for r in records if r["type"] == "lost_events")
    return "" if shown + lost == 5000 and lost > 0 else f"{shown} shown and {lost} lost of 5000"


def full_map_is_reported(flowtap):
    script = "let @a = hash(10); begin { for ($i : 0..25) { @a[$i] = 1; } }"
    done = subprocess.run([flowtap, "-q", "-e", script], capture_output=True, text=True)
    return "" if done.stdout.count("@a[") == 10 and "15" in done.stderr and "full" in done.stderr else done.stderr


def json_without_equal_keys(line):
    def checked(pairs):
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise ValueError(f"equal keys: {names}")
        return dict(pairs)
    return json.loads(line, object_pairs_hook=checked)


def equal_stacks_of_several_processes_are_one_key(flowtap):
    """Five processes of one program, loaded at five places, call the same function from the same place."""
    script = 'tracepoint:syscalls:sys_enter_getcwd /comm == "says"/ { @n[ustack(2)] = count(); @h[ustack(2)] = hist(7); @p[pid, ustack(2)] = sum(2); }'
    says = ["/usr/bin/python3", "-c", "import os, sys; open('/proc/self/comm', 'w').write('says'); os.getcwd(); print(flush=True); sys.stdin.read()"]
    for options in ([], ["-f", "json"]):
        tracing = Running(flowtap, *options, "-e", script)
        processes = [subprocess.Popen(says, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(5)]
        for process in processes:
            process.stdout.readline()
        out, err = tracing.stop()
        for process in processes:
            process.communicate()
        if err:
            return f"  {err}"
        if not options:
            if (out.count("@n["), out.count("@h["), out.count("@p[")) != (1, 1, 5) or "]: 5\n" not in out:
                return f"  not one key of 5, one histogram and five processes:\n{out}"
            continue
        maps = dict(pair for line in out.splitlines() for pair in json_without_equal_keys(line)["data"].items())
        if list(maps["@n"].values()) != [5] or len(maps["@p"]) != 5 or [b["count"] for h in maps["@h"].values() for b in h] != [5]:
            return f"  {maps}"
    return ""


def json_objects_have_no_equal_keys(flowtap):
    """Pairs of different keys, some of which have the same text. Only sums of keys that stand for names are added up."""
    named = [('strftime("same", 1)', 'strftime("same", 2)'), ('(strftime("same", 1), 7)', '(strftime("same", 2), 7)')]
    others = [("1", "2"), ("true", "false"), ('"a"', '"a "'), ('("a,b", "c")', '("a", "b,c")'), ("(int8*)1", "(int8*)2"),
              ("ntop(0x0100007f)", "ntop(0x0200007f)"), ("ksym(0)", "ksym(1)"), ("usym(1)", "usym(2)"),
              ("strerror(1)", "strerror(2)"), ('buf("ab", 1)', 'buf("ab", 2)'), ("(kstack(2), 1)", "(kstack(2), 2)"), ("(ustack, 1)", "(ustack, 2)")]
    problem = ""
    for first, second in [*named, *others]:
        for value in ("count()", "hist(1)", "stats(1)", "1"):
            script = f"begin {{ @[{first}] = {value}; @[{second}] = {value}; exit(); }}"
            done = subprocess.run([flowtap, "-q", "-f", "json", "-e", script], capture_output=True, text=True)
            expected = 1 if (first, second) in named and value != "1" else 2
            try:
                keys = [key for line in done.stdout.splitlines() for entries in json_without_equal_keys(line)["data"].values() for key in entries]
            except ValueError as error:
                keys = [str(error)]
            if done.returncode != 0 or len(keys) != expected:
                problem += f"  {script}\n  {keys}\n{done.stderr}"
    return problem


def kernel_memory(process):
    """Bytes of the maps and programs that a process has open."""
    texts = [lines_of(info) for info in Path(f"/proc/{process.pid}/fdinfo").iterdir()]
    sizes = [dict(line.split(":", 1) for line in text if ":" in line) for text in texts]
    return sum(int(size["memlock"]) for size in sizes if "memlock" in size)


def printing_a_map_per_thread_costs_no_memory_before(flowtap):
    """The commonest pair of all, and the same without what is printed at the end."""
    pair = "tracepoint:syscalls:sys_enter_connect { %s } tracepoint:syscalls:sys_exit_connect { %s }"
    scripts = pair % ("@s[tid] = nsecs;", "delete(@s, tid);"), pair % ("$x = nsecs;", "$y = nsecs;")
    sizes = []
    for script in scripts:
        running = Running(flowtap, "-e", script)
        sizes.append(kernel_memory(running.process))
        running.stop()
    return "" if sizes[0] - sizes[1] < 100_000 else f"{sizes[0]} bytes with the map, {sizes[1]} without"


def options_of_flowtap_go_before_and_after_a_tool(flowtap):
    problem = ""
    for words in (["-q", "tcplife", "--port", "443"], ["--quiet", "tcplife", "--port", "443"], ["tcplife", "--port=443", "-q"], ["-qf", "json", "tcplife"]):
        done = subprocess.run([flowtap, "--dry-run", *words], capture_output=True, text=True)
        problem += "" if done.returncode == 0 else f"  {words}: {done.returncode} {done.stderr}"
    return problem


def completions(flowtap, *words):
    """What bash offers for the last word."""
    script = 'source <("$0" --docs completion); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _flowtap; echo "${COMPREPLY[@]}"'
    return subprocess.run(["bash", "-c", script, flowtap, "flowtap", *words], capture_output=True, text=True).stdout.split()


def completion_knows_options_and_tools(flowtap):
    problem = ""
    for words, expected in ((["--ma"], ["--max-keys"]), (["tcplif"], ["tcplife"]), (["che"], ["check"]), (["-q", "funcc"], ["funccount"]),
                            (["tcplife", "--po"], ["--port"]), (["tcplife", "-q", "--dur"], ["--duration"]), (["funccount", "--re"], ["--regexp"]),
                            (["tcplife", "--max"], ["--max-keys"]), (["tcplife", "--unsa"], [])):
        found = completions(flowtap, *words)
        problem += "" if found == expected else f"  {words}: expected {expected}, found {found}\n"
    return problem


def options_with_two_values_are_refused(flowtap):
    twice = (["-o", "a", "-o", "b"], ["-f", "json", "--format", "text"], ["-e", "end { }"], ["-c", "a", "--cmd=b"], ["-p", "1", "-p", "2"],
             ["--max-keys", "1", "--max-keys=2"], ["--", "--n=1", "--n=2"])
    problem = ""
    for arguments in twice:
        done = subprocess.run([flowtap, "--dry-run", "-e", "begin { @ = getopt(\"n\", 5); }", *arguments], capture_output=True, text=True)
        problem += "" if done.returncode == 2 and "is given twice, with '" in done.stderr else f"  {arguments}: {done.returncode} {done.stderr}"
    same = subprocess.run([flowtap, "--dry-run", "-f", "json", "-f", "json", "-e", "begin { }"], capture_output=True, text=True)
    return problem + ("" if same.returncode == 0 else f"  the same value twice: {same.stderr}")


def wildcard_of_hundreds_is_one_link(flowtap):
    """Where the kernel has kprobe.multi; elsewhere hundreds of events, which end in order too."""
    if not features.has("kprobe"):
        return Skipped(features.reason("kprobe"))
    running = Running(flowtap, "-e", "kprobe:tcp_* { @[func] = count(); }")
    links = [number for kind, number in objects_of(running.process) if kind == "link"]
    running.stop()
    is_right = running.process.returncode == 0 and (len(links) == 1 or not features.has("kprobe_multi"))
    return "" if is_right else f"exit code {running.process.returncode}, {len(links)} links"


def count_sleepers(flowtap, attach_points):
    """What is wrong with what a script counts of 31 calls that all last at the same time."""
    # fexit would miss none.
    running = Running(flowtap, "--no-feature", "kprobe_as_fentry", "-e", f'{attach_points} /comm == "sleep"/ {{ @ = count(); }}')
    sleepers = [subprocess.Popen(["sleep", "8"]) for _ in range(31)]
    for sleeper in sleepers:
        sleeper.wait()
    out, err = running.stop()
    seen, missed = re.search(r"@: (\d+)", out), re.search(r"(\d+) events? of 'kretprobe:.*' missed", err)
    return "" if seen and missed and int(seen[1]) + int(missed[1]) == 31 else out + err


@alone
def missed_returns_are_counted(flowtap):
    """More calls at once than a return probe has room for: those seen and those missed are all."""
    if not features.has("missed_returns"):
        return Skipped(features.reason("missed_returns"))
    return count_sleepers(flowtap, "kretprobe:hrtimer_nanosleep")


@alone
def missed_returns_of_a_wildcard_are_counted(flowtap):
    """The same by one link for several functions, which has its own room and its own counter."""
    if not features.has("missed_returns"):
        return Skipped(features.reason("missed_returns"))
    return count_sleepers(flowtap, "kretprobe:hrtimer_nanosleep,kretprobe:do_mkdirat")


def the_tutorial_runs_by_itself(flowtap):
    done = subprocess.run([flowtap, "tutorial"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120 * features.SLOWER)
    lessons = re.split(r"^\d+\. ", done.stdout, flags=re.M)[1:]
    problem = "" if done.returncode == 0 and len(lessons) == 12 else f"  {done.returncode}, {len(lessons)} lessons\n{done.stderr[-500:]}"
    for number, lesson in enumerate(lessons, 1):
        shown, _, said = lesson.partition("\n  flowtap ")
        if not said.partition("\n")[2].strip():
            problem += f"  lesson {number} showed nothing: {lesson}\n"
    alone = subprocess.run([flowtap, "tutorial", "1"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30 * features.SLOWER)
    wrong = subprocess.run([flowtap, "tutorial", "13"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30 * features.SLOWER)
    if alone.stdout.count("has the process id") != 2 or wrong.returncode != 2:
        problem += f"  one lesson alone: {alone.stdout}, a lesson that is none: {wrong.returncode} {wrong.stderr}\n"
    return problem


def every_function_of_a_name_is_attached(flowtap):
    """A name may stand for several functions; the kernel lists it once for each."""
    if not features.has("kprobe"):
        return Skipped(features.reason("kprobe"))
    traceable = Path("/sys/kernel/tracing/available_filter_functions")
    if not traceable.exists():
        return Skipped("tracefs does not list functions")
    expected = sum(line.split()[0] == "init_once" for line in traceable.read_text().splitlines())
    problem = "" if expected > 2 else "  there are too few functions 'init_once' to tell\n"
    for options in ([], ["--no-feature", "kprobe_multi"]):
        done = subprocess.run([flowtap, "--dry-run", *options, "-e", "kprobe:*:init_once { @ = count(); }"], capture_output=True, text=True)
        if f"Attached {expected} probes" not in done.stderr:
            problem += f"  {options}: expected {expected} probes, found {done.stderr}\n"
    wanted = "several functions are called 'init_once'\nhint: 'kprobe:*:init_once' takes them all"
    # The first may not become a fentry, which would go to one of them; the second cannot.
    for body in ("@ = count();", 'print(reg("ip"));'):
        done = subprocess.run([flowtap, "--dry-run", "-e", f"kprobe:init_once {{ {body} }}"], capture_output=True, text=True)
        problem += "" if done.returncode == 3 and wanted in done.stderr else f"  an ambiguous name gave {done.returncode} {done.stderr}\n"
    if features.has("fentry"):
        done = subprocess.run([flowtap, "--dry-run", "-e", "fentry:active_show { @ = count(); }"], capture_output=True, text=True)
        is_told = "warning: several functions are called 'active_show', and fentry goes to the first that the kernel finds" in done.stderr
        problem += "" if is_told else f"  fentry of an ambiguous name: {done.stderr}\n"
    return problem


def every_option_has_an_effect(flowtap):
    return options.options_without_effect(flowtap)


def every_setting_has_an_effect(flowtap):
    with tempfile.TemporaryDirectory() as folder:
        return options.settings_without_effect(flowtap, folder)


def every_feature_has_an_effect(flowtap):
    return options.features_without_effect(flowtap)


def output_is_written_as_it_is_asked_for(flowtap):
    return options.wrong_buffering(flowtap)


def links_of(flowtap, *arguments):
    """How many links a script holds."""
    running = Running(flowtap, *arguments)
    links = {number for kind, number in objects_of(running.process) if kind == "link"}
    running.stop()
    return len(links)


def debug_information_may_lie_elsewhere(flowtap):
    """A stripped program, whose .gnu_debuglink names a file; not taken when that is of another build."""
    program = Path(flowtap).parent / "programs" / "structs"
    with tempfile.TemporaryDirectory() as folder:
        stripped, debug = Path(folder, "structs"), Path(folder, "structs.debug")
        subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
        subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", program, stripped], check=True)
        script = f"uprobe:{stripped}:take_node {{ print((args.node->inner.depth, sizeof(struct packed), ustack(1))); exit(); }}"
        found = subprocess.run([flowtap, "-q", "-e", script, "-c", f"{stripped} 300"], capture_output=True, text=True)
        if not re.match(r"\(-300, 13, \s*take_node\+\d+\s*\)\n", found.stdout):
            return found.stdout + found.stderr
        subprocess.run(["objcopy", "--only-keep-debug", Path(flowtap).parent / "programs" / "traced", debug], check=True)
        other = subprocess.run([flowtap, "-q", "-e", script, "-c", stripped], capture_output=True, text=True)
    return "" if "has no function 'take_node'" in other.stderr else f"another build's file was taken: {other.stdout}{other.stderr}"


def probes_that_are_off_are_not_attached(flowtap):
    """An option that is off costs no events; but a script is not ended by it."""
    some = 'tracepoint:syscalls:sys_enter_mkdir /getopt("dirs", false) && args.mode >= 0/ { @ = count(); } tracepoint:syscalls:sys_enter_read { @r = count(); } begin /0/ { }'
    alone = "tracepoint:syscalls:sys_enter_mkdir /1 == 2/ { @ = count(); }"
    problem = ""
    for script, arguments, attached in ((some, [], "2 probes"), (some, ["--", "--dirs"], "3 probes"), (alone, [], "1 probe")):
        done = subprocess.run([flowtap, "--dry-run", "-e", script, *arguments], capture_output=True, text=True)
        if done.stderr.strip() != f"Attached {attached}":
            problem += f"  {arguments} {script}: {done.stderr}"
    return problem


class LoadedProgram:
    """tests/programs/packets.bpf.c in the kernel; run() lets it see packets of 64 bytes."""

    def __init__(self, flowtap):
        self.folder = tempfile.TemporaryDirectory()
        self.pin = f"/sys/fs/bpf/flowtap_test_{os.getpid()}"
        self.data = str(Path(self.folder.name, "packet"))
        Path(self.data).write_bytes(bytes(64))
        program = str(Path(flowtap).parent / "programs" / "packets.bpf")
        subprocess.run(["bpftool", "prog", "load", program, self.pin], check=True, capture_output=True)
        shown = subprocess.run(["bpftool", "-j", "prog", "show", "pinned", self.pin], capture_output=True, text=True, check=True).stdout
        self.id = json.loads(shown)["id"]

    def command(self, times):
        return f"bpftool prog run pinned {self.pin} data_in {self.data} repeat {times}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.unlink(self.pin)
        self.folder.cleanup()


def bpf_programs_are_traced(flowtap):
    script = """fentry:bpf:count_packets { @skb[args.skb->len] = count(); }
        fexit:bpf:count_packets { @result[retval] = count(); }
        fentry:bpf:ID:within { @within[args.limits->least, args.limits->most, args.length] = count(); @whole = *args.limits; }
        fexit:bpf:*:withi* { @is_within[retval, args.length] = count(); }"""
    with LoadedProgram(flowtap) as program:
        command = [flowtap, "-q", "-e", script.replace("ID", str(program.id)), "-c", program.command(5)]
        done = subprocess.run(command, capture_output=True, text=True)
        listed = subprocess.run([flowtap, "-lv", f"fexit:bpf:{program.id}:*"], capture_output=True, text=True).stdout
    if not features.has("fentry"):
        is_told = done.returncode == 3 and f"cannot load the program of 'fentry:bpf:{program.id}:count_packets'" in done.stderr
        return "" if is_told else f"not refused with a reason: {done.stderr}"
    expected = ["@is_within[1, 64]: 5", "@result[7]: 5", "@skb[64]: 5", "@whole: { .least = 10, .most = 1000 }", "@within[10, 1000, 64]: 5"]
    if [line for line in done.stdout.splitlines() if line.startswith("@")] != expected:
        return done.stdout + done.stderr
    wanted = f"fexit:bpf:{program.id}:within\n    struct limits * limits\n    int length\n    int retval\n"
    return "" if wanted in listed else f"listed: {listed}"


def bpf_program_without_types_is_refused(flowtap):
    running = Running(flowtap, "-e", count_of_mine())
    shown = json.loads(subprocess.run(["bpftool", "-j", "prog"], capture_output=True, text=True).stdout)
    programs = [program for program in shown if program["name"].startswith("tracepoint_sysc") and "btf_id" not in program]
    done = subprocess.run([flowtap, "-e", f"fentry:bpf:{programs[-1]['id']}:* {{ }} fentry:bpf:tracepoint_syscalls_sys_enter_mkdir_0 {{ }}"],
                          capture_output=True, text=True)
    running.stop()
    return "" if done.returncode == 1 and "was loaded without BTF, so it cannot be traced" in done.stderr else done.stderr


def tracing_programs_are_traced_or_refused(flowtap):
    if not features.has("fentry"):
        return Skipped(features.reason("fentry"))
    running = Running(flowtap, "-e", f"fentry:vfs_read /pid == {os.getpid()}/ {{ for ($i : 0..2) {{ @ = count(); }} }}")
    listed = subprocess.run([flowtap, "-l", "fentry:bpf:fentry_vmlinux_vfs_read*"], capture_output=True, text=True).stdout.split()
    probes = [name for name in listed if name.endswith("vfs_read_0")]
    done = subprocess.run([flowtap, "-q", "-e", f"{probes[0]} {{ @seen = 1; }}", "-c", "cat /proc/version"], capture_output=True, text=True)
    running.stop()
    is_refused = done.returncode == 3 and "before Linux 6.8" in done.stderr
    return "" if is_refused or "@seen: 1" in done.stdout else done.stdout + done.stderr


def unused_features_are_not_used(flowtap):
    """One link holds a wildcard where the kernel can do that, and one for each function when told not to."""
    info = subprocess.run([flowtap, "--info"], capture_output=True, text=True).stdout
    path = str(Path(flowtap).parent / "programs" / "traced")
    scripts = {"uprobe": f"uprobe:{path}:*_* {{ @[func] = count(); }}", "kprobe": "kprobe:vfs_r* { @[func] = count(); }"}
    usable = [kind for kind in scripts if f"{kind}.multi: yes" in info]
    for kind in usable:
        common = ["--no-feature", "kprobe_as_fentry", "-e", scripts[kind]]
        one, many = links_of(flowtap, *common), links_of(flowtap, "--no-feature", f"{kind}_multi", *common)
        if not one == 1 < many:
            return f"{kind}: {one} links, and {many} with --no-feature {kind}_multi"
    return "" if usable else Skipped("this kernel attaches one function at a time")


def refused_function_leaves_the_others_together(flowtap):
    info = subprocess.run([flowtap, "--info"], capture_output=True, text=True).stdout
    if "kprobe.multi: yes" not in info:
        return Skipped("this kernel attaches one function at a time")
    script = "config = { missing_probes = ignore } kprobe:tcp_*,kprobe:no_such_function { @[func] = count(); }"
    links = links_of(flowtap, "--no-feature", "kprobe_as_fentry", "-e", script)
    return "" if 1 <= links <= 20 else f"{links} links for the functions of TCP"


# Of the tools that come with bpftrace 0.27.
FUNCTIONS_OF_TOOLS = """
    __blk_account_io_done __blk_account_io_start blk_account_io_done blk_account_io_start cap_capable d_lookup
    inet_csk_accept lookup_fast md_flush_request oom_kill_process skb_copy_datagram_iter swap_read_folio
    swap_readpage tcp_connect tcp_retransmit_skb tcp_set_state tcp_v4_syn_recv_sock tcp_v6_syn_recv_sock
    unix_dgram_recvmsg unix_stream_recvmsg vfs_create vfs_dedupe_get_page vfs_fsync vfs_open xfs_file_fsync
    xfs_file_open xfs_file_read_iter xfs_file_write_iter
"""


def functions_of_bpftrace_tools():
    scripts = [*Path("/usr/sbin").glob("*.bt"), *Path("/usr/share/bpftrace/tools").glob("*.bt")]
    probe = re.compile(r"\b(?:kprobe|kretprobe|kfunc|kretfunc|fentry|fexit):(?:\w+:)?(\w+)(?![\w*])")
    found = {name for script in scripts for name in probe.findall(script.read_text())}
    return sorted(found | set(FUNCTIONS_OF_TOOLS.split()))


def functions_of_tools_have_a_replacement(flowtap):
    if features.has("kprobe"):
        return Skipped("this kernel has kprobes")
    problem = ""
    for name in functions_of_bpftrace_tools():
        done = subprocess.run([flowtap, "--dry-run", "-e", f"kprobe:{name} {{ }}"], capture_output=True, text=True)
        if not re.search(r"^hint: .*use '", done.stderr, re.M):
            problem += f"  {name}: {done.stderr}"
    return problem


def function_that_the_verifier_refuses_is_left_out(flowtap):
    """tcp_v6_send_response() has 14 arguments, and fentry takes 12."""
    def try_probe(pattern):
        script = f"fentry:{pattern}, fexit:{pattern} {{ @ = count(); }}"
        command = [flowtap, "-v", "--dry-run", "--no-feature", "kprobe_as_fentry", "-e", script]
        return subprocess.run(command, capture_output=True, text=True)

    alone = try_probe("tcp_v6_send_response")
    if not features.has("fentry") or "Too many" not in alone.stderr:
        return Skipped("this kernel has no function that fentry alone is refused")
    if alone.returncode != 3:
        return f"exit code {alone.returncode} for a probe of which nothing is left"
    done = try_probe("tcp_v6_send_*")
    is_told = done.stderr.count("1 of ") == 2 and done.stderr.count("left out: cannot load") == 2
    return "" if done.returncode == 0 and is_told else done.stderr


def watchpoint_on_kernel_memory_fires(flowtap):
    """sysctl kernel.panic is a variable of the kernel's: setting it to what it is writes to it."""
    found = re.search(r"^([0-9a-f]+) . panic_timeout$", Path("/proc/kallsyms").read_text(), re.M)
    if not features.has("watchpoint") or not found:
        return Skipped("this kernel has no watchpoints, or hides its variables")
    running = Running(flowtap, "-e", f"watchpoint:0x{found[1]}:4:w /pid == {os.getpid()}/ {{ @ = count(); }}")
    panic = Path("/proc/sys/kernel/panic")
    for _ in range(3):
        panic.write_text(panic.read_text())
    out, err = running.stop()
    return "" if "@: 3" in out else out + err


def command_runs_to_its_end_whatever_is_traced(flowtap):
    problem = ""
    for script in ('begin { printf("began\\n"); }', 'end { printf("ended\\n"); }', "begin { } end { }", "iter:task { }"):
        done = subprocess.run([flowtap, "-q", "-c", "sh -c 'sleep 0.2; echo hello'", "-e", script], capture_output=True, text=True)
        if "hello\n" not in done.stdout or done.returncode:
            problem += f"  {script}: {done.returncode} {done.stdout}{done.stderr}\n"
    ended = subprocess.run([flowtap, "-q", "-c", "echo hello", "-e", "begin { exit(); }"], capture_output=True, text=True)
    return problem + (f"  exit() in begin starts the command: {ended.stdout}" if "hello" in ended.stdout else "")


def probes_of_one_event_run_in_the_order_of_the_script(flowtap):
    structs = Path(flowtap).parent / "programs" / "structs"
    events = {"rawtracepoint:sched_process_exec": "bpf", "tracepoint:syscalls:sys_enter_execve": "bpf", "software:page-faults:1": "bpf",
              f"uprobe:{structs}:take_node": "bpf", f"uretprobe:{structs}:take_node": "bpf",
              "kprobe:vfs_read": "kprobe", "kretprobe:vfs_read": "kprobe", "fentry:vfs_read": "fentry", "fexit:vfs_read": "fentry"}
    problem = ""
    for event, feature in events.items():
        if not features.has(feature):
            continue
        for options in ([], ["--no-feature", "uprobe_multi"]):
            script = " ".join(f'{event} /pid == cpid/ {{ printf("{number} "); }}' for number in (1, 2, 3, 4))
            done = subprocess.run([flowtap, "-q", *options, "-c", f"{structs} 0", "-e", script], capture_output=True, text=True)
            if not re.fullmatch("(1 2 3 4 )+", done.stdout.strip() + " ") or done.stderr:
                problem += f"  {event} {options}: {done.stdout[:300]}{done.stderr}\n"
    return problem


def standard_input_is_a_script(flowtap):
    done = subprocess.run([flowtap, "-q", "-"], input='begin { printf("in\\n"); }', capture_output=True, text=True)
    return "" if done.stdout.startswith("in\n") else done.stderr


def attached_line_goes_to_standard_error(flowtap):
    done = subprocess.run([flowtap, "-e", 'begin { printf("x\\n"); }'], capture_output=True, text=True)
    return "" if done.stderr == "Attached 1 probe\n" and done.stdout == "x\n\n\n" else done.stderr + done.stdout


def process_filter_follows_one_process(flowtap):
    sleeper = subprocess.Popen(["sleep", "100"])
    running = Running(flowtap, "-p", str(sleeper.pid), "-e", "tracepoint:syscalls:sys_enter_mkdir { @[pid] = count(); }")
    make_directories(5)
    sleeper.kill()
    sleeper.wait()
    out, _ = running.process.communicate(timeout=30 * features.SLOWER)  # ends with the process
    return "" if "@" not in out else out


class Guarded:
    """tests/programs/guarded, waiting for lines; with `inside`, started by that command."""

    def __init__(self, flowtap, *inside):
        self.path = str(Path(flowtap).parent / "programs" / "guarded")
        self.process = subprocess.Popen([*inside, *([] if inside else [self.path])], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.line()  # it runs, and its pages are in memory

    def line(self):
        """Has it handle one line; gives what its semaphore was."""
        self.process.stdin.write("x\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def count_in_guarded(flowtap, attach_point, lines, *inside):
    """What @[probe] holds after a guarded process has handled some lines while it was traced."""
    guarded = Guarded(flowtap, *inside)
    running = Running(flowtap, "-p", str(guarded.process.pid), "-e", attach_point.replace("PATH", guarded.path) + " { @[probe] = count(); }")
    for _ in range(lines):
        guarded.line()
    out, err = running.stop()
    guarded.end()
    return out.strip() + err.strip()


def function_is_found_in_any_file_of_a_process(flowtap):
    for attach_point in ("uprobe::take_line", "uprobe:*:take_line"):
        out = count_in_guarded(flowtap, attach_point, 7)
        if not out.startswith("@[uprobe:/") or not out.endswith("/guarded:take_line]: 7"):
            return out
    return ""


def marker_is_found_in_any_file_of_a_process(flowtap):
    for attach_point in ("usdt:line", "usdt::line", "usdt:*:guarded:line", "usdt:*:line"):
        out = count_in_guarded(flowtap, attach_point, 11)
        if not out.startswith("@[usdt:/") or not out.endswith("/guarded:guarded:line]: 11"):
            return out
    return ""


def star_means_the_files_of_all_processes(flowtap):
    guarded = Guarded(flowtap)
    running = Running(flowtap, "-e", f"usdt:*:guarded:line /pid == {guarded.process.pid}/ {{ @ = count(); }}")  # other tests run it too
    for _ in range(5):
        guarded.line()
    out, err = running.stop()
    guarded.end()
    return "" if "@: 5" in out else out + err


def info_shows_what_the_kernel_is_known_to_have(flowtap):
    if known_kernels.kernel() not in known_kernels.LACKING:
        return Skipped("this kernel is not in tests/known_kernels.py")
    answers = known_kernels.answers()
    found = {name for name, is_there in answers.items() if not is_there}
    return "" if len(answers) > 20 and found == known_kernels.LACKING[known_kernels.kernel()] else f"  found lacking: {found}\n"


def tracefs_is_mounted_by_several_at_once(flowtap):
    """Each finds it missing and tries to mount it; all but the first are refused."""
    script = """for place in tracing debug/tracing debug; do umount -l /sys/kernel/$place 2> /dev/null; done
                for n in 1 2 3 4 5 6 7 8; do "$0" -q --dry-run -e 'tracepoint:syscalls:sys_enter_mkdir { @ = count(); }' & done; wait"""
    rounds = [subprocess.run(["unshare", "-m", "sh", "-c", script, flowtap], capture_output=True, text=True) for _ in range(5)]
    return "".join(done.stderr for done in rounds)


def paths_are_those_of_the_process(flowtap):
    """The program lies where only its own mount namespace has it."""
    programs = str(Path(flowtap).parent / "programs")
    with tempfile.TemporaryDirectory() as empty:
        inside = ["unshare", "-m", "sh", "-c", f"mount --bind {programs} {empty} && exec {empty}/guarded"]
        for attach_point in (f"uprobe:{empty}/guarded:take_line", "uprobe::take_line"):
            out = count_in_guarded(flowtap, attach_point, 3, *inside)
            if not re.fullmatch(r"@\[uprobe:/proc/\d+/root/.*/guarded:take_line\]: 3", out):
                return out
    return ""


def semaphore_is_set_while_it_is_traced(flowtap):
    """Also for the whole file, without -p; and back at 0 even when flowtap had no time to clean up."""
    for with_pid in (True, False):
        for number in (signal.SIGINT, signal.SIGKILL):
            guarded = Guarded(flowtap)
            which = ["-p", str(guarded.process.pid)] if with_pid else []
            before = guarded.line()
            running = Running(flowtap, *which, "-e", f'usdt:{guarded.path}:line {{ printf("%d\\n", arg0); }}')
            during = guarded.line()
            shown = running.process.stdout.readline()
            running.stop(number)
            after = wait_for(lambda: guarded.line() == 0)
            guarded.end()
            if (before, during, shown, after) != (0, 1, "3\n", True):
                return f"signal {number}, -p {with_pid}: {before} {during} {shown!r} {after}"
    return ""


def pinned_iterator_runs_when_it_is_read(flowtap):
    """In a mount namespace of its own, where /sys/fs/bpf is sure to be there."""
    script = f'iter:task:flowtap_test {{ if (ctx.task.pid == {os.getpid()}) {{ printf("%s\\n", ctx.task.comm); }} }}'
    running = Running(flowtap, "-e", script, inside=["unshare", "-m", "sh", "-c", 'mount -t bpf bpf /sys/fs/bpf && exec "$@"', "sh"])
    pin = Path(f"/proc/{running.process.pid}/root/sys/fs/bpf/flowtap_test")
    own = Path("/proc/self/comm").read_text()
    for _ in range(3):
        pin.read_bytes()
        line = running.process.stdout.readline()
        if line != own:
            return line
    second = subprocess.run(["nsenter", "-t", str(running.process.pid), "-m", flowtap, "-e", script], capture_output=True, text=True)
    namespace = os.open(f"/proc/{running.process.pid}/ns/mnt", os.O_RDONLY)
    running.stop()
    left = subprocess.run(["nsenter", f"--mount=/proc/{os.getpid()}/fd/{namespace}", "ls", "/sys/fs/bpf"], capture_output=True, text=True, pass_fds=[namespace])
    os.close(namespace)
    refused = second.returncode == 3 and "there is such a file already" in second.stderr
    return "" if refused and left.returncode == 0 and "flowtap_test" not in left.stdout else second.stderr + left.stderr + left.stdout


def process_filter_holds_for_kernel_functions(flowtap):
    """Nobody but the process of -p counts; both make as many calls as the other."""
    if not features.has("kprobe"):
        return Skipped(features.reason("kprobe"))
    worker = subprocess.Popen(["perl", "-e", 'sleep 1 until -e "/proc/self/cwd/go"; mkdir "/no/such/place" for 1..7'], cwd=tempfile.mkdtemp())
    running = Running(flowtap, "-p", str(worker.pid), "-e", "kprobe:do_mkdirat { @[pid] = count(); }")
    make_directories(7)
    Path(f"/proc/{worker.pid}/cwd/go").write_text("")
    out, _ = running.process.communicate(timeout=30 * features.SLOWER)  # ends with the process
    worker.wait()
    return "" if out.strip() == f"@[{worker.pid}]: 7" else out


def unprivileged_user_is_told_what_is_missing(flowtap):
    done = subprocess.run([flowtap, "-e", "begin { }"], capture_output=True, text=True, user="nobody", group="nogroup")
    return "" if done.returncode == 3 and ("root" in done.stderr or "CAP_" in done.stderr) else done.stderr


def program_is_not_taken_for_a_script(flowtap):
    done = subprocess.run([flowtap, "/bin/true"], capture_output=True, text=True)
    is_told = done.stderr.startswith("error: '/bin/true' is a binary file, not a script") and "hint: " in done.stderr
    return "" if is_told and done.returncode == 1 and done.stderr.count("\n") == 2 else done.stderr[:500]


def garbage_is_refused_without_a_crash(flowtap):
    for text in ("\0\1\2", "begin {", "}}}}", "begin { @[ = ; }", "\xff\xfe begin", "begin { " + "(" * 5000, "/" * 300, "$" * 99, "begin { $x = $x }"):
        done = subprocess.run([flowtap, "-"], input=text.encode("latin-1"), capture_output=True)
        if done.returncode != 1 or b"error" not in done.stderr:
            return f"{text[:40]!r}: exit code {done.returncode} {done.stderr[:200]}"
    return ""


# What stands in such an expression in place of X, and this again in place of that X, is of any size.
NESTS = ["X && pid", "pid && (X)", "X || pid", "!(X)", "-(X)", "(X) + pid", "(X) == pid", "(X) ? 1 : 2", "pid ? (X) : 2", "pid ? 2 : (X)", "(X) ?: 2",
         "2 ?: (X)", "*(uint64 *)(X)", "(uint64)((struct task_struct *)(X)).parent", "((uint64 *)pid)[X]", "((X), 1).0", "(a = (X)).a", "sizeof(X)",
         "(typeof(X))1", "{ let $x = (X); $x }", "if (X) { 1 } else { 2 }", "strlen(str(X))", "len(X)", "typeinfo(X).nope", "f(X)", "m(X)", "@[X]",
         "has_key(@k, X)", "delete(@k, X)"]  # fmt: skip


def nested_expressions_take_no_longer_than_they_are_long(flowtap):
    """What takes twice as long with each level would take years; what is wrong with the types of some may be said."""
    for nest in NESTS:
        text = "pid"
        for _ in range(40):
            text = nest.replace("X", text)
        script = f"macro m(x) {{ x + 1 }} fn f($x : uint64) : uint64 {{ return $x; }} begin {{ if ({text}) {{ exit(); }} }}"
        try:
            done = subprocess.run([flowtap, "--dry-run", "-"], input=script, capture_output=True, text=True, timeout=60 * features.SLOWER)
        except subprocess.TimeoutExpired:
            return f"'{nest}' takes too long"
        if done.returncode not in (0, 1) or (done.returncode == 1 and "error" not in done.stderr):
            return f"'{nest}': exit code {done.returncode} {done.stderr[:200]}"
    return ""


def missing_file_is_named(flowtap):
    done = subprocess.run([flowtap, "/no/such/script.bt"], capture_output=True, text=True)
    return "" if done.returncode == 1 and "/no/such/script.bt" in done.stderr else done.stderr


def wrong_usage_has_its_own_code(flowtap):
    for arguments in ([], ["--nonsense"], ["-f", "xml", "-e", "begin { }"], ["-p", "1", "-c", "true", "-e", "begin { }"], ["-B", "x", "-e", "begin { }"]):
        done = subprocess.run([flowtap, *arguments], capture_output=True, text=True)
        if done.returncode != 2 or not done.stderr.startswith("error: "):
            return f"{arguments}: exit code {done.returncode}: {done.stderr}"
    return ""


def binary_is_small_and_static(flowtap):
    size = Path(flowtap).stat().st_size
    kind = subprocess.run(["file", "-b", flowtap], capture_output=True, text=True).stdout if Path("/usr/bin/file").exists() else "statically linked"
    return "" if size < 8_000_000 and "statically linked" in kind else f"{size} bytes, {kind}"


# The probes in the middle take time to attach; the process begins and ends calls all the while.
PAIRS = """let @call pairs returns;
tracepoint:syscalls:sys_enter_getppid /pid == PID/ { @call[tid] = 1; @calls = count(); }
tracepoint:syscalls:sys_enter_s* /pid == 0/ { @other = count(); }
tracepoint:syscalls:sys_exit_getppid { delete(@call, tid); }
"""
CALLS = "import os\nwhile True: os.getppid()"


def pairs_that_begin_while_probes_are_attached_are_not_lost(flowtap):
    with subprocess.Popen([sys.executable, "-c", CALLS]) as calls:
        try:
            running = Running(flowtap, "-e", PAIRS.replace("PID", str(calls.pid)))
            time.sleep(0.5 * features.SLOWER)
            out, err = running.stop()
        finally:
            calls.kill()
    return "" if re.search(r"@calls: [1-9]", out) and "not seen" not in err else out + err
