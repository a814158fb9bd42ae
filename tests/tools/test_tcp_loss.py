"""Segments that were lost, as the tools show them, beside what the load lost and what the kernel counted."""

from processes import Skipped
from shared import differing, flowtap_text, rows_of_load


def segments(rows, *types):
    return sum(row["segs"] for row in rows if row["type"] in types)


def ends(rows, kind):
    return {(row["laddr"], row["lport"], row["rport"]) for row in rows if row["type"] == kind}


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


def tcpretrans_shows_what_failed(root, flowtap):
    """TcpExt:TCPRetransFail"""
    if "int err" not in flowtap_text(flowtap, "-lv", "rawtracepoint:tcp_retransmit_skb")[1]:
        return Skipped("this kernel does not tell of retransmissions that failed")
    done, rows, err = rows_of_load(flowtap, "retrans_fail", (), "tcpretrans")
    failed = [row for row in rows if row["type"] == "failed"]
    return (differing("TCPRetransFail", done["counted"]["TCPRetransFail"], len(failed))
            + differing("ports", {tuple(done["ports"])}, {(row["lport"], row["rport"]) for row in failed})
            + differing("reasons", {"ENOBUFS"}, {row["err"] for row in failed})
            + differing("Tcp:RetransSegs", done["counted"]["RetransSegs"], segments(rows, "rto", "tlp", "failed")) + err)


def tcpretrans_filters_in_the_kernel(root, flowtap):
    """the load's own losses, by family, port and process"""
    problem = ""
    for option, expected in (("-4", {"127.0.0.1"}), ("-6", {"::1"}), ("--port=1", set()), ("--pid=1", set())):
        _, rows, _ = rows_of_load(flowtap, "retrans", (1, 1), "tcpretrans", option)
        problem += differing(option, expected, {row["laddr"] for row in rows})
    return problem
