"""Fields of kernel structs are read by typed loads where the verifier takes them, and else by a helper. Both must give the same, and
whatever the compiler chooses must load. Every struct is laid over the memory of the current task: what its fields say does not matter."""

import re
import subprocess

STRUCTS = ("task_struct", "mm_struct", "sock", "inet_sock", "tcp_sock", "inet_connection_sock", "sk_buff", "socket", "file", "inode", "dentry",
           "super_block", "request", "request_queue", "bio", "gendisk", "block_device", "net_device", "net", "Qdisc", "iphdr", "ipv6hdr", "tcphdr", "msghdr", "page")
BITS = {"bool": 8, "char": 8, "u8": 8, "__u8": 8, "u16": 16, "__u16": 16, "__be16": 16, "short unsigned int": 16, "int": 32, "unsigned int": 32, "u32": 32, "__u32": 32,
        "__be32": 32, "dev_t": 32, "gfp_t": 32, "long int": 64, "long unsigned int": 64, "u64": 64, "__u64": 64, "s64": 64, "loff_t": 64, "sector_t": 64, "size_t": 64}
AT_ONCE = 30  # fields in one program
MEMBER = re.compile(r"^\t+(?:const )?(?:(?P<number>[\w ]+) |(?P<pointer>[\w ]+ \*+))(?P<name>\w+)(?::(?P<bits>\d+))?;$")


def fields_of(flowtap, name):
    """[(name, bits)] of the members, those of anonymous structs and unions included; of a bit field they are negative."""
    text = subprocess.run([flowtap, "-lv", f"struct {name}"], capture_output=True, text=True, check=True).stdout
    while True:  # a block that has a name is a member of its own
        less = re.sub(r"^(\t+)(?:struct|union)(?: \w+)? \{\n(?:\1\t.*\n)*\1\} \w.*;\n", "", text, flags=re.M)
        if less == text:
            break
        text = less
    found = []
    for line in text.splitlines():
        member = MEMBER.match(line)
        if member and (member["bits"] or member["pointer"] or member["number"] in BITS):
            found.append((member["name"], -int(member["bits"]) if member["bits"] else 64 if member["pointer"] else BITS[member["number"]]))
    return found


def script_of(name, fields):
    script = f"begin {{ $p = (struct {name} *)curtask; $a = (uint64)curtask;\n"
    for field, bits in fields:
        if bits > 0:
            script += f'if ((uint{bits})$p.{field} != *(uint{bits} *)kptr($a + offsetof(struct {name}, {field}))) {{ print("{field}"); }}\n'
        else:
            script += f'if ((uint64)$p.{field} >> {-bits}) {{ print("{field}"); }}\n'
    return script + "}\n"


def problems_of(flowtap, name):
    fields = fields_of(flowtap, name)
    if not fields:
        return f"  struct {name} has no fields\n"
    problem = ""
    for first in range(0, len(fields), AT_ONCE):
        script = script_of(name, fields[first:first + AT_ONCE])
        differing = None
        for _ in range(3):  # a field of the running task may change in between, but not every time
            done = subprocess.run([flowtap, "-q", "--no-warnings", "-e", script], capture_output=True, text=True)
            if done.returncode:
                return f"  struct {name}: {done.stderr}\n"
            words = set(done.stdout.split())
            differing = words if differing is None else differing & words
            if not differing:
                break
        problem += "".join(f"  struct {name}, field {field}: a typed read gives another value\n" for field in sorted(differing))
    return problem
