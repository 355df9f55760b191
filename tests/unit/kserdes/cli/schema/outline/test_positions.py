from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kserdes.cli.schema.outline.positions import Lines, Positions, locate, pointer_parts

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


def paths(value: Any, steps: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [steps]
    if isinstance(value, dict):
        for name, item in value.items():
            found += paths(item, (*steps, name))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            found += paths(item, (*steps, str(at)))
    return found


@given(JSON, st.sampled_from([None, 0, 2]), st.booleans())
def test_every_value_has_a_place_and_nothing_else_has(value: Any, indent: int | None, escaped: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    found = dict(Positions(text).walk())
    assert sorted(found) == sorted(paths(value))
    for steps, offset in found.items():
        if steps and isinstance(_parent(value, steps), dict):
            assert json.JSONDecoder().raw_decode(text[offset:])[0] == steps[-1]


def _parent(value: Any, steps: tuple[str, ...]) -> Any:
    for step in steps[:-1]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def test_members_are_at_their_names_and_elements_at_their_start() -> None:
    text = '{\n  "a": [\n    1,\n    {"b": "x,]}"}\n  ]\n}'
    assert locate(text, ["a"]) == (2, 3)
    assert locate(text, ["a", "0"]) == (3, 5)
    assert locate(text, ["a", "1", "b"]) == (4, 6)


def test_a_missing_value_is_placed_at_the_nearest_one_around_it() -> None:
    text = '{\n "a": {\n  "b": 1}}'
    assert locate(text, ["a", "nope", "b"]) == (2, 2)
    assert locate(text, ["nope"]) == (1, 1)


def test_very_deep_documents_are_scanned() -> None:
    depth = 20_000
    text = "[" * depth + "1" + "]" * depth
    assert Positions(text).offset(["0"] * depth) == depth


def test_wide_and_deep_documents_take_memory_in_proportion() -> None:
    text = "[" * 900 + ",".join(["1"] * 100_000) + "]" * 900
    tracemalloc.start()
    assert Positions(text).offset([*["0"] * 899, "50000"]) == 900 + 2 * 50_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000_000


@pytest.mark.parametrize(
    ("pointer", "parts"),
    [
        ("", []),
        ("/", []),
        ("#", []),
        ("#/", []),
        ("/fields/2/type", ["fields", "2", "type"]),
        ("#/properties/a~1b~0c", ["properties", "a/b~c"]),
    ],
)
def test_pointers_are_split(pointer: str, parts: list[str]) -> None:
    assert pointer_parts(pointer) == parts


def test_offsets_are_lines_and_columns_from_one() -> None:
    lines = Lines("ab\n\nc")
    assert [lines.place(offset) for offset in range(5)] == [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1)]


def test_comments_are_passed_over() -> None:
    text = '{ // "x": 1 {\n /* [ \n */ "a": "//no", "b": 2}'
    assert dict(Positions(text).walk()).keys() == {(), ("a",), ("b",)}
    assert locate(text, ["a"]) == (3, 5)
