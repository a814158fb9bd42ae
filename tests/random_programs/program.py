"""A random program: its text and what it prints."""

import random

from .builtins import Builtins
from .compounds import Compounds, Struct
from .expression import State
from .functions import Functions
from .maps import Map, Maps, entries
from .numbers import INTERESTING, Numbers, arithmetic
from .statements import Statements, indented
from .texts import Texts
from .types import INT64, Enum

STATEMENTS = (3, 5, 8, 12, 24)
NUMBERS = 6


class Generator(Numbers, Texts, Compounds, Builtins, Maps, Statements, Functions):
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = [self.start_number() for _ in range(NUMBERS)]
        self.max_strlen = self.pick([16, 32, 64, 200, 1024])
        self.variables, self.maps, self.aggregations, self.macros, self.functions = [], [], [], [], []
        self.names, self.declared, self.maps_at_end = 0, set(), []
        self.is_timer, self.is_end = self.chance(0.1), False  # else a begin probe
        self.struct = Struct("s0", self.random)
        self.enum = Enum("e0", (("ZERO", 0), ("THREE", 3), ("SEVEN", 7)))

    # --- choosing -----------------------------------------------------------------------------------
    def pick(self, list):
        return self.random.choice(list)

    def chance(self, probability):
        return self.random.random() < probability

    def weighted(self, kinds):
        return self.random.choices([k for _, k in kinds], [w for w, _ in kinds])[0]

    def new_name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def variable_of(self, is_wanted):
        found = [v for v in self.variables if is_wanted(v.type)]
        return self.pick(found) if found else None

    def start_number(self):
        number = self.pick(INTERESTING) if self.chance(0.7) else self.random.getrandbits(63)
        return -number if self.chance(0.3) else number

    # --- the whole ----------------------------------------------------------------------------------
    def make_macros(self):
        ops = [self.pick("+-*&|^") for _ in range(2)]
        self.macros.append(("mix", lambda a, b: arithmetic(ops[1], arithmetic(ops[0], a, b), a)))
        return [f"macro mix(a, b) {{ ((a {ops[0]} b) {ops[1]} a) }}", "macro add_to($t, n) { $t += n; }"]

    def definitions(self):
        members = ", ".join(f"{n} = {v}" for n, v in self.enum.members)
        settings = f"max_strlen = {self.max_strlen}; unstable_tseries = enable"
        return [self.struct.text(), "struct mac0 { uint8 bytes[6]; uint16 rest; };", f"enum {self.enum.name} {{ {members} }};", f"config = {{ {settings} }}"]

    def predicate(self):
        """`/ {` always closes one, so that no block may follow a division."""
        test = self.condition(2)
        return self.predicate() if "/ {" in test.text else test

    def program(self):
        """Answers the script, the lines it prints, and the entries of maps at its end."""
        lines = self.definitions() + self.make_macros()
        self.make_maps()
        lines += self.make_functions()
        state = State()
        probes, statements = [], self.pick(STATEMENTS)
        main = "interval:ms:1" if self.is_timer else "begin"
        for word in (main, "end") if self.chance(0.3) else (main,):
            self.variables, self.is_end = [], word == "end"
            test = self.predicate() if self.is_end and self.chance(0.5) else None
            parts = [] if self.is_end else [self.first_values()]
            parts += [self.statement(2) for _ in range(3 if self.is_end else statements)]
            body = sum((p[0] for p in parts), [])
            if not self.is_end and self.is_timer:  # its first run ends the script; others may come before that
                body = ["if (@once) { return; } @once = 1;", *body, "exit();"]
            probes.append(([f"{word} {f'/{test.text}/ ' if test else ''}{{", *indented(body), "}"], test, [p[1] for p in parts]))
        state.maps = {m.name: {} for m in self.maps + self.maps_at_end + self.aggregations} | {"@v": {}}
        for _, test, steps in probes:
            if test and not test.value(state):
                continue
            for step in steps:
                step(state)
        text = "\n".join(lines + sum((p[0] for p in probes), [])) + "\n"
        shown = [*self.maps, *self.maps_at_end, Map("@v", (INT64,), INT64)]
        return text, state.output, entries(shown, self.aggregations, state) + ["@once: 1"] * self.is_timer

    def first_values(self):
        """The numbers that the compiler shall not know, and something in every map."""
        lines = [f"@v[{i}] = (int64){n};" for i, n in enumerate(self.numbers)]
        maps, aggregations, self.maps, self.aggregations = self.maps, self.aggregations, [], []
        parts = [self.set_map(0, map) for map in maps] + [self.aggregate(0, a) for a in aggregations]
        self.maps, self.aggregations = maps, aggregations

        def run(s):
            s.maps["@v"] = {(i,): n for i, n in enumerate(self.numbers)}
            for _, step in parts:
                step(s)

        return lines + sum((p[0] for p in parts), []), run
