"""Decimals ↔ the bytes of their unscaled number, exactly, at a cost that stays close to their size.

Python's own conversions between long integers and decimals take quadratic time: long ones are put together in pairs.
Must not know of schemas. Source: Avro specification 1.12, "Decimal".
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from serdes.kernels.misfit import Misfit, octets_of, out_of_range

EXACT: Final = decimal.Context(
    prec=decimal.MAX_PREC, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[decimal.InvalidOperation]
)
CHUNK_BYTES: Final = 512
CHUNK_DIGITS: Final = 1024


def decimal_writer(precision: int, scale: int, size: int | None, what: str) -> Callable[[Any], bytes]:
    """A function from a decimal to its bytes.

    Args:
        precision: digits at most.
        scale: digits after the point.
        size: bytes of the result; None for as few as it takes.
        what: the type, for errors.

    The function takes bytes too, as they are. It raises:
        Misfit: not a decimal, or one that does not fit exactly.
    """
    before = precision - scale

    def prepare(value: Any) -> bytes:
        if not isinstance(value, Decimal):
            return octets_of(value, what)
        if not value.is_finite():
            out_of_range(value, what)
        if not value:
            return _signed(0, size)
        if value.adjusted() >= before:
            raise Misfit(f"the number does not fit in {what}")
        scaled = value.scaleb(scale, EXACT)
        whole = scaled.to_integral_value(decimal.ROUND_DOWN, EXACT)
        if whole != scaled:
            raise Misfit(f"the number does not fit in {what}: it has more digits after the point")
        return _signed(_integer(whole, precision), size)

    return prepare


def _signed(number: int, size: int | None) -> bytes:
    return number.to_bytes((number.bit_length() + 8) // 8 if size is None else size, "big", signed=True)


def _integer(value: Decimal, precision: int) -> int:
    """The integer that a decimal is."""
    if precision <= CHUNK_DIGITS:
        return int(value)
    digits = format(value.copy_abs(), "f")
    parts = [int(digits[max(at - CHUNK_DIGITS, 0) : at]) for at in range(len(digits), 0, -CHUNK_DIGITS)]
    base = 10**CHUNK_DIGITS
    while len(parts) > 1:
        parts = [parts[at] + (parts[at + 1] * base if at + 1 < len(parts) else 0) for at in range(0, len(parts), 2)]
        base *= base
    return -parts[0] if value < 0 else parts[0]


def decimal_reader(scale: int) -> Callable[[bytes], Decimal]:
    """A function from the bytes of a number to the decimal, of any length."""

    def present(data: bytes) -> Decimal:
        if len(data) <= CHUNK_BYTES:
            return Decimal(int.from_bytes(data, "big", signed=True)).scaleb(-scale, EXACT)
        return _long(data).scaleb(-scale, EXACT)

    return present


def _long(data: bytes) -> Decimal:
    negative = data[0] >= 0x80
    if negative:
        data = bytes(data.translate(INVERTED))
    parts = [
        Decimal(int.from_bytes(data[max(at - CHUNK_BYTES, 0) : at], "big")) for at in range(len(data), 0, -CHUNK_BYTES)
    ]
    base = Decimal(1 << 8 * CHUNK_BYTES)
    while len(parts) > 1:
        parts = [
            EXACT.fma(parts[at + 1], base, parts[at]) if at + 1 < len(parts) else parts[at]
            for at in range(0, len(parts), 2)
        ]
        base = EXACT.multiply(base, base)
    return EXACT.minus(EXACT.add(parts[0], Decimal(1))) if negative else parts[0]


INVERTED: Final = bytes(255 - byte for byte in range(256))


def decimal_rescaler(scale: int) -> Callable[[Decimal], Decimal]:
    """A function that gives a decimal another number of digits after the point.

    The function raises:
        Misfit: some that are not zero would be lost.
    """
    unit = Decimal((0, (1,), -scale))

    def rescale(value: Decimal) -> Decimal:
        made = value.quantize(unit, decimal.ROUND_DOWN, EXACT)
        if made != value:
            raise Misfit(f"the decimal has more than {scale} digits after the point")
        return made

    return rescale
