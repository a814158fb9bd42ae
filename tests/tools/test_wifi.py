"""Wi-Fi scans of simulated radios, beside what the load asked for."""

import json
import subprocess
import sys
from pathlib import Path

from processes import Running, Skipped
from shared import LOADS, differing, json_rows

GROUP = "radios"  # both load mac80211_hwsim


def radios(arguments):
    """The interfaces of two simulated radios, or nothing"""
    subprocess.run(["modprobe", "-r", "mac80211_hwsim"], capture_output=True)
    if subprocess.run(["modprobe", "mac80211_hwsim", "radios=2", *arguments], capture_output=True).returncode != 0:
        return []
    names = sorted(path.parent.name for path in Path("/sys/class/net").glob("*/phy80211"))
    for name in names:
        subprocess.run(["ip", "link", "set", name, "up"], check=True)
    return names


def scans_of(flowtap, names, *arguments):
    """(what the load did, rows of scans, rows of channels, stderr)"""
    running = Running(flowtap, "ieee80211scan", "-f", "json", *arguments)
    done = json.loads(subprocess.run([sys.executable, LOADS / "scan_load.py", "2412,2437,2462", *names], capture_output=True, text=True,
                                     check=True).stdout)
    out, err = running.stop()
    rows = json_rows(out)
    return done, [row for row in rows if "dev" in row], [row for row in rows if "mhz" in row], err


def same_scans(done, rows):
    found = {(row["dev"], row["pid"], row["channels"], row["aborted"]) for row in rows}
    slower = [row for row in rows if not 0 < row["lat_ms"] <= done["took"][row["dev"]]]
    return (differing("scans", {(name, done["pid"], 3, False) for name in done["took"]}, found) + differing("rows", len(found), len(rows))
            + differing("scans that took longer than the load saw", [], slower)
            + differing("Wi-Fi devices", len(found), len({row["phy"] for row in rows})))


def ieee80211scan_shows_scans_of_two_radios_at_once(root, flowtap):
    """what the load asked for, and its own clock"""
    names = radios([])
    if len(names) < 2:
        return Skipped("this kernel has no simulated radios (mac80211_hwsim)")
    done, rows, channels, err = scans_of(flowtap, names, "--channels")
    turned = {(row["phy"], row["mhz"]) for row in channels}
    wanted = {(row["phy"], mhz) for row in rows for mhz in (2412, 2437, 2462)}
    return same_scans(done, rows) + differing("channels that were left out", set(), wanted - turned) + err


def ieee80211scan_shows_scans_of_the_hardware(root, flowtap):
    """what the load asked for, and its own clock"""
    names = radios(["channels=2"])
    if len(names) < 2:
        return Skipped("this kernel has no simulated radios (mac80211_hwsim)")
    done, rows, _, err = scans_of(flowtap, names)
    _, none, _, _ = scans_of(flowtap, names, "--pid=1")
    return same_scans(done, rows) + differing("another process", [], none) + err
