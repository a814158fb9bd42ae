"""Reports in quick succession: what happens meanwhile is in one of them, and in one only."""

import json
import os
import shutil
import tempfile
from pathlib import Path

import features
from processes import Running
from shared import differing, run_load

MESSAGES = 400_000 // features.SLOWER

# All that is counted of one event is in one report.
COLUMNS = """
let @messages per report;
let @ones = percpuhash(64) per report;
let @most = percpuhash(64) per report;
let @sizes per report;
let @all per report;

tracepoint:syscalls:sys_enter_sendto /comm == str($1)/ {
  @messages[comm] = count();
  @ones[comm] = sum((uint64)1);
  @most[comm] = max(args.len);
  @sizes[comm] = hist(args.len);
  @all = count();
}

self:report:1ms {
  for ($kv : @messages) {
    print(("row", $kv.0, $kv.1, (uint64)@ones[$kv.0], (uint64)@most[$kv.0]));
  }
  print(@sizes);
  print(@all);
}
"""


def reports(flowtap, name, *arguments, **environment):
    """(what the load did, the records of all reports, everything on stderr)"""
    running = Running(flowtap, *arguments, **environment)
    done = run_load("report", name, MESSAGES)
    out, err = running.stop()
    return done, [json.loads(line) for line in out.splitlines()], err


def columns_of_a_report_are_of_the_same_events(root, flowtap):
    """the load's own count of its messages"""
    name = f"rep-{os.getpid()}"
    done, records, err = reports(flowtap, name, "-f", "json", "-e", COLUMNS, name)
    rows = [record["data"] for record in records if record.get("type") == "value"]
    differ = [row for row in rows if row[2] != row[3] or row[4] != 11]
    maps = [record["data"] for record in records if record.get("type") in ("map", "hist")]
    sizes = sum(bucket["count"] for data in maps if "@sizes" in data for bucket in data["@sizes"].get(name, []))
    counted = [sum(row[2] for row in rows), sum(row[3] for row in rows), sizes, sum(data["@all"] for data in maps if "@all" in data)]
    return (differing("statuses", [0, 0], done["statuses"]) + differing("rows whose columns differ", [], differ)
            + differing("messages by each map", [done["messages"]] * 4, counted)
            + differing("there were many reports", True, len(rows) > 10) + err)


def sockstat_counts_each_message_once(root, flowtap):
    """the load's own count of its messages, with a report every millisecond"""
    name = f"rep-{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shutil.copytree(root / "tools" / "lib", Path(folder) / "lib")
        script = Path(folder) / "sockstat.bt"
        script.write_text((root / "tools" / "sockstat.bt").read_text().replace("self:report:1 {", "self:report:1ms {"))
        done, rows, err = reports(flowtap, name, "sockstat", "-f", "json", "--comm", name, FLOWTAP_TOOLS=folder)
    expected = {"send": done["messages"], "recv": done["messages"], "tx_bytes": done["bytes"], "rx_bytes": done["bytes"]}
    return (differing("activity", expected, {key: sum(row[key] for row in rows) for key in expected})
            + differing("there were many reports", True, len(rows) > 10) + err)
