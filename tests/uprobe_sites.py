"""No program that is traced changes: tests/programs/probe_sites.c has functions that begin with all kinds of instructions."""

import re
import subprocess
import sys
import time
from pathlib import Path

from processes import Running

GROUP = "probe sites"  # a uprobe is in all processes of a program, and some here are there to do harm


def program_beside(path):
    return str(Path(path).parent / "programs" / "probe_sites")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def verdicts_of_kernel(program):
    return dict(line.split() for line in run(program, "try").stdout.splitlines())


def left_out(flowtap, kind, program):
    """The names under -v, and the warning."""
    done = run(flowtap, "--dry-run", "-v", "-e", f"{kind}:{program}:site_* {{ }}")
    return set(re.findall(r"^note: '.*:site_(\w+)'", done.stderr, re.M)), done.stderr.splitlines()[0]


def harmful_places_are_those_of_the_kernel(flowtap):
    """The table in src/arch is what the running kernel does, one way and the other."""
    program = program_beside(flowtap)
    kernel = verdicts_of_kernel(program)
    # A processor without AVX-512 tells little of its instructions: a signal ends them with and without a uprobe.
    unknown = {line.split()[0] for line in run(program).stdout.splitlines() if " signal " in line} | {"smsw"}
    harmful = {name for name, verdict in kernel.items() if verdict != "same"}
    problem = "" if len(kernel) > 90 and len(harmful) > 40 else f"the kernel was not tried: {kernel}"
    for kind in ("uprobe", "uretprobe"):
        named, warning = left_out(flowtap, kind, program)
        if harmful - named:
            problem += f"  {kind} takes what changes the program: {sorted(harmful - named)}\n"
        if named - harmful - unknown:
            problem += f"  {kind} leaves out what does no harm: {sorted(named - harmful - unknown)}\n"
        if f"warning: {len(named)} of {len(kernel)} places of '{kind}:{program}:site_*' are left out: " not in warning:
            problem += f"  {warning}\n"
    return problem


def beside(flowtap, program, *arguments):
    """What the program prints while flowtap traces it; what flowtap does."""
    running = Running(flowtap, *arguments)
    printed = run(program).stdout
    return (printed, *running.stop())


def traced_program_does_the_same(flowtap):
    program = program_beside(flowtap)
    before = run(program).stdout
    script = f"uprobe:{program}:site_* {{ @[func] = count(); }} uretprobe:{program}:site_* {{ @returns[func] = count(); }}"
    problem = ""
    for features_used in ([], ["--no-feature", "uprobe_multi"]):
        printed, out, err = beside(flowtap, program, *features_used, "-e", script)
        counted = len(re.findall(r"^@\[site_", out, re.M))
        if printed != before:
            problem += f"  {features_used}: {set(printed.splitlines()) - set(before.splitlines())} {err}\n"
        if counted < 30:
            problem += f"  {features_used}: only {counted} functions were counted: {err}\n"
    return problem


def named_place_that_would_change_the_program_is_refused(flowtap):
    """Also while nothing runs it, when the kernel would say nothing."""
    program = program_beside(flowtap)
    changes = "would be executed wrongly by the kernel's uprobes and change the traced program"
    address = hex(int(run("nm", program).stdout.split(" T site_vpcmpeqb\n")[0].split()[-1], 16))
    expected = {
        f"uprobe:{program}:site_vpcmpeqb": f"its first instruction (vpcmpeqb, VEX-encoded) {changes}",
        f"uretprobe:{program}:site_vcmpps": f"its first instruction (vcmp, VEX-encoded) {changes}",
        f"uprobe:{program}:site_call+7": "",
        f"uprobe:{program}:{address}": f"its first instruction (vpcmpeqb, VEX-encoded) {changes}",
        f"uprobe:{program}:site_lock_inc": "the kernel's uprobes do not support its first instruction (lock prefix)",
        f"uretprobe:{program}:site_hlt": "the kernel's uprobes do not support its first instruction (hlt)",
    }
    problem = ""
    for place, reason in expected.items():
        done = run(flowtap, "--dry-run", "-e", f"{place} {{ }}")
        wanted = f"error: cannot probe '{place}': {reason}\n" if reason else "Attached 1 probe\n"
        if wanted not in done.stderr or done.returncode != (1 if reason else 0):
            problem += f"  {place}: {done.returncode} {done.stderr}"
    return problem


def wildcard_of_harmful_places_is_refused(flowtap):
    program = program_beside(flowtap)
    done = run(flowtap, "--dry-run", "-e", f"uprobe:{program}:site_vpcmpeq* {{ }}")
    return "" if done.returncode == 1 and "error: none of 5 places of 'uprobe:" in done.stderr else done.stderr


def named_place_is_left_out_where_scripts_say_so(flowtap):
    program = program_beside(flowtap)
    script = f"config = {{ missing_probes = warn }} uprobe:{program}:site_vpor, uprobe:{program}:site_push {{ }}"
    done = run(flowtap, "--dry-run", "-e", script)
    return "" if "warning: 1 of 1 place of" in done.stderr and "Attached 1 probe\n" in done.stderr else done.stderr


def tools_for_functions_leave_them_out(flowtap):
    program = program_beside(flowtap)
    before = run(program).stdout
    problem = ""
    for tool, shown in (("funccount", "site_vxorps"), ("funclatency", "@total"), ("stackcount", "\n]: ")):
        printed, out, err = beside(flowtap, program, tool, f"{program}:site_v*")
        if "places of" not in err or shown not in out or printed != before:
            problem += f"  {tool}: {set(printed.splitlines()) - set(before.splitlines())} {out} {err}"
        # Six calls of each function, whether or not its process lived long enough for its name.
        calls = [int(count) for count in re.findall(r"^\]: (\d+)$", out, re.M)]
        if sum(calls) % 6 or any(count not in (3, 6) for count in calls):
            problem += f"  {tool}: {out}"
    named = run(flowtap, "trace", f"{program}:site_vpor")
    return problem if "error: cannot probe" in named.stderr else problem + f"  trace: {named.stderr}"


def one_bad_place_does_not_end_a_wildcard(flowtap):
    """The kernel looks at it when a process has the file mapped, and then refuses all of uprobe_multi."""
    program = program_beside(flowtap)
    waiting = subprocess.Popen([program, "wait"])
    problem = ""
    try:
        for features_used in ([], ["--no-feature", "uprobe_multi"]):
            command = [flowtap, "--dry-run", *features_used, "-v", "-e"]
            some = run(*command, f"uprobe:{program}:odd_* {{ }}").stderr
            words = "1 of 3 places could not be attached: the kernel cannot decode the instruction there (1)"
            if words not in some or "left out: cannot attach to" not in some or "Attached 2 probes\n" not in some:
                problem += f"  {features_used}: {some}"
            for script in (f"uprobe:{program}:odd_second {{ }}", f"uprobe:{program}:odd_s* {{ }}"):
                none = run(*command, script)
                if none.returncode != 3 or "error: cannot attach to" not in none.stderr:
                    problem += f"  {features_used} {script}: {none.stderr}"
    finally:
        waiting.kill()
        waiting.wait()
    return problem


def long_nop_amid_a_function_is_left_alone(flowtap):
    """Since 6.18 the kernel makes it a call, which overwrites what the function keeps below its stack pointer."""
    program = program_beside(flowtap)
    is_harmful = run(program, "try", "leaf").stdout != "1 2 3 \n"
    done = run(flowtap, "-q", "-c", f"{program} leaf", "-e", f"uprobe:{program}:leaf+5 {{ @ = count(); }}")
    if is_harmful:
        reason = "the instruction there (nop of 5 bytes) would be executed wrongly"
        return "" if done.returncode == 1 and reason in done.stderr else done.stdout + done.stderr
    return "" if "1 2 3 \n" in done.stdout and "@: 3" in done.stdout else f"refused without need: {done.stderr}"


class Waiting:
    """tests/programs/indirect.c, which calls its functions when told."""

    def __init__(self, flowtap):
        self.program = str(Path(flowtap).parent / "programs" / "indirect")
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def __enter__(self):
        time.sleep(0.3)  # until the linker has chosen
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def functions_that_the_linker_chooses_are_counted(flowtap):
    problem = ""
    for kind, name, count in (("uprobe", "chosen_plain", 2000), ("uretprobe", "chosen_too", 2000)):
        with Waiting(flowtap) as waiting:
            running = Running(flowtap, "-e", f"{kind}:{waiting.program}:{name} {{ @ = count(); @sum = sum(1); }}")
            waiting.call()
            out, err = running.stop()
        # Both names stand for one function, and their calls cannot be told apart.
        if f"@: {count}\n" not in out or "has its code in common with 'chosen_" not in err:
            problem += f"  {kind}:{name}: {out} {err}"
    with Waiting(flowtap) as waiting:
        running = Running(flowtap, "funccount", f"{waiting.program}:chosen_*")
        waiting.call()
        out, err = running.stop()
    if "chosen_plain" not in out or " 2000" not in out:
        problem += f"  funccount: {out}"
    if "2 of 3 places of" not in err or "and no running process shows which one (1)" not in err:
        problem += f"  funccount: {err}"
    return problem


def functions_of_the_c_library_are_counted_or_refused(flowtap):
    """strlen() is another function on each kind of processor."""
    calls = "import ctypes, sys\nlibc = ctypes.CDLL(None)\nstrlen = libc.strlen\nsys.stdin.readline()\nfor _ in range(1000): strlen(b'text')\nprint(flush=True)\nsys.stdin.readline()"
    process = subprocess.Popen([sys.executable, "-c", calls], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(0.5)
    script = 'uprobe:libc:strlen /str(arg0) == "text"/ { @ = count(); }'
    try:
        tried = run(flowtap, "--dry-run", "-p", str(process.pid), "-e", script)
        if tried.returncode:
            is_told = "of its implementation __strlen_" in tried.stderr and "the kernel's uprobes" in tried.stderr
            return "" if is_told else tried.stderr
        running = Running(flowtap, "-p", str(process.pid), "-e", script)
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()
        out, err = running.stop()
    finally:
        process.kill()
        process.communicate()
    return "" if "@: 1000\n" in out else out + err


def function_that_nobody_has_chosen_is_refused(flowtap):
    program = str(Path(flowtap).parent / "programs" / "indirect")
    problem = ""
    for script in (f"uprobe:{program}:chosen_plain {{ }}", f"uprobe:{program}:chosen_* {{ }}"):
        done = run(flowtap, "--dry-run", "-e", script)
        if done.returncode != 1 or "no running process shows which one" not in done.stderr:
            problem += f"  {script}: {done.stderr}"
    with Waiting(flowtap) as waiting:
        done = run(flowtap, "--dry-run", "-e", f"uprobe:{program}:chosen_vector {{ }}")
        if "': of its implementation by_vector, its first instruction (vpcmpeqb, VEX-encoded) would be" not in done.stderr:
            problem += f"  {done.stderr}"
        waiting.call()
    return problem


def symbol_without_a_size_is_refused(flowtap):
    """The linker makes _init() of pieces, and its symbol has size 0."""
    place = f"uprobe:{program_beside(flowtap)}:_init"
    done = run(flowtap, "--dry-run", "-e", f"{place} {{ }}")
    if done.returncode != 1 or "has size 0, so it may not be a function" not in done.stderr:
        return done.stderr
    unsafe = run(flowtap, "--unsafe", "--dry-run", "-e", f"{place} {{ }}")
    return "" if "Attached 1 probe" in unsafe.stderr else unsafe.stderr


def every_kind_in_a_file_is_listed(flowtap):
    program = program_beside(flowtap)
    listed = run(flowtap, "-l", f"*:{program}:site_vp*").stdout.splitlines()
    kinds = {line.split(":")[0] for line in listed}
    in_file = [line for line in listed if f":{program}:site_vp" in line]
    return "" if kinds == {"uprobe", "uretprobe"} and in_file == listed else f"{kinds} {listed}"
