"""docs/one-liners.md: every command of it that names a load, beside that load.

    ```sh load=net needs=kprobe
    <!-- shows REGEX --> below the block: what its output must hold
"""

import contextlib
import re
import shlex
import time
from pathlib import Path

import features
from disk_shared import scsi_disk
from processes import Running, Skipped
from shared import run_load

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "one-liners.md"
LOADS = {"net": ("one_liner_net",), "disk": ("one_liner_disk",), "retrans": ("retrans", 1, 1)}
BLOCK = re.compile(r"^```sh([^\n]*)\n(flowtap .*?)\n```\n(?:<!-- shows (.*?) -->\n)?", re.M | re.S)


def output_during(flowtap, command, words):
    # argdist reports each second: one report holds the whole load, however slow the machine is.
    once = ("-i", "60") if "argdist" in command else ()
    running = Running(flowtap, *shlex.split(command)[1:], *once)
    # A disk belongs to the whole machine; sockets stay in a namespace.
    run_load(*words, inside=() if "disk" in words[0] else ("unshare", "-n"))
    time.sleep(0.2)
    return running.stop()


def load_of(name):
    """The load's words, or None where it cannot be; its disk is there as long as the `with`."""
    if name != "scsi":
        return contextlib.nullcontext(LOADS[name])
    return scsi_load()


@contextlib.contextmanager
def scsi_load():
    with scsi_disk() as disk:
        yield ("disk", disk, "read:17:4096", "write:13:8192") if disk else None


def one_liner(words, command, shows):
    def test(root, flowtap):
        with load_of(re.search(r"\bload=(\S+)", words)[1]) as load:
            for need in re.findall(r"\bneeds=(\S+)", words):
                if not features.has(need):
                    return Skipped(features.reason(need))
            if not load:
                return Skipped("this kernel has no scsi_debug")
            out, err = output_during(flowtap, command, load)
        return "" if re.search(shows, out) else f"  {command}\n  does not show {shows}:\n{out}{err}"

    return test


def all_of_the_page():
    for number, (words, command, shows) in enumerate(BLOCK.findall(PAGE.read_text()), 1):
        if "load=" in words:
            yield f"one_liner_{number}", one_liner(words, command, shows)


globals().update(all_of_the_page())
