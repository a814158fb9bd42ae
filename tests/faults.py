"""What may go wrong around a script: flowtap says so, loses nothing silently and ends with the right code. Each function is one
test and gives what went wrong, or nothing."""

import contextlib
import json
import os
import pty
import shutil
import signal
import subprocess
import tempfile
import time
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
        done = subprocess.run([*inside, flowtap, "-q", "-e", "let @a = hash(1000000); begin { @a[1] = 1; exit(); }"], capture_output=True, text=True, timeout=TIME_LIMIT)
    told = "cannot create map '@a'" in done.stderr and "memory" in done.stderr
    return "" if done.returncode == 3 and told else f"{done.returncode} {done.stderr}"


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
