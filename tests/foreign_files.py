"""Programs of others that were made to take all time or memory of who reads them: what flowtap spends on them, what it says of it, and
that a signal ends it meanwhile."""

import contextlib
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import features
from functions import Skipped
from processes import Running

GROUP = "files of others"  # each of them keeps a processor busy

# What docs/reliability.md states.
MOST_CPU, MOST_MEMORY = 10, 1_200_000_000

PROGBITS, SYMTAB, STRTAB, RELA, DYNSYM = 1, 2, 3, 4, 11
ALLOC, COMPRESSED = 2, 0x800
CODE = 4096


def elf_file(*sections):
    """A library with one page of code and these sections: (name, type, content, link, flags). The same content is there once."""
    titles, offset, headers, content, places = b"\0", 64 + 56, [bytes(64)], [], {}
    for name, kind, part, link, flags in (*sections, (b".shstrtab", STRTAB, b"", 0, 0)):
        title = len(titles)
        titles += name + b"\0"
        part = titles if name == b".shstrtab" else part
        size = 24 if kind in (SYMTAB, DYNSYM, RELA) else 0
        if id(part) not in places:
            places[id(part)] = offset
            content.append(part)
            offset += len(part)
        headers.append(struct.pack("<IIQQQQIIQQ", title, kind, flags, 0, places[id(part)], len(part), link, 0, 8, size))
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, CODE, CODE, 4096, 4096, 4096)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, offset, 0, 64, 56, 1, 64, len(headers), len(headers) - 1)
    return b"".join([header, segment, *content, *headers])


def symbols(functions):
    """Sections of as many functions, in no order, whose long names overlap."""
    names = b"\0" + (b"f" * 127 + b"\0") * 8192
    one = struct.Struct("<IBBHQQ")
    table = [one.pack(1 + i * 7919 % (1 << 20), 0x12, 0, 1, CODE + 16 * (i * 1_000_003 % functions), 16) for i in range(functions)]
    return (b".symtab", SYMTAB, bytes(24) + b"".join(table), 2, 0), (b".strtab", STRTAB, names, 0, 0)


def unwinding(functions, instructions):
    """An .eh_frame whose functions all share one description, which is executed for each."""
    head = struct.pack("<I", 0) + b"\x01zR\0\x01\x78\x10\x01\x03" + instructions
    head += bytes(-len(head) % 4)
    one = struct.Struct("<IIIIB3x")
    shared = struct.pack("<I", len(head)) + head
    return b".eh_frame", PROGBITS, shared + b"".join(one.pack(16, len(shared) + 4 + 20 * i, CODE + 16 * i, 16, 0) for i in range(functions)) + bytes(4), 0, 2


NOTHING = bytes(500)
ROWS = b"\x41\x0e\x10" * 166  # another row for each byte of code


def relocations(count, sections):
    """Sections of relocations that lead to strlen(), all with the same bytes."""
    table = struct.pack("<QQq", CODE, 1 << 32 | 6, 0) * count
    return ((b".dynsym", DYNSYM, bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 0, 0, 0), 2, ALLOC), (b".dynstr", STRTAB, b"\0strlen\0", 0, ALLOC),
            *[(b"", RELA, table, 1, ALLOC)] * sections)


def debug_information(megabytes, times):
    """Of a function 'work', with strings that become so many times as long: pieces that are compressed by themselves can be repeated."""
    piece = os.urandom((1 << 20) // times) + bytes((1 << 20) - (1 << 20) // times)
    packer, check = zlib.compressobj(1, zlib.DEFLATED, -15), 1
    packed = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(megabytes):
        check = zlib.adler32(piece, check)
    end = zlib.compressobj(1, zlib.DEFLATED, -15).flush(zlib.Z_FINISH) + struct.pack(">I", check)
    strings = struct.pack("<IIQQ", 1, 0, megabytes << 20, 1) + b"\x78\x01" + packed * megabytes + end
    unit = struct.pack("<HBBI", 5, 1, 8, 0) + b"\1" + struct.pack("<I", 0)
    return ((b".symtab", SYMTAB, bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, CODE, 16), 2, 0), (b".strtab", STRTAB, b"\0work\0", 0, 0),
            (b".debug_info", PROGBITS, struct.pack("<I", len(unit)) + unit, 0, 0), (b".debug_abbrev", PROGBITS, b"\1\x11\0\x03\x0e\0\0\0", 0, 0),
            (b".debug_str", PROGBITS, strings, 0, COMPRESSED))


MAPPER = """
import mmap, os, sys, time
maps = [mmap.mmap(os.open(path, os.O_RDONLY), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE) for path in sys.argv[1:]]
print(flush=True)
while True: os.getppid(); time.sleep(0.01)
"""


@contextlib.contextmanager
def mapped(**programs):
    """The id of a process that has programs mapped: {name: (how many, content)}"""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, (count, content) in programs.items():
            paths += [f"{folder}/{name}{i}" for i in range(count)]
            Path(paths[-count]).write_bytes(content)
            for path in paths[1 - count:] if count > 1 else []:
                shutil.copy(paths[-count], path)
        with subprocess.Popen([sys.executable, "-c", MAPPER, *paths], stdout=subprocess.PIPE) as process:
            try:
                process.stdout.readline()
                yield process.pid
            finally:
                process.kill()


STACKS = ("config = { unstable_dw_ustack = enable; lazy_symbolication = false } "
          "tracepoint:syscalls:sys_enter_getppid /pid == $1/ { @[dw_ustack(3)] = count(); print(ustack); }")


def files_of_a_process_take_a_budget(flowtap):
    """Its libraries would take a minute and gigabytes."""
    if features.IN_GUEST:
        return Skipped("time and memory of flowtap itself are measured on this machine")
    with mapped(bomb=(2, elf_file(unwinding(1_000_000, NOTHING))), rows=(3, elf_file(unwinding(500_000, ROWS))),
                program=(40, elf_file(*symbols(1_500_000)))) as pid, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([flowtap, "-q", "-p", str(pid), "-e", STACKS, str(pid)], stdout=subprocess.DEVNULL, stderr=errors)

        def told():
            return os.pread(errors.fileno(), 10_000, 0).decode()

        end = time.monotonic() + 120
        while "without names" not in told() and time.monotonic() < end:
            time.sleep(0.1)
        memory = int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]) * 1024
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, status, used = os.wait4(process.pid, 0)
        took, text = time.monotonic() - begun, re.sub(r"/\S*/", "", told())
    lines = sorted(line for line in text.splitlines() if "too much" in line or "too long" in line)
    over = "warning: reading programs and libraries took too much CPU time: "
    wanted = [f"warning: no unwind table for 'rows{i}': its unwind information is too long" for i in range(3)] + [f"{over}addresses are shown without names"]
    cpu = used.ru_utime + used.ru_stime
    return ("" if lines == wanted and status == 0 else f"  {status}: {text}\n") + (
        f"  {cpu:.1f} s of CPU time\n" if not MOST_CPU <= cpu < 1.4 * MOST_CPU else "") + (
        f"  {memory >> 20} MB\n" if memory > MOST_MEMORY else "") + (f"  a signal ended it after {took:.1f} s\n" if took > 5 else "")


def warnings_of_many_files_are_summed_up(flowtap):
    """Whoever maps many files fills nobody's terminal. The name of their symbol is longer than is read."""
    names = b"\0" + b"f" * 70_000 + b"\0"
    one = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, CODE, 16)
    content = elf_file((b".symtab", SYMTAB, one, 2, 0), (b".strtab", STRTAB, names, 0, 0))
    bad = ""
    with mapped(program=(20, content)) as pid:
        for arguments, script in ((("-l",), "uprobe:*:nosuchfn"), (("--dry-run", "-q", "-e"), "config = { missing_probes = ignore } uprobe:*:nosuchfn { } begin { }")):
            for more, named in (((), 3), (("-v",), 20)):
                done = subprocess.run([flowtap, "-p", str(pid), *more, *arguments, script], capture_output=True, text=True)
                rest = "warning: 17 other files are left out as well, or in part; -v lists them\n" * (named == 3)
                is_right = done.stderr.count("name is longer than 64 KB\n") == named and done.stderr.count("other file") == (named == 3) and rest in done.stderr
                bad += "" if is_right else f"  {more} {arguments}: {done.returncode} {done.stderr}"
    return bad


def relocations_that_are_read_again_and_again_are_limited(flowtap):
    """Whoever has such a file mapped is looked at for the implementation of strlen()."""
    with mapped(library=(1, elf_file(*relocations(1_000_000, 9990)))) as pid:
        done = subprocess.run(["timeout", "-s", "KILL", "20", flowtap, "--dry-run", "-e", f"uprobe:libc:strlen /pid == {pid}/ {{ }}"], capture_output=True, text=True)
    # Where its implementation cannot be probed that is said (tests/uprobe_sites.py).
    return "" if done.returncode in (0, 1) and "too much" not in done.stderr else f"  {done.returncode} {done.stderr}"


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of_ended():
    """Of all children that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def interrupted(flowtap, number, *arguments):
    """What is wrong when a signal comes soon after the start."""
    running = Running(flowtap, *arguments)
    time.sleep(0.1 * features.SLOWER)
    before = cpu_seconds(running.process.pid) + cpu_of_ended()
    _, err = running.stop(number)
    took = cpu_of_ended() - before  # what others do on the machine is not in it
    is_right = took < 1.2 * features.SLOWER and "a signal left no time to read more" in err
    return "" if is_right else f"  {signal.Signals(number).name}: after {took:.1f} s of CPU time: {err[-300:]}\n"


def a_signal_ends_the_reading_of_symbols(flowtap):
    script = "config = { lazy_symbolication = false } tracepoint:syscalls:sys_enter_getppid { print(ustack); }"
    with mapped(program=(3 if features.IN_GUEST else 12, elf_file(*symbols(1_000_000)))) as pid:
        return "".join(interrupted(flowtap, number, "-p", str(pid), "-e", script) for number in (signal.SIGINT, signal.SIGTERM))


def a_signal_ends_the_reading_of_unwind_tables(flowtap):
    """A process that flowtap did not know, and so meets while it runs."""
    with mapped(bomb=(3, elf_file(unwinding(1_000_000, NOTHING)))) as pid:
        return "".join(interrupted(flowtap, number, "-e", STACKS, str(pid)) for number in (signal.SIGINT, signal.SIGTERM))


def debug_information_that_becomes_too_large_is_refused(flowtap):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/program"
        Path(path).write_bytes(elf_file(*debug_information(1800, 32)))
        size = os.path.getsize(path)
        done = subprocess.run(["prlimit", f"--as={4 * size}", flowtap, "-e", f"uprobe:{path}:work {{ print(args.x); }}"], capture_output=True, text=True)
    wanted = f"the debug information of '{path}' is too large: section .debug_str has 1800 MB"
    return "" if wanted in done.stderr and done.returncode == 1 and size > 67_000_000 else f"  {size}: {done.returncode} {done.stderr}"
