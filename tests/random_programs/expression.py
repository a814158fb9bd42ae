"""Expressions: their text, their type, and a function that computes their value from the state of the program."""

from dataclasses import dataclass, field
from typing import Callable


@dataclass
class Expr:
    type: object
    text: str
    value: Callable  # State -> value
    is_literal: bool = False


@dataclass
class State:
    """What a running program has: variables, maps, and what it has printed."""

    variables: dict = field(default_factory=dict)
    maps: dict = field(default_factory=dict)
    output: list = field(default_factory=list)


class Break(Exception):
    pass


class Continue(Exception):
    pass
