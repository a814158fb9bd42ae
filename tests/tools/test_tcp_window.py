"""What TCP does with its window and its buffers, as the tools show it, beside what the sockets said of themselves."""

from functions import may_miss_events
from shared import (differing, histogram, histograms_of, json_rows, misfits, named_namespace, plans_that_work, rows_by_option, rows_during,
                    rows_of_load, run_all_beside, run_load)

WINDOW = ("cwnd", "ssthresh", "flight", "srtt_us", "sndbuf_bytes", "queued_bytes")


def not_in_order(expected, found):
    """What of a list is not found in another one, in the same order."""
    rest = iter(found)
    return [item for item in expected if item not in rest]


def tcpwin_shows_the_window_at_every_packet(root, flowtap):
    """TCP_INFO and SO_MEMINFO of the sender after each round"""
    done, rows, err = rows_of_load(flowtap, "window", (7,), "tcpwin")
    problem = ""
    for connection in done["connections"]:
        mine = [row for row in rows if [row["laddr"], row["lport"], row["rport"]] == connection["ends"] and row["event"] == "rcv"]
        found = [{key: row[key] for key in WINDOW} for row in mine]
        problem += differing("told and not shown", [], not_in_order(connection["told"], found))
        problem += differing("last packet", connection["told"][-1], found[-1] if found else None)
    early = [row for row in rows if row["elapsed_us"] < row["born_us"]]
    return problem + differing("rows before the connection began", [], early) + err


@may_miss_events("packets in softirq")
def tcpwin_shows_beginning_and_end(root, flowtap):
    """Tcp:ActiveOpens, AttemptFails and PassiveOpens; the load's own connections"""
    done, rows, err = rows_during(flowtap, (5, 3, 2), "tcpwin")
    counted = done["counted"]
    ends = [(c["address"], c["near"], c["far"]) for c in done["connections"]]
    ends += [(address, far, near) for address, near, far in ends]
    problem = ""
    for event in ("new", "end"):
        found = [(row["laddr"], row["lport"], row["rport"]) for row in rows if row["event"] == event]
        problem += differing(event, sorted(ends), sorted(found))
    begun = sum(row["event"] == "new" for row in rows)
    return problem + differing("opens", counted["ActiveOpens"] - counted["AttemptFails"] + counted["PassiveOpens"], begun) + err


CONNECTION = ("laddr", "lport", "raddr", "rport", "born_us")


@may_miss_events("packets in softirq")
def tcpwin_tells_connections_apart(root, flowtap):
    """the load's own connections, one after the other: the kernel uses the memory of their sockets again"""
    done, rows, err = rows_during(flowtap, (12, 11, 0), "tcpwin")
    begun = [tuple(row[key] for key in CONNECTION) for row in rows if row["event"] == "new"]
    ended = [tuple(row[key] for key in CONNECTION) for row in rows if row["event"] == "end"]
    others = {tuple(row[key] for key in CONNECTION) for row in rows} - set(begun)
    return (differing("sides of connections", 2 * len(done["connections"]), len(set(begun))) + differing("ends", sorted(begun), sorted(ended))
            + differing("rows of none of them", set(), others)
            + differing("sockets were used again", True, len({row["socket"] for row in rows}) < len(begun)) + err)


def tcpwin_shows_losses(root, flowtap):
    """TcpExt:TCPSackRecovery; the load's own losses"""
    done, rows, err = rows_of_load(flowtap, "retrans", (2, 1), "tcpwin")
    sockets = {event: {(row["laddr"], row["lport"], row["rport"]) for row in rows if row["event"] == event} for event in ("retrans", "ca")}
    lost = {kind: set(map(tuple, losses)) for kind, losses in done["lost"].items()}
    lossy = lost["timer"] | lost["fast"] | lost["syn"] | {(address, remote, local) for address, local, remote in lost["synack"]}
    recoveries = sum((row["event"], row["ca"]) == ("ca", "TCP_CA_Recovery") for row in rows)
    return (differing("sockets with retrans", lossy, sockets["retrans"]) + differing("sockets with ca", lossy, sockets["ca"])
            + differing("TCPSackRecovery", done["counted"]["TCPSackRecovery"], recoveries) + err)


def tcpwin_filters_in_the_kernel(root, flowtap):
    """the load's own connections, by family, address, port and process"""
    expected = {"-4": {"127.0.0.1"}, "-6": {"::1"}, "--addr=127.0.0.1": {"127.0.0.1"}, "--pid=1": set(), "--port=1": set()}
    _, rows, err = rows_by_option(flowtap, "tcpwin", expected, lambda: run_load("window", 2))
    return differing("addresses", expected, {option: {row["laddr"] for row in found} for option, found in rows.items()}) + err


def run_in_namespace(flowtap, commands, load):
    """The load twice, the second time in the namespace that the tools look at."""
    with named_namespace() as name:
        def outside_and_inside():
            run_load(*load)
            return run_load(*load, inside=["ip", "netns", "exec", name])

        return run_all_beside(flowtap, [(*command, "--netns", name) for command in commands], outside_and_inside)


def tcpnagle_counts_sends_and_holds(root, flowtap):
    """the load's own sends and options; SIOCOUTQNSD after each; its own clock"""
    problem = ""
    plans = plans_that_work(flowtap, "tcpnagle")
    done, outs, err = run_in_namespace(flowtap, [("tcpnagle", "--plan", plan) for plan in plans], ("nagle", 4, 6))
    expected = {mode: (sends, done["held"].get(mode, 0)) for mode, sends in done["sends"].items()}
    for plan, out in zip(plans, outs):
        problem += differing(f"modes ({plan})", expected, {row["nagle"]: (row["sends"], row["held"]) for row in json_rows(out)})
        held = histograms_of(out, "@held_us")
        problem += differing(f"reasons ({plan})", {why for why, _, _ in done["times"]}, set(held))
        for reason, buckets in held.items():
            problem += misfits([{"least": least, "most": most} for why, least, most in done["times"] if why == reason], buckets)
    return problem + err


def tcpnagle_filters_in_the_kernel(root, flowtap):
    """the load's own sends, by family, port and process"""
    options = {"-4": True, "-6": False, "--pid=1": False, "--port=1": False}
    done, outs, err = run_in_namespace(flowtap, [("tcpnagle", option) for option in options], ("nagle", 4))
    expected = {option: done["sends"] if is_shown else {} for option, is_shown in options.items()}
    return differing("sends", expected, {option: {row["nagle"]: row["sends"] for row in json_rows(out)} for option, out in zip(options, outs)}) + err


def is_part_of(some, buckets):
    counts = {low: count for low, _, count in buckets}
    return all(counts.get(low, 0) >= count for low, _, count in some)


def tcprtt_counts_every_packet_by_host(root, flowtap):
    """TCP_INFO before each answer; Tcp:InSegs of established connections"""
    done, outs, err = run_in_namespace(flowtap, [("tcprtt", "--by-host")], ("rtt", 53, 31))
    found = histograms_of(outs[0], "@host_rtt_us")
    packets = {host: told["packets"] for host, told in done["hosts"].items()}
    problem = differing("packets", packets, {host: sum(count for _, _, count in buckets) for host, buckets in found.items()}) + err
    for host, told in done["hosts"].items():
        if not is_part_of(histogram(told["told"]), found.get(host, [])):
            problem += f"  the sockets of {host} told {told['told']}, found {found.get(host)}\n"
    return problem


def tcprtt_shows_one_histogram_of_all(root, flowtap):
    """Tcp:InSegs of established connections, by family, address and process"""
    v4, v6 = "127.0.0.1", "::1"
    hosts = {"": [v4, v6], "-4": [v4], "-6": [v6], "--addr=10.0.0.0/8": [], "--addr=127.0.0.0/8": [v4], "--pid=1": []}
    done, outs, err = run_in_namespace(flowtap, [("tcprtt", *option.split()) for option in hosts], ("rtt", 11, 7))
    expected = {option: sum(done["hosts"][host]["packets"] for host in wanted) for option, wanted in hosts.items()}
    found = {option: sum(count for _, _, count in histograms_of(out, "@rtt_us").get("", [])) for option, out in zip(hosts, outs)}
    return differing("packets", expected, found) + err
