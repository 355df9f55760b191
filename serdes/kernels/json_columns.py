"""The vocabulary of plans that read JSON into columns: what is expected, and what can be wrong.

Must not know of schemas: `serdes.columnar.json.types` makes plans. The kernel is `native/json_columns.pyx`;
`serdes.columnar.json.reference` reads the same with the parser of the standard library.
"""

from __future__ import annotations

import enum

__all__ = ["MAX_DEPTH", "Expected", "Fault", "exact_float", "exact_int"]

from decimal import Decimal, InvalidOperation
from typing import Final

MAX_DEPTH: Final = 250
"""Levels of a document; more are refused."""


class Expected(enum.IntEnum):
    """The value that a step of a plan expects."""

    BOOLEAN = 0
    INTEGER = 1
    UNSIGNED = 2
    NUMBER = 3
    TEXT = 4
    BASE64 = 5
    DATE = 6
    INSTANT = 7
    LOCAL_TIMESTAMP = 8
    TIME = 9
    LOCAL_TIME = 10
    UUID = 11
    DECIMAL = 12
    ANY = 13
    ARRAY = 14
    MAP = 15
    OBJECT = 16


class Fault(enum.IntEnum):
    """Why a row can't be read."""

    FINE = 0
    ENDS = 1
    NOT_JSON = 2
    NOT_UTF8 = 3
    ESCAPE = 4
    DEEP = 5
    LEFT_OVER = 6
    NOT_EXPECTED = 7
    OUT_OF_RANGE = 8
    NOT_WHOLE = 9
    NOT_OF_FORMAT = 10
    LOSES_DIGITS = 11
    KEY_TWICE = 12
    ROW_BYTES = 13
    UNNAMED = 14


def exact_int(text: bytes, signed: bool = True) -> int | Fault:
    """The whole number of 64 bits, with a sign or without, that a JSON number is; why it is none."""
    if not text.lower().partition(b"e")[0].strip(b"-0."):
        return 0
    try:
        number = Decimal(text.decode())
    except InvalidOperation:  # an exponent beyond all bounds
        return Fault.OUT_OF_RANGE if b"-" not in text[1:] else Fault.NOT_WHOLE
    if number.adjusted() >= 20:
        return Fault.OUT_OF_RANGE
    if number.adjusted() < 0 or number != number.to_integral_value():
        return Fault.NOT_WHOLE
    whole = int(number)
    least, end = (-(2**63), 2**63) if signed else (0, 2**64)
    return whole if least <= whole < end else Fault.OUT_OF_RANGE


def exact_float(text: bytes) -> float | Fault:
    """The nearest number of 64 bits; of a number without fraction or exponent just that number, or a fault."""
    number = float(text)
    if number - number != 0:
        return Fault.OUT_OF_RANGE
    if text.lstrip(b"-").isdigit() and int(number) != int(text):
        return Fault.OUT_OF_RANGE
    return number
