"""docs/one-liners.md: every command of it that names a load, beside that load. Several share one run of it.

    ```sh load=net needs=kprobe
    <!-- shows REGEX --> below the block: what its output must hold
"""

import contextlib
import re
import shlex
import time
from pathlib import Path

import features
from functions import alone
from disk_shared import scsi_disk
from processes import Running, Skipped
from shared import run_load

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "one-liners.md"
LOADS = {"net": ("one_liner_net",), "disk": ("one_liner_disk",), "retrans": ("retrans", 1, 1)}
BLOCK = re.compile(r"^```sh([^\n]*)\n(flowtap .*?)\n```\n(?:<!-- shows (.*?) -->\n)?", re.M | re.S)


AT_ONCE = 15  # commands beside one run of a load


def load_of(name):
    """The load's words, or None where it cannot be; its disk is there as long as the `with`."""
    if name != "scsi":
        return contextlib.nullcontext(LOADS[name])
    return scsi_load()


@contextlib.contextmanager
def scsi_load():
    with scsi_disk() as disk:
        yield ("disk", disk, "read:17:4096", "write:13:8192") if disk else None


def start(flowtap, command):
    # argdist reports each second: one report has the whole load, however slow the machine is.
    once = ("-i", "60") if "argdist" in command else ()
    return Running(flowtap, *shlex.split(command)[1:], *once)


def one_liners(load_name, needs, commands):
    @alone
    def test(root, flowtap):
        for need in needs:
            if not features.has(need):
                return Skipped(features.reason(need))
        with load_of(load_name) as load:
            if not load:
                return Skipped("this kernel has no scsi_debug")
            tracers = [start(flowtap, command) for command, _ in commands]
            # A disk belongs to the whole machine; sockets stay in a namespace.
            run_load(*load, inside=() if "disk" in load[0] else ("unshare", "-n"))
            time.sleep(0.2)
            outputs = [tracer.stop() for tracer in tracers]
        wrong = [f"  {command}\n  does not show {shows}:\n{out}{err}"
                 for (command, shows), (out, err) in zip(commands, outputs) if not re.search(shows, out)]
        return "".join(wrong)

    return test


def all_of_the_page():
    by_load = {}
    for words, command, shows in BLOCK.findall(PAGE.read_text()):
        load = re.search(r"\bload=(\S+)", words)
        if load:
            by_load.setdefault((load[1], tuple(re.findall(r"\bneeds=(\S+)", words))), []).append((command, shows))
    for (load, needs), commands in by_load.items():
        for first in range(0, len(commands), AT_ONCE):
            name = "_".join(["one_liners", load, *needs, str(first // AT_ONCE + 1)])
            yield name, one_liners(load, needs, commands[first:first + AT_ONCE])


globals().update(all_of_the_page())
