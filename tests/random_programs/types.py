"""The types of the language as the generator knows them, and how their values are shown.

A value is a Python int, bool, bytes (text without its NUL), tuple (tuples, records, structs) or list (arrays).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Int:
    size: int
    signed: bool

    @property
    def name(self):
        return f"{'' if self.signed else 'u'}int{8 * self.size}"

    def fit(self, value):
        """The value as an integer of this type holds it."""
        value &= (1 << 8 * self.size) - 1
        return value - (1 << 8 * self.size) if self.signed and value >> (8 * self.size - 1) else value


@dataclass(frozen=True)
class Bool:
    name = "bool"


@dataclass(frozen=True)
class Text:
    room: int  # bytes, its NUL included


@dataclass(frozen=True)
class Tuple:
    parts: tuple


@dataclass(frozen=True)
class Record:
    names: tuple
    parts: tuple


@dataclass(frozen=True)
class Array:
    element: Int
    count: int


@dataclass(frozen=True)
class Pointer:
    element: Int


@dataclass(frozen=True)
class Enum:
    name: str
    members: tuple  # of (name, number)


INTS = [Int(size, signed) for size in (1, 2, 4, 8) for signed in (True, False)]
INT64, UINT64 = Int(8, True), Int(8, False)
BOOL = Bool()
CUT_MARK = ".."


def common(a, b):
    """The integer type in which values of two others meet."""
    if a.signed == b.signed:
        return Int(max(a.size, b.size), a.signed)
    signed, unsigned = (a, b) if a.signed else (b, a)
    return Int(signed.size if signed.size > unsigned.size else min(8, 2 * unsigned.size), True)


def zero(type):
    if isinstance(type, (Int, Enum, Pointer)):
        return 0
    if isinstance(type, Bool):
        return False
    if isinstance(type, Text):
        return b""
    if isinstance(type, Array):
        return [0] * type.count
    return tuple(zero(part) for part in type.parts)


def show(type, value):
    """What print() writes."""
    if isinstance(type, Bool):
        return "true" if value else "false"
    if isinstance(type, Text):
        return value.decode() + (CUT_MARK if len(value) == type.room else "")
    if isinstance(type, Enum):
        return next((name for name, number in type.members if number == value), str(value))
    if isinstance(type, Pointer):
        return hex(value)
    if isinstance(type, Array):
        return "[" + ",".join(map(str, value)) + "]"
    if isinstance(type, Tuple):
        return "(" + ", ".join(show(t, v) for t, v in zip(type.parts, value)) + ")"
    if isinstance(type, Record):
        fields = (f".{n} = {show(t, v)}" for n, t, v in zip(type.names, type.parts, value))
        return "{ " + ", ".join(fields) + " }"
    return str(value)


def hashable(value):
    """A value as a key of a Python dictionary."""
    return tuple(map(hashable, value)) if isinstance(value, (list, tuple)) else value
