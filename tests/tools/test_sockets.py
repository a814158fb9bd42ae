"""Calls on sockets as the tools show them, beside what the load did."""

import os
import socket
import threading
from pathlib import Path

import known_kernels
from processes import Running, Skipped, wait_for
from shared import differing, has_tracepoint, histograms_of, json_rows, misfits, rows_of_process, run_load, same_calls, same_lives


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
        (("--addr", "203.0.113.0/24"), lambda call: call["raddr"] == "203.0.113.1"),
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
        (("--addr", "::1"), lambda call: call["proto"] == "TCPv6"),
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
        (("--addr", "127.0.0.1"), lambda call: call["proto"] != "TCPv6"),
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


def solife_lasts_as_long_as_the_load_saw(root, flowtap):
    """the load's own clock"""
    return same_lives(*rows_of_process(flowtap, ("session",), "solife"))


def solife_needs_no_function_probes(root, flowtap):
    """the load's own clock"""
    return same_lives(*rows_of_process(flowtap, ("session",), "solife", "--plan", "syscalls"))


def solife_filters_in_the_kernel(root, flowtap):
    """the load's own sessions"""
    problem = ""
    for arguments, wanted in (
        (("-6",), lambda row: ":" in row["laddr"]),
        (("--port", "5302"), lambda row: row["rport"] == 5302),
        (("--min-ms", "60000"), lambda row: False),
    ):
        problem += same_lives(*rows_of_process(flowtap, ("session",), "solife", *arguments), wanted)
    return problem


def first_bytes(flowtap, *arguments):
    running = Running(flowtap, "so1stbyte", *arguments, "-f", "json")
    done = run_load("first_byte")
    out, err = running.stop()
    found = histograms_of(out, "@us")
    return done, [buckets for key, buckets in found.items() if key.endswith(f",{done['pid']}")], err


def so1stbyte_measures_what_the_client_sees(root, flowtap):
    """the client's own clock"""
    done, found, err = first_bytes(flowtap)
    return (misfits(done["times"], found[0]) if len(found) == 1 else f"  not one histogram: {found}\n") + err


def so1stbyte_needs_no_function_probes(root, flowtap):
    """the client's own clock"""
    if not has_tracepoint("sock_recv_length"):
        return Skipped("this kernel has no tracepoint sock:sock_recv_length")
    done, found, err = first_bytes(flowtap, "--plan", "tracepoints")
    return (misfits(done["times"], found[0]) if len(found) == 1 else f"  not one histogram: {found}\n") + err


def so1stbyte_filters_in_the_kernel(root, flowtap):
    """the client's own count"""
    done, found, err = first_bytes(flowtap, "-6")
    counted = sum(count for buckets in found for _, _, count in buckets)
    problem = differing("-6", len(done["times"]) // 2, counted) + err
    done, found, err = first_bytes(flowtap, "--comm", "no-such-name")
    return problem + differing("--comm", [], found) + err


def so1stbyte_shows_each_connection(root, flowtap):
    """the client's own clock"""
    running = Running(flowtap, "so1stbyte", "--each", "-f", "json")
    done = run_load("first_byte")
    out, err = running.stop()
    rows = [row for row in json_rows(out) if row["pid"] == done["pid"]]
    return misfits(done["times"], [(row["lat_us"], row["lat_us"], 1) for row in rows]) + err


def so1stbyte_sees_calls_that_wait_while_others_attach(root, flowtap):
    """the client's own count"""
    if known_kernels.lacks("fentry") or not has_tracepoint("sock_recv_length"):
        return Skipped("this kernel does not permit fentry, or has no tracepoint sock:sock_recv_length")
    running = Running(flowtap, "so1stbyte", "--each", "-f", "json")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        end, _ = server.accept()
        waits = threading.Thread(target=client.recv, args=(1,))
        waits.start()
        wait_for(lambda: "wait_woken" in Path(f"/proc/{os.getpid()}/task/{waits.native_id}/wchan").read_text())
        other = Running(flowtap, "-e", "fexit:sock_recvmsg { @ = count(); }")
        end.sendall(b"x")
        waits.join()
        end.close()
    other.stop()
    out, err = running.stop()
    return differing("rows", 1, sum(row["pid"] == os.getpid() for row in json_rows(out))) + err


def connection_times(flowtap, *arguments):
    """(what the load did, its histogram of each map, number of failures by error, everything on stderr)"""
    load = f"connlat-{os.getpid()}"  # another test may run it too
    running = Running(flowtap, "soconnlat", *arguments, "-f", "json")
    done = run_load("connlat", load)
    out, err = running.stop()
    found = {}
    for name in ("@network_us", "@wakeup_us"):
        added = {}
        for key, buckets in histograms_of(out, name).items():
            for low, high, count in buckets if key.endswith(f",{load}") else ():
                added[low, high] = added.get((low, high), 0) + count
        found[name] = [(*place, count) for place, count in sorted(added.items())]
    failed = {}
    for key, buckets in histograms_of(out, "@failed_us").items():
        if key.split(",")[-2] == load:
            error = key.split(",")[-1]
            failed[error] = failed.get(error, 0) + sum(count for _, _, count in buckets)
    return done, found, failed, err


def soconnlat_tells_the_network_from_the_program(root, flowtap):
    """the load's own clock; TCP_INFO"""
    done, found, failed, err = connection_times(flowtap)
    expected = {error: done["failed"].count(error) for error in done["failed"]}
    return (misfits(done["network"], found["@network_us"]) + misfits(done["wakeup"], found["@wakeup_us"])
            + differing("failures", expected, failed) + err)


def soconnlat_filters_in_the_kernel(root, flowtap):
    """the load's own count"""
    done, found, failed, err = connection_times(flowtap, "--addr", "10.9.0.0/24")
    problem = misfits(done["network"][:3], found["@network_us"]) + differing("failures", {}, failed) + err
    _, found, failed, err = connection_times(flowtap, "-6")
    problem += differing("-6", (7, 1), (sum(count for _, _, count in found["@network_us"]), sum(failed.values()))) + err
    _, found, failed, err = connection_times(flowtap, "--comm", "no-such-name")
    return problem + differing("--comm", ({"@network_us": [], "@wakeup_us": []}, {}), (found, failed)) + err
