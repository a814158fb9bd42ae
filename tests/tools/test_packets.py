"""Packets that were dropped, marked, delayed, beside what the test sent and what the kernel counted. Each test has namespaces of its own."""

import contextlib
import json
import re
import socket
import sys
import time
from pathlib import Path

import features
from namespaces import Namespace, cable, grown, packets_in, send, tunnel
from processes import Running, Skipped
from shared import differing, flowtap_text, json_records, json_rows, left_in_queues, plans_that_work


def drops_in(flowtap, namespace, *arguments):
    """(rows of packets, counters of the kernel that grew, what /proc says about them, stderr): 7 and 5 datagrams to a closed port"""
    running = Running(flowtap, "skbdrop", "-f", "json", "--netns", str(namespace.pid), *arguments)
    before = namespace.counters()
    send(namespace, "127.0.0.1", 7)
    send(namespace, "::1", 5, version=6)
    after = namespace.counters()
    out, err = running.stop()
    rows = json_rows(out)
    return [r for r in rows if "count" in r], {r["counter"]: r["grew"] for r in rows if "grew" in r}, grown(before, after), err


def skbdrop_counts_packets_by_reason(root, flowtap):
    """the test's own datagrams; Udp:NoPorts; Udp6NoPorts"""
    with Namespace() as namespace, Namespace() as other:
        send(other, "127.0.0.1", 3)
        rows, _, counted, err = drops_in(flowtap, namespace)
    found = {(r["proto"], r["where"]): r["count"] for r in rows if r["reason"] == "SKB_DROP_REASON_NO_SOCKET"}
    expected = {("IPv4", "__udp4_lib_rcv"): counted["UdpNoPorts"], ("IPv6", "__udp6_lib_rcv"): counted["Udp6NoPorts"]}
    return (differing("datagrams", (7, 5), (counted["UdpNoPorts"], counted["Udp6NoPorts"]))
            + differing("drops", expected, found)
            + differing("order", sorted((r["count"] for r in rows), reverse=True), [r["count"] for r in rows]) + err)


def skbdrop_shows_the_kernels_counters(root, flowtap):
    """/proc/net/snmp, netstat, snmp6"""
    if "counters  yes" not in flowtap_text(flowtap, "check", "skbdrop")[1]:
        return Skipped("this kernel does not say where its counters are (CONFIG_KALLSYMS_ALL)")
    with Namespace() as namespace:
        _, counters, counted, err = drops_in(flowtap, namespace)
    return differing("counters", {"UdpNoPorts": 7, "Udp6NoPorts": 5}, counters) + differing(
        "of /proc", counters, {name: counted.get(name) for name in counters}) + err


def skbdrop_leaves_out_what_is_no_loss(root, flowtap):
    """connections that close as they should: one side is closed already when the other's FIN comes; the rows of the same tool with --purged"""
    if not {"counters", "packets"} & set(plans_that_work(flowtap, "skbdrop")):
        return Skipped("this kernel has no reason for packets that are left in queues")
    running = [Running(flowtap, "skbdrop", "-f", "json", *option) for option in ((), ("--purged",))]
    for _ in range(13):
        listener = socket.create_server(("127.0.0.1", 0))
        with listener, socket.create_connection(listener.getsockname()), listener.accept()[0]:
            pass
    outs, errs = zip(*[one.stop() for one in running])
    shown, purged = (sum(row["count"] for row in json_rows(out) if row.get("reason") == "SKB_DROP_REASON_QUEUE_PURGE") for out in outs)
    return (differing("shown", 0, shown) + differing("some were left out", (True, True), (purged > 0, left_in_queues(json_records(outs[0])) > 0))
            + "".join(errs))


def skbdrop_shows_the_stack(root, flowtap):
    """the function that gave up the packet is in it"""
    with Namespace() as namespace:
        rows, _, _, err = drops_in(flowtap, namespace, "--stack", "-4")
    found = [row for row in rows if row["reason"] == "SKB_DROP_REASON_NO_SOCKET"]
    return (differing("protocols", {"IPv4"}, {row["proto"] for row in rows}) + differing("packets", 7, sum(r["count"] for r in found))
            + differing("functions that the stack lacks", [], [r["where"] for r in found if r["where"] not in str(r["stack"])]) + err)


CE, ECT0 = 3, 2  # the lowest bits of the traffic class


def marks_in(flowtap, *arguments):
    """(rows here, rows there, what the far end counted, stderr): 5 marked and 6 plain datagrams of IPv4, 7 and 8 of IPv6"""
    with cable() as (here, there):
        for version, address in ((4, "10.77.0.2"), (6, "fd77::2")):  # a first one, so that no answer is under way later
            send(here, address, 1, version=version)
        running = [Running(flowtap, "ipecn", "-f", "json", "--netns", str(end.pid), *arguments) for end in (here, there)]
        before = there.counters()
        for version, address, marked, plain in ((4, "10.77.0.2", 5, 6), (6, "fd77::2", 7, 8)):
            send(here, address, marked, tos=CE, version=version)
            send(here, address, plain, tos=ECT0, version=version)
        counted = grown(before, there.counters())
        (out, err), (far_out, far_err) = [r.stop() for r in running]
        return json_rows(out), json_rows(far_out), counted, err + far_err


def ipecn_shows_marked_packets_both_ways(root, flowtap):
    """IpExt:InCEPkts; Ip6InCEPkts; the test's own datagrams"""
    near, far, counted, err = marks_in(flowtap)
    out = [(r["saddr"], r["daddr"], r["by"], r["dev"]) for r in near if r["dir"] == "out"]
    into = [(r["saddr"], r["daddr"], r["by"], r["dev"]) for r in far if r["dir"] == "in"]
    def expected(by):
        return [("10.77.0.1", "10.77.0.2", by, "cable")] * counted["IpExtInCEPkts"] + [("fd77::1", "fd77::2", by, "cable")] * counted["Ip6InCEPkts"]
    return (differing("counted", (5, 7), (counted["IpExtInCEPkts"], counted["Ip6InCEPkts"]))
            + differing("out", expected("sender"), out) + differing("in", expected("path"), into) + err)


def ipecn_sums_all_packets(root, flowtap):
    """IpExt:InCEPkts, InECT0Pkts; Ip6InCEPkts, Ip6InECT0Pkts"""
    _, far, counted, err = marks_in(flowtap, "--sum")
    found = {r["ecn"]: r["pkts"] for r in far if r["dir"] == "in"}
    expected = {"CE": counted["IpExtInCEPkts"] + counted["Ip6InCEPkts"], "ECT0": counted["IpExtInECT0Pkts"] + counted["Ip6InECT0Pkts"]}
    return differing("in", expected, {ecn: found.get(ecn) for ecn in expected}) + err


def ipecn_filters_in_the_kernel(root, flowtap):
    """the test's own datagrams, by family, address and device"""
    problem = ""
    for option, expected in (("-4", 5), ("-6", 7), ("--addr=10.77.0.0/16", 5), ("--dev=lo", 0)):
        _, far, _, err = marks_in(flowtap, option)
        problem += differing(option, expected, sum(r["dir"] == "in" for r in far)) + err
    return problem


def ipecn_knows_that_a_qdisc_marked_it(root, flowtap):
    """IpExt:InCEPkts behind netem"""
    with cable() as (here, there):
        here.run("modprobe sch_netem 2>/dev/null; true")
        try:
            here.run("tc qdisc replace dev cable root netem loss 100% ecn")
        except RuntimeError:
            return Skipped("this kernel has no netem")
        running = Running(flowtap, "ipecn", "-f", "json", "--netns", str(here.pid), "-4")
        before = there.counters()
        send(here, "10.77.0.2", 11, tos=ECT0)
        counted = grown(before, there.counters())
        out, err = running.stop()
    found = [(r["daddr"], r["by"]) for r in json_rows(out) if r["dir"] == "out"]
    return differing("counted", 11, counted["IpExtInCEPkts"]) + differing("rows", [("10.77.0.2", "qdisc")] * 11, found) + err


ECHO = f"{sys.executable} {Path(__file__).parent / 'echo_load.py'}"


def echoes(flowtap, *arguments):
    """(what the load sent, rows of its namespace, what the kernel counted, stderr): 5 requests through the cable and 5 on loopback, of both versions"""
    with cable() as (here, there):
        running = Running(flowtap, "superping", "-f", "json", "--netns", str(here.pid), *arguments)
        before = here.counters()
        done = json.loads(here.run(f"{ECHO} 5 10.77.0.2 fd77::2 127.0.0.1 ::1"))
        counted = grown(before, here.counters())
        out, err = running.stop()
        return done, json_rows(out), counted, err


def superping_shows_every_answer(root, flowtap):
    """the load's own clock; Icmp:InEchoReps; Icmp6InEchoReplies"""
    done, rows, counted, err = echoes(flowtap)
    found = [[row["addr"], row["id"], row["seq"]] for row in rows]
    slower = [row for row, sent in zip(rows, done["sent"]) if row["lat_us"] >= sent[3] or row["lat_us"] <= 0]
    devices = {(row["addr"], row["dev"]) for row in rows}
    return (differing("answers", [sent[:3] for sent in done["sent"]], found)
            + differing("InEchoReps", (10, 10), (counted["IcmpInEchoReps"], counted["Icmp6InEchoReplies"]))
            + differing("rows that took longer than the load saw", [], slower)
            + differing("devices", {("10.77.0.2", "cable"), ("fd77::2", "cable"), ("127.0.0.1", "lo"), ("::1", "lo")}, devices)
            + differing("processes", {done["pid"]}, {row["pid"] for row in rows}) + err)


def superping_shows_what_has_no_answer(root, flowtap):
    """Icmp:OutEchos without Icmp:InEchoReps, and of IPv6, beside a machine that ignores some"""
    with cable() as (here, there):
        running = Running(flowtap, "superping", "-f", "json", "--netns", str(here.pid), "--timeout=1")
        before = here.counters()
        here.run(f"{ECHO} 3 10.77.0.2 fd77::2")
        there.run("echo 1 > /proc/sys/net/ipv4/icmp_echo_ignore_all; echo 1 > /proc/sys/net/ipv6/icmp/echo_ignore_all")
        here.run(f"{ECHO} unanswered 7 10.77.0.2")
        here.run(f"{ECHO} unanswered 4 fd77::2")
        counted = grown(before, here.counters())
        time.sleep(2 * features.SLOWER)  # the last are looked for within 1.5 seconds
        here.run(f"{ECHO} unanswered 2 10.77.0.2")
        out, err = running.stop()
    rows = json_rows(out)
    lost = [row["addr"] for row in rows if row["end"] == "lost"]
    unanswered = counted["IcmpOutEchos"] - counted["IcmpInEchoReps"], counted["Icmp6OutEchos"] - counted["Icmp6InEchoReplies"]
    return (differing("unanswered", (7, 4), unanswered) + differing("lost", unanswered, (lost.count("10.77.0.2"), lost.count("fd77::2")))
            + differing("sooner", [], [row for row in rows if row["end"] == "lost" and row["lat_us"] < 1_000_000])
            + differing("answered", 6, sum(row["end"] == "answer" for row in rows))
            + differing("sent at the end", [("10.77.0.2", 1), ("10.77.0.2", 2)], sorted((row["addr"], row["seq"]) for row in rows if row["end"] == "waiting")) + err)


def superping_filters_in_the_kernel(root, flowtap):
    """the load's own requests, by family, address, device and process"""
    problem = ""
    for option, expected in (("-4", {"10.77.0.2", "127.0.0.1"}), ("-6", {"fd77::2", "::1"}), ("--addr=fd77::/64", {"fd77::2"}),
                             ("--dev=lo", {"127.0.0.1", "::1"}), ("--pid=1", set()), ("--min-ms=10000", set())):
        _, rows, _, err = echoes(flowtap, option)
        problem += differing(option, expected, {row["addr"] for row in rows}) + err
    return problem


def lives_of(flowtap, expected, send_and_read, end="freed", plan=()):
    """What is wrong about packets that are read 80 ms after they were sent. Others on the machine may have packets that live as long."""
    running = Running(flowtap, *plan, "skblife", "-f", "json", "--min-us", "80000")
    read = send_and_read()
    out, err = running.stop()
    rows = [row for row in json_rows(out) if row["end"] == end]
    packets = sum(row["pkts"] for row in rows)
    is_right = packets == expected if features.SLOWER > 1 else packets >= expected
    return (differing("read", expected, read) + differing(f"{expected} packets that lived 80 ms, found {packets}", True, is_right)
            + differing("mean and longest life", True, all(80_000 <= row["avg_us"] <= row["max_us"] for row in rows)) + err)


def skblife_measures_what_a_device_holds(root, flowtap):
    """the test's own datagrams, which it reads from a tun device 80 ms after it sent them"""
    with Namespace() as here, tunnel(here) as end:
        def send_and_read():
            send(here, "10.79.0.2", 40)
            time.sleep(0.08)
            return packets_in(end)

        return lives_of(flowtap, 40, send_and_read)


def skblife_measures_what_a_program_reads_by_tcp(root, flowtap):
    """the test's own segments, one for each of its connections, which it reads 80 ms after it sent them"""
    with cable() as (here, there), contextlib.ExitStack() as open_ends:
        listener = open_ends.enter_context(there.socket(socket.AF_INET, socket.SOCK_STREAM))
        listener.bind(("10.77.0.2", 7))
        listener.listen(20)
        pairs = []
        for _ in range(20):
            near = open_ends.enter_context(here.socket(socket.AF_INET, socket.SOCK_STREAM))
            near.connect(("10.77.0.2", 7))
            pairs.append((near, open_ends.enter_context(listener.accept()[0])))

        def send_and_read():
            for near, _ in pairs:
                near.send(b"x" * 700)
            time.sleep(0.08)
            return sum(len(far.recv(2000)) == 700 for _, far in pairs)

        return lives_of(flowtap, 20, send_and_read, end="read", plan=("--plan", "events"))


def skblife_measures_what_a_program_reads(root, flowtap):
    """the test's own datagrams, which it reads from its socket 80 ms after it sent them"""
    if not re.search(r"functions +yes", flowtap_text(flowtap, "check", "skblife")[1]):
        return Skipped("this kernel lets no functions be traced, and frees packets that were read without an event")
    with cable() as (here, there):
        ends = [there.socket(socket.AF_INET), there.socket(socket.AF_INET6)]
        for end, address in zip(ends, ("10.77.0.2", "fd77::2")):
            end.bind((address, 9))

        def send_and_read():
            send(here, "10.77.0.2", 40)
            send(here, "fd77::2", 30, version=6)
            time.sleep(0.08)
            return sum(bool(end.recv(2000)) for end, count in zip(ends, (40, 30)) for _ in range(count))

        problem = lives_of(flowtap, 70, send_and_read)
        for end in ends:
            end.close()
        return problem
