"""Values as the encoder takes them, of exactly Python's own types: subclasses, numpy's scalars, mappings, objects.

What is not exact is refused with `Misfit`, which collects the path on its way out. Must not know of bytes or schemas.
"""

from __future__ import annotations

import array
import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

__all__ = [
    "MAX_DEPTH",
    "Misfit",
    "Unresolved",
    "as_dict",
    "entries_of",
    "items_of",
    "octets_of",
    "plain",
    "real_of",
    "record_of",
    "refuse",
    "single",
    "symbol_of",
    "text_of",
    "whole_of",
]

MAX_DEPTH: Final = 1000
"""Levels of records, arrays and maps in a value; more are refused."""
EXACT_REALS: Final = 2**53
LARGEST_SINGLE: Final = 2**128 - 2**103
"""From here on a number is rounded to infinity in 32 bits."""


class Misfit(Exception):
    """A value does not fit its schema, or bytes are not of theirs.

    Attributes:
        reason: why, without values.
        parts: the places on the way to it, innermost first: names of fields, `[3]` in an array, `[entry 3]` in a map.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.parts: list[str] = []

    def path(self, root: str) -> str:
        """The whole path, e.g. `Order.items[3].price`."""
        made = root
        for part in reversed(self.parts):
            made = f"{made}{part}" if part[:1] == "[" else f"{made}.{part}" if made else part
        return made


class Unresolved(Misfit):
    """The written value can't be read with the reader's schema."""


def refuse(value: Any, what: str) -> NoReturn:
    """Says that a value is not of the right type.

    Raises:
        Misfit: always.
    """
    found = "null" if value is None else f"a value of type {type(value).__name__}"
    raise Misfit(f"{found} does not fit {what}")


def out_of_range(value: Any, what: str) -> NoReturn:
    """Says that a value is of the right type and still does not fit.

    Raises:
        Misfit: always.
    """
    raise Misfit(f"a value of type {type(value).__name__} is out of the range of {what}")


def plain(value: Any) -> Any:
    """Numbers and booleans of numpy as Python's own, exactly; anything else as it is."""
    if type(value).__module__ == "numpy" and getattr(getattr(value, "dtype", None), "kind", "") in tuple("biuf"):
        made = value.item() if getattr(value, "shape", None) == () else value
        return made if type(made) in (bool, int, float) else value
    return value


def whole_of(value: Any, what: str) -> int:
    """A whole number; booleans and fractions are none."""
    value = plain(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__index__(value)
    refuse(value, what)


def real_of(value: Any, what: str) -> float:
    """A number of 64 bits; whole numbers only if they are one exactly."""
    value = plain(value)
    if isinstance(value, float):
        return float.__float__(value)
    whole = whole_of(value, what)
    if -EXACT_REALS <= whole <= EXACT_REALS:
        return float(whole)
    try:
        made = float(whole)
    except OverflowError:
        made = 0.0
    if int(made) != whole:
        raise Misfit(f"a value of type {type(value).__name__} can't be written exactly as {what}")
    return made


def single(value: float, what: str) -> float:
    """A number that 32 bits may round, but not to infinity."""
    if -LARGEST_SINGLE < value < LARGEST_SINGLE or value - value != 0:  # infinities and NaN are what they are
        return value
    out_of_range(value, what)


def single_of(value: Any, what: str) -> float:
    """A number for 32 bits: of floats the nearest, of whole numbers exactly."""
    made = real_of(value, what)
    value = plain(value)
    if not isinstance(value, float):
        significant = abs(int(value))
        while significant and not significant & 1:
            significant >>= 1
        if significant >= 2**24:
            raise Misfit(f"a value of type {type(value).__name__} can't be written exactly as {what}")
    return single(made, what)


def text_of(value: Any, what: str) -> str:
    """A text."""
    if isinstance(value, str):
        return str.__str__(value)
    refuse(value, what)


def octets_of(value: Any, what: str) -> bytes:
    """Bytes."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    refuse(value, what)


def symbol_of(value: Any, what: str) -> str:
    """The symbol of an enum: a text, or a member of a Python enum (its value if that is a text, else its name)."""
    if isinstance(value, enum.Enum):
        return text_of(value.value, what) if isinstance(value.value, str) else value.name
    return text_of(value, what)


def items_of(value: Any, what: str) -> Sequence[Any]:
    """The items of a sequence that is neither text nor bytes; of an array of numpy too."""
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        refuse(value, what)
    if isinstance(value, (Sequence, array.array)):
        return list(value)
    if type(value).__module__ == "numpy" and getattr(value, "shape", None):
        return list(value)
    refuse(value, what)


def entries_of(value: Any, what: str) -> dict[Any, Any]:
    """The entries of a mapping."""
    if isinstance(value, Mapping):
        return dict(value)
    refuse(value, what)


def record_of(value: Any, what: str) -> dict[Any, Any]:
    """The fields of a mapping, or of an object that has some."""
    if isinstance(value, Mapping):
        return dict(value)
    fields = as_dict(value)
    if fields is None:
        refuse(value, what)
    return fields


def as_dict(value: Any) -> dict[str, Any] | None:
    """The fields of a dataclass, attrs, pydantic or msgspec object (not of objects in it), or of one that says which
    record it is (`avro_fields`, as variants do); None for anything else.
    """
    if isinstance(value, type):
        return None
    if hasattr(type(value), "avro_fields"):
        fields: dict[str, Any] = value.avro_fields()
        return fields
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "__attrs_attrs__"):
        return {field.name: getattr(value, field.name) for field in value.__attrs_attrs__}
    if hasattr(type(value), "model_fields"):
        return {name: getattr(value, name) for name in type(value).model_fields}
    if hasattr(type(value), "__struct_fields__"):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    return None
