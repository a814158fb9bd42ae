"""Statements: each is a list of lines and a function that does to the state what the kernel should do.

A statement function of the generator answers (lines, run).
"""

from .expression import Break, Continue, Expr
from .formats import directive
from .maps import Map
from .numbers import ARITHMETIC, arithmetic, cast, literal
from .types import BOOL, INT64, INTS, UINT64, Array, Int, Pointer, Text, Tuple, common, show


def indented(lines):
    return ["  " + line for line in lines]


class Statements:
    def block(self, depth):
        """Some statements; variables they make are not used after them."""
        known = list(self.variables)
        parts = [self.statement(depth) for _ in range(self.random.randrange(1, 4))]
        self.variables = known
        return self.sequence(parts)

    def sequence(self, parts):
        def run(s):
            for _, step in parts:
                step(s)

        return indented([line for lines, _ in parts for line in lines]), run

    def statement(self, depth):
        simple = [
            (4, self.declare), (4, self.show_value), (2, self.show_formatted), (2, self.assign), (2, self.compound), (2, self.step),
            (3, self.set_map), (3, self.aggregate), (1, self.remove), (1, self.look_up), (1, self.change_map), (1, self.point),
            (1, self.call_macro), (1, self.widen), (1, self.widen_map), (1, self.offset_pointer), (1, self.step_inside), (1, self.show_bytes),
            (1, self.show_words), (1, self.show_letter), (1, self.compare_bytes), (1, self.is_near), (1, self.act), (1, self.count_unknown),
            (1, self.call_function), (1, self.move_pointer),
        ]  # fmt: skip
        nested = [(3, self.branch), (2, self.range), (1, self.while_), (1, self.unroll), (1, self.each)]
        return self.weighted(simple + nested if depth > 0 else simple)(depth)

    # --- printing -----------------------------------------------------------------------------------
    def printable(self):
        kinds = [
            (6, lambda: self.number(4)), (3, lambda: self.condition(3)), (2, lambda: self.text(2)), (1, lambda: self.cut(self.text(2))),
            (1, lambda: self.overfull(1)), (2, lambda: self.value_of(self.tuple_type(2), 2)), (1, lambda: self.enum_value(2)),
            (1, lambda: self.value_of(self.record_type(1), 2)), (1, lambda: self.value_of(self.array_type(), 2)),
            (1, lambda: self.map_value(self.pick([m for m in self.maps if m.keys]), 2)),
        ]  # fmt: skip
        return self.weighted(kinds)()

    def show_value(self, depth):
        e = self.printable()
        if e.text.startswith("@s"):  # the whole map would be printed, with its name
            return self.show_formatted(depth)
        return [f"print({e.text});"], lambda s: s.output.append(show(e.type, e.value(s)))

    def show_formatted(self, depth):
        parts = [directive(self, self.printable()) for _ in range(self.random.randrange(1, 5))]
        format = " ".join(f"[{text}]" for text, _, _ in parts)
        line = f'printf("{format}\\n", {", ".join(e.text for _, e, _ in parts)});'
        return [line], lambda s: s.output.append(" ".join(f"[{write(s)}]" for _, _, write in parts))

    # --- variables ----------------------------------------------------------------------------------
    def declare(self, depth):
        e = self.value_of(self.any_type(), 2)
        name = self.new_name("$x")
        line = f"{name} = {e.text};"
        if (isinstance(e.type, Int) or e.type == BOOL) and self.chance(0.6):
            line = f"let {name}: {e.type.name} = {e.text};"
            self.declared.add(name)
        elif isinstance(e.type, Text):
            line = f"let {name}: string[{e.type.room}] = {e.text};"
        self.variables.append(Expr(e.type, name, lambda s: s.variables[name]))
        return [line], lambda s: s.variables.__setitem__(name, e.value(s))

    def assign(self, depth):
        target = self.variable_of(lambda t: True)
        if not target:
            return self.declare(depth)
        e = self.value_of(target.type, 2)
        return [f"{target.text} = {e.text};"], lambda s: s.variables.__setitem__(target.text, e.value(s))

    def changeable(self):
        """An integer variable whose type stays what it is when it is calculated with."""
        found = [v for v in self.variables if v.type == INT64 or v.text in self.declared and isinstance(v.type, Int)]
        return self.pick(found) if found else None

    def compound(self, depth):
        target = self.changeable()
        if not target:
            return self.declare(depth)
        op, e = self.pick(list(ARITHMETIC)), self.number(2, may_be_literal=True)
        if op in ("<<", ">>"):
            e = self.small(64)
        if op in ("/", "%") and e.is_literal:
            e = literal(3)
        result = arithmetic(op, target, e)
        change = lambda s: target.type.fit(result.value(s))
        return [f"{target.text} {op}= {e.text};"], lambda s: s.variables.__setitem__(target.text, change(s))

    def step(self, depth):
        """`$x++` and its kin, with the value they have."""
        target = self.changeable()
        if not target:
            return self.declare(depth)
        sign, is_prefix = self.pick("+-"), self.chance(0.5)
        text = sign * 2 + target.text if is_prefix else target.text + sign * 2

        def run(s):
            before = s.variables[target.text]
            after = target.type.fit(before + (1 if sign == "+" else -1))
            s.variables[target.text] = after
            s.output.append(str(after if is_prefix else before))

        return [f"print({text});"], run

    def step_inside(self, depth):
        """`$x++ + e`, where e may read the variable: the left side comes first."""
        target = self.changeable()
        if not target:
            return self.declare(depth)

        def stepped(s):
            before = s.variables[target.text]
            s.variables[target.text] = target.type.fit(before + 1)
            return before

        e = arithmetic(self.pick("+-*^"), Expr(target.type, target.text + "++", stepped), self.number(2))
        return [f"print({e.text});"], lambda s: s.output.append(str(e.value(s)))

    def widen(self, depth):
        """A variable without a declared type takes the smallest that holds all its values."""
        name, types = self.new_name("$y"), [self.pick(INTS), self.pick(INTS)]
        values = [self.number_of(t, 2) for t in types]
        type = common(*types)
        lines = []
        for e in values:
            lines.append(f"{name} = {e.text}; print(({name}, sizeof({name})));")
        return lines, lambda s: s.output.extend(f"({type.fit(e.value(s))}, {type.size})" for e in values)

    def widen_map(self, depth):
        """The same for keys and values of a map."""
        name, types = self.new_name("@w"), [[self.pick(INTS), self.pick(INTS)] for _ in range(2)]
        pairs = [(self.number_of(k, 1), self.number_of(v, 2)) for k, v in types]
        key, value = common(types[0][0], types[1][0]), common(types[0][1], types[1][1])
        self.maps_at_end.append(Map(name, (key,), value))

        def run(s):
            values = s.maps.setdefault(name, {})
            for k, v in pairs:
                values[(key.fit(k.value(s)),)] = value.fit(v.value(s))
            s.output.append(str(values[(key.fit(pairs[0][0].value(s)),)]))

        return [f"{name}[{k.text}] = {v.text};" for k, v in pairs] + [f"print({name}[{pairs[0][0].text}]);"], run

    # --- maps ---------------------------------------------------------------------------------------
    def set_map(self, depth, map=None):
        map = map or self.pick(self.maps)
        text, key = self.place(map, depth)
        e = self.value_of(map.type, depth + 1)
        return [f"{text} = {e.text};"], lambda s: s.maps[map.name].__setitem__(key(s), e.value(s))

    def change_map(self, depth):
        found = [m for m in self.maps if m.type == INT64]
        if not found:
            return self.set_map(depth)
        map, op = self.pick(found), self.pick("+-*&|^")
        text, key = self.place(map)
        e = self.number(2)

        def run(s):
            k, values = key(s), s.maps[map.name]
            values[k] = map.type.fit(ARITHMETIC[op](values.get(k, 0), map.type.fit(e.value(s))))

        return [f"{text} {op}= {e.text};"], run

    def aggregate(self, depth, aggregation=None):
        a = aggregation or self.pick(self.aggregations)
        text, key = self.place(a, depth)
        if a.kind == "count":
            return [f"{text} = count();"], lambda s: s.maps[a.name].setdefault(key(s), []).append(1)
        e = self.small(16) if a.kind in ("hist", "lhist") and self.chance(0.6) else self.number(2)
        e = cast(Int(8, a.signed), e)
        arguments = "".join(f", {n}" for n in a.extra)
        return [f"{text} = {a.kind}({e.text}{arguments});"], lambda s: s.maps[a.name].setdefault(key(s), []).append(e.value(s))

    def remove(self, depth):
        found = [m for m in self.maps if m.keys]
        if not found:
            return self.show_value(depth)
        map = self.pick(found)
        text, key = self.place(map)
        return [f"print(delete({text}));"], lambda s: s.output.append(show(BOOL, s.maps[map.name].pop(key(s), None) is not None))

    def look_up(self, depth):
        found = [m for m in self.maps if m.keys]
        if not found:
            return self.show_value(depth)
        map, name = self.pick(found), self.new_name("$f")
        text, key = self.keys_of(map.keys, 1, as_tuple=True)

        def run(s):
            value = s.maps[map.name].get(key(s))
            if value is not None:
                s.output.append(show(map.type, value))

        return [f"if (find({map.name}, {text}, {name})) {{ print({name}); }}"], run

    # --- pointers and macros ------------------------------------------------------------------------
    def point(self, depth):
        """Eight bytes read as a struct, through a pointer."""
        bytes_, pointer, struct = self.new_name("$m"), self.new_name("$p"), self.struct
        e = self.number_of(UINT64, 2)
        name, type, _, _ = field = self.pick(struct.fields)
        index = struct.fields.index(field)
        copy, map = self.new_name("$s"), self.new_name("@p")
        lines = [f"{bytes_} = (uint8[8]){e.text}; {pointer} = (struct {struct.name} *)&{bytes_};",
                 f"print({pointer}->{name}); print(*{pointer});",
                 f"{copy} = *{pointer}; {map}[1] = {copy}; print(({copy}.{name}, {map}[1].{name}));"]  # fmt: skip
        self.maps_at_end.append(Map(map, (INT64,), struct.type()))

        def run(s):
            values = struct.read(e.value(s))
            s.maps.setdefault(map, {})[(1,)] = values
            s.output += [str(values[index]), show(struct.type(), values), f"({values[index]}, {values[index]})"]

        return lines, run

    def offset_pointer(self, depth):
        type, e, count, sign = self.pick(INTS), self.number(2), self.random.randrange(100), self.pick("+-")
        distance = count * type.size * (1 if sign == "+" else -1)
        address = lambda s: hex(UINT64.fit(e.value(s) + distance))
        return [f"print(({type.name} *){e.text} {sign} {count});"], lambda s: s.output.append(address(s))

    def move_pointer(self, depth):
        """A pointer in a variable or in a map of any kind, moved in every way, with the value that this has."""
        type = Pointer(self.pick(INTS))
        name, place = self.pick([("$", ""), ("@", f"[{self.small(4).text}]"), ("@", "[tid]")] + [("@", "")] * (not self.is_end))
        name = self.new_name(name + "q")
        target, start = name + place, self.number(1)
        lines, moves = [f"{target} = ({type.element.name} *){start.text};"], []
        for _ in range(self.random.randrange(1, 5)):
            sign, amount, kind = self.pick("+-"), self.number(1), self.pick(["compound", "prefix", "postfix", "unused"])
            if kind == "compound":
                lines.append(f'{target} {sign}= {amount.text}; printf("%p\\n", {target});')
            else:
                amount, text = literal(1), sign * 2 + target if kind == "prefix" else target + sign * 2
                lines.append(f'{text}; printf("%p\\n", {target});' if kind == "unused" else f'printf("%p\\n", {text});')
            moves.append((1 if sign == "+" else -1, amount, kind))
        if place:
            lines.append(f"delete({name}, {place[1:-1]});")
        elif name[0] == "@":
            self.maps_at_end.append(Map(name, (), type))

        def run(s):
            value = UINT64.fit(start.value(s))
            for sign, amount, kind in moves:
                after = UINT64.fit(value + sign * type.element.size * amount.value(s))
                s.output.append(hex(value if kind == "postfix" else after))
                value = after
            s.maps.setdefault(name, {})[()] = value

        return lines, run

    def show_bytes(self, depth):
        type = Array(Int(1, False), 8)
        e, count, form = self.array_of(type, 2), self.random.randrange(1, 9), self.pick(["r", "rx", "rh"])

        def write(s):
            data = e.value(s)[:count]
            if form == "rh":
                return " ".join(f"{b:02x}" for b in data)
            is_plain = lambda b: form == "r" and 32 <= b < 127
            return "".join(chr(b) if is_plain(b) else f"\\x{b:02x}" for b in data)

        return [f'printf("%{form}\\n", buf({e.text}, {count}));'], lambda s: s.output.append(write(s))

    def call_macro(self, depth):
        target = self.changeable()
        if not target:
            return self.declare(depth)
        e = cast(target.type, self.number(2))
        change = lambda s: target.type.fit(s.variables[target.text] + e.value(s))
        return [f"add_to({target.text}, {e.text});"], lambda s: s.variables.__setitem__(target.text, change(s))

    # --- control flow -------------------------------------------------------------------------------
    def branch(self, depth):
        tests = [self.condition(2) for _ in range(self.random.randrange(1, 3))]
        blocks = [self.block(depth - 1) for _ in tests]
        otherwise = self.block(depth - 1) if self.chance(0.6) else ([], lambda s: None)
        lines = []
        for word, test, (body, _) in zip(["if"] + ["else if"] * 9, tests, blocks):
            lines += [f"{word} ({test.text}) {{", *body, "}"]
        if otherwise[0]:
            lines += ["else {", *otherwise[0], "}"]

        def run(s):
            for test, (_, step) in zip(tests, blocks):
                if test.value(s):
                    return step(s)
            otherwise[1](s)

        return lines, run

    def loop_body(self, depth, counter):
        """Statements, perhaps with a way out in between that depends on the counter."""
        body, run = self.block(depth - 1)
        if not self.chance(0.4):
            return body, run
        word, signal = self.pick([("break", Break), ("continue", Continue)])
        limit = self.random.randrange(4)
        rest, run_rest = self.block(0)

        def run_both(s):
            run(s)
            if counter.value(s) == limit:
                raise signal
            run_rest(s)

        return body + [f"  if ({counter.text} == {limit}) {{ {word}; }}"] + rest, run_both

    def rounds(self, s, numbers, name, run):
        for i in numbers:
            s.variables[name] = i
            try:
                run(s)
            except Continue:
                pass
            except Break:
                break

    def range(self, depth):
        name = self.new_name("$i")
        counter = Expr(INT64, name, lambda s: s.variables[name])
        first = self.pick([literal(0), literal(1), self.small(4)])
        known = list(self.variables)
        self.variables.append(counter)
        body, run = self.loop_body(depth, counter)
        self.variables = known
        end = self.random.randrange(6)
        lines = [f"for ({name} : {first.text}..{end}) {{", *body, "}"]
        return lines, lambda s: self.rounds(s, range(first.value(s), end), name, run)

    def while_(self, depth):
        name, count = self.new_name("$w"), self.random.randrange(5)
        counter = Expr(INT64, name, lambda s: s.variables[name])
        body, run = self.loop_body(depth, counter)
        lines = [f"let {name}: int64 = -1;", f"while ({name} < {count}) {{", f"  {name}++;", *body, "}"]

        def run_all(s):
            s.variables[name] = -1
            self.rounds(s, range(count + 1), name, run)

        return lines, run_all

    def unroll(self, depth):
        count = self.random.randrange(1, 4)
        body, run = self.block(depth - 1)
        return [f"unroll ({count}) {{", *body, "}"], lambda s: [run(s) for _ in range(count)]

    def each(self, depth):
        """Over a map: what is done must not depend on the order."""
        found = [m for m in self.maps if m.keys]
        if not found:
            return self.branch(depth)
        map, pair, total = self.pick(found), self.new_name("$kv"), self.new_name("$t")
        key = Expr(map.keys[0] if len(map.keys) == 1 else Tuple(map.keys), f"{pair}.0", lambda s: s.variables[pair][0])
        value = Expr(map.type, f"{pair}.1", lambda s: s.variables[pair][1])
        number = self.number_in(self.pick([key, value]))
        step = cast(INT64, arithmetic(self.pick("+*^"), number, self.known_number()))
        lines = [f"let {total}: int64 = 0;", f"for ({pair} : {map.name}) {{ {total} += {step.text}; }}", f"print({total});"]

        def run(s):
            sum = 0
            for k, v in s.maps[map.name].items():
                s.variables[pair] = (k[0] if len(map.keys) == 1 else k, v)
                sum = INT64.fit(sum + step.value(s))
            s.output.append(str(sum))

        return lines, run

    def number_in(self, e):
        """An integer made from a value of any type."""
        if isinstance(e.type, Int):
            return e
        if e.type == BOOL:
            return cast(INT64, e)
        if isinstance(e.type, Text):
            return Expr(UINT64, f"strlen({e.text})", lambda s: len(e.value(s)))
        if isinstance(e.type, Array):
            return self.element(e, 1)
        return self.field(e, lambda t: isinstance(t, Int)) or self.known_number()
