"""dw_ustack: stacks of tests/programs/nested, which keeps no frame pointers. The truth is the program's source. Each function is
one test and gives what went wrong, or nothing."""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import features
from functions import Skipped
from processes import Running, wait_for

STABLE = "config = { unstable_dw_ustack = enable } "
# Below main there are only functions of the C library and the program's first one.
START = ["__libc_start_call_main", "__libc_start_main", "_start"]


def nested_beside(path):
    return Path(path).parent / "programs" / "nested"


class Nested:
    """The program, waiting for lines."""

    def __init__(self, flowtap, path=None):
        self.path = str(path or nested_beside(flowtap))
        self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()  # it runs, and has mapped its libraries
        self.pid = self.process.pid

    def do(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            self.process.stdout.readline()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def functions_of(text):
    """The stacks in a text, as lists of names; frames of the C library before main are left as they are."""
    stacks, frames = [], []
    for line in text.split("\n"):
        match = re.match(r"\s+(\S+?)(\+\d+)?( \(.*\))?$", line)
        if match:
            frames.append(match[1])
        elif frames:
            stacks.append(frames)
            frames = []
    return stacks


def trace(flowtap, script, *lines, options=(), whole=False):
    """The output of a script that traces the program, or with `whole` all processes, while it does what the lines say."""
    with tempfile.TemporaryDirectory() as folder:  # a program of its own: others run the same
        return trace_one(Nested(flowtap, shutil.copy(nested_beside(flowtap), folder) if whole else None), flowtap, script, lines, options, whole)


def trace_one(nested, flowtap, script, lines, options, whole):
    arguments = [option.replace("PID", str(nested.pid)) for option in ([] if whole else ["-p", "PID"]) + [*options]]
    running = Running(flowtap, *arguments, "-e", STABLE + script.replace("PATH", nested.path).replace("PID", str(nested.pid)))
    nested.do(*lines)
    out, err = running.stop()
    nested.end()
    return out, err


INNER = "uprobe:PATH:inner { print(dw_ustack); }"


def expect(text, wanted):
    found = functions_of(text[0])
    return "" if found == wanted and not text[1] else f"expected {wanted}, found {found}\n{text[1]}"


def stack_without_frame_pointers_is_whole(flowtap):
    return expect(trace(flowtap, INNER, "chain"), [["inner", "middle", "outer", "main", *START]])


def frame_pointers_miss_callers(flowtap):
    """What dw_ustack is for: if this fails, the program does not test it."""
    out, _ = trace(flowtap, "uprobe:PATH:inner { print(ustack); }", "chain")
    return out if "inner" not in out or "middle" in out else ""


def stack_goes_through_the_c_library(flowtap):
    out, err = trace(flowtap, INNER, "sort")
    stacks = functions_of(out)
    good = len(stacks) == 1 and stacks[0][:2] == ["inner", "compare"] and stacks[0][-4:] == ["main", *START] and "qsort_r" in stacks[0]
    return "" if good and not err else out + err


def stack_goes_through_a_signal(flowtap):
    out, err = trace(flowtap, INNER, "signal")
    stacks = functions_of(out)
    good = len(stacks) == 1 and stacks[0][:3] == ["inner", "handle", "__restore_rt"] and stacks[0][-4:] == ["main", *START]
    return "" if good and not err else out + err


def stack_goes_through_a_realigned_frame(flowtap):
    return expect(trace(flowtap, INNER, "align"), [["inner", "realigned", "main", *START]])


def recursion_is_counted_up_to_the_limit(flowtap):
    out, err = trace(flowtap, "uprobe:PATH:inner { print((len(dw_ustack(1024)), len(dw_ustack), len(dw_ustack(3)))); }", "deep 5", "deep 500", "deep 2000")
    return "" if out.split("\n")[:3] == ["(11, 11, 3)", "(506, 127, 3)", "(1024, 127, 3)"] and not err else out + err


def stack_is_a_key(flowtap):
    out, err = trace(flowtap, "uprobe:PATH:inner { @[dw_ustack(2)] = count(); }", *["chain"] * 5, *["deep 1"] * 3)
    good = re.fullmatch(r"\s*@\[\n +inner\+0\n +descend\+\d+\n\]: 3\n@\[\n +inner\+0\n +middle\+\d+\n\]: 5\n", out)
    return "" if good and not err else out + err


def stack_at_a_system_call(flowtap):
    return expect(trace(flowtap, "tracepoint:syscalls:sys_enter_write /args.fd == 2/ { print(dw_ustack); }", "chain"),
                  [["write", "inner", "middle", "outer", "main", *START]])


def stack_at_a_raw_tracepoint_beside_the_kernels(flowtap):
    out, err = trace(flowtap, "rawtracepoint:sys_exit /args.regs.orig_ax == 1 && args.regs.di == 2/ { print((dw_ustack, len(kstack) > 0)); }", "chain")
    return "" if functions_of(out.replace("(\n", "\n")) == [["write", "inner", "middle", "outer", "main", *START]] and "true" in out and not err else out + err


def stack_at_kernel_functions(flowtap):
    if not features.has("kprobe"):
        return Skipped(features.reason("kprobe"))
    for probe in ("kprobe:ksys_write", "kretprobe:ksys_write", "fentry:ksys_write", "fexit:ksys_write"):
        out, err = trace(flowtap, probe + " { print(dw_ustack); }", "chain")
        if ["write", "inner", "middle", "outer", "main", *START] not in functions_of(out) or err:
            return f"{probe}: {out}{err}"
    return ""


def stack_after_a_function_has_returned(flowtap):
    return expect(trace(flowtap, "uretprobe:PATH:inner { print(dw_ustack); }", "chain"), [["middle", "outer", "main", *START]])


def samples_have_whole_stacks(flowtap):
    out, err = trace(flowtap, "profile:hz:199 { @[dw_ustack] = count(); }", "spin", "spin")
    stacks = [s for s in functions_of(out) if "spin_inner" in s]
    wrong = [s for s in stacks if s[s.index("spin_inner"):] != ["spin_inner", "spin_outer", "main", *START]]
    return "" if stacks and not wrong else f"{wrong}\n{out}{err}"


def stack_in_json(flowtap):
    out, err = trace(flowtap, "uprobe:PATH:inner { print(dw_ustack(2)); }", "chain", options=["-f", "json"])
    values = [json.loads(line)["data"] for line in out.split("\n") if '"value"' in line]
    return "" if len(values) == 1 and "inner" in str(values[0]) and "middle" in str(values[0]) and not err else out + err


def process_may_be_named_before(flowtap):
    return expect(trace(flowtap, INNER, "chain", options=["--dwarf-pid", "PID"], whole=True), [["inner", "middle", "outer", "main", *START]])


def command_is_known_from_its_first_call(flowtap):
    """The command of -c is over before anybody could ask for its tables."""
    path = str(Path(flowtap).parent / "programs" / "nested")
    for _ in range(5):
        done = subprocess.run([flowtap, "-q", "-c", path, "-e", STABLE + f"uprobe:{path}:inner {{ print(dw_ustack); }}"], input="chain\n", capture_output=True, text=True)
        problem = expect((done.stdout.replace("done\n", ""), done.stderr), [["inner", "middle", "outer", "main", *START]])
        if problem:
            return problem
    return ""


def process_that_has_gone_is_an_error(flowtap):
    gone = subprocess.Popen(["true"])
    gone.wait()
    done = subprocess.run([flowtap, "--dwarf-pid", str(gone.pid), "-e", STABLE + "profile:hz:9 { print(dw_ustack); }"], capture_output=True, text=True)
    return "" if done.returncode == 3 and f"no unwind tables for process {gone.pid}" in done.stderr else f"{done.returncode} {done.stderr}"


def unknown_process_is_asked_for(flowtap):
    """Without -p the first stack comes by frame pointers, and is counted; soon after they are whole."""
    with tempfile.TemporaryDirectory() as folder:  # other tests run the original
        return unknown_process(flowtap, shutil.copy(nested_beside(flowtap), folder))


def unknown_process(flowtap, program):
    nested = Nested(flowtap, program)
    running = Running(flowtap, "-e", STABLE + f"uprobe:{nested.path}:inner {{ print(len(dw_ustack)); }}")
    found = []

    def is_whole():
        nested.do("chain")
        found.append(int(running.process.stdout.readline()))
        return found[-1] == 7
    whole = wait_for(is_whole)
    _, err = running.stop()
    nested.end()
    told = re.findall(r"a stack was taken by frame pointers, (\w+)(?: times)?: the unwind tables", err)  # again at the end
    count = told and (1 if told[-1] == "once" else int(told[-1]))
    return "" if whole and count == len(found) - 1 else f"{found}\n{err}"


def library_that_is_loaded_later_is_asked_for(flowtap):
    """A stack ends where it is not known yet; soon after they are whole."""
    nested = Nested(flowtap)
    running = Running(flowtap, "-p", str(nested.pid), "-e", STABLE + f"uprobe:{nested.path}:inner {{ print(dw_ustack(folded)); }}")
    nested.do("load")
    lines = []

    def is_whole():
        nested.do("sort")
        lines.append(running.process.stdout.readline().strip())
        return lines[-1].startswith("_start;") and "main;qsort_r;" in lines[-1]
    good = wait_for(is_whole)
    _, err = running.stop()
    nested.end()
    told = "a stack ends early" in err
    cut = lines[0].endswith("compare;inner") and not lines[0].startswith("_start;")
    return "" if good and cut and told else f"{lines}\n{err}"


def other_program_in_the_same_process_is_noticed(flowtap):
    """After exec the addresses are others: never a stack by the old ones."""
    nested = Nested(flowtap)
    running = Running(flowtap, "-p", str(nested.pid), "-e", STABLE + f"uprobe:{nested.path}:inner {{ print(dw_ustack(folded)); }}")
    nested.do("chain")
    lines = [running.process.stdout.readline().strip()]
    nested.do("again")
    whole = "_start;__libc_start_main;__libc_start_call_main;main;outer;middle;inner"

    def is_whole():
        nested.do("chain")
        lines.append(running.process.stdout.readline().strip())
        return lines[-1] == whole
    good = wait_for(is_whole)
    _, err = running.stop()
    nested.end()
    wrong = [line for line in lines if line != whole and not line.endswith("inner")]
    return "" if good and lines[0] == whole and not wrong else f"{lines}\n{err}"
