"""kserdes_base.varint: numbers as Protobuf's documentation writes them."""

from __future__ import annotations

import pytest

from kserdes_base.varint import uvarint


@pytest.mark.parametrize(
    ("number", "written"),
    [(0, b"\x00"), (127, b"\x7f"), (128, b"\x80\x01"), (150, b"\x96\x01"), (2**64 - 1, b"\xff" * 9 + b"\x01")],
)
def test_numbers(number: int, written: bytes) -> None:
    assert uvarint(number) == written
