"""The kernel of floating-point numbers: shortest texts and nearest numbers, against Python's own and orjson's."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Iterator

import orjson
import pytest

doubles = pytest.importorskip("serdes.kernels.native.doubles")

EDGES = [
    0.0, -0.0, 5e-324, 2.225073858507201e-308, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1, 0.3, 1e-4, 1e-5,
    1.5e-5, 1e-6, 1e15, 1e16, 1.5e16, 123456789012345680.0, 1e17, 1e22, 1e23, 8.5e22, 2.0**53, 2.0**53 + 2, 2.0**63,
    9007199254740993.0, 4.35, 100.0, 1.2345678901234567e-300, -1e-300,
]  # fmt: skip


def numbers(seed: int, count: int) -> Iterator[float]:
    """Numbers of all sizes; short decimals, powers of two, numbers below the normal ones."""
    chance = random.Random(seed)
    for at in range(count):
        how = at % 4
        if how == 0:
            number = struct.unpack("<d", chance.randbytes(8))[0]
        elif how == 1:
            number = round(chance.uniform(-1e6, 1e6), chance.randrange(8))
        elif how == 2:
            number = 2.0 ** chance.randrange(-1074, 1024)
        else:
            number = struct.unpack("<d", struct.pack("<q", chance.randrange(1 << 53)))[0]
        if math.isfinite(number):
            yield number


def check_written(seed: int, count: int) -> None:
    for number in numbers(seed, count):
        text = doubles.shortest(number)
        assert float(text) == number
        assert text == orjson.dumps(number)


def check_read(seed: int, count: int) -> int:
    """Reads numbers, and returns their count."""
    chance = random.Random(seed)
    found = 0
    for _ in range(count):
        digits, exponent = chance.randrange(10 ** chance.randrange(1, 20)), chance.randrange(-340, 310)
        number = doubles.nearest(digits, exponent)
        assert number is None or number == float(f"{digits}e{exponent}")
        found += number is not None
    return found


@pytest.mark.parametrize("number", EDGES)
def test_edges_are_written_shortest(number: float) -> None:
    text = doubles.shortest(number)
    assert text == orjson.dumps(number)
    assert math.copysign(1, float(text)) == math.copysign(1, number)


def test_numbers_are_written_shortest() -> None:
    check_written(1, 40_000)


def test_numbers_are_read_to_the_nearest() -> None:
    assert check_read(2, 20_000) > 16_000


def test_digits_between_two_numbers_are_left_to_others() -> None:
    assert doubles.nearest(2**53 + 1, 0) is None
    assert doubles.nearest(2**53 + 2, 0) in (None, 2.0**53 + 2)
    assert doubles.nearest(1, 400) is None
    assert doubles.nearest(1, -400) is None
    assert doubles.nearest(0, -400) == 0.0


def test_numbers_that_are_not_finite_have_no_text() -> None:
    for number in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="finite"):
            doubles.shortest(number)


@pytest.mark.slow
def test_millions_of_numbers() -> None:
    check_written(3, 4_000_000)
    assert check_read(4, 2_000_000) > 1_600_000
