"""UDP sockets as the tools show them, beside what the load did and what ss(8) says."""

from processes import Skipped
from shared import differing, has_tracepoint, rows_of_process, same_calls, same_lives


def udpconnect_shows_every_call(root, flowtap):
    """the load's own connects; ss -ua state established"""
    done, rows, err = rows_of_process(flowtap, ("udp", "connects"), "udpconnect")
    found = sorted([row["lport"], row["raddr"].replace("::ffff:", ""), row["rport"]] for row in rows if row["err"] == 0)
    return same_calls(done, rows, err) + differing("rows of ss", sorted(done["ss"]), found)


def udpconnect_filters_in_the_kernel(root, flowtap):
    """the load's own connects"""
    problem = ""
    for arguments, wanted in (
        (("-4",), lambda call: "." in call["laddr"] and ":" not in call["laddr"]),
        (("-6",), lambda call: ":" in call["laddr"]),
        (("--errors",), lambda call: call["err"] != 0),
        (("--addr", "203.0.0.0/8"), lambda call: call["raddr"] == "203.0.113.1"),
        (("--rport", "5301"), lambda call: call["rport"] == 5301),
    ):
        problem += same_calls(*rows_of_process(flowtap, ("udp", "connects"), "udpconnect", *arguments), wanted)
    return problem


def udplife_counts_payload_exactly(root, flowtap):
    """the load's own bytes and clock"""
    return same_lives(*rows_of_process(flowtap, ("udp", "talks"), "udplife"))


def only_udp(done, rows, err):
    sessions = [session for session in done["sessions"] if session["row"].pop("proto").startswith("UDP")]
    return {"sessions": sessions}, rows, err


def udplife_ends_with_the_last_descriptor(root, flowtap):
    """the load's own clock"""
    return same_lives(*only_udp(*rows_of_process(flowtap, ("session",), "udplife")))


def udplife_needs_no_function_probes(root, flowtap):
    """the load's own bytes and clock"""
    if not has_tracepoint("sock_send_length"):
        return Skipped("this kernel has no tracepoint sock:sock_send_length")
    return (same_lives(*rows_of_process(flowtap, ("udp", "talks"), "udplife", "--plan", "tracepoints"))
            + same_lives(*only_udp(*rows_of_process(flowtap, ("session",), "udplife", "--plan", "tracepoints"))))


def udplife_filters_in_the_kernel(root, flowtap):
    """the load's own sessions"""
    problem = ""
    for arguments, wanted in (
        (("-4",), lambda row: ":" not in row["laddr"]),
        (("--addr", "::1"), lambda row: row["laddr"] == "::1"),
        (("--min-ms", "60000"), lambda row: False),
    ):
        problem += same_lives(*rows_of_process(flowtap, ("udp", "talks"), "udplife", *arguments), wanted)
    return problem
