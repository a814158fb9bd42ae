"""Integers and conditions: operators, casts, choices, and what other types give as a number."""

import re

from .expression import Expr
from .types import BOOL, INT64, INTS, UINT64, Array, Int, Record, Text, Tuple, common

INTERESTING = [0, 1, 2, 7, 63, 64, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1]


FUNCTIONS = {"true", "false", "string", "str", "str_concat", "strcontains", "if", "else", "bool", "int", "uint"}


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


ARITHMETIC = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "&": lambda a, b: a & b,
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "<<": lambda a, b: a << (b & 63), ">>": lambda a, b: a >> (b & 63),
    "/": lambda a, b: quotient(a, b) if b else 1, "%": lambda a, b: a - b * quotient(a, b) if b else 1,
}  # fmt: skip
COMPARISONS = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
}  # fmt: skip


def arithmetic(op, a, b):
    """64 bits; signed if an operand is, or for a difference. The left side of a shift decides alone."""
    signed = a.type.signed or (b.type.signed and not b.is_literal) or op == "-"
    if op in ("<<", ">>"):
        signed = a.type.signed
    type = Int(8, signed)
    return Expr(
        type, f"({a.text} {op} {b.text})",
        lambda s: type.fit(ARITHMETIC[op](type.fit(a.value(s)), type.fit(b.value(s)))),
    )  # fmt: skip


def comparison(op, a, b):
    type = Int(8, a.type.signed or (b.type.signed and not b.is_literal))
    return Expr(BOOL, f"({a.text} {op} {b.text})", lambda s: COMPARISONS[op](type.fit(a.value(s)), type.fit(b.value(s))))


def cast(type, e):
    if e.type == type and not e.is_literal:
        return e
    return Expr(type, f"({type.name}){e.text}", lambda s: type.fit(int(e.value(s))))


def is_known(text):
    """Whether only literals are compared: words outside of them are variables, maps and builtins."""
    without_texts = re.sub(r'"[^"]*"', "", text)
    return not re.search(r"[@$]", without_texts) and not set(re.findall(r"[a-z_]+", without_texts)) - FUNCTIONS


def literal(number):
    return Expr(INT64, str(number), lambda s: number, True)


class Numbers:
    """Part of the generator; `self.random` and `self.variables` are its own."""

    def literal(self):
        return literal(self.pick(INTERESTING))

    def known_number(self):
        """A number that the compiler cannot know: the program keeps some in a map."""
        index = self.random.randrange(len(self.numbers))
        return Expr(INT64, f"@v[{index}]", lambda s: s.maps["@v"].get((index,), 0))

    def leaf(self, may_be_literal):
        if may_be_literal and self.chance(0.3):
            return self.literal()
        return self.variable_of(lambda t: isinstance(t, Int)) if self.chance(0.6) else self.known_number()

    def number(self, depth, may_be_literal=False):
        """An integer of any type."""
        if depth <= 0 or self.chance(0.1):
            return self.leaf(may_be_literal) or self.known_number()
        kinds = [
            (8, self.arithmetic), (3, self.cast), (2, self.unary), (2, self.choice), (1, self.elvis), (1, self.from_bool),
            (1, self.from_text), (2, self.from_compound), (1, self.from_map), (1, self.swapped), (1, self.macro_call),
            (1, self.block_value), (1, self.size_of), (1, self.function_call),
        ]  # fmt: skip
        return self.weighted(kinds)(depth)

    def number_of(self, type, depth):
        return cast(type, self.number(depth))

    def small(self, limit, depth=1):
        """A number from 0 to limit - 1, of type int64 or uint64; limit is a power of two."""
        return arithmetic("&", self.number(depth), literal(limit - 1))

    def arithmetic(self, depth):
        op = self.pick(list(ARITHMETIC))
        a, b = self.number(depth - 1), self.number(depth - 1, may_be_literal=True)
        if op in ("<<", ">>"):
            b = literal(self.random.randrange(64)) if b.is_literal else arithmetic("&", b, literal(63))
        if op in ("/", "%") and b.is_literal and b.text == "0":
            b = literal(3)
        return arithmetic(op, a, b)

    def cast(self, depth):
        return cast(self.pick(INTS), self.number(depth - 1))

    def unary(self, depth):
        e, op = self.number(depth - 1), self.pick("-~")
        type = Int(8, True) if e.type.signed else e.type
        return Expr(type, f"({op}{e.text})", lambda s: type.fit(-e.value(s) if op == "-" else ~e.value(s)))

    def choice(self, depth):
        test, a, b = self.condition(depth - 1), self.number(depth - 1), self.number(depth - 1)
        type = common(a.type, b.type)
        text = f"({test.text} ? {a.text} : {b.text})"
        if self.chance(0.3):
            text = f"(if {test.text} {{ {a.text} }} else {{ {b.text} }})"
        return Expr(type, text, lambda s: type.fit((a if test.value(s) else b).value(s)))

    def elvis(self, depth):
        a, b = self.number_of(INT64, depth - 1), self.number_of(INT64, depth - 1)
        return Expr(INT64, f"({a.text} ?: {b.text})", lambda s: a.value(s) or b.value(s))

    def from_bool(self, depth):
        e = self.condition(depth - 1)
        return cast(self.pick(INTS), e)

    def from_text(self, depth):
        t, variable = self.text(depth - 1), self.variable_of(lambda v: isinstance(v, Text))
        if not variable or self.chance(0.4):
            return Expr(UINT64, f"strlen({t.text})", lambda s: len(t.value(s)))
        if self.chance(0.2):
            return self.texts_compared(t, depth)
        if self.chance(0.4):
            part = self.text_literal(2)
            return Expr(INT64, f"strstr({t.text}, {part.text})", lambda s: t.value(s).find(part.value(s)))
        index = self.random.randrange(variable.type.room)  # behind the text there are zeros
        return Expr(Int(1, True), f"{variable.text}[{index}]", lambda s: variable.value(s).ljust(index + 1, b"\0")[index])

    def texts_compared(self, t, depth):
        other, n = self.text(depth - 1), self.random.randrange(1, 20)
        return Expr(INT64, f"strncmp({t.text}, {other.text}, {n})", lambda s: int(t.value(s)[:n] != other.value(s)[:n]))

    def from_compound(self, depth):
        """An element of an array, or a field of a tuple, record or struct, that is an integer."""
        e = self.variable_of(lambda t: isinstance(t, (Tuple, Record, Array)))
        if not e:
            return self.leaf(False) or self.known_number()
        if isinstance(e.type, Array):
            return self.element(e, depth)
        return self.field(e, lambda t: isinstance(t, Int)) or self.known_number()

    def swapped(self, depth):
        e = self.number(depth - 1)
        type = Int(e.type.size, False)
        swap = lambda n: int.from_bytes(type.fit(n).to_bytes(type.size, "little"), "big")
        return Expr(type, f"bswap({e.text})", lambda s: swap(e.value(s)))

    def macro_call(self, depth):
        if not self.macros:
            return self.known_number()
        name, body = self.pick(self.macros)
        a, b = self.number(depth - 1), self.number(depth - 1)
        return Expr(body(a, b).type, f"{name}({a.text}, {b.text})", body(a, b).value)

    def function_call(self, depth):
        return self.called(lambda t: isinstance(t, Int), depth) or self.known_number()

    def block_value(self, depth):
        """`{ $b = e; e2 }`: the variable may be used by the result."""
        name, e = self.new_name("$b"), self.number_of(self.pick(INTS), depth - 1)
        own = Expr(e.type, name, lambda s: s.variables[name])
        result = arithmetic(self.pick("+-*^"), own, self.number(depth - 2))

        def value(s):
            s.variables[name] = e.value(s)
            return result.value(s)

        return Expr(result.type, f"{{ let {name}: {e.type.name} = {e.text}; {result.text} }}", value)

    def size_of(self, depth):
        e = self.number(1)
        return arithmetic("+", self.known_number(), Expr(INT64, f"sizeof({e.text})", lambda s: e.type.size, True))

    # --- conditions ---------------------------------------------------------------------------------
    def condition(self, depth):
        kinds = [(12, self.compared), (2, self.as_bool), (1, self.full_text), (1, self.about_process)]
        if depth > 0:
            kinds += [(6, self.logic), (2, self.equal_texts), (2, self.equal_tuples), (2, self.text_inside), (2, self.key_known)]
        made = self.weighted(kinds)(depth)
        # A choice by what the compiler knows has the type of one side alone: `"a" == "b" ? x : y` is y.
        return self.compared(depth) if is_known(made.text) else made

    def compared(self, depth):
        return comparison(self.pick(list(COMPARISONS)), self.number(depth), self.number(depth, may_be_literal=True))

    def as_bool(self, depth):
        if self.chance(0.3) and (call := self.called(lambda t: t == BOOL, depth)):
            return call
        found = self.variable_of(lambda t: t == BOOL)
        if found and self.chance(0.5):
            return found
        e = self.number(depth - 1)
        return Expr(BOOL, f"((bool){e.text})", lambda s: e.value(s) != 0)

    def full_text(self, depth):
        """A text is true when it is not empty."""
        t = self.text(depth - 1)
        return Expr(BOOL, f"({t.text} ? true : false)", lambda s: t.value(s) != b"")

    def logic(self, depth):
        a, b = self.condition(depth - 1), self.condition(depth - 1)
        return self.pick([
            Expr(BOOL, f"({a.text} && {b.text})", lambda s: a.value(s) and b.value(s)),
            Expr(BOOL, f"({a.text} || {b.text})", lambda s: a.value(s) or b.value(s)),
            Expr(BOOL, f"(!{a.text})", lambda s: not a.value(s)),
        ])  # fmt: skip

    def equal_texts(self, depth):
        a, b = self.text(depth - 1), self.text(depth - 1)
        if self.chance(0.3):
            a = self.cut(a)
        op = self.pick(["==", "!="])
        return Expr(BOOL, f"({a.text} {op} {b.text})", lambda s: (a.value(s) == b.value(s)) == (op == "=="))

    def equal_tuples(self, depth):
        type = self.tuple_type(1)
        a, b, op = self.tuple_of(type, depth - 1), self.tuple_of(type, depth - 1), self.pick(["==", "!="])
        return Expr(BOOL, f"({a.text} {op} {b.text})", lambda s: (a.value(s) == b.value(s)) == (op == "=="))

    def text_inside(self, depth):
        a, b = self.text(depth - 1), self.text_literal(2)
        return Expr(BOOL, f"strcontains({a.text}, {b.text})", lambda s: b.value(s) in a.value(s))
