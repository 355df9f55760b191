"""Reads a value that a user gave for a property, and words what is wrong with one.

Knows no property. How loose properties are read is librdkafka's way with text: numbers in decimal or hexadecimal,
`true`, `t`, `1`; words in any case.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from typing import Final

from kserdes_base.config.errors import PropertyError, PropertyTypeError
from kserdes_base.config.properties import Kind, Property

TRUE_WORDS: Final = frozenset({"true", "t", "1"})
FALSE_WORDS: Final = frozenset({"false", "f", "0"})
LONGEST_SHOWN: Final = 60
UNSET_KINDS: Final = frozenset({Kind.STR, Kind.LIST, Kind.CALLBACK, Kind.DICT, Kind.OBJECT})
"""Kinds of which None is "not set" whatever the default is; with the others it is a mistake."""


class WrongValue(Exception):
    """The value does not do, though its type does."""


class WrongType(Exception):
    """The value's type does not do."""


def value_of(row: Property, raw: object, name: str) -> object:
    """A user's value as the property's type; None is "not set".

    Args:
        row: the property.
        raw: the user's value.
        name: the name it was given under, which may be an alias or have a prefix.

    Raises:
        PropertyError: ill-typed (a PropertyTypeError) or out of range; the text has the name, what is
            accepted, and what was given unless it is secret.
    """
    if raw is None and (row.default is None or row.kind in UNSET_KINDS):
        return None
    try:
        return READERS[row.kind](row, raw)
    except (WrongValue, WrongType) as wrong:
        kind = PropertyTypeError if isinstance(wrong, WrongType) else PropertyError
        text = f"{name} must be {worded(row)}, not {shown(raw, row.secret)}"
    raise kind(text, property=name, accepted=worded(row))


def shown(raw: object, secret: bool) -> str:
    """A refused value for an error's text: texts and numbers as they are, unless they are secret; else the type."""
    kind = type(raw).__name__
    if secret or not isinstance(raw, str | int | float):
        return "None" if raw is None else f"a value of type {kind}"
    text = repr(raw)
    return f"{text if len(text) <= LONGEST_SHOWN else f'{text[:LONGEST_SHOWN]}…'} ({kind})"


def worded(row: Property) -> str:
    """`accepted` for an error's text, where a programmer reads it: types have Python's names."""
    if row.takes:
        return row.takes
    return {Kind.BOOL: "a boolean value (true or false)", Kind.STR: "a str"}.get(row.kind) or accepted(row)


def accepted(row: Property) -> str:
    """The values that a property takes, in words."""
    if row.takes:
        return row.takes
    choices = [*row.words, *(spelling for spelling, _ in row.synonyms)]
    if row.kind in (Kind.INT, Kind.FLOAT):
        what = "a whole number" if row.kind is Kind.INT else "a number"
        return f"{what}{range_of(row)}{''.join(f' or {choice!r}' for choice in choices)}"
    if row.kind is Kind.ENUM:
        return f"one of {', '.join(choices)}"
    if row.kind is Kind.LIST:
        return f"a list of {', '.join(choices)}" if choices else "a list (words with commas between them)"
    return {Kind.BOOL: "true or false", Kind.STR: "a text", Kind.CALLBACK: "callable", Kind.DICT: "a dict"}[row.kind]


def range_of(row: Property) -> str:
    """The bounds of a number, with a blank before them."""
    if row.bounds is None:
        return ""
    low, high = (bound if math.isinf(bound) else f"{bound:.0f}" for bound in row.bounds)
    return f" {'above' if row.above else 'from'} {low}{'' if high == math.inf else f' to {high}'}"


# ---- one reader per kind: (row, raw) -> value


def integer(row: Property, raw: object) -> object:
    value: object = raw
    if row.loose and isinstance(raw, str):
        word = raw.strip().lower()
        value = dict(row.synonyms).get(word, word)
        if isinstance(value, str):
            if not re.fullmatch(r"[+-]?(0x[0-9a-f]+|0|[1-9]\d{,30})", word, re.ASCII):
                raise WrongValue
            value = int(word, 0)
    elif row.loose and isinstance(raw, float) and raw.is_integer():
        value = int(raw)
    if not isinstance(value, int) or isinstance(value, bool):
        raise WrongType
    return within(row, value)


def number(row: Property, raw: object) -> object:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str if row.loose else int | float):
        raise WrongType
    try:
        value = float(raw)
    except (ValueError, OverflowError):
        raise WrongValue from None
    if not math.isfinite(value):
        raise WrongValue
    return within(row, value)


def within(row: Property, value: float) -> float:
    if row.bounds is not None:
        low, high = row.bounds
        if not low <= value <= high or (row.above and value == low):
            raise WrongValue
    return value


def boolean(row: Property, raw: object) -> object:
    if isinstance(raw, bool):
        return raw
    if not row.loose or not isinstance(raw, str | int):
        raise WrongType
    word = str(raw).strip().lower() if isinstance(raw, str) or abs(raw) < 2 else ""
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    raise WrongType  # another word is no boolean, as another type is none


def text(row: Property, raw: object) -> object:
    if row.loose and isinstance(raw, os.PathLike):
        raw = os.fspath(raw)
    if row.loose and isinstance(raw, int | float):
        raw = str(raw)
    if not isinstance(raw, str):
        raise WrongType
    return raw or None  # an empty text is "not set", as settings from environment variables mean it


def word(row: Property, raw: object) -> object:
    if not isinstance(raw, str):
        raise WrongType
    known: dict[str, object] = {choice.lower(): choice for choice in row.words} | dict(row.synonyms)
    found = known.get(raw.strip().lower())
    if found is None and (raw or row.default is not None):
        raise WrongValue
    return found


def words(row: Property, raw: object) -> object:
    if isinstance(raw, str):
        entries = split(raw)
    elif isinstance(raw, Sequence) and all(isinstance(entry, str) for entry in raw):
        entries = [entry.strip() for entry in raw]
    else:
        raise WrongType
    if row.words and any(entry not in row.words for entry in entries):
        raise WrongValue
    return ",".join(entries) or None


def callback(row: Property, raw: object) -> object:
    if not callable(raw):
        raise WrongType
    return raw


def mapping(row: Property, raw: object) -> object:
    if not isinstance(raw, dict):
        raise WrongType
    return raw


def instance(row: Property, raw: object) -> object:
    assert row.read is not None, row.name
    try:
        return row.read(raw)
    except TypeError:
        raise WrongType from None
    except ValueError:
        raise WrongValue from None


READERS: Final[dict[Kind, Callable[[Property, object], object]]] = {
    Kind.INT: integer,
    Kind.FLOAT: number,
    Kind.BOOL: boolean,
    Kind.STR: text,
    Kind.ENUM: word,
    Kind.LIST: words,
    Kind.CALLBACK: callback,
    Kind.DICT: mapping,
    Kind.OBJECT: instance,
}


def split(value: str) -> list[str]:
    """The words between commas, without blanks around them; empty ones are dropped."""
    return [entry for entry in map(str.strip, value.split(",")) if entry]
