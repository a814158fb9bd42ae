"""Tuples, records, arrays and structs: making them and reading their parts."""

from .expression import Expr
from .types import BOOL, INTS, Array, Bool, Int, Record, Text, Tuple

FIELD_NAMES = ("a", "bb", "c3", "name", "_x")


class Compounds:
    # --- types --------------------------------------------------------------------------------------
    def part_type(self, depth):
        kinds = [(4, lambda d: self.pick(INTS)), (1, lambda d: BOOL), (2, lambda d: self.text_type([3, 8, 9, 16, 33, 150]))]
        if depth > 0:
            kinds += [(1, self.tuple_type), (1, self.record_type)]
        return self.weighted(kinds)(depth - 1)

    def text_type(self, rooms):
        # Keys of large maps may find no memory while a timer runs; see run_script().
        return Text(min(self.pick(rooms), 16 if self.is_timer else self.max_strlen))

    def tuple_type(self, depth):
        return Tuple(tuple(self.part_type(depth) for _ in range(self.random.randrange(1, 5))))

    def record_type(self, depth):
        names = tuple(self.random.sample(FIELD_NAMES, self.random.randrange(1, 5)))
        return Record(names, tuple(self.part_type(depth) for _ in names))

    def any_type(self):
        return self.weighted([(4, lambda: self.pick(INTS)), (1, lambda: BOOL), (3, lambda: self.text_type([4, 16, 40, 130, 500])),
                              (2, lambda: self.tuple_type(1)), (1, lambda: self.record_type(1)), (1, self.array_type)])()  # fmt: skip

    def array_type(self):
        element = self.pick([t for t in INTS if t.size < 8])
        return Array(element, self.pick([8, 4, 2]) // element.size or 1)

    # --- values of a given type ---------------------------------------------------------------------
    def value_of(self, type, depth):
        if isinstance(type, Int):
            return self.number_of(type, depth)
        if isinstance(type, Bool):
            return self.condition(depth)
        if isinstance(type, Text):
            return self.text_within(type, depth)
        if isinstance(type, Array):
            return self.array_of(type, depth)
        found = self.variable_of(lambda t: t == type) if self.chance(0.3) else None
        return found or (self.tuple_of if isinstance(type, Tuple) else self.record_of)(type, depth)

    def text_within(self, type, depth):
        """A text that surely fits, so that the room of the whole is not widened by it."""
        t = self.text(depth)
        if t.type.room <= type.room:
            return Expr(type, t.text, t.value)
        return Expr(type, f"str({t.text}, {type.room})", lambda s: t.value(s)[:type.room - 1])

    def tuple_of(self, type, depth):
        parts = [self.value_of(part, depth - 1) for part in type.parts]
        text = "(" + ", ".join(p.text for p in parts) + ("," if len(parts) == 1 else "") + ")"
        return Expr(type, text, lambda s: tuple(p.value(s) for p in parts))

    def record_of(self, type, depth):
        parts = [self.value_of(part, depth - 1) for part in type.parts]
        text = "(" + ", ".join(f"{n} = {p.text}" for n, p in zip(type.names, parts)) + ")"
        return Expr(type, text, lambda s: tuple(p.value(s) for p in parts))

    def array_of(self, type, depth):
        whole = Int(type.element.size * type.count, False)
        e = self.number_of(whole, depth)

        def value(s):
            data = e.value(s).to_bytes(whole.size, "little")
            size = type.element.size
            return [int.from_bytes(data[i:i + size], "little", signed=type.element.signed) for i in range(0, len(data), size)]

        return Expr(type, f"({type.element.name}[{type.count}]){e.text}", value)

    def enum_value(self, depth):
        type = self.enum
        e = self.small(8, depth)
        return Expr(type, f"(enum {type.name}){e.text}", e.value)

    # --- parts --------------------------------------------------------------------------------------
    def field(self, e, is_wanted):
        """A part of a tuple or record, at any depth, whose type is wanted; or None."""
        wanted = [i for i, part in enumerate(e.type.parts) if is_wanted(part) or hasattr(part, "parts")]
        if not wanted:
            return None
        index = self.pick(wanted)
        how = e.type.names[index] if isinstance(e.type, Record) else index
        part = Expr(e.type.parts[index], f"{e.text}.{how}", lambda s: e.value(s)[index])
        return part if is_wanted(part.type) else self.field(part, is_wanted)

    def element(self, e, depth):
        if self.chance(0.2):  # the array as one integer again
            type = Int(e.type.element.size * e.type.count, False)
            size = e.type.element.size
            whole = lambda v: b"".join((x & ((1 << 8 * size) - 1)).to_bytes(size, "little") for x in v)
            return Expr(type, f"({type.name}){e.text}", lambda s: int.from_bytes(whole(e.value(s)), "little"))
        if self.chance(0.5):
            index = self.random.randrange(e.type.count)
            return Expr(e.type.element, f"{e.text}[{index}]", lambda s: e.value(s)[index])
        index = self.small(e.type.count, depth - 1)
        return Expr(e.type.element, f"{e.text}[{index.text}]", lambda s: e.value(s)[index.value(s)])


# --- structs ------------------------------------------------------------------------------------------
class Struct:
    """A struct of eight bytes, read through a pointer to an array of eight bytes."""

    def __init__(self, name, random):
        self.name, self.fields = name, []  # (name, type, first bit, bits)
        bit = 0
        while bit < 64:
            type = random.choice([t for t in INTS if t.size < 8])
            start = -(-bit // (8 * type.size)) * 8 * type.size
            if start + 8 * type.size > 64:
                type, start = Int(1, False), -(-bit // 8) * 8
                if start + 8 > 64:
                    break
            self.fields.append((f"f{len(self.fields)}", type, start, 8 * type.size))
            bit = start + 8 * type.size
        if random.random() < 0.4:
            self.split_last(random)

    def split_last(self, random):
        """The last field becomes two bit fields. They begin where there is room in a unit of their type."""
        _, type, start, bits = self.fields.pop()
        first = random.randrange(1, bits)
        bit = self.fields[-1][2] + self.fields[-1][3] if self.fields else 0
        for name, size in (("low", first), ("high", bits - first)):
            if bit % bits + size > bits:
                bit = start
            self.fields.append((name, type, bit, size))
            bit += size

    def text(self):
        lines = [f"{t.name} {n}{f' : {bits}' if bits < 8 * t.size else ''};" for n, t, _, bits in self.fields]
        return f"struct {self.name} {{ {' '.join(lines)} }};"

    def type(self):
        return Record(tuple(f[0] for f in self.fields), tuple(f[1] for f in self.fields))

    def read(self, number):
        def field(type, start, bits):
            value = number >> start & (1 << bits) - 1
            return value - (1 << bits) if type.signed and value >> (bits - 1) else value

        return tuple(field(t, start, bits) for _, t, start, bits in self.fields)
