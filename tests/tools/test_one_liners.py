"""docs/one-liners.md: every command of it that names a load, beside that load.

    ```sh load=net needs=kprobe
    <!-- shows REGEX --> below the block: what its output must hold
"""

import re
import shlex
import time
from pathlib import Path

import features
from processes import Running, Skipped
from shared import run_load

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "one-liners.md"
LOADS = {"net": ("one_liner_net",), "disk": ("one_liner_disk",), "retrans": ("retrans", 1, 1)}
BLOCK = re.compile(r"^```sh([^\n]*)\n(flowtap .*?)\n```\n(?:<!-- shows (.*?) -->\n)?", re.M | re.S)


def output_during(flowtap, command, load):
    running = Running(flowtap, *shlex.split(command)[1:])
    # A loop device belongs to the whole machine; sockets stay in a namespace.
    run_load(*LOADS[load], inside=() if load == "disk" else ("unshare", "-n"))
    time.sleep(0.2)
    return running.stop()


def one_liner(words, command, shows):
    def test(root, flowtap):
        for need in re.findall(r"\bneeds=(\S+)", words):
            if not features.has(need):
                return Skipped(features.reason(need))
        out, err = output_during(flowtap, command, re.search(r"\bload=(\S+)", words)[1])
        return "" if re.search(shows, out) else f"  {command}\n  does not show {shows}:\n{out}{err}"

    return test


def all_of_the_page():
    for number, (words, command, shows) in enumerate(BLOCK.findall(PAGE.read_text()), 1):
        if "load=" in words:
            yield f"one_liner_{number}", one_liner(words, command, shows)


globals().update(all_of_the_page())
