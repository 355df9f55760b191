from __future__ import annotations

import decimal
from decimal import Decimal

import pytest

from serdes.formats.avro.decimal import CHUNK_BYTES, decimal_reader, decimal_rescaler, decimal_writer
from serdes.kernels.misfit import Misfit


def whole(text: str) -> int:
    """An integer of any number of digits, made another way."""
    made = 0
    for at in range(0, len(text), 4000):
        part = text[at : at + 4000]
        made = made * 10 ** len(part) + int(part)
    return made


@pytest.mark.parametrize("size", [1, 8, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 5000])
@pytest.mark.parametrize("fill", [b"\x7f\xab", b"\x80\x00", b"\xff\xfe", b"\x01\x00", b"\xff\xff", b"\x00\x00"])
def test_long_decimals_are_exact_both_ways(size: int, fill: bytes) -> None:
    data = fill[:1] + fill[1:] * (size - 1)
    number = decimal_reader(2)(data)
    digits = "".join(map(str, number.as_tuple().digits))
    unscaled = -whole(digits) if number < 0 else whole(digits)
    assert number.as_tuple().exponent == -2
    assert unscaled == int.from_bytes(data, "big", signed=True)
    assert decimal_writer(13_000, 2, 5000, "decimal")(number) == unscaled.to_bytes(5000, "big", signed=True)


def test_the_context_of_the_thread_rounds_nothing() -> None:
    number = Decimal("12345678901234567890123456789012345678.90")
    with decimal.localcontext(decimal.Context(prec=3)):
        assert decimal_reader(2)(decimal_writer(60, 2, None, "decimal")(number)) == number


@pytest.mark.parametrize("text", ["0", "-0", "-0.00", "0E+10000000", "0E-10000000"])
@pytest.mark.parametrize("size", [None, 8])
def test_every_zero_is_zero(text: str, size: int | None) -> None:
    assert decimal_writer(10, 2, size, "decimal")(Decimal(text)) == bytes(size or 1)


@pytest.mark.parametrize(
    ("text", "unscaled"),
    [("1.5", 150), ("1.500000", 150), ("1E+2", 10000), ("-99.99", -9999), ("0.01", 1), ("-0.01", -1), ("1.28", 128)],
)
def test_numbers_that_fit_exactly(text: str, unscaled: int) -> None:
    data = decimal_writer(5, 2, None, "decimal")(Decimal(text))
    assert int.from_bytes(data, "big", signed=True) == unscaled
    assert len(data) == (unscaled.bit_length() + 8) // 8


@pytest.mark.parametrize("text", ["1000", "0.001", "1E+10000000", "1E-10000000", "NaN", "sNaN", "Infinity", "-1000.5"])
def test_numbers_that_do_not_fit(text: str) -> None:
    with pytest.raises(Misfit):
        decimal_writer(5, 2, None, "decimal")(Decimal(text))


def test_bytes_pass_and_other_types_do_not() -> None:
    write = decimal_writer(5, 2, None, "decimal(5, 2)")
    assert write(bytearray(b"ab")) == b"ab"
    for bad in (1, 1.5, "1.5", None):
        with pytest.raises(Misfit, match=r"does not fit decimal\(5, 2\)"):
            write(bad)


def test_empty_bytes_are_zero() -> None:
    assert decimal_reader(2)(b"") == 0


def test_rescaling() -> None:
    assert str(decimal_rescaler(3)(Decimal("1.50"))) == "1.500"
    assert str(decimal_rescaler(1)(Decimal("1.50"))) == "1.5"
    with pytest.raises(Misfit, match="more than 0 digits"):
        decimal_rescaler(0)(Decimal("1.50"))
