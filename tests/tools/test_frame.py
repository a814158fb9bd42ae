"""What every tool must have, and what the frame does for all of them."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from processes import Running, Skipped
from shared import differing, flowtap_text, run_load, tool_names


def every_tool_is_complete(root, flowtap):
    problem = ""
    _, listed, _ = flowtap_text(flowtap, "tools")
    for name in tool_names(root):
        code, text, err = flowtap_text(flowtap, "help", name)
        if code != 0 or name not in listed:
            problem += f"  {name} has no help or is not listed: {err}\n"
        script = (root / "tools" / f"{name}.bt").read_text()
        has_table = "\ntable " in script
        for part in ("options:", "needs:", "overhead:", "example: flowtap", *(["columns"] if has_table else [])):
            if part not in text:
                problem += f"  the help of {name} lacks '{part}'\n"
        if flowtap_text(flowtap, name, "--help")[1] != text:
            problem += f"  {name} --help differs from help {name}\n"
        if flowtap_text(flowtap, "source", name)[1] != script:
            problem += f"  source {name} is not the script\n"
        man = flowtap_text(flowtap, "--docs", "man", name)[1]
        if not man.startswith(".TH") or (has_table and ".SH COLUMNS" not in man):
            problem += f"  {name} has no man page\n"
    return problem


def whole_tools_are_the_same_programs(root, flowtap):
    """source --all prints one script, which becomes the maps and instructions of the tool."""
    problem = ""
    names = [path.stem for path in sorted((root / "tools").glob("*.bt"))]
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            script = Path(folder, f"{name}.bt")
            script.write_text(flowtap_text(flowtap, "source", "--all", name)[1])
            if "\nimport " in script.read_text():
                problem += f"  {name} still imports\n"
            tool, whole = (compiled(flowtap, what) for what in (name, str(script)))
            problem += "" if tool == whole else differing(name, tool, whole)
    return problem


def compiled(flowtap, what):
    """Maps and instructions of the first plan that works; the numbers of sites depend on what is compiled first."""
    _, _, err = flowtap_text(flowtap, "--dry-run", "--no-warnings", "-d", "maps", "-d", "bpf", what)
    return len(re.findall(r"^\s*\d+: ", err, re.M)), sorted(re.findall(r"^@\w+: .*", err, re.M))


# Tools of drivers that a kernel need not have: the group of their events.
DRIVERS = {"nvmelatency": "nvme", "scsilatency": "scsi", "scsiresult": "scsi", "ieee80211scan": "cfg80211"}


def every_tool_has_a_plan_here(root, flowtap):
    problem = ""
    for name in tool_names(root):
        code, out, err = flowtap_text(flowtap, "check", name)
        if name in DRIVERS and not Path("/sys/kernel/tracing/events", DRIVERS[name]).exists():
            if code == 0 or f"nothing to trace matches 'rawtracepoint:{DRIVERS[name]}_" not in out:
                problem += f"  {name} does not say what is missing: {code} {out}{err}"
        elif code != 0:
            problem += f"  {name}: {out}{err}"
    return problem


def usage_mistakes_are_explained(root, flowtap):
    problem = ""
    for arguments, message in (
        (["tcplife", "--prot", "80"], "error: tcplife has no option '--prot'\nhint: did you mean '--port'?\n"),
        (["tcplife", "--port"], "error: option '--port' of tcplife needs a value\n"),
        (["tcplife", "80"], "error: tcplife takes options only, found '80'\nhint: flowtap help tcplife shows them\n"),
        (["tcplife", "--duration", "soon"], "error: --duration takes a positive whole number, found 'soon'\n"),
        (["tcplive"], "error: there is neither a file nor a tool 'tcplive'\nhint: did you mean 'tcplife'?\n"),
        (["help", "tcplive"], "error: there is no tool 'tcplive'\nhint: did you mean 'tcplife'?\n"),
    ):
        code, _, err = flowtap_text(flowtap, *arguments)
        if (code, err) != (2, message):
            problem += f"  {arguments}: {code} {err}"
    return problem


OWN_TOOL = """#!/usr/bin/env flowtap
// mkdirs - directories that processes make
//
// LAYER: files
//
// PROCESS: current
//
// Shows mkdir(2).

import "helper.bt";
import "lib/tcp.bt";

table calls { pid PID "process"; comm COMM "its name"; string PATH "as given"; int N "marker"; }

tracepoint:syscalls:sys_enter_mkdir /args.mode != getopt("not-mode", 0, "leave these out")/ {
  emit calls(pid, comm, str(args.pathname), marker());
}
"""

MAKE = "import os, sys\nfor n in range(int(sys.argv[1])):\n  try: os.mkdir('/no/such/place', int(sys.argv[2], 8))\n  except OSError: pass\n"


def mkdir_rows(flowtap, folder, *arguments):
    running = Running(flowtap, "mkdirs", "-f", "json", *arguments, FLOWTAP_TOOLS=folder)
    pids = []
    for count, mode in ((5, "700"), (3, "711")):
        process = subprocess.Popen([sys.executable, "-c", MAKE, str(count), mode])
        process.wait()
        pids.append(process.pid)
    out, err = running.stop()
    rows = [json.loads(line) for line in out.splitlines()]
    return [sum(row["pid"] == pid and row["path"] == "/no/such/place" and row["n"] == 41 for row in rows) for pid in pids], err


def a_directory_of_the_user_holds_tools(root, flowtap):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        Path(folder, "mkdirs.bt").write_text(OWN_TOOL)
        Path(folder, "helper.bt").write_text("macro marker() { 41 }\n")
        problem = ""
        _, listed, _ = flowtap_text(flowtap, "tools", FLOWTAP_TOOLS=folder)
        if not re.search(r"^files\n(  .*\n)*  mkdirs +directories that processes make$", listed, re.M):
            problem += f"  not listed: {listed}"
        for arguments, expected in (
            ([], [5, 3]),
            (["--not-mode", str(0o711)], [5, 0]),
            (["--not-mode=" + str(0o700)], [0, 3]),
            (["--comm", "no-such-name"], [0, 0]),
            (["--comm", Path(sys.executable).name], [5, 3]),
            (["-p1"], [0, 0]),
        ):
            found, err = mkdir_rows(flowtap, folder, *arguments)
            if found != expected:
                problem += f"  {arguments}: expected {expected}, found {found} {err}\n"
        os.chmod(folder, 0o777)
        code, _, err = flowtap_text(flowtap, "mkdirs", FLOWTAP_TOOLS=folder)
        if code != 2 or "is world-writable" not in err:
            problem += f"  a directory that everybody may write to was used: {code} {err}"
        return problem


def duration_ends_a_tool(root, flowtap):
    code, out, err = flowtap_text(flowtap, "tcplife", "--duration", "1", "-f", "csv", "--port", "1")
    heading = "time,pid,comm,laddr,lport,raddr,rport,tx_bytes,rx_bytes,life_ms,more\n"
    return differing("result", (0, heading, ""), (code, out, err))


REPORTING_TOOL = """#!/usr/bin/env flowtap
// mkdircount - directories that processes try to make, counted
//
// LAYER: files
//
// PROCESS: current
//
// Counts mkdir(2).

table counts sorted by N { pid PID "process"; int N "calls"; }

tracepoint:syscalls:sys_enter_mkdir { @calls[pid] = count(); }

self:report {
  for ($kv : @calls) { emit counts($kv.0, $kv.1); }
  print(counts, getopt("top", 0, "only so many rows"));
  clear(@calls);
}
"""


def reports_come_at_intervals_and_at_the_end(root, flowtap):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        Path(folder, "mkdircount.bt").write_text(REPORTING_TOOL)
        problem = ""
        for arguments, reports in ((["--duration", "1"], 1), (["--interval", "1", "--count", "3"], 3),
                                   (["--interval", "1", "--duration", "2"], 2), (["--interval=5", "--duration=1"], 1)):
            code, out, err = flowtap_text(flowtap, "mkdircount", "-T", *arguments, FLOWTAP_TOOLS=folder)
            found = [bool(re.match(r"\d\d:\d\d:\d\d$", line)) for line in out.splitlines()].count(True)
            headings = sum(line.split() == ["PID", "N"] for line in out.splitlines())
            problem += differing(f"{arguments}", (0, reports, reports), (code, found, headings)) + err
        code, _, err = flowtap_text(flowtap, "mkdircount", "--count", "2", FLOWTAP_TOOLS=folder)
        problem += differing("--count alone", (2, "error: --count is a number of reports\nhint: say how often: --interval 1\n"), (code, err))
        python = Path(folder, f"mk-{os.getpid()}")  # a name of its own: others make directories in Python
        python.symlink_to(sys.executable)
        running = Running(flowtap, "mkdircount", "-f", "json", "--top", "2", "--comm", python.name, FLOWTAP_TOOLS=folder)
        counts = {}
        for count in (5, 11, 3):
            process = subprocess.Popen([python, "-c", MAKE, str(count), "700"])
            process.wait()
            counts[process.pid] = count
        out, err = running.stop()
        expected = [{"pid": pid, "n": n} for pid, n in sorted(counts.items(), key=lambda item: -item[1])][:2]
        found = [row for row in map(json.loads, out.splitlines()) if row.get("pid") in counts]
        return problem + differing("rows", expected, found) + err


def cgroup_v2():
    """Where cgroup v2 is mounted, or nothing."""
    for line in open("/proc/mounts"):
        if line.split()[2] == "cgroup2":
            return line.split()[1]
    return ""


def a_cgroup_is_chosen_by_its_directory(root, flowtap):
    top = cgroup_v2()
    if not top:
        return Skipped("cgroup v2 is not mounted")
    group = Path(top, f"flowtap-test-{os.getpid()}")
    group.mkdir()
    try:
        problem = ""
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            Path(folder, "mkdircount.bt").write_text(REPORTING_TOOL)
            running = Running(flowtap, "mkdircount", "-f", "json", "--cgroup", str(group), FLOWTAP_TOOLS=folder)
            make = [sys.executable, "-c", MAKE]
            subprocess.run([*make, "4", "700"], check=True)
            subprocess.run(["sh", "-c", 'echo $$ > "$0/cgroup.procs"; exec "$@"', str(group), *make, "7", "700"], check=True)
            out, err = running.stop()
            problem += differing("calls in the cgroup", [7], [json.loads(line)["n"] for line in out.splitlines()]) + err
        for tool, each in (("tcpconnect", 1), ("tcplife", 2), ("tcpstates", 12)):
            running = Running(flowtap, tool, "-f", "json", "--cgroup", str(group))
            run_load("tcp", 2, 1, 0)
            inside = ["sh", "-c", 'echo $$ > "$0/cgroup.procs"; exec unshare -n "$@"', str(group)]
            run_load("tcp", 2, 3, 0, inside=inside)
            out, err = running.stop()
            rows = [json.loads(line) for line in out.splitlines()]
            problem += differing(f"rows of {tool} in the cgroup", each * 5, len(rows)) + err
        code, _, err = flowtap_text(flowtap, "tcplife", "--cgroup", "/proc")
        wanted = (2, "error: '/proc' is not a directory of cgroup v2\nhint: give its directory, e.g. /sys/fs/cgroup/system.slice\n")
        return problem + differing("no cgroup", wanted, (code, err))
    finally:
        group.rmdir()


FAMILY = """
import os, subprocess, sys
sys.stdin.readline()
def make(n):
    for _ in range(n):
        try: os.mkdir('/no/such/place')
        except OSError: pass
make(2)
child = os.fork()
if child == 0:
    make(3)
    if os.fork() == 0: make(4)
    else: os.wait()
    os._exit(0)
os.wait()
"""


def children_are_followed(root, flowtap):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        Path(folder, "mkdircount.bt").write_text(REPORTING_TOOL)
        problem = ""
        for options, expected in (([], [2]), (["--follow"], [4, 3, 2])):
            family = subprocess.Popen([sys.executable, "-c", FAMILY], stdin=subprocess.PIPE, text=True)
            running = Running(flowtap, "mkdircount", "-f", "json", "-p", str(family.pid), *options, FLOWTAP_TOOLS=folder)
            family.communicate("go\n")
            # Without --follow it ends with the process.
            out, err = running.stop() if options else running.process.communicate(timeout=30)
            problem += differing(f"{options}", expected, [json.loads(line)["n"] for line in out.splitlines()]) + err
        code, _, err = flowtap_text(flowtap, "mkdircount", "--follow", FLOWTAP_TOOLS=folder)
        return problem + differing("--follow alone", (2, "error: --follow needs a process to start from\nhint: give it with -p\n"), (code, err))
