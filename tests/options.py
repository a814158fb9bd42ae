"""Every option of the command line, every setting and every feature that can be left unused changes something. The names come from flowtap itself, so that
a new one needs a row here. A row is two command lines with different results, what they print and their exit codes."""

import os
import re
import subprocess
from pathlib import Path

COUNT = ["-q", "--dry-run", "-d", "all", "-e", "tracepoint:syscalls:sys_enter_read { @ = count(); }"]
MANY = ["--dry-run", "-e", "tracepoint:syscalls:sys_enter_read* { }"]
HELLO = ["-e", 'begin { printf("hello\\n"); exit(); }']
FULL = ["-q", "-e", "begin { @a[1] = 1; @a[2] = 1; @a[3] = 1; }"]
NOTHING = ["-q", "-e", "begin { print(*(uint64 *)0); }"]
PLANS = ["-q", "-e", 'plan "a" { begin { print("a"); } } plan "b" { begin { print("b"); } }']
TESTS = ["-q", "-e", "test:one { return 0; } bench:two { } begin { }"]
UNSAFE = ["-q", "-e", 'begin { system("true"); }']
OPTIONS = {
    "-e": (HELLO, []),
    "-l": (["-l", "begin"], ["begin"]),
    "-p": (["-p", "1", *COUNT], COUNT),
    "-c": (["-c", "/bin/true", "-q", "-e", "begin { print(has_cpid); exit(); }"], ["-q", "-e", "begin { print(has_cpid); exit(); }"]),
    "-f": (["-f", "json", *HELLO], HELLO),
    "-o": (["-o", "/dev/null", *HELLO], HELLO),
    "-q": (["-q", *MANY], MANY),
    "-v": (["-v", *HELLO], HELLO),
    "-k": (["-k", *NOTHING], NOTHING),
    "--stats": (["--stats", *HELLO], HELLO),
    "--all": (["source", "--all", "napi"], ["source", "napi"]),
    "--unsafe": (["--unsafe", *UNSAFE], UNSAFE),
    "--probe-filter": (["--probe-filter", "read$", *MANY], MANY),
    "--max-keys": (["--max-keys", "2", *FULL], FULL),
    "--plan": (["--plan", "b", *PLANS], PLANS),
    "--test": (["--test", *TESTS], TESTS),
    "--bench": (["--bench", *TESTS], TESTS),
    "--no-feature": (["--no-feature", "small_ring", *COUNT], COUNT),
    "--dry-run": (["--dry-run", *HELLO], HELLO),
    "--no-warnings": (["--no-warnings", "-e", "begin { 1; }"], ["-e", "begin { 1; }"]),
    "-d": (["-d", "ast", *HELLO], HELLO),
    "--info": (["--info"], []),
    "-V": (["-V"], []),
    "-h": (["-h"], []),
}
ELSEWHERE = {"-B", "--dwarf-pid"}  # wrong_buffering(), tests/unwinding.py

TEXT = 'begin { $s = str("ab"); @a = $s; '
SETTINGS = {
    "max_map_keys": ("2", FULL[-1]),
    "max_strlen": ("3", "begin { print(str(curtask.comm)); }"),
    "max_cat_bytes": ("3", 'begin { cat("/proc/self/comm"); }'),
    "max_probes": ("0", "begin { }"),
    "max_bpf_progs": ("0", "begin { }"),
    "missing_probes": ("ignore", "tracepoint:no:such { } begin { exit(); }"),
    "print_maps_on_exit": ("false", "begin { @ = 1; }"),
    "stack_mode": ("raw", "begin { print(kstack(1)); }"),
    "str_trunc_trailer": ("'!'", "config = { max_strlen = 2 } begin { print(str(curtask.comm)); }"),
    "perf_rb_pages": ("1", "begin { print(1); }"),
    "license": ("MIT", "begin { }"),
    "unstable_tseries": ("error", "begin { @ = tseries(1, 1s, 2); }"),
    "unstable_dw_ustack": ("error", "begin { @ = dw_ustack; }"),
    "unstable_typeinfo": ("enable", "begin { print(typeinfo(1)); }"),
    "unstable_import_statement": ("error", 'import "options_import.bt"; begin { print(1); }'),
}
SETTINGS_ELSEWHERE = {"cpp_demangle", "lazy_symbolication", "cache_user_symbols", "log_size"}  # tests/kernel/uprobes.cases, src/load/load_test.cc
SETTINGS_WITHOUT_EFFECT = {"on_stack_limit", "show_debug_info", "use_blazesym"}  # they warn

STACKS = "begin { @[kstack] = count(); }"
FEATURES = {
    "comm_in_place": "tracepoint:syscalls:sys_enter_read { @ = comm; }",
    "pid_in_place": "tracepoint:syscalls:sys_enter_read { @[pid, comm] = count(); }",
    "small_maps": 'begin { if (getopt("on", false)) { @a[1] = 1; } print(@a); }',
    "hashed_keys": STACKS,
    "small_ring": "begin { print(1); }",
    "cpu_lanes": "begin { @[comm] = count(); }",
    "hot_keys": "tracepoint:syscalls:sys_enter_read { @[comm] = count(); }",
    "task_storage": "tracepoint:syscalls:sys_enter_read { @[tid] = 1; } tracepoint:syscalls:sys_exit_read { delete(@, tid); }",
    "stored_zeros": "tracepoint:syscalls:sys_enter_openat { print(str(args.filename)); }",
    "direct_reads": "begin { print(curtask.parent.tgid); }",
}
# tests/kernel/relatives.cases, unused_features_are_not_used; types that are read later give the same answers
FEATURES_ELSEWHERE = {"kprobe_as_fentry", "kprobe", "fentry", "kprobe_multi", "uprobe_multi", "lazy_types"}


def result(flowtap, arguments, folder=None):
    done = subprocess.run([flowtap, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=folder, timeout=60)
    return done.returncode, done.stdout, done.stderr


def difference_to(names, rows, elsewhere):
    missing, extra = sorted(names - rows.keys() - elsewhere), sorted((rows.keys() | elsewhere) - names)
    return f"without a row: {missing}; without a use: {extra}\n" if missing or extra else ""


def options_without_effect(flowtap):
    help_text = result(flowtap, ["--help"])[1]
    names = set(re.findall(r"^  (--?[a-zA-Z][\w-]*)", help_text, re.M))  # of "-f, --format" the first: both are one row of the table
    problem = difference_to(names, OPTIONS, ELSEWHERE)
    for name, (used, unused) in OPTIONS.items():
        if result(flowtap, used) == result(flowtap, unused):
            problem += f"{name} has no effect\n"
    return problem


def settings_without_effect(flowtap, folder):
    Path(folder, "options_import.bt").write_text("")
    keys = result(flowtap, ["-q", "-f", "json", "-e", "begin { print(config); }"])[1]
    names = set(re.findall(r'"(\w+)": ', keys)) - {"type", "data"}
    problem = difference_to(names, SETTINGS, SETTINGS_ELSEWHERE | SETTINGS_WITHOUT_EFFECT)
    for key, (value, script) in SETTINGS.items():
        script = script if "config" in script else "config = { } " + script
        common = ["--dry-run", "-d", "maps"] if key == "perf_rb_pages" else []
        used, unused = (result(flowtap, ["-q", *common, "-e", s], folder) for s in (script.replace("config = {", f"config = {{ {key} = {value};", 1), script))
        if used == unused:
            problem += f"{key} has no effect\n"
    return problem


def features_without_effect(flowtap):
    names = set(re.findall(r"\w+", result(flowtap, ["--no-feature", "no_such"])[2].partition("the features are")[2]))
    problem = difference_to(names, FEATURES, FEATURES_ELSEWHERE)
    for name, script in FEATURES.items():
        how = ["-q", "--dry-run", "--no-warnings", "-d", "bpf", "-d", "maps", "-e", script]
        usual = result(flowtap, how)
        is_possible = name != "direct_reads" or "probe_read_kernel" not in usual[2]  # since Linux 6.2, and not in every build
        if is_possible and result(flowtap, ["--no-feature", name, *how]) == usual:
            problem += f"--no-feature {name} has no effect\n"
    return problem


def pieces_written(flowtap, *options):
    """What each write of flowtap wrote: a pipe of packets keeps them apart."""
    reader, writer = os.pipe2(os.O_DIRECT)
    script = 'config = { print_maps_on_exit = false } begin { printf("a"); printf("b\\n"); printf("c\\nd"); }'
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        subprocess.run([flowtap, "-q", *options, "-e", script], stdout=writer, timeout=60)
        os.close(writer)
        return [piece.decode() for piece in iter(lambda: pipe.read(4096), b"")]


def wrong_buffering(flowtap):
    wanted = {(): ["ab\nc\nd", "\n\n"], ("-B", "none"): ["a", "b\n", "c\nd", "\n\n"], ("-B", "line"): ["ab\n", "c\n", "d\n\n"], ("-B", "full"): ["ab\nc\nd\n\n"]}
    return "".join(f"{options}: {pieces}\n" for options in wanted if (pieces := pieces_written(flowtap, *options)) != wanted[options])
