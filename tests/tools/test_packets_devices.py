"""What goes through network devices, beside the devices' own counters."""

import os
import socket
import threading
import time

import features
from functions import may_miss_events
from namespaces import IFF_NAPI, Namespace, cable, nearly, packets_in, send, stream, tunnel, udp_packet
from processes import Running
from shared import differing, json_rows


def through_the_cable(here, there):
    """Datagrams of three sizes from here to there, and a stream."""
    for size, count in ((20, 11), (700, 7), (1400, 5)):
        send(here, "10.77.0.2", count, size=size)
        send(here, "fd77::2", count, size=size, version=6)
    listener = there.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("10.77.0.2", 0))
    listener.listen()
    near = here.socket(socket.AF_INET, socket.SOCK_STREAM)
    near.connect(listener.getsockname())
    far = listener.accept()[0]
    sending = threading.Thread(target=lambda: (near.sendall(b"x" * 300_000), near.shutdown(socket.SHUT_WR)))
    sending.start()
    while far.recv(100_000):
        pass
    sending.join()
    far.close()
    near.recv(1)
    near.close()
    listener.close()


def sizes_of(flowtap, *arguments):
    """({where: row} here, the same there, growth of the counters here while the tools certainly ran and in all, stderr)"""
    with cable() as (here, there):
        at_first = here.device("cable")
        running = [Running(flowtap, "netsize", "-f", "json", "--netns", str(end.pid), *arguments) for end in (here, there)]
        before = here.device("cable")
        through_the_cable(here, there)
        counted = [after - count for after, count in zip(here.device("cable"), before)]
        (out, err), (far_out, far_err) = [r.stop() for r in running]
        in_all = [after - count for after, count in zip(here.device("cable"), at_first)]
    near, far = ({row["where"]: row for row in json_rows(text) if row.get("dev") == "cable"} for text in (out, far_out))
    return near, far, list(zip(counted, in_all)), err + far_err


def netsize_equals_the_counters_of_the_device(root, flowtap):
    """packets and bytes of /proc/net/dev"""
    near, far, (received, received_bytes, sent, sent_bytes), err = sizes_of(flowtap)
    problem = ""
    for row, packets, size in ((near["tx device"], sent, sent_bytes), (near["tx stack"], sent, sent_bytes),
                               (near["rx device"], received, received_bytes), (near["rx stack"], received, received_bytes),
                               (far["rx device"], sent, sent_bytes), (far["rx stack"], sent, sent_bytes)):
        problem += nearly(row["where"], packets[0], row["pkts"], most=packets[1])
        problem += nearly(row["where"] + " bytes", size[0], row["bytes"], most=size[1])
    large = near["tx device"]
    return problem + differing("segments are more than packets", True, large["segs"] > large["pkts"]) + err


@may_miss_events("packets in softirq")
def netsize_equals_the_counters_of_loopback(root, flowtap):
    """packets and bytes of /proc/net/dev, which leaves the Ethernet header of this device out"""
    with Namespace() as here:
        running = Running(flowtap, "netsize", "-f", "json", "--netns", str(here.pid))
        send(here, "127.0.0.1", 17, size=501)
        stream(here, here, 300_001, "127.0.0.1")
        received, received_bytes, sent, sent_bytes = here.device("lo")
        out, err = running.stop()
    rows = {row["where"]: row for row in json_rows(out) if row.get("dev") == "lo"}
    problem = ""
    for where, packets, size in (("rx device", received, received_bytes), ("tx device", sent, sent_bytes)):
        mean = size / packets
        problem += nearly(where, packets, rows[where]["pkts"]) + differing(f"{where}: mean size", True, abs(rows[where]["bytes"] - size) <= 3 * mean)
        lost = packets - rows[where]["pkts"]
        problem += differing(f"{where}: bytes", size, rows[where]["bytes"]) if lost == 0 else ""
    return problem + err


def netsize_chooses_devices(root, flowtap):
    """the test's own packets"""
    near, far, _, err = sizes_of(flowtap, "--dev=lo")
    return differing("rows of another device", ({}, {}), (near, far)) + err


def nettxlat_times_a_device(root, flowtap):
    """the test reads the packets from a tun device, 30 ms after it sent them; the device's own count"""
    with Namespace() as here, tunnel(here) as end:
        running = Running(flowtap, "nettxlat", "-f", "json", "--netns", str(here.pid))
        before = here.device("tunnel")[2]
        send(here, "10.79.0.2", 13)
        time.sleep(0.03)
        read = packets_in(end)
        sent = here.device("tunnel")[2] - before
        out, err = running.stop()
    rows = [row for row in json_rows(out) if row.get("dev") == "tunnel"]
    return (differing("packets", [(13, 0, 0)], [(row["pkts"], row["dropped"], row["passed"]) for row in rows])
            + differing("read, and sent by the device's count", (13, 13), (read, sent))
            + differing("each took 30 ms at least", True, all(row["avg_us"] >= 30_000 and row["max_us"] >= row["avg_us"] for row in rows)) + err)


def nettxlat_tells_what_was_passed_on(root, flowtap):
    """packets of /proc/net/dev of a cable, which is no device with a time of its own"""
    with cable() as (here, there):
        at_first = here.device("cable")[2]
        running = Running(flowtap, "nettxlat", "-f", "json", "--netns", str(here.pid), "--dev", "cable")
        before = here.device("cable")[2]
        through_the_cable(here, there)
        sent = here.device("cable")[2] - before
        out, err = running.stop()
        in_all = here.device("cable")[2] - at_first
    rows = [row for row in json_rows(out) if "dev" in row]
    return (differing("devices", ["cable"], [row["dev"] for row in rows]) + differing("timed", 0, sum(row["pkts"] for row in rows))
            + nearly("passed", sent, sum(row["passed"] for row in rows), most=in_all) + err)


def softnet():
    """Packets that each CPU processed, as the kernel counts them"""
    return [int(line.split()[0], 16) for line in open("/proc/net/softnet_stat")]


def napi_counts_packets_of_every_poll(root, flowtap):
    """packets that a tun device with NAPI was given"""
    with Namespace() as here, tunnel(here, IFF_NAPI) as end:
        running = Running(flowtap, "napi", "-f", "json", "--netns", str(here.pid))
        before = here.device("tunnel")[0]
        for number in range(150):
            os.write(end, udp_packet(number))
        received = here.device("tunnel")[0] - before
        out, err = running.stop()
    rows = [row for row in json_rows(out) if row.get("dev") == "tunnel"]
    polls, packets, empty = (sum(row[key] for row in rows) for key in ("polls", "pkts", "empty"))
    return (differing("written", 150, received) + nearly("packets", received, packets)
            + differing("polls, most with one packet", True, polls - empty <= packets and polls >= 140) + err)


def napi_shows_the_backlog(root, flowtap):
    """packets processed, of /proc/net/softnet_stat"""
    with cable() as (here, there):
        at_first = softnet()
        running = Running(flowtap, "napi", "-f", "json", "--dev", "backlog")
        before = softnet()
        through_the_cable(here, there)
        sent = here.device("cable")[2]
        processed = sum(softnet()) - sum(before)
        out, err = running.stop()
        in_all = sum(softnet()) - sum(at_first)
    rows = json_rows(out)
    found = sum(row["pkts"] for row in rows if row.get("dev") == "backlog")
    if features.SLOWER == 1:  # others use it too
        return differing("at least the test's packets", True, sent * 0.95 <= found <= in_all) + err
    return differing(f"packets between {processed} and {in_all}, found {found}", True, processed <= found <= in_all) + err


def rxcpu_counts_packets_by_cpu(root, flowtap):
    """packets of /proc/net/dev; the CPU that the test runs on"""
    problem = ""
    home = os.sched_getaffinity(0)
    try:
        for cpu in sorted(home)[:2]:
            os.sched_setaffinity(0, {cpu})
            with cable() as (here, there):
                at_first = there.device("cable")[0]
                running = Running(flowtap, "rxcpu", "-f", "json", "--netns", str(there.pid))
                before = there.device("cable")[0]
                send(here, "10.77.0.2", 120)
                send(here, "fd77::2", 50, version=6)
                received = there.device("cable")[0] - before
                out, err = running.stop()
                in_all = there.device("cable")[0] - at_first
            rows = [row for row in json_rows(out) if row["dev"] == "cable"]
            problem += nearly(f"CPU {cpu}", received, sum(row["pkts"] for row in rows), most=in_all) + err
            # The kernel may send a packet of its own from another CPU.
            first = [(row["cpu"], row["share"] >= 98, 170 * 0.95 <= row["taken"] <= in_all) for row in rows[:1]]
            problem += differing(f"CPU {cpu}: most packets", [(cpu, True, True)], first)
    finally:
        os.sched_setaffinity(0, home)
    return problem
