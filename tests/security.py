"""What docs and SECURITY.md promise about hostile names, files, rights and shells. Each function is one test
and gives what went wrong, or nothing."""

import csv
import io
import json
import os
import pty
import re
import signal
import socket
import stat
import subprocess
import tempfile
import time
import tty
from pathlib import Path

import features
from processes import Running, Skipped, wait_for

# Erases the screen, ends the line, begins a command of 8-bit terminals, and is not UTF-8.
HOSTILE = b"a\x1b[2J\n\xc2\x9b\xff\"<,"
SHOWN = r"a\x1b[2J\x0a\xc2\x9b\xff" + '"<,'

# A process of that name that makes 3 directories, and does not.
LOAD = ["python3", "-c", f"""
import os
open("/proc/self/comm", "wb").write({HOSTILE!r})
for _ in range(3):
    try: os.mkdir("/no/such/place")
    except OSError: pass
"""]
PROBE = "tracepoint:syscalls:sys_enter_mkdir /cpid == pid/"
TABLE = 'table calls { comm COMM "who"; string TEXT "again"; } '


def on_a_terminal(command, streams=("stdout",)):
    """What the command writes when these streams are a terminal; the others are thrown away."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    targets = {name: theirs if name in streams else subprocess.DEVNULL for name in ("stdout", "stderr")}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **targets)
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 65536):
            text += part
    except OSError:  # how a terminal says that nobody is left to write to it
        pass
    os.close(ours)
    process.wait(timeout=60 * features.SLOWER)
    return text


def traced(flowtap, script, *options):
    words = " ".join("'" + word.replace("'", "'\\''") + "'" for word in LOAD)
    return [flowtap, "-q", *options, "-c", words, "-e", script]


def in_a_pipe(flowtap, script, *options):
    return subprocess.run(traced(flowtap, script, *options), capture_output=True, timeout=60 * features.SLOWER).stdout


def shows_only(text, expected):
    """The hostile name is there in its visible form, and nothing that a terminal would obey."""
    if expected.encode() not in text:
        return f"'{expected}' is not in {text!r}"
    if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", text):
        return f"a control character got through: {text!r}"
    try:
        text.decode()
    except UnicodeDecodeError:
        return f"not UTF-8: {text!r}"
    return ""


# --- names on terminals and in files --------------------------------------------------------------
def terminal_is_not_commanded_by_printf(flowtap):
    text = on_a_terminal(traced(flowtap, PROBE + ' { printf("[%s]\\n", comm); exit(); }'))
    return shows_only(text, "[" + SHOWN.replace(r"\x0a", "\n") + "]")


def terminal_is_not_commanded_by_print(flowtap):
    text = on_a_terminal(traced(flowtap, PROBE + " { print((comm, 5)); exit(); }"))
    return shows_only(text, "(" + SHOWN.replace(r"\x0a", "\n") + ", 5)")


def terminal_is_not_commanded_by_maps(flowtap):
    text = on_a_terminal(traced(flowtap, PROBE + " { @[comm] = count(); @last = comm; }"))
    return shows_only(text, f"@[{SHOWN}]: 3\n") or shows_only(text, f"@last: {SHOWN}\n")


def terminal_is_not_commanded_by_rows(flowtap):
    text = on_a_terminal(traced(flowtap, TABLE + PROBE + " { emit calls(comm, comm); }"))
    return shows_only(text, SHOWN + "  ")


def terminal_is_not_commanded_by_join(flowtap):
    text = on_a_terminal([flowtap, "-q", "-c", b"/bin/echo 'x\x1b[2J\xff'", "-e",
                          "tracepoint:syscalls:sys_enter_execve /cpid == pid/ { join(args.argv); }"])
    return shows_only(text.replace(b"x\x1b[2J\xff\n", b"", 1), r"/bin/echo x\x1b[2J\xff")  # echo itself writes there too


def terminal_is_not_commanded_by_cat(flowtap):
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"one\n\x1b[2J\xff\n")
        file.flush()
        text = on_a_terminal([flowtap, "-q", "-e", f'begin {{ cat("{file.name}"); }}'])
    return shows_only(text, "one\n\\x1b[2J\\xff\n")


def terminal_is_not_commanded_by_warnings(flowtap):
    text = on_a_terminal(traced(flowtap, PROBE + ' { warnf("[%s]", comm); cat("/no/%s", comm); exit(); }'), ["stderr"])
    return shows_only(text, "[" + SHOWN.replace(r"\x0a", "\n") + "]") or shows_only(text, f"cannot open '/no/{SHOWN}'")


def terminal_is_not_commanded_by_csv_and_json(flowtap):
    script = PROBE + " { @[comm] = count(); }"
    problem = shows_only(on_a_terminal(traced(flowtap, script, "-f", "csv")), r"a\x1b[2J")
    return problem or shows_only(on_a_terminal(traced(flowtap, script, "-f", "json")), r"a\u001b[2J\n\u009b")


def escapes_of_the_script_itself_reach_the_terminal(flowtap):
    text = on_a_terminal([flowtap, "-q", "-e", r'begin { printf("\x1b[1m%d\x1b[0m\n", 5); }'])
    return "" if b"\x1b[1m5\x1b[0m\n" in text else repr(text)


def pipe_gets_the_bytes_as_they_are(flowtap):
    out = in_a_pipe(flowtap, PROBE + ' { printf("[%s]", comm); @[comm] = count(); }')
    return "" if b"[" + HOSTILE + b"]" in out and b"@[" + HOSTILE + b"]: 3" in out else repr(out)


def json_is_valid_whatever_the_name(flowtap):
    out = in_a_pipe(flowtap, TABLE + PROBE + ' { printf("%s", comm); emit calls(comm, comm); @[comm, 1] = count(); }', "-f", "json")
    lines = [json.loads(line) for line in out.decode().splitlines()]  # strict: UTF-8, no control characters
    name = HOSTILE.decode(errors="replace")
    rows = [line for line in lines if "comm" in line]
    maps = [line["data"] for line in lines if line.get("type") == "map"]
    right = rows == [{"comm": name, "text": name}] * 3 and maps == [{"@": {name + ",1": 3}}]
    return "" if right else f"{lines}"


def csv_is_valid_whatever_the_name(flowtap):
    out = in_a_pipe(flowtap, TABLE + PROBE + " { emit calls(comm, comm); }", "-f", "csv")
    rows = list(csv.reader(io.StringIO(out.decode(errors="surrogateescape"), newline=""), strict=True))
    name = HOSTILE.decode(errors="surrogateescape")
    return "" if rows == [["comm", "text"]] + [[name, name]] * 3 else f"{rows}"


def listing_is_made_visible_on_a_terminal(flowtap):
    """A program may call a function anything; its symbol table is changed by hand here."""
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder, "evil")
        subprocess.run(["gcc", "-x", "c", "-o", binary, "-"], input=b"int evil_name(void) { return 1; } int main(void) { return evil_name(); }", check=True)
        binary.write_bytes(binary.read_bytes().replace(b"evil_name", b"ev\x1b[2J_me"))
        text = on_a_terminal([flowtap, "-l", f"uprobe:{binary}:ev*"])
        told = on_a_terminal([flowtap, "-v", "--dry-run", "-e", f"uprobe:{binary}:ev* {{ }}"], ["stderr"])
    return shows_only(text, r"ev\x1b[2J_me") or shows_only(told, r"ev\x1b[2J_me")


# --- files ----------------------------------------------------------------------------------------
def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def files_are_readable_by_their_owner_only(flowtap):
    with tempfile.TemporaryDirectory() as folder:
        out, picture = f"{folder}/out", f"{folder}/out.svg"
        subprocess.run([flowtap, "-q", "-o", out, "-e", 'begin { printf("x"); }'], umask=0o022)
        subprocess.run([flowtap, "biosnoop", "--duration", "1", "--plot", picture], capture_output=True, umask=0o022)
        modes = [mode_of(path) for path in (out, picture)]
    return "" if modes == [0o600, 0o600] else f"{[oct(mode) for mode in modes]}"


def file_that_exists_keeps_its_mode(flowtap):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "out").write_text("old")
        os.chmod(f"{folder}/out", 0o644)
        subprocess.run([flowtap, "-q", "-o", f"{folder}/out", "-e", 'begin { printf("x"); }'])
        return "" if mode_of(f"{folder}/out") == 0o644 and Path(folder, "out").read_text().startswith("x") else "changed"


def cat_does_not_wait_for_a_pipe(flowtap):
    """Traced programs choose names of files: one of a pipe that nobody writes to must not stop flowtap."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(f"{folder}/pipe")
        done = subprocess.run([flowtap, "-q", "-e", f'begin {{ cat("{folder}/pipe"); printf("went on\\n"); }}'],
                              capture_output=True, text=True, timeout=30 * features.SLOWER)
        listed = subprocess.run([flowtap, "-l", f"uprobe:{folder}/pipe:*"], capture_output=True, text=True, timeout=30 * features.SLOWER)
        is_told = f"warning: cannot read '{folder}/pipe' for cat(): it is a pipe" in done.stderr
        is_listed = listed.stderr == f"error: '{folder}/pipe' is not a regular file\n"
    return "" if "went on" in done.stdout and is_told and is_listed else done.stdout + done.stderr + listed.stderr


# --- rights ---------------------------------------------------------------------------------------
CAPABILITIES = {"dac_override": 1, "dac_read_search": 2, "kill": 5, "sys_ptrace": 19, "sys_admin": 21, "syslog": 34,
                "perfmon": 38, "bpf": 39, "checkpoint_restore": 40}
KEPT = {"dac_read_search", "sys_ptrace", "syslog", "perfmon", "bpf", "checkpoint_restore"}


def rights_of(pid):
    """Effective, permitted and inheritable capabilities, and whether it can get new ones."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return [int(status[name], 16) for name in ("CapEff", "CapPrm", "CapInh")], status["NoNewPrivs"].strip()


def bits_of(names):
    return sum(1 << CAPABILITIES[name] for name in names)


def rights_are_dropped_when_all_is_attached(flowtap):
    all_of_them = rights_of("self")[0][0]
    for options, kept in (((), KEPT), (("-c", "sleep 60"), KEPT | {"kill"})):
        running = Running(flowtap, *options, "-e", "tracepoint:syscalls:sys_enter_mkdir { @[ustack] = count(); }")
        wanted = bits_of(kept) & all_of_them
        wait_for(lambda: rights_of(running.process.pid)[1] == "1")  # the last step of dropping them
        sets, no_new = rights_of(running.process.pid)
        running.stop()
        if sets != [wanted, wanted, 0] or no_new != "1":
            return f"{options}: {[hex(s) for s in sets]}, no new privileges: {no_new}; expected {wanted:#x}"
    return ""


def command_of_c_keeps_its_rights(flowtap):
    script = "tracepoint:syscalls:sys_enter_mkdir { @ = count(); }"
    done = subprocess.run([flowtap, "-q", "-c", "grep -E CapEff|NoNewPrivs /proc/self/status", "-e", script], capture_output=True, text=True)
    return "" if f"{rights_of('self')[0][0]:016x}" in done.stdout and "NoNewPrivs:\t0" in done.stdout else done.stdout


def commands_of_system_keep_their_rights(flowtap):
    script = 'interval:ms:50 { system("grep -E \'CapEff|NoNewPrivs\' /proc/self/status"); exit(); }'
    done = subprocess.run([flowtap, "-q", "--unsafe", "-e", script], capture_output=True, text=True)
    return "" if f"{rights_of('self')[0][0]:016x}" in done.stdout and "NoNewPrivs:\t0" in done.stdout else done.stdout


def symbols_of_other_users_are_still_found(flowtap):
    """After rights are dropped: a process of another user, whose program only that user may read."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = Path(folder, "load")
        source = (b"#include <sys/stat.h>\n#include <unistd.h>\n"
                  b"__attribute__((noinline)) void work(void) { mkdir(\"/no/such/place\", 0); }\n"
                  b"int main(void) { for (;;) { work(); usleep(10000); } }")
        subprocess.run(["gcc", "-O1", "-fno-omit-frame-pointer", "-x", "c", "-o", program, "-"], input=source, check=True)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o700)
        worker = subprocess.Popen([program], user="nobody", group="nogroup")
        script = f"tracepoint:syscalls:sys_enter_mkdir /pid == {worker.pid}/ {{ @[ustack(3)] = count(); exit(); }}"
        done = subprocess.run([flowtap, "-q", "-e", script], capture_output=True, text=True, timeout=60 * features.SLOWER)
        worker.kill()
        worker.wait()
    return "" if re.search(r"mkdir\+\d+\n\s+(work|main)\+", done.stdout) else done.stdout + done.stderr


# --- counts ---------------------------------------------------------------------------------------
def numbers_of_large_keys_start_at_a_secret(flowtap):
    command = [flowtap, "--dry-run", "-d", "bpf", "-e", "interval:s:1 { @[kstack] = count(); }"]
    runs = {subprocess.run(command, capture_output=True, text=True, check=True).stderr for _ in range(2)}
    return "" if len(runs) == 2 else "two runs have the same program\n"


# --- shells ---------------------------------------------------------------------------------------
UNSAFE = {"system": 'system("true")', "signal": "signal(9)", "signal_thread": "signal_thread(9)", "override": "override(1)",
          "write_user": "write_user(args.pathname, &$x, 1)"}


def what_changes_the_system_needs_unsafe(flowtap):
    for name, use in UNSAFE.items():
        done = subprocess.run([flowtap, "-e", f"tracepoint:syscalls:sys_enter_mkdir {{ $x = (uint8)1; {use}; }}"], capture_output=True, text=True)
        if done.returncode != 1 or f"{name}() can change the system and needs the option --unsafe" not in done.stderr:
            return f"{name}: exit code {done.returncode} {done.stderr}"
    return ""


def unsafe_functions_are_those_of_the_documents(flowtap):
    rows = (Path(flowtap).parent.parent / "docs" / "builtins.md").read_text().splitlines()
    named = {re.match(r"\| `(\w+)", row)[1] for row in rows if "needs `--unsafe`" in row}
    return "" if named == set(UNSAFE) else f"{named}"


def command_of_c_is_not_given_to_a_shell(flowtap):
    done = subprocess.run([flowtap, "-q", "-c", "echo $HOME `id`; $(id) | x > /no/file", "-e", "interval:s:60 { }"], capture_output=True, text=True)
    return "" if done.stdout.startswith("$HOME `id`; $(id) | x > /no/file\n") else done.stdout + done.stderr


# --- scripts and tools of others ------------------------------------------------------------------
def scripts_that_block_or_never_end_are_refused(flowtap):
    problem = ""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        os.mkfifo(f"{folder}/fifo.bt")
        listener.bind(f"{folder}/socket.bt")
        Path(folder, "main.bt").write_text('import "fifo.bt"; begin { }')
        for name, wanted in ((f"{folder}/fifo.bt", "is a named pipe, not a script"), (f"{folder}/socket.bt", "is a socket, not a script"),
                             ("/dev/zero", "is a device, not a script"), (f"{folder}/main.bt", "fifo.bt' is a named pipe"), (folder, "Is a directory")):
            done = subprocess.run([flowtap, name], capture_output=True, text=True, timeout=60)
            if done.returncode != 1 or wanted not in done.stderr:
                problem += f"  {name}: {done.returncode} {done.stderr}"
    endless = subprocess.run(f"cat /dev/zero | {flowtap} -", shell=True, capture_output=True, text=True, timeout=60)
    return problem + ("" if endless.returncode == 1 and "is longer than 16 MB" in endless.stderr else f"endless: {endless.returncode} {endless.stderr}")


def files_of_options_do_not_block(flowtap):
    problem = ""
    with tempfile.TemporaryDirectory() as folder:
        pipe = f"{folder}/pipe.svg"
        os.mkfifo(pipe)
        unread = f"nobody reads the named pipe '{pipe}'"
        for arguments, wanted in ((["--target", pipe, "-d", "bpf", "-e", "begin { }"], "is a named pipe"), (["-o", pipe, "-e", "begin { }"], unread),
                                  (["tcplife", "--plot", pipe, "--duration", "1"], unread), (["tcplife", "--plot", pipe, "--dry-run"], unread)):
            done = subprocess.run([flowtap, *arguments], capture_output=True, text=True, timeout=60)
            problem += "" if done.returncode in (1, 2) and wanted in done.stderr else f"  {arguments}: {done.returncode} {done.stderr}"
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
            for _ in range(1000 * features.SLOWER):  # cat may not have opened it yet
                done = subprocess.run([flowtap, "-q", "-o", pipe, "-e", 'begin { printf("read\\n"); }'], capture_output=True, text=True, timeout=60)
                if done.returncode == 0:
                    break
                time.sleep(0.01)
            text = reader.communicate(timeout=60)[0]
    return problem + ("" if text.strip() == "read" else f"  read from the pipe: {text!r} {done.stderr}")


def scripts_come_from_pipes_of_the_shell(flowtap):
    script = "echo 'begin { print(1); }'"
    for command in (f"{flowtap} -q <({script})", f"{script} | {flowtap} -q -", f"{script} | {flowtap} -q /dev/stdin", f"(sleep 0.3; {script}) | {flowtap} -q -"):
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
        if done.stdout != "1\n\n\n":
            return f"{command}: {done.stdout} {done.stderr}"
    for command in (f"{flowtap} <(sleep 5)", f"sleep 5 | exec {flowtap} -"):
        waiting = subprocess.Popen(["bash", "-c", f"exec {command}" if command.startswith("/") else command], start_new_session=True)
        wait_for(lambda: subprocess.run(["pgrep", "-g", str(waiting.pid), "-x", "flowtap"], stdout=subprocess.DEVNULL).returncode == 0)
        time.sleep(0.1)  # it reads
        os.killpg(waiting.pid, signal.SIGINT)
        if waiting.wait(timeout=3) == 0:
            return f"{command} was not ended by a signal"
    return ""


def tools_that_others_can_change_are_refused(flowtap):
    """Every part of the path counts, with links followed; in a sticky directory the owner of an entry."""
    def refused(environment, wanted):
        done = subprocess.run([flowtap, "help", "owntool"], capture_output=True, text=True, env=dict(os.environ, **environment))
        is_right = done.returncode == 2 and wanted in done.stderr if wanted else done.returncode == 0
        return "" if is_right else f"  expected {wanted}: {done.returncode} {done.stderr}"

    problem = ""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        tools, link, home = Path(folder, "up", "tools"), Path(folder, "link"), Path(folder, "home", ".config", "flowtap", "tools")
        for directory in (tools, home):
            directory.mkdir(parents=True)
            (directory / "owntool.bt").write_text("// owntool - what it shows\nimport \"part.bt\";\nbegin { }\n")
            (directory / "part.bt").write_text("macro part() { 1 }\n")
        link.symlink_to("up/../up/tools")
        ways = [{"FLOWTAP_TOOLS": str(tools)}, {"FLOWTAP_TOOLS": str(link)}]
        for way in (*ways, {"HOME": f"{folder}/home", "FLOWTAP_TOOLS": ""}):
            problem += refused(way, "")
        for path, mode, wanted in ((tools.parent, 0o775, "up' is group-writable"), (tools.parent, 0o777, "up' is world-writable"), (tools, 0o757, "tools' is world-writable"),
                                   (tools / "owntool.bt", 0o664, "owntool.bt' is group-writable"), (tools / "part.bt", 0o666, "part.bt' is world-writable"), (tools, 0o1777, "")):
            before = path.stat().st_mode
            path.chmod(mode)
            for way in ways:
                problem += refused(way, wanted)
            path.chmod(before)
        for path in (tools.parent, tools, tools / "owntool.bt", tools / "part.bt", link):
            os.chown(path, 65534, -1, follow_symlinks=False)
            problem += refused(ways[1], f"{path.name}' belongs to user 65534, who can change it")
            os.chown(path, 0, -1, follow_symlinks=False)
        os.chown(home.parent, 65534, -1)
        problem += refused({"HOME": f"{folder}/home", "FLOWTAP_TOOLS": ""}, "flowtap' belongs to user 65534")
    return problem
