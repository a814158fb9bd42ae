"""Calls on sockets as the tools show them, beside what the load did."""

from shared import differing, rows_of_process, same_calls


def soconnect_shows_every_call(root, flowtap):
    """the load's own connects: ends, order and errno"""
    done, rows, err = rows_of_process(flowtap, ("socket", "connects"), "soconnect")
    return same_calls(done, rows, err) + differing("calls that took no time", [], [row for row in rows if row["lat_us"] <= 0])


def soconnect_filters_in_the_kernel(root, flowtap):
    """the load's own connects"""
    problem = ""
    for arguments, wanted in (
        (("-4",), lambda call: "." in call["raddr"]),
        (("-6",), lambda call: ":" in call["raddr"]),
        (("--rport", "53"), lambda call: call["rport"] == 53),
        (("--errors",), lambda call: call["err"] not in (0, "EINPROGRESS")),
    ):
        problem += same_calls(*rows_of_process(flowtap, ("socket", "connects"), "soconnect", *arguments), wanted)
    _, rows, err = rows_of_process(flowtap, ("socket", "connects"), "soconnect", "--min-us", "60000000")
    return problem + differing("--min-us", [], rows) + err


def soaccept_shows_every_call(root, flowtap):
    """the load's own accepts; Tcp:PassiveOpens"""
    done, rows, err = rows_of_process(flowtap, ("socket", "accepts"), "soaccept")
    accepted = sum(row["err"] == 0 for row in rows)
    return same_calls(done, rows, err) + differing("Tcp:PassiveOpens", done["counted"]["PassiveOpens"], accepted)


def soaccept_filters_in_the_kernel(root, flowtap):
    """the load's own accepts"""
    problem = ""
    for arguments, wanted in (
        (("-4",), lambda call: call["proto"] == "TCP"),
        (("-6",), lambda call: call["proto"] == "TCPv6"),
        (("--errors",), lambda call: call["err"] not in (0, "EAGAIN")),
    ):
        problem += same_calls(*rows_of_process(flowtap, ("socket", "accepts"), "soaccept", *arguments), wanted)
    _, rows, err = rows_of_process(flowtap, ("socket", "accepts"), "soaccept", "--lport", "1")
    return problem + differing("--lport", [], rows) + err


def solisten_shows_every_call(root, flowtap):
    """the load's own listens; Send-Q of ss -lt; inode of /proc/self/ns/net"""
    problem = same_calls(*rows_of_process(flowtap, ("socket", "listens"), "solisten"))
    for arguments, wanted in (
        (("-4",), lambda call: call["proto"] != "TCPv6"),
        (("-6",), lambda call: call["proto"] == "TCPv6"),
        (("--errors",), lambda call: call["err"] != 0),
    ):
        problem += same_calls(*rows_of_process(flowtap, ("socket", "listens"), "solisten", *arguments), wanted)
    return problem


def sofdsnoop_shows_every_descriptor(root, flowtap):
    """the load's own sends and receives; inodes of fstat"""
    done, rows, err = rows_of_process(flowtap, ("fd",), "sofdsnoop")
    # A child may be told before its parent's call has ended.
    done["calls"].sort(key=lambda call: done["pids"].index(call["pid"]))
    return same_calls(done, sorted(rows, key=lambda row: done["pids"].index(row["pid"])), err)


def sofdsnoop_shows_one_process(root, flowtap):
    """the load's own sends and receives"""
    _, rows, err = rows_of_process(flowtap, ("fd",), "sofdsnoop", "--comm", "no-such-name")
    return differing("--comm", [], rows) + err
