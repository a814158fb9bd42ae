"""UDP sockets as the tools show them, beside what the load did and what ss(8) says."""

from shared import differing, rows_of_process, same_calls


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
        (("--rport", "5301"), lambda call: call["rport"] == 5301),
    ):
        problem += same_calls(*rows_of_process(flowtap, ("udp", "connects"), "udpconnect", *arguments), wanted)
    return problem
