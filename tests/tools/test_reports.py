"""Reports in quick succession: what happens meanwhile is in one of them, and in one only."""

import contextlib
import json
import os
import socket

import features
from functions import may_miss_events
from namespaces import IFF_NAPI, Namespace, packets_in, tunnel, udp_packet
from processes import Running
from quick_reports import quick_copies, reports_that_do_not_add_up
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
    with quick_copies(root, ["sockstat"]) as folder:
        done, rows, err = reports(flowtap, name, "sockstat", "-f", "json", "--comm", name, FLOWTAP_TOOLS=folder)
    expected = {"send": done["messages"], "recv": done["messages"], "tx_bytes": done["bytes"], "rx_bytes": done["bytes"]}
    return (differing("activity", expected, {key: sum(row[key] for row in rows) for key in expected})
            + differing("there were many reports", True, len(rows) > 10) + err)


PACKETS = 20_000 // features.SLOWER


def packets_of_all_kinds(here, end):
    """Packets into a device with NAPI and out of it, TCP connections, and bytes that a cork holds back."""
    with contextlib.ExitStack() as sockets:
        listener, corked, far, near = [sockets.enter_context(here.socket(socket.AF_INET, kind)) for kind in [socket.SOCK_STREAM] * 2 + [socket.SOCK_DGRAM] * 2]
        far.bind(("10.79.0.1", 9))
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        corked.connect(listener.getsockname())
        sockets.enter_context(listener.accept()[0])
        corked.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        for number in range(PACKETS):
            os.write(end, udp_packet(number))
            near.sendto(b"x" * 11, ("10.79.0.2", 9))
            corked.send(b"x")
            if number % 10 == 0:
                packets_in(end)
                with here.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
                    client.connect(listener.getsockname())
                    listener.accept()[0].close()
        packets_in(end)


@may_miss_events("packets in softirq")
def reports_of_packets_add_up(root, flowtap):
    """one report of the same tool for the same events"""
    with Namespace() as here, tunnel(here, IFF_NAPI) as end:
        mine, inside = ("-p", str(os.getpid())), ("--dev", "tunnel", "--netns", str(here.pid))
        return reports_that_do_not_add_up(root, flowtap, {
            "napi": (inside, ("polls", "pkts")),
            "rxcpu": (inside, ("pkts", "taken")),
            "netsize": (inside, ("pkts", "segs", "bytes")),
            "nettxlat": (inside, ("pkts",)),
            "filetype": ((*mine, "--kind", "character"), ("calls", "errors", "bytes")),
            "tcpnagle": (mine, ("sends",)),  # HELD is what each of the two sees a moment after the other
            "backlog": (mine, ("conns",)),
        }, lambda: packets_of_all_kinds(here, end))
