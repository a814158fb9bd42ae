"""printf: a conversion for a value, and what it writes."""

from .types import Int, Text, show


def directive(generator, e):
    """Answers (conversion, expression, State -> text)."""
    if isinstance(e.type, Int) and generator.chance(0.8):
        return number_directive(generator, e)
    width = generator.pick(["", "", "12", "-12", "3", "40"])
    precision = generator.pick([None, None, 0, 2, 8]) if isinstance(e.type, Text) else None
    conversion = f"%{width}{'' if precision is None else f'.{precision}'}s"

    def write(s):
        text = show(e.type, e.value(s))
        return padded(text if precision is None else text[:precision], width)

    return conversion, e, write


def padded(text, width):
    if not width:
        return text
    return text.ljust(-int(width)) if width[0] == "-" else text.rjust(int(width))


def number_directive(generator, e):
    letter = generator.pick("dduxXoi")
    minus, plus, alternate = generator.chance(0.2), generator.chance(0.2), generator.chance(0.2)
    zeros, width = generator.chance(0.2), generator.pick([0, 0, 4, 12, 24])
    length = generator.pick(["", "", "l", "ll"])
    flags = "-" * minus + "+" * plus + "#" * alternate + "0" * zeros
    conversion = f"%{flags}{width or ''}{length}{letter}"

    def write(s):
        value = e.value(s)
        if letter in "di":
            value = Int(8, True).fit(value)
            sign, digits = "-" if value < 0 else "+" if plus else "", str(abs(value))
        else:
            value = Int(8 if length else max(4, e.type.size), False).fit(value)
            digits = format(value, {"u": "d"}.get(letter, letter))
            sign = {"x": "0x", "X": "0X", "o": "0"}.get(letter, "") if alternate and value else ""
        if minus:
            return (sign + digits).ljust(width)
        return sign + digits.rjust(width - len(sign), "0") if zeros else (sign + digits).rjust(width)

    return conversion, e, write
