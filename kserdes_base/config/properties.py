"""A property: a row of a table.

Knows no property, no table and not how values are read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Kind(Enum):
    """Type of a property's value."""

    INT = "integer"
    FLOAT = "number"
    BOOL = "boolean"
    STR = "text"
    ENUM = "word"
    LIST = "list"
    CALLBACK = "callable"
    DICT = "dict"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Property:
    """One property.

    Attributes:
        name: its name, as users write it.
        kind: the type of its value.
        default: its value where none is given; None: not set.
        doc: its effect, for the documentation.
        bounds: lowest and highest value, both allowed; numbers only. The highest may be infinite.
        above: the lowest value itself is not allowed.
        words: the allowed words of an ENUM or LIST; empty: any.
        synonyms: spelling → the value it stands for (`all` is -1).
        aliases: further names.
        secret: the value is never shown: not in repr, logs or errors.
        loose: numbers, true and false may be written as text, true and false as 1 and 0, text as a number or a path.
        takes: what is accepted, in words, where the other attributes can't say it.
        read: of an OBJECT: gives the value, or raises ValueError or TypeError (whose text is left out) if it is none.
    """

    name: str
    kind: Kind
    default: Any
    doc: str
    bounds: tuple[float, float] | None = None
    above: bool = False
    words: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, str | int], ...] = ()
    aliases: tuple[str, ...] = ()
    secret: bool = False
    loose: bool = False
    takes: str = ""
    read: Callable[[object], object] | None = None
