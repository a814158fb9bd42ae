"""Names that programs resolve, beside what the programs say of it and what their name server was asked."""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from processes import Running
from shared import TIME_LIMIT, differing, json_rows, run_load

CALLS = ("getaddrinfo=found.test", "getaddrinfo=missing.test", "getaddrinfo=failing.test", "getaddrinfo=slow.test",
         "gethostbyname=found.test", "gethostbyname=missing.test", "gethostbyname=failing.test", "gethostbyname2=found.test",
         "gethostbyname_r=slow.test", "gethostbyname2_r=missing.test", "gethostbyname2_r=found.test", "untouched=found.test",
         "jump=silent.test", "getaddrinfo=localhost", "gethostbyname=localhost")


def resolves(root):
    return root / "build" / "programs" / "resolves"


def lookups(root, flowtap, *arguments, calls=CALLS):
    """(what the load did, the tool's rows of it, everything on stderr)"""
    running = Running(flowtap, "gethostlatency", "-f", "json", *arguments)
    done = run_load("resolver", resolves(root), *calls, inside=("unshare", "-nm"))
    out, err = running.stop()
    rows = [json.loads(line) for line in out.splitlines()]
    return done, [row for row in rows if row.get("pid") == done["pid"]], err


def gethostlatency_shows_calls_results_and_times(root, flowtap):
    """the program's own results and clock; the queries its name server got"""
    done, rows, err = lookups(root, flowtap)
    calls = [dict(call, call="getaddrinfo" if call["call"] == "untouched" else call["call"]) for call in done["calls"]
             if call["call"] != "jump"]  # which never returned
    found = [(row["call"], row["host"], row["result"] or "") for row in rows]
    problem = differing("calls", [(call["call"], call["host"], call["result"]) for call in calls], found)
    problem += differing("comm", {"resolves"}, {row["comm"] for row in rows})
    longer = [row for row, call in zip(rows, calls) if row["lat_ms"] > call["ms"]]
    # The server answers one query after the other; getaddrinfo asks for both families, gethostbyname_r for one.
    shorter = [row for row in rows if row["host"] == "slow.test" and
               row["lat_ms"] < done["delay"] * (2 if row["call"] == "getaddrinfo" else 1)]
    problem += differing("queries for slow.test", 3, done["asked"].count("slow.test"))
    return problem + differing("longer than the call", [], longer) + differing("shorter than the answer", [], shorter) + err


def gethostlatency_chooses_errors_and_slow_calls(root, flowtap):
    """the program's own results"""
    done, rows, err = lookups(root, flowtap, "--errors")
    wrong = [(call["call"], call["result"]) for call in done["calls"] if call["result"] not in ("", "left")]
    problem = differing("--errors", wrong, [(row["call"], row["result"]) for row in rows]) + err
    done, rows, err = lookups(root, flowtap, "--min-ms", "20", calls=("getaddrinfo=slow.test", "gethostbyname_r=slow.test"))
    problem += differing("--min-ms 20", ["getaddrinfo", "gethostbyname_r"], [row["call"] for row in rows]) + err
    done, rows, err = lookups(root, flowtap, "--min-ms", "60000")
    problem += differing("--min-ms 60000", [], rows) + err
    done, rows, err = lookups(root, flowtap, "--comm", "no-such-name")
    return problem + differing("--comm", [], rows) + err


class Contained:
    """The program in a root directory of its own that only its mount namespace has, with copies of its libraries."""

    def __init__(self, root, folder):
        libraries = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", resolves(root)], capture_output=True, text=True).stdout)
        copies = " && ".join(f"mkdir -p {folder}{Path(path).parent} && cp -L {path} {folder}{path}" for path in libraries)
        script = (f"mount -t tmpfs tmpfs {folder} && mkdir {folder}/etc && {copies} && cp {resolves(root)} {folder}/resolves && "
                  f"echo 10.1.2.3 contained.test > {folder}/etc/hosts && exec {shutil.which('chroot')} {folder} /resolves")
        self.process = subprocess.Popen(["unshare", "-nm", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.resolve("getaddrinfo contained.test")  # it runs

    def resolve(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait(TIME_LIMIT)


def rows_of_contained(root, flowtap, contained, *arguments):
    running = Running(flowtap, "gethostlatency", "-f", "json", *arguments)
    results = [contained.resolve(line)["result"] for line in ("getaddrinfo contained.test", "gethostbyname contained.test")]
    done = run_load("resolver", resolves(root), "getaddrinfo=localhost", inside=("unshare", "-nm"))
    out, err = running.stop()
    rows = json_rows(out)  # messages name programs of others that end while the tool attaches
    wanted = {contained.process.pid: "inside", done["pid"]: "outside"}
    found = [(wanted[row["pid"]], row["call"], row["host"], row["result"]) for row in rows if row["pid"] in wanted]
    return differing("results in the container", ["", ""], results) + err, found


def gethostlatency_sees_into_containers(root, flowtap):
    """the results of a program in a container"""
    inside = [("inside", "getaddrinfo", "contained.test", 0), ("inside", "gethostbyname", "contained.test", 0)]
    with tempfile.TemporaryDirectory() as folder:
        contained = Contained(root, folder)
        try:
            number = str(contained.process.pid)
            problem = ""
            for arguments, expected in (([], [*inside, ("outside", "getaddrinfo", "localhost", 0)]), (["-p", number], inside),
                                        (["--netns", number], inside)):
                trouble, found = rows_of_contained(root, flowtap, contained, *arguments)
                problem += trouble + differing(f"rows with {arguments}", expected, found)
            return problem
        finally:
            contained.end()
