"""What makes flowtap cheap changes no answer: each choice beside the same script without it, on all CPUs at once."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

import features
import layouts
import typed_reads
from processes import Running

IS_ALONE = True  # most of them count the mkdir() calls of all processes

# Calls itself by each name in turn, on one CPU, and fails to make a directory so many times by each.
RENAMES = """
import ctypes, os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
libc = ctypes.CDLL(None)
for name, calls in zip(sys.argv[2::2], sys.argv[3::2]):
    libc.prctl(15, name.encode(), 0, 0, 0)
    for _ in range(int(calls)):
        libc.mkdir(b"/no/such/place", 0)
"""
NAMES = {"fifteen-letters": 101, "f": 103, "seven-l": 107, "eight-le": 109, "nine-lett": 113, "ft": 127}


def rename_on_all_cpus():
    """How often each name was used."""
    words = [word for name, calls in NAMES.items() for word in (name, str(calls))]
    cpus = os.sched_getaffinity(0)
    children = [subprocess.Popen([sys.executable, "-c", RENAMES, str(cpu), *words]) for cpu in cpus]
    for child in children:
        child.wait()
    return {name: calls * len(cpus) for name, calls in NAMES.items()}


def names_in_the_task_are_those_of_the_helper(flowtap):
    script = "tracepoint:syscalls:sys_enter_mkdir { @[comm] = count(); }"
    tracers = [Running(flowtap, "-e", script), Running(flowtap, "--no-feature", "comm_in_place", "-e", script)]
    expected = rename_on_all_cpus()
    for tracer in tracers:
        lines = Counter(tracer.stop()[0].splitlines())
        for name, calls in expected.items():
            # Bytes left over from a longer name would give a second line for the name.
            found = [line for line in lines.elements() if line.startswith(f"@[{name}]:")]
            if found != [f"@[{name}]: {calls}"]:
                return f"{calls} calls by '{name}' became {found}"
    return ""


def name_in_the_task_is_part_of_keys_and_rows(flowtap):
    script = 'tracepoint:syscalls:sys_enter_mkdir /comm == "nine-lett"/ { @[cpu, comm, pid] = count(); printf("%s|\\n", comm); }'
    running = Running(flowtap, "-e", script)
    cpus = len(os.sched_getaffinity(0))
    rename_on_all_cpus()
    lines = running.stop()[0].splitlines()
    rows = lines.count("nine-lett|")
    keys = [line for line in lines if "nine-lett, " in line and line.endswith(": 113")]
    return "" if rows == 113 * cpus and len(keys) == cpus else f"{rows} rows, keys {keys}"


# Three threads on one CPU fail to make some directories, each another number of them, and say who they are.
THREADS = """
import ctypes, os, sys, threading
os.sched_setaffinity(0, {int(sys.argv[1])})
def work(name, calls):
    libc = ctypes.CDLL(None)
    libc.prctl(15, name.encode(), 0, 0, 0)
    for _ in range(calls): libc.mkdir(b"/no/such/place", 0)
    os.write(1, f"{os.getpid()} {threading.get_native_id()} {name} {calls}\\n".encode())
threads = [threading.Thread(target=work, args=(f"thread{i}", 31 + i)) for i in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def numbers_in_the_task_are_those_of_the_helper(flowtap):
    """`pid` and `tid` before and behind `comm`, in the predicate, in a branch and in a loop."""
    script = """tracepoint:syscalls:sys_enter_mkdir /tid > 0 && strncmp(comm, "thread", 6) == 0/ {
        @first[pid, tid, comm] = count(); @last[comm, tid, pid] = count();
        if (pid != tid) { @branch[comm, tid] = count(); }
        for ($i : 0..2) { @loop[pid, comm, tid] = count(); } }"""
    tracers = [Running(flowtap, "-e", script), Running(flowtap, "--no-feature", "pid_in_place", "-e", script)]
    children = [subprocess.Popen([sys.executable, "-c", THREADS, str(cpu)], stdout=subprocess.PIPE, text=True) for cpu in os.sched_getaffinity(0)]
    threads = [line.split() for child in children for line in child.communicate()[0].splitlines()]
    expected = []
    for pid, tid, name, calls in threads:
        expected += [f"@first[{pid}, {tid}, {name}]: {calls}", f"@last[{name}, {tid}, {pid}]: {calls}"]
        expected += [f"@branch[{name}, {tid}]: {calls}", f"@loop[{pid}, {name}, {tid}]: {2 * int(calls)}"]
    for tracer in tracers:
        out = tracer.stop()[0]
        if Counter(line for line in out.splitlines() if line) != Counter(expected):
            return f"expected {sorted(expected)}, found {out}"
    return "" if len(threads) == 3 * len(children) else str(threads)


def maps_that_nothing_uses_take_no_room(flowtap):
    script = 'begin { if (getopt("all", false)) { @all[comm] = count(); } @one[1] = count(); print(@all); clear(@all); exit(); }'
    said = {}
    for entries, options in {"1": [], "131072": ["--no-feature", "small_maps"]}.items():
        done = subprocess.run([flowtap, "-q", "-d", "maps", *options, "-e", script], capture_output=True, text=True)
        maps = [line for line in done.stderr.splitlines() if line.startswith("@all: type")]
        if [line.rsplit(" ", 1)[1] for line in maps] != [entries]:
            return f"{options}: {done.stdout}{done.stderr}"
        said[entries] = done.stdout
    if said["1"] != said["131072"] or "@one[1]: 1" not in said["1"]:
        return str(said)
    done = subprocess.run([flowtap, "-q", "-e", script, "--", "--all"], capture_output=True, text=True)
    return "" if "@all[flowtap]: 1" in done.stdout else done.stdout + done.stderr


# Waits, reads and fails to make directories on one CPU, so that it is seen on several kernel and user stacks.
STACKS = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
open("/proc/self/comm", "w").write("stack-load")
ours, theirs = os.pipe()
for i in range(211):
    time.sleep(0.0001)
    os.write(theirs, b"x"); os.read(ours, 1)
    try: os.mkdir("/no/such/" + "p" * (i % 199))
    except OSError: pass
"""
STACK_SCRIPT = """
tracepoint:sched:sched_switch /comm == "stack-load"/ { @k[kstack] = count(); @pair[kstack(5), args.prev_state, kstack(perf, 2)] = count(); @n = count(); }
tracepoint:syscalls:sys_enter_mkdir /comm == "stack-load"/ { @u[ustack(raw), cpu] = sum(7); @last[kstack, "made"] = 9; @seen[ustack] = 1; delete(@seen[ustack]); }
end { $keys = 0; $frames = 0; for ($kv : @k) { $keys++; $frames += len($kv.0); } printf("keys %d %d frames %d left %d\\n", $keys, len(@k), $frames, len(@seen)); }
"""


def run_on_all_cpus(program, *words):
    cpus = os.sched_getaffinity(0)
    children = [subprocess.Popen([sys.executable, "-c", program, str(cpu), *words], stdout=subprocess.DEVNULL) for cpu in cpus]
    for child in children:
        child.wait()
    return len(cpus)


def hashed_stacks_are_whole_stacks(flowtap):
    tracers = [Running(flowtap, "-e", STACK_SCRIPT), Running(flowtap, "--no-feature", "hashed_keys", "-e", STACK_SCRIPT)]
    cpus = run_on_all_cpus(STACKS)
    hashed, whole = (tracer.stop() for tracer in tracers)
    # Stacks that could not be taken are told from time to time, the sum of all in the end.
    sums = [re.findall(r"warning: (.*)", err)[-1:] for _, err in (hashed, whole)]
    if hashed[0] != whole[0] or sums[0] != sums[1]:
        return f"{hashed[1]}{hashed[0]}\n--- without\n{whole[1]}{whole[0]}"
    found = re.search(r"^keys (\d+) (\d+) frames (\d+) left 0$", hashed[0], re.M)
    if not found or int(found[1]) < 2 or found[1] != found[2] or int(found[3]) <= int(found[1]):
        return f"few stacks, or keys left: {hashed[0]}"
    made = sum(int(n) for n in re.findall(r"^, \d+\]: (\d+)$", hashed[0], re.M))
    return "" if made == 7 * 211 * cpus else f"{made} of {7 * 211 * cpus} directories: {hashed[0]}"


# Fails to make a directory of every length of name, one time by the first letter 'a', two times by 'b'...
LONG_NAMES = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
for length in range(1, 1100):
    for _ in range(1 + length % 3):
        try: os.mkdir("/no" + "x" * (length - 1) + "/" + "abc"[length % 3])
        except OSError: pass
"""


def hashed_strings_are_whole_strings(flowtap):
    script = 'tracepoint:syscalls:sys_enter_mkdir /strncmp(str(args.pathname), "/no", 3) == 0/ { @[str(args.pathname)] = count(); @b[3, str(args.pathname, 77)] = count(); }'
    tracers = [Running(flowtap, "-e", script), Running(flowtap, "--no-feature", "stored_zeros", "-e", script)]
    cpus = run_on_all_cpus(LONG_NAMES)
    out, helped = (tracer.stop()[0] for tracer in tracers)
    if out != helped:
        return f"{out}\n--- without stored_zeros\n{helped}"
    expected, starts = Counter(), Counter()
    for length in range(1, 1100):
        name = "/no" + "x" * (length - 1) + "/" + "abc"[length % 3]
        shown = name if len(name) < 1024 else name[:1024] + ".."
        expected[shown] += cpus * (1 + length % 3)
        starts[name[:76]] += cpus * (1 + length % 3)
    found = Counter({name: int(n) for name, n in re.findall(r"^@\[(.*)\]: (\d+)$", out, re.M)})
    short = Counter({name: int(n) for name, n in re.findall(r"^@b\[3, (.*)\]: (\d+)$", out, re.M)})
    if found != expected:
        return f"names: {[(len(k), k[-5:], v, found[k]) for k, v in expected.items() if found[k] != v][:5]} {[(len(k), k[-5:]) for k in found if k not in expected][:5]}"
    return "" if short == starts else f"starts: {list((short - starts).items())[:5]} {list((starts - short).items())[:5]}"


def full_map_of_large_keys_is_said(flowtap):
    script = 'tracepoint:syscalls:sys_enter_mkdir /strncmp(str(args.pathname), "/no", 3) == 0/ { @[str(args.pathname)] = count(); }'
    running = Running(flowtap, "--max-keys", "5", "-e", script)
    run_on_all_cpus(LONG_NAMES)
    out, err = running.stop()
    keys = re.findall(r"^@\[.*\]: (\d+)$", out, re.M)
    lost = [int(n) for n in re.findall(r"map '@' is full: (\d+) updates? lost", err)]  # the last is the total
    every = len(os.sched_getaffinity(0)) * sum(1 + n % 3 for n in range(1, 1100))
    if len(keys) != 5 or not lost:
        return out + err
    return "" if sum(map(int, keys)) + lost[-1] == every else f"{keys} and {lost} lost of {every}: {err}"


def large_keys_that_come_and_go_stay_whole(flowtap):
    """Both CPUs make and delete the same keys while the map is cleared; every key that is left has its name."""
    script = """tracepoint:syscalls:sys_enter_mkdir /strncmp(str(args.pathname, 4), "/no", 3) == 0/ { $name = str(args.pathname, 900);
  if (has_key(@, $name)) { delete(@, $name); } else { @[$name] = 1; } @n = count(); }
interval:ms:10 { if (@ticks < 30) { clear(@); } @ticks++; }
end { $names = 0; for ($kv : @) { if (strncmp($kv.0, "/no", 3) == 0) { $names++; } } printf("%d of %d have names\\n", $names, len(@)); }"""
    running = Running(flowtap, "-e", script)
    run_on_all_cpus(LONG_NAMES)
    time.sleep(0.5)
    subprocess.run([sys.executable, "-c", LONG_NAMES, "0"], check=True)
    out, err = running.stop()
    printed = len(re.findall(r"^@\[/nox*(?:/[abc]?)?\]: 1$", out, re.M))
    found = re.search(r"^(\d+) of (\d+) have names$", out, re.M)
    every = (1 + len(os.sched_getaffinity(0))) * sum(1 + n % 3 for n in range(1, 1100))
    good = found and int(found[1]) == int(found[2]) == printed > 0 and f"@n: {every}\n" in out and not err
    return "" if good else f"{found and found[0]}, {printed} printed, {out[-300:]} {err}"


def lanes_of_cpus_are_summed_up(flowtap):
    script = """tracepoint:syscalls:sys_enter_mkdir /str(args.pathname) == "/no/such/place"/ {
  @count[comm] = count(); @sum[comm, cpu] = sum(args.mode + 3); @avg[comm] = avg(cpu * 10); @stats[comm] = stats(-3); @min[comm] = min(cpu + 5);
  @max[comm] = max(cpu + 5); @hist[comm] = hist(cpu + 1); @lhist[comm] = lhist(cpu, 0, 8, 1);
  if (comm == "f") { @gone[comm] = count(); delete(@gone, comm);
    @c = count(); @s = sum(args.mode + 3); @a = avg(cpu * 10); @st = stats(-3); @n = min(cpu + 5); @x = max(cpu + 5); @h = hist(cpu + 1);
    @l = lhist(cpu, 0, 8, 1); @emptied = sum(cpu + 1); @zeroed = max(7); } }
end { for ($kv : @count) { @copy[$kv.0] = $kv.1 + @max[$kv.0] + @min[$kv.0]; } zero(@stats); clear(@emptied); zero(@zeroed);
  printf("%d %d %d %d %d\\n", @c, @s, @a, @n, @x); }"""
    tracers = [Running(flowtap, "-e", script), Running(flowtap, "--no-feature", "cpu_lanes", "-e", script)]
    expected = rename_on_all_cpus()
    lanes, plain = (tracer.stop() for tracer in tracers)
    if lanes[0].replace("@zeroed: 0\n", "") != plain[0] or lanes[1] != plain[1]:  # maps per CPU do not know that something was stored
        return f"{lanes[1]}{lanes[0]}\n--- without\n{plain[1]}{plain[0]}"
    missing = [name for name, calls in expected.items() if f"@count[{name}]: {calls}\n" not in lanes[0]]
    highest = max(os.sched_getaffinity(0)) + 5
    good = not missing and f"@max[f]: {highest}\n" in lanes[0] and "@min[f]: 5\n" in lanes[0] and "@gone" not in lanes[0]
    good = good and f"@c: {expected['f']}\n" in lanes[0] and f"@x: {highest}\n" in lanes[0] and "@emptied" not in lanes[0] and "@zeroed: 0\n" in lanes[0]
    return "" if good else lanes[0]


# Fails to make directories of so many names so many times, each CPU in an order of its own.
MANY_NAMES = """
import os, random, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
order = [n for n in range(int(sys.argv[2])) for _ in range(int(sys.argv[3]))]
random.Random(int(sys.argv[1])).shuffle(order)
for n in order:
    try: os.mkdir(f"/no/{n}", n)
    except OSError: pass
"""


def use_names(names, calls, meanwhile=lambda: None):
    """How often each was used on all CPUs."""
    cpus = os.sched_getaffinity(0)
    children = [subprocess.Popen([sys.executable, "-c", MANY_NAMES, str(cpu), str(names), str(calls)]) for cpu in cpus]
    while any(child.poll() is None for child in children):
        meanwhile()
        time.sleep(0.003 * features.SLOWER)
    return calls * len(cpus)


def hot_keys_and_others_are_counted_alike(flowtap):
    """More keys than the table of hot keys has slots; small ones, large ones, and some that fill a slot."""
    script = """config = { max_map_keys = 2000 } tracepoint:syscalls:sys_enter_mkdir /strncmp(str(args.pathname), "/no/", 4) == 0/ {
  @count[args.mode] = count(); @sum[(uint8)args.mode, args.mode % 7, (uint64)args.mode] = sum(args.mode); @nothing[args.mode % 200] = sum(0);
  @avg[str(args.pathname)] = avg(args.mode + cpu * 2); @stats[comm, args.mode % 3, args.mode + 1, args.mode] = stats(-args.mode);
  @less[args.mode % 50] = sum(args.mode % 2 ? -3 : 3); }"""
    tracers = [Running(flowtap, "-e", script), Running(flowtap, "--no-feature", "hot_keys", "-e", script)]
    calls = use_names(600, 10)
    hot, cold = (tracer.stop() for tracer in tracers)
    if hot != cold:
        return f"{hot[1]}{hot[0]}\n--- without\n{cold[1]}{cold[0]}"
    missing = [n for n in range(600) if f"@count[{n}]: {calls}\n" not in hot[0] or f": {n * calls}\n" not in hot[0]]
    kinds = Counter(re.findall(r"^@(\w+)\[", hot[0], re.M))
    good = kinds == {"count": 600, "sum": 600, "nothing": 200, "avg": 600, "stats": 600, "less": 50}
    return "" if good and not missing and not hot[1] else f"{missing[:5]} {kinds} {hot[1]}"


def hot_keys_are_those_that_are_counted_only(flowtap):
    count, other = "tracepoint:syscalls:sys_enter_mkdir { @[pid] = count(); } ", "tracepoint:syscalls:sys_enter_rmdir "
    hot = [count, count + "interval:s:1 { print(@, 5); clear(@); zero(@); }", count + "end { for ($kv : @) { print($kv); delete(@, $kv.0); } }",
           "begin { @[str(0), pid] = sum(1); }", "rawtracepoint:sched_switch { @[args.prev, ctx] = count(); }", "fn note($n : int64) : void { @[$n] = stats(1); } begin { note(1); }"]
    cold = [count + uses for uses in ("interval:s:1 { for ($kv : @) { print($kv); } }", "end { delete(@, 1); }", other + "{ print(@[1]); }",
                                      other + "/@[1] > 5/ { exit(); }", "begin { if (has_key(@, 1)) { exit(); } }", "end { print(len(@)); }")]
    cold += ["begin { @ = count(); }", "begin { @[1] = max(2); }", "begin { @[1] = hist(2); }", "let @a = percpulruhash(10); begin { @a[1] = count(); }",
             "begin { @[str(0), pid] = sum(1); } end { for ($kv : @) { delete(@, $kv.0); } }"]
    for script in hot + cold:
        done = subprocess.run([flowtap, "-q", "--dry-run", "-d", "maps", "-e", script], capture_output=True, text=True)
        if done.returncode != 0 or ("\nhot_" in done.stderr) != (script in hot):
            return f"{script}: {done.stderr}"
    return ""


def hot_keys_are_taken_once(flowtap):
    """Printed and cleared while both CPUs count, by flowtap and by a loop of the script: what was printed adds up to all events.

    Each of these numbers has a slot of its own. Of the strings some may share one; then one of them is counted in the map, where an
    event is lost if its key is removed within the few instructions between finding and counting it.
    """
    filter = '/strncmp(str(args.pathname), "/no/", 4) == 0/'
    pause = 10 * features.SLOWER
    scripts = {
        "small keys": f"tracepoint:syscalls:sys_enter_mkdir {filter} {{ @[args.mode] = count(); }} interval:ms:{pause} {{ print(@); clear(@); }}",
        "large keys": f"tracepoint:syscalls:sys_enter_mkdir {filter} {{ @[str(args.pathname)] = count(); }} interval:ms:{pause} {{ print(@); clear(@); }}",
        "a loop": f"""tracepoint:syscalls:sys_enter_mkdir {filter} {{ @m[args.mode] = stats(1); }}
self:signal:SIGUSR1, end {{ for ($kv : @m) {{ printf("@[%d]: %d\\n", $kv.0, $kv.1.count); delete(@m, $kv.0); }} }}""",
    }
    tracers = {what: Running(flowtap, "-e", script) for what, script in scripts.items()}
    names = 40
    calls = use_names(names, 300, lambda: tracers["a loop"].process.send_signal(signal.SIGUSR1))
    for what, tracer in tracers.items():
        out, err = tracer.stop()
        found = Counter()
        for name, count in re.findall(r"^@\[(?:/no/)?(\d+)\]: (\d+)$", out, re.M):
            found[int(name)] += int(count)
        reports = len(re.findall(r"^@\[(?:/no/)?7\]:", out, re.M))
        wrong = {n: found[n] for n in range(names) if found[n] != calls}
        lost = names * calls - found.total()
        may_differ = what == "large keys" and 0 <= lost <= 5
        if (wrong and not may_differ) or (err and not lost) or reports < 2:
            return f"{what}: {len(wrong)} are not {calls}: {list(wrong.items())[:5]}, {reports} reports of one key {err}"
    return ""


# Fails to make directories on one CPU, by so many calls with each of two modes in turn.
BUSY = """
import ctypes, os, sys
cpu, calls = int(sys.argv[1]), int(sys.argv[2])
os.sched_setaffinity(0, {cpu})
mkdir = ctypes.CDLL(None).mkdir
for _ in range(calls):
    mkdir(b"/no/busy", 2 * cpu); mkdir(b"/no/busy", 2 * cpu + 1)
"""


def busy_keys_are_taken_once(flowtap):
    """By a loop of the script, as often as it can, while every CPU counts keys of its own."""
    script = """tracepoint:syscalls:sys_enter_mkdir /strncmp(str(args.pathname), "/no/busy", 8) == 0/ { @m[args.mode] = count(); }
self:signal:SIGUSR1, end { for ($kv : @m) { printf("%d %d\\n", $kv.0, (int64)$kv.1); delete(@m, $kv.0); } }"""
    tracer = Running(flowtap, "-e", script)
    calls = 300000 // features.SLOWER
    children = [subprocess.Popen([sys.executable, "-c", BUSY, str(cpu), str(calls)]) for cpu in os.sched_getaffinity(0)]
    while any(child.poll() is None for child in children):
        tracer.process.send_signal(signal.SIGUSR1)
        time.sleep(0.001)
    found, reports = Counter(), Counter()
    for key, count in re.findall(r"^(\d+) (\d+)$", tracer.stop()[0], re.M):
        found[int(key)] += int(count)
        reports[int(key)] += 1
    expected = Counter({2 * cpu + i: calls for cpu in os.sched_getaffinity(0) for i in range(2)})
    return "" if found == expected and min(reports.values()) > 5 else f"{dict(found)} in {dict(reports)} reports"


def values_in_the_thread_are_those_of_a_map(flowtap):
    script = """tracepoint:syscalls:sys_enter_mkdir /strncmp(comm, "thread", 6) == 0/ { @begun[tid] = tid; @calls[tid]++; }
        tracepoint:syscalls:sys_exit_mkdir /@begun[tid]/ {
          @pairs[comm, @begun[tid] == tid] = count(); @most[comm] = max(@calls[tid]); delete(@begun, tid); }
        tracepoint:sched:sched_process_exit { delete(@begun, tid); delete(@calls, tid); }"""
    tracers = {}
    for is_used, options in {True: [], False: ["--no-feature", "task_storage"]}.items():
        maps = subprocess.run([flowtap, "-q", "--dry-run", "-d", "maps", *options, "-e", script], capture_output=True, text=True).stderr
        if ("local_begun" in maps) != is_used or "begun" not in maps:
            return f"maps with {options}: {maps}"
        tracers[is_used] = Running(flowtap, *options, "-e", script)
    cpus = run_on_all_cpus(THREADS)
    expected = Counter()
    for i in range(3):
        expected.update([f"@pairs[thread{i}, true]: {(31 + i) * cpus}", f"@most[thread{i}]: {31 + i}"])
    for is_used, tracer in tracers.items():
        out = tracer.stop()[0]
        if Counter(line for line in out.splitlines() if line) != expected:
            return f"{'with' if is_used else 'without'} task storage, expected {sorted(expected)}, found {out}"
    return ""


def ring_buffer_is_small_where_records_are_rare(flowtap):
    small = ["tracepoint:syscalls:sys_enter_mkdir { @[comm] = count(); }", "interval:ms:1 { print(@); } begin { @ = 1; printf(\"%s\", comm); }"]
    large = ["tracepoint:syscalls:sys_enter_mkdir { printf(\"%s\", comm); }", "begin { for ($i : 0..9) { print($i); } }", "interval:us:10 { print(1); }"]
    for script in small + large:
        for options in ([], ["--no-feature", "small_ring"]):
            done = subprocess.run([flowtap, "-q", "--dry-run", "-d", "maps", *options, "-e", script], capture_output=True, text=True)
            expected = "entries 131072" if script in small and not options else "entries 4194304"
            if expected not in done.stderr.split("\n")[1]:
                return f"{script} {options}: {done.stderr}"
    # 64 runs of everything a timer sends fit, however much that is.
    script = "interval:s:9 { " + "printf(\"%s\", str(0)); " * 5 + "}"
    done = subprocess.run([flowtap, "-q", "--dry-run", "-d", "maps", "-e", script], capture_output=True, text=True)
    return "" if "entries 524288" in done.stderr else done.stderr


def types_are_the_same_with_an_index_from_the_start(flowtap):
    """The same code comes out, of a tool that asks for few types and of a script that asks for more than are searched for one by one."""
    names = "sock tcp_sock sk_buff inode dentry file bio request mm_struct cred net_device socket page super_block pid nsproxy msghdr cgroup".split()
    many = "begin { " + "".join(f"print(sizeof(struct {name})); " for name in names) + "exit(); }"
    for command in (["tcplife"], ["-e", many]):
        answers = []
        for options in ([], ["--no-feature", "lazy_types"]):
            done = subprocess.run([flowtap, "-q", "--dry-run", "-d", "bpf", *options, *command], capture_output=True, text=True)
            answers.append((done.returncode, done.stdout, done.stderr))
        if answers[0] != answers[1] or answers[0][0] != 0 or "call " not in answers[0][2]:
            return f"{command}: {answers}"
    return ""


def structs_are_laid_out_as_gcc_does_it(flowtap):
    with tempfile.TemporaryDirectory() as folder:
        return layouts.problems_of(flowtap, folder, seed=16, count=600 // features.SLOWER)


def typed_reads_give_what_helpers_give(flowtap):
    return "".join(typed_reads.problems_of(flowtap, name) for name in typed_reads.STRUCTS)
