"""Packets in the queues of devices, beside what tc says."""

import json
import re
import socket
import subprocess
import time

from functions import may_miss_events
from namespaces import cable, nearly, send, stream
from processes import Running, Skipped
from shared import differing, json_rows, plans_that_work
from slow_line import SlowLine


def tc_statistics(text):
    """(packets that left, packets dropped)"""
    found = re.search(r"Sent \d+ bytes (\d+) pkt \(dropped (\d+)", text)
    return int(found[1]), int(found[2])


def histogram_total(out, name):
    total = 0
    for line in out.splitlines():
        data = json.loads(line)
        if data.get("type") == "hist":
            total += sum(bucket["count"] for buckets in data["data"][name].values() for bucket in buckets)
    return total


def waits_in_tbf(flowtap, *arguments):
    """(rows of queues, rows of drops, everything on stdout, what tc says, stderr): 20 packets for which there is room, 100 for which there is not"""
    with cable() as (here, there):
        here.run("tc qdisc replace dev cable root tbf rate 2mbit burst 5k limit 30k")
        first = tc_statistics(here.run("tc -s qdisc show dev cable"))
        running = Running(flowtap, *arguments, "-f", "json", "--netns", str(here.pid))
        before = tc_statistics(here.run("tc -s qdisc show dev cable"))
        for count in (20, 100):
            send(here, "10.77.0.2", count, size=1000)
        while "backlog 0b 0p" not in here.run("tc -s qdisc show dev cable"):
            time.sleep(0.02)
        after = tc_statistics(here.run("tc -s qdisc show dev cable"))
        out, err = running.stop()
        last = tc_statistics(here.run("tc -s qdisc show dev cable"))
    rows = json_rows(out)
    # The kernel sends packets of its own now and then: the third is from before the tool began until after it ended.
    grown = after[0] - before[0], after[1] - before[1], last[0] - first[0]
    return [r for r in rows if "pkts" in r], [r for r in rows if "reason" in r], out, grown, err


def qdisclat_times_every_packet_of_a_shaper(root, flowtap):
    """tc -s qdisc: Sent, dropped; the shaper's own rate"""
    queues, drops, out, (sent, dropped, most), err = waits_in_tbf(flowtap, "qdisclat")
    packets = sum(row["pkts"] for row in queues)
    longest = max((row["max_us"] for row in queues), default=0)
    # Something was dropped, so the queue was full: 30 KiB, at a byte every 4 microseconds and 5 KiB at once.
    at_least = 80_000
    return (differing("kinds", {("cable", "tbf", "0xffffffff")}, {(r["dev"], r["kind"], r["class"]) for r in queues})
            + nearly("tc: Sent", sent, packets, 0.75, most) + differing("histogram", packets, histogram_total(out, "@usecs"))
            + differing("tc: dropped", dropped, sum(r["count"] for r in drops))
            + differing("reasons", {"SKB_DROP_REASON_QDISC_DROP"}, {r["reason"] for r in drops if dropped})
            + differing("something was dropped", True, dropped > 0)
            + differing(f"the longest took {at_least} us at least", True, longest >= at_least) + err)


def qdisclat_chooses_kinds_and_devices(root, flowtap):
    """the test's own packets"""
    problem = ""
    for arguments, some in ((["qdisclat", "--kind=tbf"], True), (["qdisclat", "--kind=fq"], False), (["qdisclat", "--dev=lo"], False),
                            (["qdisc-tbf", "--dev=cable"], True)):
        queues, drops, _, _, err = waits_in_tbf(flowtap, *arguments)
        problem += differing(f"{arguments}", (some, some), (bool(queues), bool(drops))) + err
    return problem


@may_miss_events("packets in softirq")
def qdisclat_counts_segments_as_tc_does(root, flowtap):
    """tc -s qdisc: Sent; TCP hands the qdisc large packets, which are cut later"""
    with cable() as (here, there):
        here.run("tc qdisc replace dev cable root tbf rate 1gbit burst 500k limit 10m")
        first = tc_statistics(here.run("tc -s qdisc show dev cable"))[0]
        running = Running(flowtap, "qdisclat", "-f", "json", "--netns", str(here.pid))
        before = tc_statistics(here.run("tc -s qdisc show dev cable"))[0]
        stream(here, there, 1_000_000)
        sent = tc_statistics(here.run("tc -s qdisc show dev cable"))[0] - before
        out, err = running.stop()
        most = tc_statistics(here.run("tc -s qdisc show dev cable"))[0] - first
    rows = [row for row in json_rows(out) if "pkts" in row]
    packets, skbs = sum(row["pkts"] for row in rows), sum(row["skbs"] for row in rows)
    return (nearly("tc: Sent", sent, packets, 0.75, most) + differing("large packets", True, 0 < 2 * skbs < packets) + err)


def sums(out):
    rows = [row for row in json_rows(out) if "pkts" in row]
    return {column: sum(row[column] for row in rows) for column in ("pkts", "skbs", "new")}


@may_miss_events("packets in softirq")
def qdisc_tbf_agrees_with_qdisclat(root, flowtap):
    """qdisclat --kind tbf on the same traffic: segments of TCP that are larger than the bucket, which the shaper cuts"""
    with cable() as (here, there):
        here.run("tc qdisc replace dev cable root tbf rate 8mbit burst 5k limit 200k")
        both = [Running(flowtap, *words, "-f", "json", "--netns", str(here.pid)) for words in (("qdisclat", "--kind", "tbf"), ("qdisc-tbf",))]
        stream(here, there, 400_000)
        results = [running.stop() for running in both]
    whole, one = (sums(out) for out, _ in results)
    # The kernel sends packets of its own, which one may see before the other is attached.
    is_near = all(abs(whole[column] - one[column]) <= 2 for column in whole)
    return ("" if is_near else differing("qdisc-tbf", whole, one)) + differing("hundreds of packets", True, one["pkts"] > 200) + "".join(err for _, err in results)


CLASSES = """tc qdisc add dev cable root handle 1: htb
             tc class add dev cable parent 1: classid 1:10 htb rate 1mbit
             tc class add dev cable parent 1: classid 1:20 htb rate 2mbit
             tc class add dev cable parent 1: classid 1:30 htb rate 2mbit
             tc qdisc add dev cable parent 1:10 handle 10: fq_codel
             tc qdisc add dev cable parent 1:30 handle 30: netem delay 30ms limit 20"""


def waits_in_classes(flowtap, *arguments):
    """({(kind, class): packets}, the same of drops, what tc says of qdiscs and classes, stderr)"""
    with cable() as (here, there):
        here.run("for kind in htb fq_codel netem; do modprobe sch_$kind; done")
        here.run(CLASSES)
        running = Running(flowtap, *arguments, "-f", "json", "--netns", str(here.pid))
        for minor, count in ((0x10, 40), (0x20, 50), (0x30, 60)):
            with here.socket(socket.AF_INET) as end:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 0x10000 + minor)  # the class
                for _ in range(count):
                    end.sendto(b"x" * 500, ("10.77.0.2", 9))
        while "backlog 0b 0p" not in here.run("tc -s qdisc show dev cable root"):
            time.sleep(0.02)
        out, err = running.stop()
        text = here.run("tc -s qdisc show dev cable; tc -s class show dev cable")
    told = {f"{kind} {name}": (int(sent), int(dropped)) for kind, name, sent, dropped in
            re.findall(r"(qdisc \w+|class) (?:htb )?(\S+) .*\n Sent \d+ bytes (\d+) pkt \(dropped (\d+)", text)}
    rows = json_rows(out)
    return ({(r["kind"], int(r["class"], 16)): r["pkts"] for r in rows if "pkts" in r},
            {(r["kind"], int(r["class"], 16)): r["count"] for r in rows if "reason" in r}, told, err)


def qdisclat_tells_queues_within_classes(root, flowtap):
    """tc -s qdisc, tc -s class: Sent, dropped"""
    if "functions" not in plans_that_work(flowtap, "qdisclat"):
        return Skipped("this kernel lets no functions be traced")
    queues, drops, told, err = waits_in_classes(flowtap, "qdisclat")
    expected = {("fq_codel", 0x10010): told["class 1:10"][0], ("pfifo", 0x10020): told["class 1:20"][0],
                ("netem", 0x10030): told["class 1:30"][0]}
    lost = {("fq_codel", 0x10010): told["qdisc fq_codel 10:"][1], ("netem", 0x10030): told["qdisc netem 30:"][1]}
    # What the kernel sends by itself passes the classes by.
    at_root = queues.pop(("htb", 0xffffffff), 0)
    one, _, told_then, other_err = waits_in_classes(flowtap, "qdisc-fq_codel")
    return (differing("packets", expected, queues) + nearly("packets at the root", sum(expected.values()), at_root, most=told["qdisc htb 1:"][0])
            + differing("sent to 1:20", 50, told["class 1:20"][0])
            + differing("dropped", {key: count for key, count in lost.items() if count}, drops) + differing("netem dropped some", True, lost["netem", 0x10030] > 0)
            + differing("with one kind", {("fq_codel", 0x10010): told_then["class 1:10"][0]}, one) + err + other_err)


SO_SNDBUFFORCE = 32  # not in Python's module

KINDS = {
    "fq": "fq",
    "codel": "codel",
    "fq_codel": "fq_codel limit 50",
    "red": "red limit 60000 min 5000 max 15000 avpkt 1000 burst 10 probability 1 bandwidth 10mbit",
    "tbf": "tbf rate 1gbit burst 50k limit 60k",
    "cbs": "cbs locredit -1470 hicredit 30 sendslope -980000 idleslope 20000 offload 0",
}


def fill_and_drain(flowtap, line, kind):
    subprocess.run(["modprobe", f"sch_{kind}"], capture_output=True)
    subprocess.run(["tc", "qdisc", "replace", "dev", line.name, "root", *KINDS[kind].split()], check=True)
    running = Running(flowtap, f"qdisc-{kind}", "-f", "json", "--dev", line.name)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 10_000_000)
        for _ in range(200):
            try:
                end.sendto(b"x" * 900, ("10.78.0.2", 9))
            except OSError:  # the queue was full, which IP may tell
                pass
    time.sleep(0.05)
    line.flow()
    text = ""
    while "backlog 0b 0p" not in text:
        time.sleep(0.02)
        text = subprocess.run(["tc", "-s", "qdisc", "show", "dev", line.name, "root"], capture_output=True, text=True).stdout
    out, err = running.stop()
    rows = json_rows(out)
    return [r for r in rows if "pkts" in r], [r for r in rows if "reason" in r], tc_statistics(text), err


def qdisclat_knows_every_kind(root, flowtap):
    """tc -s qdisc: Sent, dropped; the time that the device stood still"""
    problem = ""
    for kind in KINDS:
        try:
            with SlowLine() as line:
                queues, drops, (sent, dropped), err = fill_and_drain(flowtap, line, kind)
        except RuntimeError as error:
            return Skipped(f"this kernel has no device that stands still: {error}")
        packets = sum(r["pkts"] for r in queues)
        problem += differing(f"{kind}: kinds", {kind}, {r["kind"] for r in queues})
        # The rest found it idle and went past it.
        problem += differing(f"{kind}: at least half of {sent} packets, found {packets}", True, sent / 2 <= packets <= sent)
        problem += differing(f"{kind}: sent and dropped", 200, sent + sum(r["count"] for r in drops))
        # cbs does not count what the queue below it dropped.
        problem += differing(f"{kind}: dropped", dropped, sum(r["count"] for r in drops) if kind != "cbs" else 0)
        problem += differing(f"{kind}: longest wait of 50 ms at least", True, any(r["max_us"] >= 50_000 for r in queues)) + err
    return problem
