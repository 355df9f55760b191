from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from registry.schemas.documents import loads
from registry.schemas.json.canonical import json_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(VALUES)
def test_says_the_same(value: Any) -> None:
    for normalize in (False, True):
        assert json.loads(json_text(value, normalize)) == value


@given(st.dictionaries(st.text(max_size=3), st.integers(), min_size=1), st.randoms())
def test_order_of_members_counts_only_if_not_normalized(members: dict[str, int], random: Any) -> None:
    names = list(members)
    random.shuffle(names)
    other = {name: members[name] for name in names}
    assert json_text([{"x": members}], True) == json_text([{"x": other}], True)
    assert (json_text(members, False) == json_text(other, False)) is (list(members) == names)


def test_keeps_its_argument() -> None:
    value = {"b": {"d": 1, "c": 2}, "a": [{"f": 1, "e": 2}]}
    json_text(value, True)
    assert list(value) == ["b", "a"]
    assert list(value["b"]) == ["d", "c"]


def test_any_depth() -> None:
    text = '{"b":[' * 500 + "1" + "]}" * 500
    assert json_text(loads(text, exact=True), True) == text
