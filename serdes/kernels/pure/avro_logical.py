"""Avro's logical types: the function that a node is given does all. Twin: `native/avro_logical.pyx`.

What else a node is told lets the twin find common values without the function. Must not know of schemas. Source: Avro
specification 1.12, "Logical Types".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serdes.kernels.pure.avro import ReadConverted, Reader, WritePrepared, Writer

__all__ = [
    "ReadDate",
    "ReadDecimal",
    "ReadInstant",
    "ReadTimeOfDay",
    "ReadUUID",
    "WriteDate",
    "WriteDecimal",
    "WriteInstant",
    "WriteTimeOfDay",
    "WriteUUID",
]

Convert = Callable[[Any], Any]


class WriteInstant(WritePrepared):
    """A point in time.

    Args:
        prepare: makes the number of units.
        inner: writes the number.
        units: in a second.
        utc: of UTC; else without a time zone.
    """

    def __init__(self, prepare: Convert, inner: Writer, units: int, utc: bool) -> None:
        super().__init__(prepare, inner)


class WriteDate(WritePrepared):
    """A date."""


class WriteTimeOfDay(WritePrepared):
    """A time of day.

    Args:
        prepare: makes the number of units.
        inner: writes the number.
        units: in a second.
    """

    def __init__(self, prepare: Convert, inner: Writer, units: int) -> None:
        super().__init__(prepare, inner)


class WriteDecimal(WritePrepared):
    """A decimal.

    Args:
        prepare: makes the bytes of the number.
        inner: writes the bytes.
        precision: digits at most.
        scale: digits after the point.
        size: bytes of a fixed type; None for as few as it takes.
    """

    def __init__(self, prepare: Convert, inner: Writer, precision: int, scale: int, size: int | None) -> None:
        super().__init__(prepare, inner)


class WriteUUID(WritePrepared):
    """A UUID.

    Args:
        prepare: makes the text or the bytes.
        inner: writes them.
        text: whether it is text.
    """

    def __init__(self, prepare: Convert, inner: Writer, text: bool) -> None:
        super().__init__(prepare, inner)


class ReadInstant(ReadConverted):
    """A point in time.

    Args:
        inner: reads a whole number.
        convert: makes a datetime of it.
        units: in a second.
        utc: of UTC; else without a time zone.
    """

    def __init__(self, inner: Reader, convert: Convert, units: int, utc: bool) -> None:
        super().__init__(inner, convert)


class ReadDate(ReadConverted):
    """A date, of a whole number."""


class ReadTimeOfDay(ReadConverted):
    """A time of day.

    Args:
        inner: reads a whole number.
        convert: makes a time of it.
        units: in a second.
    """

    def __init__(self, inner: Reader, convert: Convert, units: int) -> None:
        super().__init__(inner, convert)


class ReadDecimal(ReadConverted):
    """A decimal.

    Args:
        inner: reads bytes, of a fixed number or with their length.
        convert: makes a decimal of them.
        scale: digits after the point.
    """

    def __init__(self, inner: Reader, convert: Convert, scale: int) -> None:
        super().__init__(inner, convert)


class ReadUUID(ReadConverted):
    """A UUID, of text or of 16 bytes."""
