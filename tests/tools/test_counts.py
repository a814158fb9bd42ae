"""Tools that count what processes do with sockets, beside what a program knows it did."""

import json
import os
import shutil
import socket
import tempfile
from pathlib import Path

from processes import Running
from shared import differing, run_load


def reported(flowtap, load, *arguments):
    """(what the load did, every row of the tool's reports, everything on stderr)"""
    running = Running(flowtap, *arguments, "-f", "json")
    done = run_load(*load)
    out, err = running.stop()
    return done, [json.loads(line) for line in out.splitlines()], err


def of(done, rows):
    return [row for row in rows if row.get("pid") == done["pid"]]


def messages_of(entries):
    return sorted((e["dir"], e["proto"], e["rport"], str(e["err"]), len(e["sizes"]), sum(e["sizes"])) for e in entries)


def counted(rows):
    return sorted((row["dir"], row["proto"], row["rport"], str(row["err"]), row["count"], row["bytes"]) for row in rows)


def socketio_counts_every_message(root, flowtap):
    """a program's own count of each call and its bytes"""
    done, rows, err = reported(flowtap, ("io",), "socketio")
    problem = differing("messages", messages_of(done["done"]), counted(of(done, rows))) + err
    order = [row["count"] for row in rows]
    return problem + differing("order", sorted(order, reverse=True), order)


def socketio_knows_where_datagrams_go(root, flowtap):
    """the addresses that this process gave with its messages, and those of the answers"""
    with socket.socket(type=socket.SOCK_DGRAM) as first, socket.socket(type=socket.SOCK_DGRAM) as second:
        ports = []
        for end in (first, second):
            end.bind(("127.0.0.1", 0))
            ports.append(end.getsockname()[1])
        running = [Running(flowtap, "socketio", "-f", "json", *arguments) for arguments in ((), (f"--port={ports[1]}",))]
        with socket.socket(type=socket.SOCK_DGRAM) as sender:
            for count, port in zip((7, 5), ports):
                for _ in range(count):
                    sender.sendto(b"x" * 10, ("127.0.0.1", port))
            for count, end in ((3, first), (2, second)):
                for _ in range(count):
                    end.sendto(b"y" * 5, sender.getsockname())
                    sender.recvfrom(100)
        outs, errs = zip(*[one.stop() for one in running])
    found = [{(row["dir"], row["rport"]): (row["count"], row["bytes"]) for row in map(json.loads, out.splitlines())
              if row.get("pid") == os.getpid() and row["proto"] == "UDP" and row["rport"] in (0, *ports)} for out in outs]
    of_second = {("write", ports[1]): (5, 50), ("read", ports[1]): (2, 10)}
    expected = {("write", ports[0]): (7, 70), ("read", ports[0]): (3, 15), **of_second}
    return differing("messages by port", [expected, of_second], found) + "".join(errs)


def socketio_filters_in_the_kernel(root, flowtap):
    """a program's own count of each call and its bytes"""
    problem = ""
    for arguments, wanted in ((["--errors"], lambda e: e["err"] != 0),
                              (["-4"], lambda e: e["proto"] in ("TCP", "MPTCP")),
                              (["-6"], lambda e: e["proto"] == "UDPv6"),
                              (["--addr", "::1/128"], lambda e: e["proto"] == "UDPv6"),
                              (["--addr", "10.0.0.0/8"], lambda e: False),
                              (["--comm", "no-such-name"], lambda e: False),
                              (["--top", "1"], None)):
        done, rows, err = reported(flowtap, ("io",), "socketio", *arguments)
        if wanted is None:
            problem += differing(f"{arguments}", 1, len(rows)) + err
        else:
            expected = [e for e in done["done"] if wanted(e)]
            problem += differing(f"{arguments}", messages_of(expected), counted(of(done, rows))) + err
    return problem


def in_bucket(bucket, size):
    return bucket.get("min", size) <= size <= bucket.get("max", size)


def histograms(records, name):
    """key -> buckets of a map of histograms"""
    found = {}
    for record in records:
        if record.get("type") == "hist":
            found.update(record["data"].get(name, {}))
    return found


def wrong_sizes(key, buckets, sizes):
    counts = [bucket["count"] for bucket in buckets]
    return differing(f"sizes of {key}", [sum(in_bucket(bucket, size) for size in sizes) for bucket in buckets], counts) + \
        differing(f"number of {key}", len(sizes), sum(counts))


def sizes_of(done, direction, wanted=lambda entry: True):
    return [size for e in done["done"] if e["dir"] == direction and not e["err"] and wanted(e) for size in e["sizes"]]


def socksize_shows_every_size(root, flowtap):
    """a program's own list of sizes"""
    name = f"size-{os.getpid()}"
    done, records, err = reported(flowtap, ("io", name), "socksize")
    problem = err
    expected = []
    for direction in ("read", "write"):
        sizes = sizes_of(done, direction)
        problem += wrong_sizes(direction, histograms(records, f"@{direction}_bytes").get(name, []), sizes)
        expected.append((direction, len(sizes), sum(sizes) // len(sizes), sum(sizes)))
    found = sorted((row["dir"], row["count"], row["mean_bytes"], row["total_bytes"]) for row in of(done, records))
    return problem + differing("table", expected, found)


def socksize_divides_by_process_port_and_stack(root, flowtap):
    """a program's own list of sizes"""
    name = f"size-{os.getpid()}"
    done, records, err = reported(flowtap, ("io", name), "socksize", "--by", "pid", "--comm", name)
    key = f"{name},{done['pid']}"
    problem = err + wrong_sizes(key, histograms(records, "@write_bytes").get(key, []), sizes_of(done, "write"))
    done, records, err = reported(flowtap, ("io", name), "socksize", "--by", "port", "--comm", name)
    for port in (done["tcp"], done["udp"], 0):
        sizes = sizes_of(done, "write", lambda entry: entry["rport"] == port)
        key = f"{name},{port}"
        problem += err + wrong_sizes(key, histograms(records, "@write_bytes").get(key, []), sizes)
    done, records, err = reported(flowtap, ("io", name), "socksize", "--by", "stack", "--comm", name)
    total = sum(bucket["count"] for buckets in histograms(records, "@read_bytes").values() for bucket in buckets)
    return problem + err + differing("reads by stack", len(sizes_of(done, "read")), total)


def tcptop_counts_payload_of_each_connection(root, flowtap):
    """the payload that a program sent and received"""
    done, rows, err = reported(flowtap, ("tcp", 11, 7, 3), "tcptop", "--top", "0")
    expected, found = {}, {}
    for c in done["connections"]:
        for lport, rport, tx, rx in ((c["near"], c["far"], c["sent"], c["answered"]), (c["far"], c["near"], c["answered"], c["sent"])):
            if tx or rx:
                expected[c["address"], lport, c["address"], rport] = (rx, tx, rx + tx)
    for row in of(done, rows):  # a connection may stand in two reports
        key = (row["laddr"], row["lport"], row["raddr"], row["rport"])
        parts = (row["rx_bytes"], row["tx_bytes"], row["bytes"])
        found[key] = tuple(a + b for a, b in zip(found.get(key, (0, 0, 0)), parts))
    return differing("connections", expected, found) + err


def tcptop_counts_multipath_connections(root, flowtap):
    """the payload that a program sent and received"""
    done, rows, err = reported(flowtap, ("io",), "tcptop", "--top", "0")
    expected = {}
    for e in done["done"]:
        if e["proto"] in ("TCP", "MPTCP") and e["dir"] != "peek" and not e["err"]:
            expected[e["rport"]] = expected.get(e["rport"], 0) + sum(e["sizes"])
    found = {}
    for row in of(done, rows):
        found[row["rport"]] = found.get(row["rport"], 0) + row["bytes"]
    return differing("payload by remote port", expected, found) + err


def tcptop_reports_each_byte_once(root, flowtap):
    """what this process sends through connections that end during reports: there is one every millisecond"""
    expected, found = {}, {}
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        shutil.copytree(root / "tools" / "lib", Path(folder) / "lib")
        script = Path(folder) / "tcptop.bt"
        script.write_text((root / "tools" / "tcptop.bt").read_text().replace("self:report:1 {", "interval:ms:1 {"))
        near = listener.getsockname()[1]
        running = Running(flowtap, "-f", "json", str(script), "--", "--top=0", f"--port={near}")
        for _ in range(1000):
            with socket.create_connection(listener.getsockname()) as client:
                server, _ = listener.accept()
                client.sendall(b"x" * 100)
                server.recv(100)
                server.close()
                far = client.getsockname()[1]
                expected[far] = expected.get(far, 0) + 200
        out, err = running.stop()
    for row in (json.loads(line) for line in out.splitlines()):
        far = row["lport"] if row["rport"] == near else row["rport"]
        found[far] = found.get(far, 0) + row["bytes"]
    # The end of a stream is a byte for a moment, until the kernel says that it was the end.
    wrong = {far: (sent, found.get(far, 0)) for far, sent in expected.items() if found.get(far, 0) - sent not in (0, 1)}
    return differing("bytes expected and found", {}, wrong) + err


def tcptop_knows_connections_from_before(root, flowtap):
    """what this process sends and its child reads, through a connection that is older than tcptop"""
    problem = ""
    for plan in ((), ("--plan", "space")):
        with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
            server, _ = listener.accept()
            client.sendall(b"before")
            server.recv(6)
            # The only report is that of the end.
            running = Running(flowtap, "tcptop", "--interval", "1000", "-f", "json", *plan)
            client.sendall(b"x" * 70001)
            child = os.fork()
            if child == 0:
                os._exit(len(server.recv(70001, socket.MSG_WAITALL)) != 70001)
            status = os.waitpid(child, 0)[1]
            out, err = running.stop()
            near, far = client.getsockname()[1], server.getsockname()[1]
            server.close()
        found = {(row["pid"], row["lport"], row["rport"], row["rx_bytes"], row["tx_bytes"])
                 for row in map(json.loads, out.splitlines()) if {row["lport"], row["rport"]} == {near, far}}
        expected = {(os.getpid(), near, far, 0, 70001), (child, far, near, 70001, 0)}
        problem += differing("status of the reader", 0, status) + differing(f"rows of {plan}", expected, found) + err
    return problem


def tcptop_knows_who_only_sends(root, flowtap):
    """what this process sends through connections that it accepts, and reads nothing from"""
    problem = ""
    for is_older in (True, False):
        listener = socket.create_server(("127.0.0.1", 0)) if is_older else None
        running = Running(flowtap, "tcptop", "--interval", "1000", "-f", "json")
        listener = listener or socket.create_server(("127.0.0.1", 0))
        child = os.fork()
        if child == 0:
            with socket.create_connection(listener.getsockname()) as client:
                os._exit(len(client.recv(5003, socket.MSG_WAITALL)) != 5003)
        server, (_, near) = listener.accept()
        server.sendall(b"x" * 5003)
        status = os.waitpid(child, 0)[1]
        far = listener.getsockname()[1]
        server.close()
        listener.close()
        out, err = running.stop()
        found = {(row["pid"], row["lport"], row["rport"], row["rx_bytes"], row["tx_bytes"])
                 for row in map(json.loads, out.splitlines()) if {row["lport"], row["rport"]} == {near, far}}
        expected = {(child, near, far, 5003, 0), (os.getpid(), far, near, 0, 5003)}
        problem += differing("status of the reader", 0, status) + differing(f"rows, listener is older: {is_older}", expected, found) + err
    return problem


def tcptop_filters_in_the_kernel(root, flowtap):
    """the payload that a program sent and received"""
    problem = ""
    for arguments, wanted in ((["-4"], "127.0.0.1"), (["-6"], "::1"), (["--addr", "127.0.0.0/8"], "127.0.0.1"), (["--port", "1"], "")):
        done, rows, err = reported(flowtap, ("tcp", 5, 3, 0), "tcptop", "--top=0", *arguments)
        expected = sum(2 * (c["sent"] + c["answered"]) for c in done["connections"] if c["address"] == wanted)
        problem += differing(f"{arguments}", expected, sum(row["bytes"] for row in of(done, rows))) + err
    return problem


def sockstat_counts_calls_and_messages(root, flowtap):
    """a program's own count of each call and its bytes"""
    name = f"stat-{os.getpid()}"
    done, rows, err = reported(flowtap, ("io", name), "sockstat", "--comm", name)
    count = lambda wanted: sum(len(e["sizes"]) for e in done["done"] if wanted(e))
    expected = dict(done["calls"], send=count(lambda e: e["dir"] == "write"), recv=count(lambda e: e["dir"] != "write"),
                    failed=count(lambda e: e["err"] == "EPIPE"), tx_bytes=sum(sizes_of(done, "write")), rx_bytes=sum(sizes_of(done, "read")))
    return differing("activity", expected, {key: sum(row[key] for row in rows) for key in expected}) + err


def sofamily_counts_openings(root, flowtap):
    """a program's own count of its connections"""
    done, rows, err = reported(flowtap, ("openings",), "sofamily")
    expected = {}
    for call, family, _, _, error, count in done["openings"]:
        expected[call, family, error] = expected.get((call, family, error), 0) + count
    found = {(row["call"], row["family"], row["err"]): row["count"] for row in of(done, rows)}
    return differing("openings", expected, found) + err


def soprotocol_counts_openings(root, flowtap):
    """a program's own count of its connections"""
    done, rows, err = reported(flowtap, ("openings",), "soprotocol")
    found = sorted(str([row[key] for key in ("call", "kind", "proto", "err", "count")]) for row in of(done, rows))
    expected = sorted(str([call, kind, proto, error, count]) for call, _, kind, proto, error, count in done["openings"])
    return differing("openings", expected, found) + err


def sofamily_and_soprotocol_choose_errors(root, flowtap):
    """a program's own count of its connections"""
    problem = ""
    for tool in ("sofamily", "soprotocol"):
        done, rows, err = reported(flowtap, ("openings",), tool, "--errors")
        expected = sum(count for *_, error, count in done["openings"] if error)
        problem += differing(f"failures of {tool}", expected, sum(row["count"] for row in of(done, rows))) + err
    return problem


def kernel_version():
    return tuple(int(part) for part in os.uname().release.split(".")[:2])


def sormem_shows_overflows(root, flowtap):
    """Udp:RcvbufErrors, drops of /proc/net/udp6, TcpExt:TCPRcvQDrop and TCPOFODrop, SO_MEMINFO"""
    done, rows, err = reported(flowtap, ("rmem",), "sormem")
    rows = [row for row in rows if "event" in row]
    problem = differing("Udp:RcvbufErrors", done["errors"], done["sockets"][0]["drops"])
    for end, protocol in zip(done["sockets"], ("UDP", "UDPv6")):
        found = [row for row in rows if (row["proto"], row["lport"]) == (protocol, end["port"])]
        each = (end["address"], end["inode"], os.getuid(), end["used"], end["limit"], "SKB_DROP_REASON_SOCKET_RCVBUFF")
        if protocol == "UDPv6" and kernel_version() < (6, 10):  # which does not tell the socket
            each = (end["address"], 0, 0, 0, 0, "SKB_DROP_REASON_SOCKET_RCVBUFF")
        shown = {tuple(row[key] for key in ("laddr", "inode", "uid", "used_bytes", "limit_bytes", "reason")) for row in found}
        problem += differing(f"drops of {protocol}", end["drops"], len(found)) + differing(protocol, {each}, shown)
    pinged = sum(row["inode"] == done["ping"]["inode"] for row in rows)
    shrunk = sum([row["lport"], row["rport"]] in done["shrunk"] and row["proto"] == "TCP" for row in rows)
    return (problem + differing("answers to ping that were lost", done["ping"]["lost"], pinged)
            + differing("TcpExt:TCPRcvQDrop and TCPOFODrop", done["queue_drops"], shrunk) + differing("no drops", False, shrunk == 0) + err)


def sormem_measures_buffers_before_each_read(root, flowtap):
    """SO_MEMINFO before each read of a program"""
    name = f"rmem-{os.getpid()}"
    done, records, err = reported(flowtap, ("rmem", name), "sormem", "--comm", name)
    used, limits = zip(*done["states"])
    percent = [100 * u // limit for u, limit in done["states"]]
    problem = differing("rows, which have no process", [], [row for row in records if "event" in row]) + err
    for key, values in (("@rmem_alloc", used), ("@rmem_limit", limits), ("@used_percent", percent)):
        buckets = [r["data"][key] for r in records if r.get("type") == "hist" and key in r["data"]]
        problem += wrong_sizes(key, buckets[0] if buckets else [], values)
    return problem


def counting_tools_tell_when_a_map_is_full(root, flowtap):
    for tool in ("socketio", "socksize", "tcptop", "sofamily", "soprotocol"):
        load = ("openings",) if tool.startswith(("sof", "sop")) else ("tcp", 9, 3, 2)
        _, records, _ = reported(flowtap, load, tool, "--max-keys", "1")
        if not any("is full" in record.get("msg", "") for record in records):
            return f"  {tool} --max-keys 1 does not say that a map is full: {records[-3:]}\n"
    return ""
