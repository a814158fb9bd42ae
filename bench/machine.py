"""What the measurements share: the programs to compare, helpers in C, and starting and stopping tracers."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
C = ROOT / "bench" / "c"
STATISTICS = Path("/proc/sys/kernel/bpf_stats_enabled")
PACKAGES = {"bpftrace": "bpftrace", "tcplife": "libbpf-tools", "tcprtt": "libbpf-tools", "clang": "clang", "bpftool": "bpftool", "gcc": "gcc"}


class Machine:
    """Paths of what there is; None for what is missing, which was said once."""

    def __init__(self):
        self.flowtap = str(ROOT / "build" / "flowtap")
        self.nap = 0  # microseconds between two looks at what has started
        for name, package in PACKAGES.items():
            path = shutil.which(name)
            if path is None:
                print(f"# {name} is missing (package {package}): going on without", flush=True)
            setattr(self, name, path)
        self.keeper = tempfile.TemporaryDirectory(prefix="flowtap-bench-")
        self.folder = Path(self.keeper.name)
        if self.gcc:
            for name in ("read_load", "ping_pong", "first_run"):
                self.build(name, ["gcc", "-O2"], C / f"{name}.c", [])
        self.hand = self.build_hand()

    def build(self, name, compiler, source, libraries):
        done = subprocess.run([*compiler, "-o", self.folder / name, source, *libraries], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"# {source.name} cannot be compiled: {done.stderr.splitlines()[0]}", flush=True)
        return done.returncode == 0

    def build_hand(self):
        """The command that runs a hand-written program, without its name."""
        if not (self.clang and self.gcc):
            return None
        if not Path("/usr/include/bpf/libbpf.h").exists():
            print("# bpf/libbpf.h is missing (package libbpf-dev): going on without hand-written C", flush=True)
            return None
        include = f"-I/usr/include/{os.uname().machine}-linux-gnu"
        made = self.build("hand.bpf.o", ["clang", "-O2", "-g", "-target", "bpf", include, "-c"], C / "hand.bpf.c", [])
        made = made and self.build("hand", ["gcc", "-O2"], C / "hand.c", ["-lbpf"])
        return [str(self.folder / "hand"), str(self.folder / "hand.bpf.o")] if made else None

    def tool(self, name):
        return str(self.folder / name)


class Tracer:
    """A running tracer: started, and waited for until its first program is there and it has settled."""

    def __init__(self, command, output=subprocess.DEVNULL, environment=None):
        self.before = set(program_statistics())
        environment = {**os.environ, **(environment or {})}
        self.process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL, env=environment)
        found = set()
        for _ in range(200):
            time.sleep(0.05)
            now = set(program_statistics()) - self.before
            if now and now == found:
                break
            found = now
        else:
            raise RuntimeError(f"{command[0]} attached nothing")
        time.sleep(0.2)

    def stop(self):
        """Seconds until it has ended after Ctrl-C."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:  # bpftrace misses a signal now and then
            self.process.kill()
            self.process.wait()
        return time.monotonic() - begin


def program_statistics():
    """{program id: (nanoseconds, runs)}, as the kernel counts while kernel.bpf_stats_enabled is on."""
    shown = subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True).stdout
    return {p["id"]: (p.get("run_time_ns", 0), p.get("run_cnt", 0)) for p in json.loads(shown)}


def vm_peak_megabytes(pid):
    """The most that a running process ever had in memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0
