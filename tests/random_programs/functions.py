"""Functions of the script: those that give a value have no effect, so that expressions may call them in any order and number; those that give
none do what statements do."""

from .expression import Expr
from .types import BOOL, INT64, INTS, Text


class Return(Exception):
    def __init__(self, value=None):
        self.value = value


def name_of(type):
    return f"string[{type.room}]" if isinstance(type, Text) else type.name


class Function:
    def __init__(self, name, parameters, result, run):
        self.name, self.parameters, self.result, self.run = name, parameters, result, run

    def call(self, s, arguments):
        values = [a.value(s) for a in arguments]
        s.variables.update(zip((p.text for p in self.parameters), values))
        try:
            self.run(s)
        except Return as end:
            return end.value
        return None


class Functions:
    """Part of the generator; `self.functions` are those that may be called."""

    def passed_type(self):
        return self.pick([*INTS, BOOL, Text(self.pick([8, 16, self.max_strlen]))])

    def make_functions(self):
        lines, self.is_end = [], True  # who calls them may be the end
        for _ in range(self.pick([0, 0, 1, 1, 2, 3])):
            lines += self.make_function()
        self.is_end = False
        return lines

    def make_function(self):
        name = self.new_name("f")
        result = None if self.chance(0.3) else self.passed_type()
        parameters = []
        for _ in range(self.random.randrange(4)):
            own = self.new_name("$a")
            parameters.append(Expr(self.passed_type(), own, lambda s, own=own: s.variables[own]))
        self.variables = list(parameters)
        self.declared |= {p.text for p in parameters}
        body, run = self.work() if result is None else self.calculation(result)
        head = ", ".join(f"{p.text} : {name_of(p.type)}" for p in parameters)
        self.functions.append(Function(name, parameters, result, run))
        return [f"fn {name}({head}) : {name_of(result) if result else 'void'} {{", *body, "}"]

    def leave(self, result):
        """`return`, perhaps with a value."""
        e = self.value_of(result, 2) if result else None

        def run(s):
            raise Return(e.value(s) if e else None)

        return f"return {e.text};" if e else "return;", run

    def leave_early(self, result):
        test, (line, run) = self.condition(1), self.leave(result)
        return [f"if ({test.text}) {{ {line} }}"], lambda s: run(s) if test.value(s) else None

    def leave_loop(self, result):
        """Out of the function from within a loop."""
        name, count = self.new_name("$i"), self.random.randrange(1, 5)
        known = list(self.variables)
        self.variables.append(Expr(INT64, name, lambda s: s.variables[name]))
        body, run = self.leave_early(result)
        self.variables = known
        return [f"for ({name} : 0..{count}) {{ {body[0]} }}"], lambda s: self.rounds(s, range(count), name, run)

    def calculation(self, result):
        simple = [self.declare, self.assign, self.compound]
        parts = [self.pick(simple)(1) for _ in range(self.random.randrange(4))]
        if self.chance(0.5):
            parts.append(self.pick([self.leave_early, self.leave_loop])(result))
        line, run = self.leave(result)
        return self.sequence([*parts, ([line], run)])

    def work(self):
        kinds = [(3, lambda: self.statement(1)), (1, lambda: self.leave_early(None))]
        parts = [self.weighted(kinds)() for _ in range(self.random.randrange(1, 5))]
        return self.sequence(parts)

    # --- calls --------------------------------------------------------------------------------------
    def called(self, is_wanted, depth):
        """A call of a function that gives a value of a wanted type; None where there is none."""
        found = [f for f in self.functions if f.result and is_wanted(f.result)]
        if not found or depth <= 0:
            return None
        function = self.pick(found)
        arguments = [self.value_of(p.type, depth - 1) for p in function.parameters]
        text = f"{function.name}({', '.join(a.text for a in arguments)})"
        return Expr(function.result, text, lambda s: function.call(s, arguments))

    def call_function(self, depth):
        found = [f for f in self.functions if not f.result]
        if not found:
            return self.declare(depth)
        function = self.pick(found)
        arguments = [self.value_of(p.type, 2) for p in function.parameters]
        return [f"{function.name}({', '.join(a.text for a in arguments)});"], lambda s: function.call(s, arguments)
