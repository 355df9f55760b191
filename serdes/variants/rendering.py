"""Variants as JSON texts.

A few bytes can name the same value a thousand times, and that one another a thousand times: each byte of the value is
written once, else the variant is refused.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import struct
import uuid
from collections.abc import Callable, Iterator
from typing import Final

from serdes.variants.encoding import (
    DECIMALS,
    DEPTH,
    Container,
    Scalar,
    VariantError,
    VariantType,
    container_at,
    key_of,
    scalar_at,
    text,
    type_at,
)

MOST: Final = 128 * 1024 * 1024
"""The most characters of a text: keys are in the metadata once, and written for every field."""
EPOCH: Final = datetime.datetime(1970, 1, 1)
DAY_US: Final = 86_400 * 10**6
EXACT: Final = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def decimal_of(kind: VariantType, data: bytes) -> decimal.Decimal:
    """A decimal of its scale and its unscaled number.

    Raises:
        VariantError: it has more digits than its type allows.
    """
    scale, unscaled = data[0], int.from_bytes(data[1:], "little", signed=True)
    most = next(digits for known, _, _, digits in DECIMALS if known is kind)
    if abs(unscaled) >= 10**most or scale > most:
        raise VariantError(f"malformed variant: {kind.value} has at most {most} digits")
    return decimal.Decimal(unscaled).scaleb(-scale, context=EXACT)


def _double(number: float) -> str:
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    return repr(number)


def _float(number: float) -> str:
    """With as few digits as tell it from all other floats of 32 bits."""
    if not abs(number) < float("inf") or (number.is_integer() and abs(number) < 1e16):
        return _double(number)
    shorter = (float(f"{number:.{digits}g}") for digits in range(1, 10))
    return repr(next(one for one in shorter if _narrow(one) == number))


def _narrow(number: float) -> float | None:
    try:
        (made,) = struct.unpack("<f", struct.pack("<f", number))
    except OverflowError:
        return None
    return float(made)


def _fraction(nanos: int) -> str:
    digits = next(digits for digits in (0, 3, 6, 9) if nanos % 10 ** (9 - digits) == 0)
    return f".{nanos // 10 ** (9 - digits):0{digits}d}" if digits else ""


def _stamp(nanos: int) -> str:
    seconds, rest = divmod(nanos, 10**9)
    try:
        return (EPOCH + datetime.timedelta(seconds=seconds)).isoformat() + _fraction(rest)
    except OverflowError:
        raise VariantError(f"a timestamp of {nanos} ns is outside the years 1 to 9999") from None


def _date(days: int) -> str:
    try:
        return (EPOCH.date() + datetime.timedelta(days=days)).isoformat()
    except OverflowError:
        raise VariantError(f"a date of {days} days is outside the years 1 to 9999") from None


def _time(micros: int) -> str:
    if not 0 <= micros < DAY_US:
        raise VariantError(f"a time of {micros} µs is not within a day")
    return _stamp(micros * 1000).partition("T")[2]


def _int(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)


def _quoted(found: str) -> str:
    return json.dumps(found, ensure_ascii=False)


WHOLE: Final[Callable[[bytes], str]] = lambda data: str(_int(data))  # noqa: E731
TEXTS: Final[dict[VariantType, Callable[[bytes], str]]] = {
    VariantType.NULL: lambda data: "null",
    VariantType.BYTE: WHOLE,
    VariantType.SHORT: WHOLE,
    VariantType.INT: WHOLE,
    VariantType.LONG: WHOLE,
    VariantType.STRING: lambda data: _quoted(text(data)),
    VariantType.DOUBLE: lambda data: _double(struct.unpack("<d", data)[0]),
    VariantType.FLOAT: lambda data: _float(struct.unpack("<f", data)[0]),
    VariantType.BINARY: lambda data: f'"{base64.b64encode(data).decode()}"',
    VariantType.UUID: lambda data: f'"{uuid.UUID(bytes=data)}"',
    VariantType.DATE: lambda data: f'"{_date(_int(data))}"',
    VariantType.TIME: lambda data: f'"{_time(_int(data))}"',
    VariantType.TIMESTAMP_TZ: lambda data: f'"{_stamp(_int(data) * 1000)}Z"',
    VariantType.TIMESTAMP_NTZ: lambda data: f'"{_stamp(_int(data) * 1000)}"',
    VariantType.TIMESTAMP_NANOS_TZ: lambda data: f'"{_stamp(_int(data))}Z"',
    VariantType.TIMESTAMP_NANOS_NTZ: lambda data: f'"{_stamp(_int(data))}"',
}


def _scalar_text(value: bytes, at: int, found: Scalar) -> str:
    if found.type is VariantType.BOOLEAN:
        return "true" if value[at] >> 2 == 1 else "false"
    make = TEXTS.get(found.type)
    return f"{decimal_of(found.type, found.data):f}" if make is None else make(found.data)


def _children(found: Container, metadata: bytes, kind: VariantType) -> Iterator[tuple[str, int]]:
    """The text before each value, and the position of the value."""
    for index in range(found.length):
        comma = "," if index else ""
        key = f"{_quoted(key_of(metadata, found.key(index)))}:" if kind is VariantType.OBJECT else ""
        yield comma + key, found.child(index)


class _Text:
    """A text that grows, and what may still be read for it."""

    def __init__(self, unread: int) -> None:
        self.parts: list[str] = []
        self._size = 0
        self._unread = unread

    def put(self, part: str) -> None:
        self._size += len(part)
        if self._size > MOST:
            raise VariantError(f"the variant's JSON has more than {MOST:,} characters")
        self.parts.append(part)

    def read(self, size: int) -> None:
        self._unread -= size
        if self._unread < 0:
            raise VariantError("malformed variant: values share bytes")


def json_text(value: bytes, metadata: bytes, pos: int) -> str:
    """The JSON text of the value that begins at a position.

    Raises:
        VariantError: the bytes are malformed, or the text would be too deep or too long.
    """
    made = _Text(len(value) - pos)
    entered: list[tuple[Iterator[tuple[str, int]], str]] = [(iter([("", pos)]), "")]
    while entered:
        left, end = entered[-1]
        for before, at in left:
            made.put(before)
            kind = type_at(value, at)
            if kind in (VariantType.OBJECT, VariantType.ARRAY):
                if len(entered) > DEPTH:
                    raise VariantError(f"a variant of more than {DEPTH:,} levels")
                found = container_at(value, at, kind)
                made.read(found.data_at - at)
                made.put("{" if kind is VariantType.OBJECT else "[")
                entered.append((_children(found, metadata, kind), "}" if kind is VariantType.OBJECT else "]"))
                break
            scalar = scalar_at(value, at)
            made.read(scalar.size)
            made.put(_scalar_text(value, at, scalar))
        else:
            made.put(end)
            entered.pop()
    return "".join(made.parts)
