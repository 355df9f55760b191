"""kserdes_base.java_hash: the numbers that Java gives."""

from __future__ import annotations

import pytest

from kserdes_base.java_hash import java_hash


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("a", 97),
        ("Aa", 2112),
        ("BB", 2112),
        ("polygenelubricants", 0x80000000),  # Integer.MIN_VALUE
        ("\U0001f600", 0xD83D * 31 + 0xDE00),  # two units
        ("\ud83d", 0xD83D),
    ],
)
def test_hashes_of_java(text: str, number: int) -> None:
    assert java_hash(text) == number
