"""The tools: what every one must have, and what each shows beside an independent source. Loads run on loopback in a
network namespace that the test makes. Each function is one test and gives what went wrong, or nothing."""

import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import features
from processes import Running, Skipped

TESTS = Path(__file__).resolve().parent
TIME_LIMIT = 60 * features.SLOWER


def flowtap_text(flowtap, *arguments, **environment):
    done = subprocess.run([flowtap, *arguments], capture_output=True, text=True, timeout=TIME_LIMIT,
                          env=dict(os.environ, **environment))
    return done.returncode, done.stdout, done.stderr


def tool_names(root):
    return sorted(path.stem for path in (root / "tools").glob("*.bt"))


def run_load(*numbers, inside=("unshare", "-n")):
    """What tests/tools/tcp_load.py did in a namespace with nothing but loopback."""
    command = "ip link set lo up && exec " + " ".join([sys.executable, str(TESTS / "tools" / "tcp_load.py"), *map(str, numbers)])
    done = subprocess.run([*inside, "sh", "-c", command], capture_output=True, text=True, timeout=TIME_LIMIT)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def belongs(row, ports, pid):
    """Rows of the load's sockets: its listeners have ports of their own, a child no process before it is accepted."""
    return row["pid"] in (0, pid) and (row["lport"] in ports or row["rport"] in ports)


def rows_during(flowtap, load, *arguments):
    """(what the load did, the tool's rows that belong to it, everything on stderr)"""
    running = Running(flowtap, *arguments, "-f", "json")
    done = run_load(*load)
    out, err = running.stop()
    rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    ports = {c["near"] for c in done["connections"] + done["refused"]} | {c["far"] for c in done["connections"]}
    return done, [row for row in rows if belongs(row, ports, done["pid"])], err


def differing(name, expected, found):
    return "" if expected == found else f"  {name}: expected {expected}, found {found}\n"


# --- the frame --------------------------------------------------------------------------------------
def every_tool_is_complete(root, flowtap):
    problem = ""
    _, listed, _ = flowtap_text(flowtap, "tools")
    for name in tool_names(root):
        code, text, err = flowtap_text(flowtap, "help", name)
        if code != 0 or name not in listed:
            problem += f"  {name} has no help or is not listed: {err}\n"
        for part in ("options:", "columns:", "needs:", "overhead:", "example: flowtap"):
            if part not in text:
                problem += f"  the help of {name} lacks '{part}'\n"
        if flowtap_text(flowtap, name, "--help")[1] != text:
            problem += f"  {name} --help differs from help {name}\n"
        if flowtap_text(flowtap, "source", name)[1] != (root / "tools" / f"{name}.bt").read_text():
            problem += f"  source {name} is not the script\n"
        man = flowtap_text(flowtap, "--docs", "man", name)[1]
        if not man.startswith(".TH") or ".SH COLUMNS" not in man:
            problem += f"  {name} has no man page\n"
    return problem


def every_tool_has_a_plan_here(root, flowtap):
    problem = ""
    for name in tool_names(root):
        code, out, err = flowtap_text(flowtap, "check", name)
        if code != 0:
            problem += f"  {name}: {out}{err}"
    return problem


def usage_mistakes_are_explained(root, flowtap):
    problem = ""
    for arguments, message in (
        (["tcplife", "--prot", "80"], "error: tcplife has no option '--prot'\nhint: did you mean '--port'?\n"),
        (["tcplife", "--port"], "error: option '--port' of tcplife needs a value\n"),
        (["tcplife", "80"], "error: tcplife takes options only, found '80'\nhint: flowtap help tcplife shows them\n"),
        (["tcplife", "--duration", "soon"], "error: --duration takes a positive number, found 'soon'\n"),
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
    os.environ["FLOWTAP_TOOLS"] = folder
    try:
        running = Running(flowtap, "mkdirs", "-f", "json", *arguments)
    finally:
        del os.environ["FLOWTAP_TOOLS"]
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
        if not re.search(r"^files\n  mkdirs  directories that processes make$", listed, re.M):
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
        if code != 2 or "everybody may write" not in err:
            problem += f"  a directory that everybody may write to was used: {code} {err}"
        return problem


def duration_ends_a_tool(root, flowtap):
    code, out, err = flowtap_text(flowtap, "tcplife", "--duration", "1", "-f", "csv", "--port", "1")
    heading = "time,pid,comm,laddr,lport,raddr,rport,tx_bytes,rx_bytes,life_ms\n"
    return differing("result", (0, heading, ""), (code, out, err))


# --- TCP --------------------------------------------------------------------------------------------
def tcpconnect_shows_every_attempt(root, flowtap):
    done, rows, err = rows_during(flowtap, (13, 7, 5), "tcpconnect")
    rows = [row for row in rows if row["pid"] == done["pid"]]
    found = sorted((row["laddr"], row["lport"], row["raddr"], row["rport"], row["err"]) for row in rows)
    expected = sorted([(c["address"], c["near"], c["address"], c["far"], 0) for c in done["connections"]]
                      + [(c["address"], c["near"], c["address"], c["far"], "ECONNREFUSED") for c in done["refused"]], key=str)
    return (differing("attempts", expected, sorted(found, key=str))
            + differing("Tcp:ActiveOpens", done["counted"]["ActiveOpens"], len(rows))
            + differing("Tcp:AttemptFails", done["counted"]["AttemptFails"], sum(row["err"] != 0 for row in rows)) + err)


def tcpconnect_filters_in_the_kernel(root, flowtap):
    problem = ""
    for option, wanted in (("-4", "127.0.0.1"), ("-6", "::1")):
        done, rows, _ = rows_during(flowtap, (3, 5, 2), "tcpconnect", option)
        expected = sum(c["address"] == wanted for c in done["connections"] + done["refused"])
        problem += differing(option, expected, sum(row["pid"] == done["pid"] for row in rows))
    done, rows, _ = rows_during(flowtap, (3, 2, 5), "tcpconnect", "--errors")
    problem += differing("--errors", 5, sum(row["pid"] == done["pid"] for row in rows))
    done, rows, _ = rows_during(flowtap, (3, 2, 5), "tcpconnect", "--rport=1")
    problem += differing("--rport", 5, sum(row["pid"] == done["pid"] for row in rows))
    done, rows, _ = rows_during(flowtap, (3, 2, 5), "tcpconnect", "-p", "1")
    return problem + differing("-p", 0, len(rows))


def tcplife_counts_payload_exactly(root, flowtap):
    done, rows, err = rows_during(flowtap, (11, 7, 3), "tcplife")
    expected, found = [], []
    for c in done["connections"]:
        expected.append((done["pid"], c["address"], c["near"], c["address"], c["far"], c["sent"], c["answered"]))
        expected.append((done["pid"], c["address"], c["far"], c["address"], c["near"], c["answered"], c["sent"]))
    for row in rows:
        found.append(tuple(row[k] for k in ("pid", "laddr", "lport", "raddr", "rport", "tx_bytes", "rx_bytes")))
    lasted = {c["near"]: c["ms"] for c in done["connections"]}
    longer = [row for row in rows if row["life_ms"] <= 0 or row["life_ms"] > lasted[min(row["lport"], row["rport"], key=lambda p: p not in lasted)]]
    return differing("connections", sorted(expected), sorted(found)) + differing("longer than the load saw", [], longer) + err


def tcpstates_shows_every_change_in_order(root, flowtap):
    done, rows, err = rows_during(flowtap, (7, 5, 3), "tcpstates")
    paths = {}
    for row in rows:
        path = paths.setdefault(row["socket"], [[row["old"]]])
        if path[-1][-1] == "CLOSE" and len(path[-1]) > 1:
            path.append([row["old"]])  # the memory of a socket is used again
        path[-1].append(row["new"])
    found = {}
    for path in (path for all_paths in paths.values() for path in all_paths):
        found[" ".join(path)] = found.get(" ".join(path), 0) + 1
    connections = len(done["connections"])
    expected = {"CLOSE SYN_SENT ESTABLISHED FIN_WAIT1 FIN_WAIT2 CLOSE": connections,
                "LISTEN SYN_RECV ESTABLISHED CLOSE_WAIT LAST_ACK CLOSE": connections,
                "CLOSE LISTEN CLOSE": connections, "CLOSE SYN_SENT CLOSE": len(done["refused"])}
    changes = [(row["old"], row["new"]) for row in rows]
    owners = {row["pid"] for row in rows if row["new"] == "CLOSE"}
    return (differing("paths", expected, found) + differing("owners at the end", {done["pid"]}, owners)
            + differing("Tcp:ActiveOpens", done["counted"]["ActiveOpens"], changes.count(("CLOSE", "SYN_SENT")))
            + differing("Tcp:PassiveOpens", done["counted"]["PassiveOpens"], changes.count(("LISTEN", "SYN_RECV"))) + err)


def tcplife_leaves_out_what_was_short(root, flowtap):
    done, rows, _ = rows_during(flowtap, (3, 2, 0), "tcplife", "--min-ms", "60000")
    problem = differing("--min-ms 60000", [], rows)
    done, rows, _ = rows_during(flowtap, (3, 2, 0), "tcplife", "--min-ms=0")
    return problem + differing("--min-ms=0", 10, len(rows))


def a_network_namespace_is_chosen_by_name(root, flowtap):
    name = f"flowtap-test-{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode != 0:
        return Skipped("no named network namespace can be made here")
    try:
        problem = ""
        for tool, each in (("tcpconnect", 1), ("tcplife", 2), ("tcpstates", 12)):
            running = Running(flowtap, tool, "--netns", name, "-f", "json")
            run_load(3, 2, 0)  # in another one
            inside = run_load(2, 3, 0, inside=["ip", "netns", "exec", name])
            out, err = running.stop()
            rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
            problem += differing(f"rows of {tool}", each * len(inside["connections"]), len(rows)) + err
        code, _, err = flowtap_text(flowtap, "tcplife", "--netns", "no-such-name")
        return problem + differing("exit code", 2, code)
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


TEST_FUNCTIONS = [function for name, function in list(globals().items())
                  if inspect.isfunction(function) and list(inspect.signature(function).parameters) == ["root", "flowtap"]]


def run(root, results):
    flowtap = root / "build" / "flowtap"
    if not features.has("bpf"):
        return results.add("tools", skipped=features.reason("bpf"))
    wanted = os.environ.get("CASE", "")
    for function in TEST_FUNCTIONS:
        if wanted not in function.__name__:
            continue
        try:
            problem = function(root, flowtap)
        except (RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
            problem = f"  {error}\n"
        if isinstance(problem, Skipped):
            results.add(function.__name__, skipped=problem.reason)
        else:
            results.add(f"{function.__name__} (tests/tools.py)", problem)
