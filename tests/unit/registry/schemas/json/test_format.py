from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import InvalidSchemaError
from registry.models import Schema
from registry.schemas.documents import loads
from registry.schemas.json.canonical import json_text
from registry.schemas.json.format import canonical, parse
from registry.schemas.json.refs import Draft


def schema(document: Any) -> Schema:
    text = document if isinstance(document, str) else json.dumps(document)
    return Schema(text, "JSON", [])


def test_definitions_are_not_written_under_defs() -> None:
    document = {"$ref": "#/$defs/a", "definitions": {"a": {"type": "string"}}}
    assert canonical(schema(document), (), False) == json.dumps(document, separators=(",", ":"))


def test_drafts() -> None:
    for draft in Draft:
        assert parse(schema({"$schema": f"http://{draft.value}"}), ()).draft is draft
    assert parse(schema(True), ()).draft is Draft.DRAFT_7


def test_canonical() -> None:
    text = '{ "type" : "number",\n "b": [1.0, {"z": 1E2, "a": "é"}], "\\uffff": 1, "\\ud83d\\ude00": 2 }'
    assert canonical(schema(text), (), False) == (
        '{"type":"number","b":[1.0,{"z":1E+2,"a":"é"}],"\uffff":1,"\U0001f600":2}'
    )
    # Java orders by UTF-16 units: half a pair comes before U+FFFF
    assert canonical(schema(text), (), True) == (
        '{"b":[1.0,{"a":"é","z":1E+2}],"type":"number","\U0001f600":2,"\uffff":1}'
    )
    with pytest.raises(InvalidSchemaError, match="no type"):
        canonical(schema({"type": "text"}), (), False)


@pytest.mark.parametrize("text", ["", "{", "{}x", '{"maximum": NaN}', "nope", '{"maximum": 1e99999999999999999999}'])
def test_not_json(text: str) -> None:
    with pytest.raises(InvalidSchemaError, match="the schema is not JSON"):
        parse(schema(text), ())


@pytest.mark.parametrize("text", ["null", "[]", '"string"', "1"])
def test_not_a_schema(text: str) -> None:
    with pytest.raises(InvalidSchemaError, match="a schema is an object, true or false"):
        parse(schema(text), ())


# ---- canonical


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
