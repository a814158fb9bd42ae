"""Text: literals, cutting, joining, choices. No value here fills its room, but for what cut() gives."""

from .expression import Expr
from .types import Text

LETTERS = "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789 .,:;-_/+*%()[]{}<>=!?#&|~^@$"


def text_literal(text):
    return Expr(Text(len(text) + 1), '"' + text + '"', lambda s: text.encode(), True)


class Texts:
    def text_literal(self, longest=None):
        longest = longest or self.pick([1, 3, 7, 8, 15, 16, 31, 63, 180])
        length = self.random.randrange(min(longest, self.max_strlen - 2) + 1)
        alphabet = "ab" if longest <= 3 else LETTERS
        return text_literal("".join(self.pick(alphabet) for _ in range(length)))

    def text(self, depth):
        kinds = [(3, self.plain_text), (2, lambda d: self.text_literal())]
        if depth > 0:
            kinds += [(2, self.text_choice), (2, self.joined), (2, self.head), (1, self.text_field), (1, self.text_call)]
        return self.weighted(kinds)(depth)

    def plain_text(self, depth):
        """A variable or the name of this process, which a timer may interrupt or not."""
        own = text_literal("flowtap") if self.is_timer else Expr(Text(16), "comm", lambda s: b"flowtap")
        return self.variable_of(lambda t: isinstance(t, Text)) or own

    def text_choice(self, depth):
        test, a, b = self.condition(depth - 1), self.text(depth - 1), self.text(depth - 1)
        type = Text(max(a.type.room, b.type.room))
        return Expr(type, f"({test.text} ? {a.text} : {b.text})", lambda s: (a if test.value(s) else b).value(s))

    def joined(self, depth):
        a, b = self.text(depth - 1), self.text(depth - 1)
        room = a.type.room + b.type.room - 1
        if room > self.max_strlen:
            return a
        return Expr(Text(room), f"str_concat({a.text}, {b.text})", lambda s: a.value(s) + b.value(s))

    def head(self, depth):
        t, length = self.text(depth - 1), self.pick([1, 2, 3, 4, 7, 8, 15])
        if length + 1 >= t.type.room:
            return Expr(t.type, f"str({t.text})", t.value)
        return Expr(Text(length + 1), f"str({t.text}, {length + 1})", lambda s: t.value(s)[:length])

    def text_call(self, depth):
        return self.called(lambda t: isinstance(t, Text), depth) or self.plain_text(depth)

    def text_field(self, depth):
        e = self.variable_of(lambda t: hasattr(t, "parts"))
        return (self.field(e, lambda t: isinstance(t, Text)) if e else None) or self.plain_text(depth)

    def cut(self, t):
        """In less room: what does not fit is lost, and a text that fills its room has no NUL."""
        room = self.random.randrange(2, max(3, t.type.room + 3))
        return Expr(Text(room), f"(string[{room}]){t.text}", lambda s: t.value(s)[:room])

    def overfull(self, depth):
        """Joined to more than max_strlen."""
        a, b = self.text(depth), self.text(depth)
        room = min(a.type.room + b.type.room - 1, self.max_strlen)
        return Expr(Text(room), f"str_concat({a.text}, {b.text})", lambda s: (a.value(s) + b.value(s))[:room])
