"""Segments that were lost, as the tools show them, beside what the load lost and what the kernel counted."""

import os
import re
import socket

from functions import may_miss_events
from namespaces import cable, nearly, stream
from processes import Running, Skipped
from shared import (differing, flowtap_text, json_records, json_rows, left_in_queues, named_namespace, plans_that_work, rows_by_option,
                    rows_of_load, run_all_beside, run_beside, run_load)

def closed_port():
    """Other loads on the machine do not use it."""
    return 20000 + os.getpid() % 10000


def segments(rows, *kinds):
    return sum(row["segs"] for row in rows if row["kind"] in kinds)


def ends(rows, kind):
    return {(row["laddr"], row["lport"], row["rport"]) for row in rows if row["kind"] == kind}


def tcpretrans_shows_every_segment_and_why(root, flowtap):
    """Tcp:RetransSegs; TcpExt:TCPFastRetrans, TCPLossProbes, TCPSynRetrans; the load's own losses"""
    done, rows, err = rows_of_load(flowtap, "retrans", (2, 2), "tcpretrans")
    lost = {kind: set(map(tuple, losses)) for kind, losses in done["lost"].items()}
    unanswered = {(address, remote, local) for address, local, remote in lost["synack"]}
    counted = done["counted"]
    return (differing("Tcp:RetransSegs", counted["RetransSegs"], segments(rows, "rto", "fast", "tlp", "syn", "synack"))
            + differing("TCPFastRetrans", counted["TCPFastRetrans"], segments(rows, "fast"))
            + differing("TCPLossProbes", counted["TCPLossProbes"], segments(rows, "tlp"))
            + differing("TCPSynRetrans", counted["TCPSynRetrans"], segments(rows, "syn", "synack"))
            + differing("sockets of syn", lost["syn"] | unanswered, ends(rows, "syn"))
            + differing("sockets of synack", lost["synack"], ends(rows, "synack"))
            + differing("sockets of fast", lost["fast"], ends(rows, "fast"))
            + differing("sockets without rto", set(), (lost["timer"] | lost["fast"]) - ends(rows, "rto"))
            + differing("several segments in one row", True, any(row["segs"] > 1 for row in rows)) + err)


def tcpretrans_sums_by_connection(root, flowtap):
    """Tcp:RetransSegs; the load's own losses"""
    done, rows, err = rows_of_load(flowtap, "retrans", (2, 1), "tcpretrans", "--sum")
    keys = [(row["laddr"], row["lport"], row["rport"], row["kind"]) for row in rows]
    sockets = {(row["laddr"], row["lport"], row["rport"]) for row in rows}
    lost = {tuple(loss) for losses in done["lost"].values() for loss in losses}
    return (differing("rows of one connection and kind", len(set(keys)), len(keys))
            + differing("sockets that were left out", set(), lost - sockets)
            + differing("order", sorted((row["segs"] for row in rows), reverse=True), [row["segs"] for row in rows])
            + differing("Tcp:RetransSegs", done["counted"]["RetransSegs"], sum(row["segs"] for row in rows)) + err)


def tcpretrans_shows_what_failed(root, flowtap):
    """TcpExt:TCPRetransFail"""
    if "int err" not in flowtap_text(flowtap, "-lv", "rawtracepoint:tcp_retransmit_skb")[1]:
        return Skipped("this kernel does not tell of retransmissions that failed")
    done, rows, err = rows_of_load(flowtap, "retrans_fail", (), "tcpretrans")
    failed = [row for row in rows if row["kind"] == "failed"]
    return (differing("TCPRetransFail", done["counted"]["TCPRetransFail"], len(failed))
            + differing("ports", {tuple(done["ports"])}, {(row["lport"], row["rport"]) for row in failed})
            + differing("reasons", {"ENOBUFS"}, {row["err"] for row in failed})
            + differing("Tcp:RetransSegs", done["counted"]["RetransSegs"], segments(rows, "rto", "tlp", "failed")) + err)


def tcpretrans_filters_in_the_kernel(root, flowtap):
    """the load's own losses, by family, port, address and process"""
    expected = {"-4": {"127.0.0.1"}, "-6": {"::1"}, "--port=1": set(), "--pid=1": set(), "--addr=::/64": {"::1"}, "--addr=10.0.0.0/8": set()}
    _, rows, err = rows_by_option(flowtap, "tcpretrans", expected, lambda: run_load("retrans", 1, 1))
    return differing("addresses", expected, {option: {row["laddr"] for row in found} for option, found in rows.items()}) + err


def to_closed_port(done, rows):
    return [row for row in rows if [row["saddr"], row["sport"], row["dport"]] in done["closed"]]


def drops_during(flowtap, *arguments):
    """(what the load did, rows of packets to its closed port, rows of packets to its filtered sockets, stderr)"""
    done, out, err = run_beside(flowtap, ("tcpdrop", *arguments), lambda: run_load("drop", 5, 7, closed_port()))
    rows = json_rows(out)
    ends = [f[:3] for f in done["filtered"]]
    return done, to_closed_port(done, rows), [row for row in rows if [row["saddr"], row["sport"], row["dport"]] in ends], err


def reasons(rows):
    return {(row["saddr"], row["daddr"], row["reason"]) for row in rows}


def tcpdrop_shows_every_packet_and_why(root, flowtap):
    """the load's own refused attempts; Tcp:OutRsts; the sockets' own drops (SO_MEMINFO)"""
    done, closed, filtered, err = drops_during(flowtap)
    to_filter = [[address, near, far, sum(row["sport"] == near for row in filtered)] for address, near, far, _ in done["filtered"]]
    addresses = ("127.0.0.1", "::1")
    return (differing("to a closed port", done["closed"], [[row["saddr"], row["sport"], row["dport"]] for row in closed])
            + differing("Tcp:OutRsts without the two that the load made", done["counted"]["OutRsts"] - 2, len(closed))
            + differing("reasons", {(a, a, "SKB_DROP_REASON_NO_SOCKET") for a in addresses}, reasons(closed))
            + differing("flags", {"S"}, {row["flags"] for row in closed})
            + differing("filtered", done["filtered"], to_filter)
            + differing("reasons", {(a, a, "SKB_DROP_REASON_SOCKET_FILTER") for a in addresses}, reasons(filtered))
            + differing("flags", {"P.", "R."}, {row["flags"] for row in filtered}) + err)


def tcpdrop_knows_the_socket(root, flowtap):
    """the load's process and the states of its sockets"""
    if "rx_sk" not in flowtap_text(flowtap, "-lv", "rawtracepoint:kfree_skb")[1]:
        return Skipped("this kernel does not tell to which socket a dropped packet came")
    done, closed, filtered, err = drops_during(flowtap)
    return (differing("of closed ports", {(0, "-", 0)}, {(row["pid"], row["comm"] or "-", row["state"]) for row in closed})
            + differing("of filters", {(done["pid"], "ESTABLISHED")}, {(row["pid"], row["state"]) for row in filtered}) + err)


@may_miss_events("packets in softirq")
def tcpdrop_names_the_qdisc(root, flowtap):
    """tc -s qdisc: dropped, by a shaper that has room for few packets of this process"""
    with cable() as (here, there):
        here.run("ethtool -K cable tso off gso off; tc qdisc replace dev cable root tbf rate 8mbit burst 5k limit 9k")
        running = Running(flowtap, "tcpdrop", "-f", "json", "--netns", str(here.pid))
        stream(here, there, 300_000)
        out, err = running.stop()
        dropped = int(re.search(r"dropped (\d+)", here.run("tc -s qdisc show dev cable"))[1])
    rows = [row for row in json_rows(out) if "QDISC" in row["reason"]]
    owners = {(row["where"], row["pid"], row["daddr"]) for row in rows}
    return (differing("places and processes", {("tbf of cable", os.getpid(), "10.77.0.2")}, owners) + nearly("tc: dropped", dropped, len(rows), most=dropped)
            + differing("states", True, {row["state"] for row in rows} <= {"ESTABLISHED", "FIN_WAIT1"}) + differing("some were dropped", True, dropped > 5) + err)


@may_miss_events("packets in softirq")
def tcpdrop_leaves_out_what_is_no_loss(root, flowtap):
    """connections of this process that close as they should: one side is closed already when the other's FIN comes; the rows of the same tool with --purged"""
    if "reasons" not in plans_that_work(flowtap, "tcpdrop"):
        return Skipped("this kernel has no reason for packets that are left in queues")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = f"--port={listener.getsockname()[1]}"

        def close_both():
            for _ in range(13):
                with socket.create_connection(listener.getsockname()), listener.accept()[0]:
                    pass

        _, outs, err = run_all_beside(flowtap, [("tcpdrop", port), ("tcpdrop", port, "--purged")], close_both)
    shown, purged = ([row for row in json_rows(out) if row["reason"] == "SKB_DROP_REASON_QUEUE_PURGE"] for out in outs)
    return (differing("shown", [], shown) + differing("left out", len(purged), left_in_queues(json_records(outs[0])))
            + differing("some were left out", True, len(purged) > 0) + err)


def tcpdrop_shows_the_stack(root, flowtap):
    """the function that gave up the packet is in it"""
    _, closed, _, err = drops_during(flowtap, "--stack")
    missing = [row["where"] for row in closed if row["where"] not in str(row["stack"])]
    return differing("rows", 12, len(closed)) + differing("functions that the stack lacks", [], missing) + err


def tcpdrop_filters_in_the_kernel(root, flowtap):
    """the load's own refused attempts, by family, port, address and process"""
    expected = {"-4": 5, "-6": 7, f"--port={closed_port()}": 12, "--port=1": 0, "--pid=1": 0, "--addr=127.0.0.0/8": 5, "--addr=2001:db8::/32": 0}
    commands = [("tcpdrop", option) for option in expected]
    done, outs, err = run_all_beside(flowtap, commands, lambda: run_load("drop", 5, 7, closed_port()))
    found = {option: len(to_closed_port(done, json_rows(out))) for option, out in zip(expected, outs)}
    return differing("packets", expected, found) + err


def tcpdrop_knows_the_namespace(root, flowtap):
    """the load's own packets, in the namespace and in another one"""
    with named_namespace() as name:
        def inside_and_outside():
            run_load("drop", 3, 2, closed_port())
            return run_load("drop", 2, 3, closed_port(), inside=["ip", "netns", "exec", name])

        inside, out, err = run_beside(flowtap, ("tcpdrop", "--netns", name), inside_and_outside)
    found = [[row["saddr"], row["sport"], row["dport"]] for row in json_rows(out) if row["dport"] == closed_port()]
    return differing("packets", inside["closed"], found) + err
