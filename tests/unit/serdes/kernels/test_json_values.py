"""The kernel that writes values as JSON, against orjson: the same bytes, or nothing."""

from __future__ import annotations

import datetime
import enum
import sys
import uuid
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

json_values = pytest.importorskip("serdes.kernels.native.json_values")

PREFIX = b"\0\0\0\0\7"
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40) | st.text(
    st.sampled_from('ab"\\\n\t\r\b\f\0\x1f\x7f/é漢😀'), max_size=20
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda parts: (
        st.lists(parts, max_size=4) | st.lists(parts, max_size=3).map(tuple) | st.dictionaries(TEXTS, parts, max_size=4)
    ),
    max_leaves=8,
)


class Colour(enum.StrEnum):
    RED = "red"


class Text(str):
    pass


@given(VALUES)
def test_the_bytes_are_those_of_orjson(value: Any) -> None:
    writer = json_values.JsonWriter()
    for _ in range(2):  # the buffer is used again
        assert writer.write(value, PREFIX, 250) == PREFIX + orjson.dumps(value)


@pytest.mark.parametrize("size", [*range(40), 1000, 70_000])
@pytest.mark.parametrize("odd", ["", '"', "\\", "\n", "\x1f", "é", "漢", "😀"])
def test_texts_of_all_sizes_with_something_odd_anywhere(size: int, odd: str) -> None:
    writer = json_values.JsonWriter()
    for at in {0, size // 2, max(size - 1, 0), size}:
        text = "x" * at + odd + "y" * (size - at)
        value = {text: [text]}
        assert writer.write(value, b"", 2) == orjson.dumps(value)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"), float("inf"), 2**63, -(2**63) - 1, b"x", {1: 2}, {"a": {2}}, "\ud800", ["a\udfff"], Colour.RED,
        {Text("a"): 1}, Text("a"), uuid.UUID(int=1), datetime.date(2026, 1, 1), object(), [[[[]]]], {"a": ([{}],)},
    ],
)  # fmt: skip
def test_remarkable_values_are_left_to_the_slow_way(value: Any) -> None:
    writer = json_values.JsonWriter()
    assert writer.write(value, PREFIX, 3) is None
    assert writer.write([value], PREFIX, 4) is None
    assert writer.write([1], PREFIX, 3) == PREFIX + b"[1]"


def test_levels_are_counted() -> None:
    writer = json_values.JsonWriter()
    assert writer.write([[{}]], b"", 3) == b"[[{}]]"
    assert writer.write([[{}]], b"", 2) is None
    assert writer.write(1, b"", 0) == b"1"


NAMES = st.text(st.sampled_from('abc"\\\né漢'), max_size=3) | st.text("n", min_size=26, max_size=34)


@given(st.lists(st.lists(st.tuples(NAMES, st.booleans()), max_size=12), max_size=12))
def test_names_that_come_again_interned_or_not(values: list[list[tuple[str, bool]]]) -> None:
    writer = json_values.JsonWriter()
    for names in values:
        value = {sys.intern(name) if interned else "".join([*name]): None for name, interned in names}
        assert writer.write(value, PREFIX, 1) == PREFIX + orjson.dumps(value)


def test_more_names_than_are_remembered_each_of_them_new() -> None:
    writer = json_values.JsonWriter()
    for start in range(0, 5000, 100):  # names that are gone leave their addresses to others
        value = {sys.intern(f"name {at}"): at for at in range(start, start + 100)}
        for _ in range(2):
            assert writer.write(value, b"", 1) == orjson.dumps(value)


def test_a_remembered_name_and_what_follows_fit_into_the_buffer() -> None:
    writer = json_values.JsonWriter()
    for size in range(300):  # the buffer grows at a name, whatever stands before it
        value = {"a": "x" * size, "name": 1}
        assert json_values.JsonWriter().write(value, b"", 1) == writer.write(value, b"", 1) == orjson.dumps(value)
