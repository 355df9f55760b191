from __future__ import annotations

from typing import Any

import pytest

from registry import InvalidSchemaError
from registry.schemas.avro.parts import RESERVED, is_name, naming_of, needed, props, short, strings, text_of


def naming(enclosing: str = "", **node: Any) -> Any:
    return naming_of(node, enclosing, RESERVED)


@pytest.mark.parametrize(
    ("node", "enclosing", "full"),
    [
        ({"name": "R"}, "", "R"),
        ({"name": "R"}, "x", "x.R"),
        ({"name": "R", "namespace": "y"}, "x", "y.R"),
        ({"name": "R", "namespace": ""}, "x", "R"),
        ({"name": "R", "namespace": 5}, "x", "x.R"),
        ({"name": "z.R", "namespace": "y"}, "x", "z.R"),
        ({"name": ".R"}, "x", "R"),
    ],
)
def test_full_names(node: dict[str, Any], enclosing: str, full: str) -> None:
    assert naming(enclosing, **node)[0] == full


def test_aliases_are_full_names_each_once() -> None:
    assert naming(name="x.R", aliases=["A", "y.B", "x.A", ".C"])[1] == ["x.A", "y.B", ".C"]
    assert naming(name="R", aliases=["A", ".A"])[1] == ["A"]


@pytest.mark.parametrize(
    ("node", "why"),
    [
        ({}, "no name"),
        ({"name": ""}, "no name"),
        ({"name": "a-b"}, "illegal name: 'a-b'"),
        ({"name": "R" * 1001}, "longer than 1000"),
        ({"name": "R", "aliases": ["1"]}, "illegal alias of R: '1'"),
        ({"name": "R", "aliases": "A"}, "aliases of R are not a list of strings"),
    ],
)
def test_illegal_names(node: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidSchemaError, match=why):
        naming(**node)


@pytest.mark.parametrize(
    ("text", "legal"),
    [("a_1", True), ("é", True), ("_", True), ("1a", False), ("", False), ("a.b", False), ("😀", False)],
)
def test_names(text: str, legal: bool) -> None:
    assert is_name(text) is legal


def test_attributes() -> None:
    node = {"type": "record", "doc": 5, "order": "x", "p": 1}
    assert text_of(node, "order") == "x"
    assert (text_of(node, "doc"), text_of(node, "name")) == (None, None)
    assert props(node) == {"order": "x", "p": 1}
    assert props({"type": "record"}) == {}
    assert strings(["a"], "x") == ["a"]
    assert needed(node, "p") == 1
    with pytest.raises(InvalidSchemaError, match="no items in "):
        needed(node, "items")


def test_values_in_messages_are_short() -> None:
    assert len(short([["x" * 1000] * 1000] * 1000)) <= 80
