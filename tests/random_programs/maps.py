"""Maps with and without keys, and aggregations."""

from dataclasses import dataclass

from .expression import Expr
from .histograms import hist_rows, lhist_rows
from .numbers import cast, quotient
from .types import BOOL, INT64, INTS, Int, Text, Tuple, hashable, show, zero


@dataclass
class Map:
    name: str
    keys: tuple  # types; empty: a map without keys
    type: object  # of the value


@dataclass
class Aggregation:
    name: str
    keys: tuple
    kind: str
    signed: bool
    extra: tuple = ()  # bits of hist, or (min, max, step)

    def summary(self, values):
        """What is shown for these values; None when nothing is."""
        total, count = sum(values), len(values)
        type = Int(8, self.signed)
        if self.kind == "count":
            return str(count)
        if self.kind == "sum":
            return str(type.fit(total))
        if not values:
            return None
        total = type.fit(total)
        if self.kind in ("min", "max"):
            return str(min(values) if self.kind == "min" else max(values))
        if self.kind == "avg":
            return str(quotient(total, count))
        if self.kind == "stats":
            return f"{{ .count = {count}, .average = {quotient(total, count)}, .total = {total} }}"
        return "\n" + (hist_rows(values, *self.extra) if self.kind == "hist" else lhist_rows(values, *self.extra))


AGGREGATIONS = ("count", "sum", "min", "max", "avg", "stats", "hist", "lhist")


class Maps:
    def make_maps(self):
        for i in range(self.random.randrange(1, 4)):
            self.maps.append(Map(f"@k{i}", self.key_types(1), self.any_type()))
        self.maps += [Map(f"@s{i}", (), self.any_type()) for i in range(self.random.randrange(2))]
        for i in range(self.random.randrange(1, 4)):
            kind = self.pick(AGGREGATIONS[:6] if self.is_timer else AGGREGATIONS)
            low, step, count = self.pick([-10, 0, 5]), self.pick([1, 3, 10, 1024]), self.random.randrange(1, 12)
            extra = (self.random.randrange(6),) if kind == "hist" else (low, low + step * count, step) if kind == "lhist" else ()
            self.aggregations.append(Aggregation(f"@a{i}", self.key_types(0), kind, self.chance(0.5), extra))

    def key_types(self, fewest):
        types = tuple(self.key_type() for _ in range(self.random.randrange(fewest, 4)))
        # One key that is a tuple is the same as several keys.
        return types[0].parts if len(types) == 1 and isinstance(types[0], Tuple) else types

    def key_type(self):
        return self.weighted([(4, lambda: self.pick(INTS)), (2, lambda: self.text_type([4, 9, 20, 200])), (1, lambda: BOOL),
                              (1, lambda: self.tuple_type(0))])()  # fmt: skip

    def keys_of(self, types, depth, as_tuple=False):
        """Keys of few values, so that they are met again."""
        def key(type):
            if isinstance(type, Int):
                return cast(type, self.small(4, depth)) if self.chance(0.7) else self.number_of(type, depth)
            return self.text_literal(2) if isinstance(type, Text) and self.chance(0.7) else self.value_of(type, depth)

        keys = [key(t) for t in types]
        text = ", ".join(k.text for k in keys)
        if len(keys) > 1 and (as_tuple or self.chance(0.2)):
            text = f"({text})"
        return text, lambda s: hashable([k.value(s) for k in keys])

    def place(self, map, depth=1):
        """A place in a map as (text, key function)."""
        if not map.keys:
            return map.name, lambda s: ()
        text, key = self.keys_of(map.keys, depth)
        return f"{map.name}[{text}]", key

    def map_value(self, map, depth):
        text, key = self.place(map, depth)
        return Expr(map.type, text, lambda s: s.maps[map.name].get(key(s), zero(map.type)))

    def from_map(self, depth):
        found = [m for m in self.maps if isinstance(m.type, Int)]
        if self.chance(0.3):
            return self.aggregated(depth - 1) or self.known_number()
        if self.chance(0.3):
            return self.length() or self.known_number()
        return self.map_value(self.pick(found), depth - 1) if found else self.known_number()

    def length(self):
        found = [m for m in self.maps if m.keys]
        if not found:
            return None
        map = self.pick(found)
        return Expr(INT64, f"len({map.name})", lambda s: len(s.maps[map.name]))

    def aggregated(self, depth):
        """The value so far as an integer."""
        found = [a for a in self.aggregations if a.kind in ("count", "sum", "min", "max", "avg")]
        if not found:
            return None
        a = self.pick(found)
        text, key = self.place(a, depth)
        type = Int(8, a.signed and a.kind != "count")
        return Expr(type, f"({type.name}){text}", lambda s: int(a.summary(s.maps[a.name].get(key(s), [])) or 0))

    def key_known(self, depth):
        found = [m for m in self.maps if m.keys]
        if not found:
            return self.compared(depth)
        map = self.pick(found)
        text, key = self.keys_of(map.keys, depth - 1, as_tuple=True)
        return Expr(BOOL, f"has_key({map.name}, {text})", lambda s: key(s) in s.maps[map.name])


def entries(maps, aggregations, state):
    """What the program prints of its maps when it ends; the order is not part of it."""
    found = []
    for map in maps:
        values = state.maps[map.name]
        found += [f"{map.name}{shown_key(map.keys, key)}: {show(map.type, value)}" for key, value in values.items()]
    for a in aggregations:
        for key, seen in state.maps[a.name].items():
            text = a.summary(seen)
            if text is not None:
                found.append(f"{a.name}{shown_key(a.keys, key)}:{'' if text[0] == chr(10) else ' '}{text}")
    return found


def shown_key(types, key):
    if not types:
        return ""
    return "[" + ", ".join(show(t, v) for t, v in zip(types, key)) + "]"
