"""Random C declarations, laid out by gcc and by flowtap. Each struct becomes one line from both: its size, the offsets of its members, and the
values of its bit fields, read from the same bytes. Whatever gcc takes is allowed, sensible or not."""

import random
import subprocess
from pathlib import Path

INTEGERS = {"char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 4, "unsigned int": 4, "long": 8,
            "unsigned long": 8, "long long": 8, "unsigned long long": 8, "uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "uint64_t": 8}  # fmt: skip
OTHERS = ["_Bool", "float", "double", "long double", "__int128", "unsigned __int128"]
ENUMS = {
    "enum small { A0, A1 = 5 };": ("enum small", 4),
    "enum negative { B0 = -1, B1 = 100 };": ("enum negative", 4),
    "enum wide { C0 = 0x100000000, C1 = 1 };": ("enum wide", 8),
    "enum wide_negative { D0 = -1, D1 = 0xffffffff };": ("enum wide_negative", 8),
    "enum __attribute__((packed)) byte { E0, E1 = 255 };": ("enum byte", 1),
    "enum two_bytes { F0 = -1, F1 = 128 } __attribute__((packed));": ("enum two_bytes", 2),
}
BYTES = bytes(random.Random(1).randrange(1, 256) for _ in range(2000))  # without a NUL: they are a string of the script
STRUCTS_IN_PROBE = 15


class Struct:
    """One top-level struct or union: its text, and what can be asked of it."""

    def __init__(self, name, text, members, bit_fields):
        self.name, self.text, self.members, self.bit_fields = name, text, members, bit_fields


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.tags = []  # of structs so far
        self.names = 0

    def pick(self, options):
        return self.random.choice(options)

    def chance(self, share):
        return self.random.random() < share

    def new_name(self):
        self.names += 1
        return f"m{self.names}"

    def aligned(self, least=1):
        return self.pick([n for n in (1, 2, 4, 8, 16, 32, 64) if n >= least])

    def attributes(self, share, is_member=True):
        """Perhaps an attribute list, written as people do."""
        if not self.chance(share):
            return ""
        number = self.aligned()
        words = [self.pick(["packed", "__packed__"])], [self.pick([f"aligned({number})", f"__aligned__({number})", "aligned"])]
        words = self.pick([words[0], words[1], words[0] + words[1]] + ([] if is_member else [words[0]] * 2))
        if self.chance(0.2):
            return " ".join(f"__attribute__(({word}))" for word in words)
        return f"__attribute__(({', '.join(words)}))"

    def struct_head(self):
        return " ".join(filter(None, [self.pick(["struct", "struct", "struct", "union"]), self.attributes(0.1, False)]))

    def scalar(self):
        kinds = [list(INTEGERS)] * 4 + [OTHERS, [name for name, _ in ENUMS.values()]] + [self.tags] * bool(self.tags)
        return self.pick(self.pick(kinds))

    def dimensions(self, is_last):
        found = "".join(f"[{self.random.randrange(1, 4)}]" for _ in range(self.pick([0, 0, 0, 1, 1, 2, 3])))
        may_be_open = is_last and (self.members[:-1] or self.bits)  # gcc wants another member with a name
        return "[]" if may_be_open and self.chance(0.3) else found

    # --- members: each answers the text of one declaration --------------------------------------------
    def plain(self, is_last):
        """`T a, *b, c[2];`"""
        type, parts = self.scalar(), []
        may_be_less = type in self.tags  # _Alignas may not be: gcc refuses
        before = self.attributes(0.08) or (f"_Alignas({self.aligned(16)})" if self.chance(0.08) and not may_be_less else "")
        count = self.pick([1, 1, 1, 2, 3])
        for i in range(count):
            name = self.new_name()
            self.members.append(name)
            stars = self.pick(["", "", "", "", "*", "**", "*const "])
            parts.append(f"{stars}{name}{self.dimensions(is_last and i == count - 1)} {self.attributes(0.15)}".strip())
        order = [before, type] if self.chance(0.5) else [type, before]
        return " ".join(filter(None, order)) + f" {', '.join(parts)};"

    def function_pointer(self, is_last):
        name = self.new_name()
        self.members.append(name)
        return f"int (*{name}{self.pick(['', '', '[3]'])})(void *, int (*)(long));"

    def bit_fields(self, is_last):
        """`T a : 3, : 2, b : 7;` of one type."""
        type, size = self.pick([*INTEGERS.items(), *INTEGERS.items(), *ENUMS.values(), ("_Bool", 0)])
        before, parts = self.attributes(0.05), []
        for _ in range(self.pick([1, 2, 3, 4])):
            bits = self.random.randrange(1, self.pick([4, 8, 64]) + 1)
            bits = min(bits, size * 8 or 1)
            if self.chance(0.15):
                parts.append(f": {self.pick([0, bits])}")
                continue
            name = self.new_name()
            self.bits.append(name)
            parts.append(f"{name} : {bits} {self.attributes(0.1)}".strip())
        return " ".join(filter(None, [before, type])) + f" {', '.join(parts)};"

    def nested(self, is_last):
        """A struct in the struct: unnamed, so that its members are ours, or with a name."""
        kept = self.members, self.bits
        is_unnamed = self.chance(0.6)
        if not is_unnamed:
            self.members, self.bits = [], []
        body = self.body(self.random.randrange(1, 4), depth=1)
        head = self.struct_head()
        after = self.attributes(0.2, False)
        self.members, self.bits = kept
        if is_unnamed:
            return f"{head} {{ {body} }} {after};"
        name = self.new_name()
        self.members.append(name)
        return f"{head} {{ {body} }} {after} {name}{self.dimensions(False)} {self.attributes(0.1)};"

    def body(self, count, depth=0):
        parts = []
        for i in range(count):
            is_last = depth == 0 and i == count - 1 and count > 1 and self.may_end_open
            kinds = [self.plain] * 5 + [self.bit_fields] * 5 + [self.function_pointer] + [self.nested] * (2 if depth < 2 else 0)
            parts.append(self.pick(kinds)(is_last))
        return " ".join(parts)

    def struct(self, number):
        head = self.struct_head()
        keyword, _, attributes = head.partition(" ")
        self.members, self.bits = [], []
        self.may_end_open = keyword == "struct" and self.chance(0.3)
        body = self.body(self.random.randrange(1, 7))
        tag = f"{keyword} s{number}"
        text = f"{head} s{number} {{ {body} }} {self.attributes(0.35, False)};".replace(" ;", ";")
        if not self.may_end_open:  # gcc refuses an open array inside of others
            self.tags.append(tag)
        return Struct(tag, text, self.members, self.bits)


def c_program(structs):
    numbers = ", ".join(map(str, BYTES))
    lines = ["#include <stddef.h>", "#include <stdint.h>", "#include <stdio.h>", "#include <string.h>", *ENUMS, *(s.text for s in structs),
             f"static const unsigned char bytes[] = {{ {numbers} }};", "int main(void) {"]  # fmt: skip
    for s in structs:
        values = [f"sizeof({s.name})"] + [f"offsetof({s.name}, {m})" for m in s.members] + [f"x.{b}" for b in s.bit_fields]
        format = " ".join(["%lld"] * len(values))
        lines.append(f"{{ {s.name} x; memcpy(&x, bytes, sizeof x < sizeof bytes ? sizeof x : sizeof bytes);")
        lines.append(f'printf("{s.name} {format}\\n", {", ".join(f"(long long)({v})" for v in values)}); }}')
    return "\n".join([*lines, "return 0; }"])


def script(structs):
    text = "".join(f"\\x{b:02x}" for b in BYTES)
    lines = [*ENUMS, *(s.text for s in structs), f"config = {{ max_strlen = {len(BYTES) + 1}; print_maps_on_exit = false }}",
             f'begin {{ @text = "{text}"; }}']  # fmt: skip
    for first in range(0, len(structs), STRUCTS_IN_PROBE):
        lines.append(f'begin {{ $at = (uint64)&@text;')
        for s in structs[first:first + STRUCTS_IN_PROBE]:
            values = [f"sizeof({s.name})"] + [f"offsetof({s.name}, {m})" for m in s.members]
            values += [f"(int64)(({s.name} *)$at)->{b}" for b in s.bit_fields]
            lines.append(f'printf("{s.name} {" ".join(["%d"] * len(values))}\\n", {", ".join(values)});')
        lines.append("}")
    return "\n".join(lines)


def problems_of(flowtap, folder, seed, count):
    """What differs, for `count` declarations."""
    generator = Generator(seed)
    structs = [generator.struct(i) for i in range(count)]
    source, program, ours = Path(folder, "layouts.c"), Path(folder, "layouts"), Path(folder, "layouts.bt")
    source.write_text(c_program(structs))
    ours.write_text(script(structs))
    subprocess.run(["gcc", "-w", "-Wno-packed-bitfield-compat", "-O0", "-o", program, source], check=True)
    wanted = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    done = subprocess.run([flowtap, "-q", "--no-warnings", ours], capture_output=True, text=True)
    if done.returncode:
        return f"exit code {done.returncode}\n{done.stderr[:3000]}"
    found = {line.rpartition(" s")[2].split(" ")[0]: line for line in done.stdout.splitlines() if line}
    problems = ""
    for s, line in zip(structs, wanted):
        have = found.get(s.name.split(" s")[1], "nothing")
        if int(line.split()[2]) > len(BYTES):  # its bit fields have no known bytes
            line, have = (" ".join(text.split()[:3 + len(s.members)]) for text in (line, have))
        if have != line:
            problems += f"  {s.text}\n    members  {' '.join([*s.members, *s.bit_fields])}\n    expected {line}\n    found    {have}\n"
    return problems
