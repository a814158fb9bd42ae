"""Builtins and functions. What cannot be known before, such as a time, is compared with itself, or only has to be accepted."""

import os
import re
import signal
import socket

from .expression import Expr
from .formats import padded
from .types import BOOL, INT64, UINT64, Array, Int

ADDRESSES = ("127.0.0.1", "10.1.2.3", "::1", "fe80::1:0", "2001:db8::ff00:42:8329", "::ffff:10.0.0.1")
PREFIXES = ((8, "10.0.0.0/8"), (16, "192.168.0.0/16"), (0, "0.0.0.0/0"), (32, "127.0.0.1"))
TRUE_ANYWHERE = (
    "(nsecs > 0)", "(nsecs(monotonic) > 0)", "(nsecs(tai) > 0)", "(elapsed <= nsecs)", "(jiffies > 0)", "(rand <= 0xffffffff)", "(cpu < ncpus)",
    "(numaid >= 0)", "(curtask.pid == tid(init))", "(curtask->tgid == pid(init))", "(curtask.comm == comm)",
    "(curtask.group_leader.pid == curtask.tgid)", "(leader_comm == curtask.group_leader.comm)", "(pcomm == curtask.real_parent.comm)",
    "(kptr(curtask)->pid == tid(init))", "(!is_err(curtask))", "(uid >= 0)", "(len(kstack) >= 0)",
)  # fmt: skip
TRUE_IN_BEGIN = ("(uid == 0)", "(gid == 0)", "(pid == tid)", "(leader_tid == tid)", "(ppid > 0)")


def error_text(number):
    return re.sub(r" \d+$", "", os.strerror(number)) if number <= 133 else "Unknown error"  # there are gaps in the numbers


def signal_text(number):
    return signal.strsignal(number) if 1 <= number <= 31 else "Unknown signal"


class Builtins:
    def about_process(self, depth):
        text = self.pick(TRUE_ANYWHERE if self.is_timer or self.is_end else TRUE_ANYWHERE + TRUE_IN_BEGIN)
        return Expr(BOOL, text, lambda s: True)

    def words(self, depth):
        """Values that become text when they are printed: (text, State -> what is shown)."""
        return self.weighted([(2, self.ipv4_address), (1, self.known_address), (1, self.mac_address), (1, self.error_name), (1, self.signal_name),
                              (1, self.syscall), (1, self.no_symbol), (1, self.no_time)])(depth)  # fmt: skip

    def ipv4_address(self, depth):
        e = self.number_of(Int(4, False), depth)
        text = self.pick([f"ntop({e.text})", f"ntop(2, {e.text})", f"ntop((uint8[4]){e.text})"])
        return text, lambda s: socket.inet_ntop(socket.AF_INET, e.value(s).to_bytes(4, "little"))

    def known_address(self, depth):
        address = self.pick([a for a in ADDRESSES if len(a) < self.max_strlen])
        return f'ntop(pton("{address}"))', lambda s: address

    def mac_address(self, depth):
        e = self.array_of(Array(Int(1, False), 8), depth)
        name = self.new_name("$m")
        text = f"{{ {name} = {e.text}; macaddr(((struct mac0 *)&{name})->bytes) }}"
        return text, lambda s: ":".join(f"{b:02X}" for b in e.value(s)[:6])

    def error_name(self, depth):
        e = self.small(256, depth)
        return f"strerror({e.text})", lambda s: error_text(e.value(s))

    def signal_name(self, depth):
        e = self.small(64, depth)
        return f"signal_name({e.text})", lambda s: signal_text(e.value(s))

    def syscall(self, depth):
        number, name = self.pick([(0, "read"), (1, "write"), (44, "sendto"), (-1, "Unknown syscall"), (99999, "Unknown syscall")])
        return f"syscall_name({number})", lambda s: name

    def no_symbol(self, depth):
        e, function = self.small(4096, depth), self.pick(["ksym", "usym"])
        return f"{function}({e.text})", lambda s: f"{e.value(s):#x}" if e.value(s) else "0"

    def no_time(self, depth):
        e = self.number(depth)
        return f'strftime("at%%", {e.text})', lambda s: "at%"

    # --- statements ---------------------------------------------------------------------------------
    def show_words(self, depth):
        parts = [(*self.words(1), self.pick(["", "", "20", "-20"])) for _ in range(self.random.randrange(1, 4))]
        format = " ".join(f"[%{width}s]" for _, _, width in parts)
        return [f'printf("{format}\\n", {", ".join(text for text, _, _ in parts)});'], \
            lambda s: s.output.append(" ".join(f"[{padded(shown(s), width)}]" for _, shown, width in parts))

    def show_letter(self, depth):
        e, address = self.small(64), self.number_of(UINT64, 1)
        line = f'printf("[%3c] [%-3c] [%22p]\\n", {e.text} + 48, {e.text} + 48, {address.text});'

        def run(s):
            letter, shown = chr(e.value(s) + 48), hex(address.value(s))
            s.output.append(f"[{letter:>3}] [{letter:<3}] [{shown:>22}]")

        return [line], run

    def compare_bytes(self, depth):
        type = Array(Int(1, False), 8)
        a, b, count = self.array_of(type, 1), self.array_of(type, 1), self.random.randrange(1, 9)
        if self.chance(0.4):
            b = a
        return [f"print(memcmp({a.text}, {b.text}, {count}) == 0);"], \
            lambda s: s.output.append("true" if a.value(s)[:count] == b.value(s)[:count] else "false")

    def is_near(self, depth):
        e, (bits, prefix) = self.number_of(Int(4, False), 1), self.pick(PREFIXES)
        first = int.from_bytes(socket.inet_aton(prefix.split("/")[0]), "big") >> (32 - bits)

        def run(s):
            address = int.from_bytes(e.value(s).to_bytes(4, "little"), "big")
            s.output.append("true" if address >> (32 - bits) == first else "false")

        return [f'print(in_prefix(ntop({e.text}), "{prefix}"));'], run

    def act(self, depth):
        """What prints elsewhere, nothing, or the same always."""
        e = self.number(2)
        return self.pick([
            (['time("now\\n");'], lambda s: s.output.append("now")),
            (['cat("/dev/null");'], lambda s: None),
            ([f'warnf("%d", {e.text});'], lambda s: e.value(s)),
            ([f'assert({self.about_process(0).text}, "not so");'], lambda s: None),
        ])  # fmt: skip

    def count_unknown(self, depth):
        """Maps that no one can foretell; they are emptied again."""
        e, name = self.number_of(self.pick([INT64, UINT64]), 1), self.new_name("@u")
        key = self.pick(["kstack", "ustack", "kstack(3)", "ustack(perf, 5)", "nsecs", "comm", "pid, tid", "cgroup", "cpu, kstack(raw, 2)", "(comm, ustack(1))"])
        kind = self.pick([f"tseries({e.text}, 1s, 4)", f'tseries({e.text}, 250ms, 3, "{self.pick(["avg", "sum", "min", "max"])}")'])
        value = self.pick([kind, kind, "count()", e.text, "kstack", "ustack(4)", "comm", "nsecs", "cgroup"])
        return [f"{name}[{key}] = {value};", f"clear({name});"], lambda s: e.value(s)
