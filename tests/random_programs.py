"""Random programs with integers: what the kernel computes must be what Python computes.

Every program is well typed by construction, so a refusal by the checker or by the kernel's verifier is
a failure too. Numbers come out of a map, which keeps the compiler from working out results itself.
The seed is fixed; RANDOM_SEED and RANDOM_PROGRAMS in the environment try others.
"""

import os
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

PROGRAMS = 80
STATEMENTS = 16
TYPES = {f"{sign}int{8 * size}": (size, sign == "") for size in (1, 2, 4, 8) for sign in ("", "u")}
INTERESTING = [0, 1, 2, 7, 63, 64, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1]


def fit(value, size, signed):
    """The value as an integer of this type holds it."""
    value &= (1 << 8 * size) - 1
    return value - (1 << 8 * size) if signed and value >> (8 * size - 1) else value


@dataclass
class Value:
    text: str
    number: int
    size: int = 8
    signed: bool = True
    is_literal: bool = False


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


ARITHMETIC = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "&": lambda a, b: a & b,
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "/": quotient, "%": lambda a, b: a - b * quotient(a, b),
    "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b,
}
COMPARISONS = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
}


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = [self.number() for _ in range(6)]
        self.variables = []

    def number(self):
        number = self.random.choice(INTERESTING) if self.random.random() < 0.7 else self.random.getrandbits(63)
        return -number if self.random.random() < 0.3 else number

    # --- expressions ------------------------------------------------------------------------------
    def leaf(self, may_be_literal):
        kind = self.random.random()
        if may_be_literal and kind < 0.3:
            number = self.random.choice(INTERESTING)
            return Value(str(number), number, 8, True, True)
        if self.variables and kind < 0.8:
            return self.random.choice(self.variables)
        index = self.random.randrange(len(self.numbers))
        return Value(f"@v[{index}]", self.numbers[index])

    def expression(self, depth, may_be_literal=True):
        if depth == 0 or self.random.random() < 0.1:
            return self.leaf(may_be_literal)
        return self.random.choice([self.arithmetic, self.arithmetic, self.arithmetic, self.cast, self.unary, self.choice])(depth)

    def arithmetic(self, depth):
        op = self.random.choice(list(ARITHMETIC))
        a = self.expression(depth - 1, may_be_literal=False)
        b = self.expression(depth - 1)
        if op in ("<<", ">>"):
            b = Value(f"({b.text} & 63)", b.number & 63)
        elif op in ("/", "%"):  # never by zero
            b = Value(f"({b.text} | 1)", b.number | 1, 8, b.signed or b.is_literal, False)
            if b.text.startswith("(") and b.text[1].isdigit():
                b = Value("3", 3, 8, True, True)
        signed = a.signed or (b.signed and not b.is_literal)
        if op == "-":
            signed = True
        if op in ("<<", ">>"):
            signed = a.signed
        x, y = fit(a.number, 8, signed), fit(b.number, 8, signed)
        return Value(f"({a.text} {op} {b.text})", fit(ARITHMETIC[op](x, y), 8, signed), 8, signed)

    def cast(self, depth):
        operand = self.expression(depth - 1, may_be_literal=False)
        name = self.random.choice(list(TYPES))
        size, signed = TYPES[name]
        return Value(f"({name}){operand.text}", fit(operand.number, size, signed), size, signed)

    def unary(self, depth):
        operand = self.expression(depth - 1, may_be_literal=False)
        op = self.random.choice("-~")
        signed = op == "-" or operand.signed
        number = -operand.number if op == "-" else ~operand.number
        return Value(f"({op}{operand.text})", fit(number, 8, signed), 8, signed)

    def choice(self, depth):
        text, holds = self.condition(depth - 1)
        arms = [self.expression(depth - 1, may_be_literal=False) for _ in range(2)]
        number = fit(arms[0 if holds else 1].number, 8, True)
        return Value(f"({text} ? (int64){arms[0].text} : (int64){arms[1].text})", number)

    def condition(self, depth):
        if depth > 0 and self.random.random() < 0.3:
            (a, x), (b, y) = self.condition(depth - 1), self.condition(depth - 1)
            return self.random.choice([(f"({a} && {b})", x and y), (f"({a} || {b})", x or y), (f"(!{a})", not x)])
        op = self.random.choice(list(COMPARISONS))
        a, b = self.expression(depth, may_be_literal=False), self.expression(depth)
        signed = a.signed or (b.signed and not b.is_literal)
        return f"({a.text} {op} {b.text})", COMPARISONS[op](fit(a.number, 8, signed), fit(b.number, 8, signed))

    # --- statements -------------------------------------------------------------------------------
    def declaration(self, lines, expected):
        name = self.random.choice(list(TYPES))
        size, signed = TYPES[name]
        value = self.expression(2, may_be_literal=False)
        variable = f"$x{len(self.variables)}"
        lines.append(f"let {variable}: {name} = ({name}){value.text};")
        self.variables.append(Value(variable, fit(value.number, size, signed), size, signed))

    def output(self, lines, expected):
        if self.random.random() < 0.3:
            text, holds = self.condition(3)
            lines.append(f"print({text});")
            expected.append("true" if holds else "false")
        else:
            value = self.expression(4, may_be_literal=False)
            lines.append(f"print({value.text});")
            expected.append(str(value.number))

    def branch(self, lines, expected):
        text, holds = self.condition(2)
        for word, taken in ((f"if {text}", holds), ("else", not holds)):
            lines.append(word + " {")
            self.output(lines, expected if taken else [])
            lines.append("}")

    def loop(self, lines, expected):
        rounds = self.random.randrange(1, 6)
        step = self.expression(2, may_be_literal=False)
        total = 0
        for i in range(rounds):
            total = fit(total + fit(step.number, 8, True) * (i + 1), 8, True)
        name = f"$t{len(lines)}"
        lines.append(f"let {name}: int64 = 0; for ($i : 0..{rounds}) {{ {name} += (int64){step.text} * ((int64)$i + 1); }} print({name});")
        expected.append(str(total))

    def key(self, lines, expected):
        values = [self.expression(2, may_be_literal=False) for _ in range(self.random.randrange(1, 4))]
        name = f"@k{len(lines)}"
        keys = ", ".join(v.text for v in values)
        result = self.expression(2, may_be_literal=False)
        lines.append(f"{name}[{keys}] = {result.text}; print({name}[{keys}]);")
        expected.append(str(result.number))

    def program(self):
        lines = [f"@v[{i}] = (int64){n};" for i, n in enumerate(self.numbers)]
        expected = []
        kinds = [self.declaration, self.declaration, self.output, self.output, self.output, self.branch, self.loop, self.key]
        for _ in range(STATEMENTS):
            self.random.choice(kinds)(lines, expected)
        return "config = { print_maps_on_exit = false }\nbegin {\n  " + "\n  ".join(lines) + "\n}\n", expected


def try_program(flowtap, seed):
    script, expected = Generator(seed).program()
    done = subprocess.run([flowtap, "-q", "--no-warnings", "-e", script], capture_output=True, text=True)
    found = done.stdout.split()
    if done.returncode == 0 and found == expected:
        return ""
    wrong = [f"value {i}: expected {e}, found {f}" for i, (e, f) in enumerate(zip(expected, found)) if e != f][:3]
    return f"  seed {seed}, exit code {done.returncode}\n{done.stderr[:1500]}\n{wrong}\n{script}"


def run(root, results):
    first = int(os.environ.get("RANDOM_SEED", "1"))
    seeds = range(first, first + int(os.environ.get("RANDOM_PROGRAMS", PROGRAMS)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for seed, problem in zip(seeds, pool.map(lambda s: try_program(root / "build" / "flowtap", s), seeds)):
            results.add(f"random program {seed}", problem)
