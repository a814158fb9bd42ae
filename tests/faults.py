"""What may go wrong around a script: flowtap says so, loses nothing silently and ends with the right code. Each function is one
test and gives what went wrong, or nothing."""

import contextlib
import itertools
import json
import os
import pty
import shutil
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import features
from functions import NotPossible
from processes import Running, wait_for

PROGRAMS = Path(__file__).resolve().parent.parent / "build" / "programs"
TIME_LIMIT = 60 * features.SLOWER


def run(flowtap, *arguments, **how):
    return subprocess.run([flowtap, "-q", *arguments], capture_output=True, text=True, timeout=TIME_LIMIT, **how)


def only_in_a_guest():
    if not features.IN_GUEST:
        raise NotPossible("it would disturb the whole machine: it runs in the guests")


# --- output ---------------------------------------------------------------------------------------
def full_disk_is_told(flowtap):
    problem = ""
    for arguments in (("-e", "begin { print(1); exit(); }"), ("-e", "begin { @ = 1; exit(); }"), ("-f", "json", "-e", "begin { print(1); exit(); }"), ("-l", "tracepoint:sched:*")):
        with open("/dev/full", "w") as full:
            done = subprocess.run([flowtap, "-q", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=TIME_LIMIT)
        if done.returncode != 3 or "cannot write to standard output: No space left" not in done.stderr:
            problem += f"  {arguments}: {done.returncode} {done.stderr}\n"
    return problem


def full_disk_ends_a_script_that_would_go_on(flowtap):
    done = run(flowtap, "-o", "/dev/full", "-e", "interval:ms:20 { print(1); }")
    return "" if done.returncode == 3 and "cannot write to '/dev/full'" in done.stderr else f"{done.returncode} {done.stderr}"


def terminal_that_goes_away_ends_in_order(flowtap):
    with tempfile.TemporaryDirectory() as folder:
        out, ready = Path(folder, "out"), Path(folder, "ready")
        script = 'begin { @seen = 1; system("touch %s"); } interval:s:1 { }' % ready
        child, terminal = pty.fork()
        if child == 0:
            os.execv(flowtap, [str(flowtap), "--unsafe", "-q", "-o", str(out), "-e", script])
        is_ready = wait_for(ready.exists)
        os.close(terminal)
        _, status = os.waitpid(child, 0)
        text = out.read_text()
    return "" if is_ready and status == 0 and "@seen: 1" in text else f"ready {is_ready}, status {status}: {text}"


def file_of_o_keeps_its_content_until_all_is_attached(flowtap):
    problem = ""
    unprivileged = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]  # the kernel refuses the script
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder, "old"), Path(folder, "new")
        for arguments, code, prefix in ((["-e", "begin { print(nothing); }"], 1, []), (["-e", "tracepoint:no:such { }"], 1, []),
                                        (["--dry-run", "-e", "begin { print(1); }"], 0, []), (["-e", "begin { @ = 1; }"], 3, unprivileged),
                                        (["-c", "/no/such/command", "-e", "begin { }"], 1, [])):
            old.write_text("kept")
            for path in (old, new):
                done = subprocess.run([*prefix, flowtap, "-q", "-o", path, *arguments], capture_output=True, text=True, timeout=TIME_LIMIT)
                problem += "" if done.returncode == code else f"  {arguments}: {done.returncode} {done.stderr}"
            problem += "" if old.read_text() == "kept" and not new.exists() else f"  {arguments}: old {old.read_text()}, new {new.exists()}\n"
        old.write_text("something longer than what replaces it")
        run(flowtap, "-o", str(old), "-e", "begin { print(1); }")
        problem += "" if old.read_text() == "1\n\n\n" else f"  replaced by {old.read_text()!r}\n"
        run(flowtap, "-o", str(old), "-e", "begin { exit(); }")
        problem += "" if old.read_text() == "\n\n" else f"  emptied: {old.read_text()!r}\n"
        unwritable = run(flowtap, "-o", f"{folder}/no/such", "-e", "begin { print(1); }")
    return problem + ("" if unwritable.returncode == 2 and "cannot write" in unwritable.stderr else unwritable.stderr)


# --- memory ---------------------------------------------------------------------------------------
@contextlib.contextmanager
def little_memory(megabytes):
    """A command that starts another with so little memory, the kernel's for it included."""
    old = Path("/sys/fs/cgroup/memory")
    root, limit = (old, "memory.limit_in_bytes") if old.is_dir() else (Path("/sys/fs/cgroup"), "memory.max")
    group = root / f"flowtap-test-{os.getpid()}"
    try:
        with contextlib.suppress(OSError):  # it is on already, or there is none
            (root / "cgroup.subtree_control").write_text("+memory")
        group.mkdir()
        (group / limit).write_text(f"{megabytes}M")
    except OSError as problem:
        raise NotPossible(f"no group with little memory can be made here: {problem}")
    try:
        yield ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
    finally:
        wait_for(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()


def kernel_without_memory_for_a_map_is_told(flowtap):
    with little_memory(30) as inside:
        done = subprocess.run([*inside, flowtap, "-q", "-e", "let @a = hash(10000000); begin { @a[1] = 1; exit(); }"], capture_output=True, text=True, timeout=TIME_LIMIT)
    told = "cannot create map '@a'" in done.stderr and "memory" in done.stderr
    return "" if done.returncode == 3 and told else f"{done.returncode} {done.stderr}"


# --- the ring buffer ------------------------------------------------------------------------------
SMALL_RING = "config = { perf_rb_pages = 1 } "
FLOOD = 'for ($i : 0..5000) { printf("%d\\n", $i); }'  # far more than fits
WAIT = " interval:s:1000 { }"


def exit_needs_no_room_in_the_ring_buffer(flowtap):
    scripts = {
        "begin": f"begin {{ {FLOOD} exit(7); }}" + WAIT,
        "a loop": 'begin { for ($i : 0..5000) { printf("%d\\n", $i); if ($i == 4999) { exit(7); } } }' + WAIT,
        "a function": f"fn leave($code : int32) : void {{ exit($code); }} begin {{ {FLOOD} leave(7); }}" + WAIT,
        "assert": f'begin {{ {FLOOD} assert(pid == 0, "no"); }}' + WAIT,
        "the first of two": f"begin {{ {FLOOD} exit(7); }} begin {{ exit(8); }}" + WAIT,
        "end": f"begin {{ exit(6); }} end {{ {FLOOD} exit(7); }}",
        "interval": f"interval:ms:10 {{ {FLOOD} exit(7); }}",
        "a report": f"self:report:1 {{ {FLOOD} exit(7); }}",
        "an event": f"tracepoint:syscalls:sys_enter_chdir /cpid == pid/ {{ {FLOOD} exit(7); }}"}
    if features.has("btf"):
        scripts["an iterator"] = f"iter:task {{ {FLOOD} exit(7); }}"
    problem = ""
    for name, script in scripts.items():
        code = 1 if name == "assert" else 7
        command = ["-c", "sh -c 'cd /no/such; exec sleep 1000'"] if name == "an event" else []
        done = run(flowtap, *command, "-f", "json", "-e", SMALL_RING + script)
        if done.returncode != code or '"lost_events"' not in done.stdout:
            problem += f"  {name}: {done.returncode} {done.stdout[-300:]} {done.stderr}\n"
    return problem


def actions_that_are_lost_are_named(flowtap):
    script = SMALL_RING + 'table t sorted by N { int N "n"; }' + f" begin {{ @a = 1; @b = 1; {FLOOD} print(@a); clear(@a); clear(@b); zero(@b); unwatch(1); print(t); }}"
    done = run(flowtap, "-e", script)
    wanted = [f"{action} was lost once: the ring buffer was full" for action in ("print(@a)", "clear(@b)", "zero(@b)", "unwatch()", "print(t)")]
    missing = [text for text in wanted if text not in done.stderr]
    return f"{missing} not in {done.stderr}" if missing else ""


def process_whose_first_record_was_lost_is_looked_at_again(flowtap):
    """Its mappings are read while it lives, so that its stacks have names after its end."""
    running = Running(flowtap, "-e", SMALL_RING + """tracepoint:syscalls:sys_enter_chdir {
        $to = str(args.filename);
        if ($to == "/no/first") { %s }
        if ($to == "/no/second") { @ = ustack(1); } else { @other = ustack(1); } }""" % FLOOD)
    subprocess.run(["sh", "-c", "cd /no/first; sleep 0.3; cd /no/second; sleep 0.3"], stderr=subprocess.DEVNULL)
    out, err = running.stop()
    stack = out.partition("@: ")[2].partition("@other")[0]
    return "" if "chdir+" in stack and "Lost" in err else f"{stack} {err}"


# --- limits of the shell ----------------------------------------------------------------------------
LIMITS = [("-s", 64), ("-s", 256), ("-v", 10000), ("-v", 20000), ("-v", 40000), ("-d", 2000), ("-f", 0), ("-u", 1), ("-n", 3), ("-n", 6), ("-n", 20)]


def limited_runs(folder):
    """Command lines of every kind, among them scripts as deeply nested as is permitted."""
    nested = "begin { print(" + "(" * 190 + "1" + ")" * 190 + "); exit(); }"
    blocks = "begin { " + "if (pid) { " * 190 + "print(1);" + "}" * 190 + " exit(); }"
    stacks = "begin { @[kstack] = count(); exit(); } end { print(1); }"
    return [["-e", nested], ["-e", blocks], ["-e", stacks], ["-o", f"{folder}/out", "-e", stacks], ["-c", "true", "-e", "interval:s:100 { }"],
            ["tcplife", "--dry-run"], ["biosnoop", "--plot", f"{folder}/out.svg", "--dry-run"], ["-l", "tracepoint:sched:*"],
            ["-lv", "rawtracepoint:sched_switch"], ["check", "tcplife"], ["help", "tcplife"], ["tools"], ["--info"], ["--docs", "builtins"]]


def limits_of_the_shell_end_in_a_message(flowtap):
    def problem_of(limit, arguments):
        command = ["sh", "-c", f'ulimit {limit[0]} {limit[1]} && exec "$@"', "sh", flowtap, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
        said = done.stderr or (arguments[0] == "check" and done.stdout)  # what does not work is what it was asked for
        is_good = done.returncode in (0, 1, 2, 3) and (done.returncode == 0 or said)
        return "" if is_good else f"  ulimit {' '.join(map(str, limit))}, {arguments}: {done.returncode} {done.stderr[-300:]}\n"
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as threads:
        cases = itertools.product(LIMITS, limited_runs(folder))
        return "".join(threads.map(lambda case: problem_of(*case), cases))


def types_without_memory_are_not_called_missing(flowtap):
    """There is room for flowtap, but not for the types of the kernel."""
    command = ["sh", "-c", 'ulimit -v 14000; exec "$@"', "sh", flowtap, "tcplife", "--dry-run"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
    return "" if (done.returncode, done.stderr) == (3, "error: out of memory\n") else f"  {done.returncode} {done.stderr}"


def limit_of_a_file_is_told(flowtap):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", flowtap, "-q", "-o", f"{folder}/out", "-e", "begin { print(1); }"],
                              capture_output=True, text=True, timeout=TIME_LIMIT)
    return "" if done.returncode == 3 and "File too large" in done.stderr else f"{done.returncode} {done.stderr}"


def commands_have_the_signals_of_the_shell(flowtap):
    """What flowtap itself survives, a closed pipe and a file that is too large, ends its commands as usual."""
    def signals(text):
        """Those blocked, and those ignored without the two that the C library keeps for itself."""
        masks = [int(line.split()[1], 16) & 0x7fffffff for line in text.splitlines() if line.startswith("Sig")]
        return masks if len(masks) == 2 else text
    show = "grep -E Sig(Blk|Ign): /proc/self/status"
    expected = signals(subprocess.run(show.split(), capture_output=True, text=True).stdout)
    child = signals(run(flowtap, "-c", show, "-e", "interval:s:100 { }").stdout)
    shell = signals(run(flowtap, "--unsafe", "-e", 'begin { system("grep -E \'Sig(Blk|Ign):\' /proc/self/status"); exit(); }').stdout)
    return "" if child == shell == expected else f"{expected}, -c: {child}, system(): {shell}"


def directory_that_cannot_be_read_is_told(flowtap):
    with tempfile.TemporaryDirectory() as folder:
        for name, mode in (("open", 0o755), ("closed", 0o000)):
            Path(folder, name).mkdir()
            Path(folder, name).chmod(mode)
        os.chmod(folder, 0o755)
        script = Path(folder, "main.bt")
        script.write_text('import "./closed"; begin { }')
        program = shutil.copy(flowtap, Path(folder, "flowtap"))
        done = subprocess.run([program, script], capture_output=True, text=True, timeout=TIME_LIMIT, user=65534, cwd=folder)
    return "" if done.returncode == 1 and "/closed': Permission denied" in done.stderr else f"{done.returncode} {done.stderr}"


# --- what is traced -------------------------------------------------------------------------------
def copy_of_traced(folder):
    return shutil.copy(PROGRAMS / "traced", Path(folder, "traced"))


def messages_of(out):
    return [json.loads(line)["msg"] for line in out.splitlines() if '"runtime_error"' in line]


def binary_that_is_replaced_is_told(flowtap):
    with tempfile.TemporaryDirectory() as folder:
        program = copy_of_traced(folder)
        running = Running(flowtap, "-f", "json", "-e", f"uprobe:{program}:add_numbers {{ @ = count(); }}")
        subprocess.run([program, "5"], check=True, capture_output=True)
        os.rename(shutil.copy(program, f"{program}.new"), program)
        subprocess.run([program, "7"], check=True, capture_output=True)
        out, err = running.stop()
    is_counted, is_told = '{"@": 5}' in out, any("was replaced while it was traced" in text for text in messages_of(out))
    return "" if is_counted and is_told and running.process.returncode == 0 else out + err


def binary_that_is_deleted_is_told(flowtap):
    with tempfile.TemporaryDirectory() as folder:
        program = copy_of_traced(folder)
        running = Running(flowtap, "-f", "json", "-e", f"uprobe:{program}:add_numbers {{ @ = count(); }}")
        traced = subprocess.Popen([program, "5", "1000"], stdout=subprocess.DEVNULL)
        os.unlink(program)
        traced.wait()
        out, err = running.stop()
    is_told = any("was deleted while it was traced" in text for text in messages_of(out))
    return "" if '{"@": 5}' in out and is_told and running.process.returncode == 0 else out + err


def process_that_exits_ends_the_script(flowtap):
    traced = subprocess.Popen([PROGRAMS / "traced", "3", "1500"], stdout=subprocess.DEVNULL)
    done = run(flowtap, "-p", str(traced.pid), "-e", "begin { @ = 1; }")
    traced.wait()
    return "" if done.returncode == 0 and "@: 1" in done.stdout else f"{done.returncode} {done.stdout} {done.stderr}"


def short_lived_processes_are_all_counted(flowtap):
    """As many as one core can start, far more than 10,000 a second where it is fast enough."""
    count = 20000 if not features.IN_GUEST else 2000
    script = 'rawtracepoint:sched_process_fork /comm == "spawns"/ { @forks = count(); } rawtracepoint:sched_process_exit /comm == "spawns"/ { @exits[pid] = 1; @n = count(); }'
    running = Running(flowtap, "--max-keys", "30000", "-f", "json", "-e", script)
    subprocess.run([PROGRAMS / "spawns", str(count)], check=True)
    out, err = running.stop()
    maps = {}
    for line in out.splitlines():
        if '"map"' in line:
            maps.update(json.loads(line)["data"])
    found = (maps.get("@forks"), maps.get("@n"), len(maps.get("@exits", {})))
    problem = "" if found == (count, count + 1, count + 1) else f"{count} processes: forks, exits and their numbers are {found}\n"
    return problem + "".join(messages_of(out)) + err


# --- the machine ----------------------------------------------------------------------------------
def reads_counted_exactly(flowtap, meanwhile):
    """What `meanwhile` finds wrong, or that the reads of a program on all CPUs are not counted exactly."""
    reads = 20000
    running = Running(flowtap, "-f", "json", "-e", 'rawtracepoint:sys_enter /comm == "dd" && args.id == 0/ { @ = count(); @cpus[cpu] = count(); }')
    load = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", f"count={reads}", "status=none"]
    before = subprocess.Popen(load)
    problem = meanwhile()
    after = subprocess.Popen(load)
    for one in (before, after):
        one.wait()
    out, err = running.stop()
    found = next((json.loads(line)["data"]["@"] for line in out.splitlines() if '{"@": ' in line), 0)
    few = 2 * 20  # what the loader of a program reads
    if not 2 * reads <= found <= 2 * reads + few or running.process.returncode != 0:
        problem += f"{found} reads counted of {2 * reads}: {out} {err}"
    return problem


def processor_that_goes_and_comes_back(flowtap):
    only_in_a_guest()
    switch = Path("/sys/devices/system/cpu/cpu1/online")
    if not switch.exists():
        raise NotPossible("this machine has one processor only")

    def toggle():
        switch.write_text("0")
        switch.write_text("1")
        return ""
    return reads_counted_exactly(flowtap, toggle)


def clock_that_is_set_moves_the_times_that_are_shown(flowtap):
    only_in_a_guest()
    running = Running(flowtap, "-e", 'self:signal:SIGUSR1 { printf("%s\\n", strftime("%Y", nsecs)); }')

    def year_shown():
        running.process.send_signal(signal.SIGUSR1)
        return int(running.process.stdout.readline())
    before = year_shown()
    now = time.clock_gettime(time.CLOCK_REALTIME)
    time.clock_settime(time.CLOCK_REALTIME, now + 86400 * 800)
    try:
        time.sleep(2)  # the clocks are compared once a second
        after = year_shown()
    finally:
        time.clock_settime(time.CLOCK_REALTIME, now + 3)
    out, err = running.stop()
    return "" if after - before in (2, 3) else f"{before}, then {after}: {out}{err}"


def module_that_is_unloaded_is_survived(flowtap):
    only_in_a_guest()
    for attach in ("kprobe:dummy:dummy_xmit", "fentry:dummy:dummy_xmit"):
        subprocess.run(["modprobe", "dummy"], check=True)
        running = Running(flowtap, "--no-feature", "kprobe_as_fentry", "-f", "json", "-e", f"{attach} {{ @ = count(); }} begin {{ @n = 1; }}")
        gone = subprocess.run(["rmmod", "dummy"], capture_output=True, text=True)
        out, err = running.stop()
        is_kept = gone.returncode != 0 and "in use" in gone.stderr  # a trampoline holds its module
        is_told = any("was unloaded" in text for text in messages_of(out))
        if running.process.returncode != 0 or '"@n": 1' not in out or not (is_kept or is_told):
            return f"{attach}: {gone.stderr} {out} {err}"
    subprocess.run(["modprobe", "dummy"], check=True)
    return ""
