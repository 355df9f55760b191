"""serdes.rules.walks.avro: fields of Avro values."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import json
import types
from decimal import Decimal
from typing import Any

import pytest

from registry import RuleKind
from registry.schemas.avro.model import parse
from serdes.rules import FieldContext, FieldType, RuleConditionError, RuleContext
from serdes.rules.walks.avro import field_transformer, inline_tags
from tests.unit.serdes.rules.samples import context, rule

NODE = {
    "type": "record",
    "name": "Node",
    "namespace": "t",
    "fields": [
        {"name": "label", "type": "string", "confluent:tags": ["PII"]},
        {"name": "next", "type": ["null", "Node"], "default": None},
    ],
}
ADDRESS = {"type": "record", "name": "Address", "fields": [{"name": "city", "type": "string"}]}
PHONE = {"type": "record", "name": "Phone", "fields": [{"name": "city", "type": "string"}]}


def record(*fields: tuple[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "R", "namespace": "t", "fields": [{"name": n, "type": t} for n, t in fields]}


def walked(schema: Any, value: Any) -> tuple[Any, list[tuple[str, str, Any]]]:
    """The value with every string upper-cased, and what was seen: full name, type, value."""
    seen: list[tuple[str, str, Any]] = []

    def upper(ctx: RuleContext, field: FieldContext, value: Any) -> Any:
        seen.append((field.full_name, field.type_name(), value))
        return value.upper() if isinstance(value, str) else value

    avro = parse(json.dumps(schema))
    ctx = context(rule(kind=RuleKind.TRANSFORM), inline_tags=inline_tags(avro))
    return field_transformer(avro)(ctx, upper, value), seen


def test_every_single_value_is_seen_with_its_full_name_and_type() -> None:
    schema = record(
        ("s", "string"),
        ("n", ["null", "int"]),
        ("list", {"type": "array", "items": "string"}),
        ("map", {"type": "map", "values": ADDRESS}),
        ("enum", {"type": "enum", "name": "E", "symbols": ["a"]}),
        ("fixed", {"type": "fixed", "name": "F", "size": 2}),
    )
    value = {"s": "a", "n": None, "list": ["b", "c"], "map": {"k": {"city": "d"}}, "enum": "a", "fixed": b"xx"}
    made, seen = walked(schema, value)
    assert made == {**value, "s": "A", "list": ["B", "C"], "map": {"k": {"city": "D"}}, "enum": "A"}
    assert seen == [
        ("t.R.s", "STRING", "a"),
        ("t.R.n", "NULL", None),
        ("t.R.list", "STRING", "b"),
        ("t.R.list", "STRING", "c"),
        ("t.Address.city", "STRING", "d"),
        ("t.R.enum", "ENUM", "a"),
        ("t.R.fixed", "FIXED", b"xx"),
    ]
    assert value["s"] == "a"  # a copy is changed


def test_recursive_types_and_their_tags() -> None:
    made, seen = walked(NODE, {"label": "a", "next": {"label": "b", "next": None}})
    assert made == {"label": "A", "next": {"label": "B", "next": None}}
    assert [name for name, _, _ in seen] == ["t.Node.label", "t.Node.label", "t.Node.next"]
    assert inline_tags(parse(json.dumps(NODE))) == {"t.Node.label": {"PII"}}


def test_tags_are_found_everywhere() -> None:
    tagged = {"type": "record", "name": "T", "fields": [{"name": "x", "type": "int", "confluent:tags": ["A"]}]}
    schema = record(("a", {"type": "array", "items": {"type": "map", "values": ["null", tagged]}}))
    assert inline_tags(parse(json.dumps(schema))) == {"t.T.x": {"A"}}
    schema["fields"][0]["confluent:tags"] = "not a list"
    assert inline_tags(parse(json.dumps(schema))) == {"t.T.x": {"A"}}


@pytest.mark.parametrize(
    ("union", "value", "kind"),
    [
        (["null", "string", "int"], 1, "INT"),
        (["int", "long"], 2**40, "LONG"),
        (["int", "boolean"], True, "BOOLEAN"),
        (["int", "double"], 1.5, "DOUBLE"),
        (["string", {"type": "enum", "name": "E", "symbols": ["a"]}], "a", "STRING"),
        ([{"type": "enum", "name": "E", "symbols": ["a"]}, "string"], "b", "STRING"),
        ([{"type": "fixed", "name": "F", "size": 2}, "bytes"], b"xxx", "BYTES"),
        (["string", {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}], Decimal("1.50"), "BYTES"),
        (["string", {"type": "int", "logicalType": "date"}], datetime.date(2026, 1, 1), "INT"),
    ],
)
def test_the_branch_of_a_union_follows_from_the_value(union: Any, value: Any, kind: str) -> None:
    _, seen = walked(record(("u", union)), {"u": value})
    assert seen == [("t.R.u", kind, value)]


def test_records_in_a_union_are_told_by_name_or_by_their_fields() -> None:
    schema = record(("u", ["null", ADDRESS, PHONE, record(("zip", "string")) | {"name": "Zip"}]))
    for value, name in (
        (("t.Phone", {"city": "x"}), "t.Phone.city"),
        (("Phone", {"city": "x"}), "t.Phone.city"),
        ({"city": "x"}, "t.Address.city"),
        ({"-type": "t.Phone", "city": "x"}, "t.Phone.city"),
        ({"zip": "x"}, "t.Zip.zip"),
    ):
        made, seen = walked(schema, {"u": value})
        assert [full_name for full_name, _, _ in seen] == [name]
        assert isinstance(made["u"], type(value))
    unknown = ("t.Nope", {"city": "x"})
    assert walked(schema, {"u": unknown}) == ({"u": unknown}, [])


def test_values_that_do_not_fit_their_type_are_left_to_the_encoder() -> None:
    schema = record(
        ("a", {"type": "array", "items": "string"}), ("m", {"type": "map", "values": "string"}), ("r", ADDRESS)
    )
    value = {"a": "text", "m": [1], "r": 5, "more": "kept"}
    assert walked(schema, value) == (value, [])
    assert walked("string", "alone") == ("alone", [])


def test_fields_that_are_not_there_stay_away() -> None:
    assert walked(NODE, {"label": "a"})[0] == {"label": "A"}


def test_a_condition_changes_nothing_and_refuses() -> None:
    avro = parse(json.dumps(NODE))
    apply = field_transformer(avro)
    value = {"label": "a", "next": None}
    for result in (True, None, "x"):
        assert apply(context(rule()), lambda *_, result=result: result, value) == value
    with pytest.raises(RuleConditionError):
        apply(context(rule()), lambda *_: False, value)


def test_only_tagged_fields_are_given_to_the_transform() -> None:
    avro = parse(json.dumps(NODE))
    ctx = context(rule(kind=RuleKind.TRANSFORM, tags=["PII"]), inline_tags=inline_tags(avro))
    assert field_transformer(avro)(ctx, lambda *_: "x", {"label": "a", "next": None}) == {"label": "x", "next": None}
    assert ctx.current_field() is None
    assert FieldType.STRING.value == "STRING"


def test_of_two_records_the_one_with_more_of_the_fields_is_taken() -> None:
    other = {"type": "record", "name": "Other", "fields": [{"name": n, "type": "string"} for n in ("city", "code")]}
    made, seen = walked(record(("u", [ADDRESS, other])), {"u": {"city": "a", "code": "b", "unknown": "c"}})
    assert made == {"u": {"city": "A", "code": "B", "unknown": "c"}}
    assert [name for name, _, _ in seen] == ["t.Other.city", "t.Other.code"]


def test_a_pair_that_names_no_branch_is_a_list() -> None:
    made, _ = walked(record(("u", ["null", {"type": "array", "items": "string"}])), {"u": ("a", "b")})
    assert list(made["u"]) == ["A", "B"]


@dataclasses.dataclass
class Person:
    city: str


def test_all_values_that_the_encoder_takes_are_walked() -> None:
    schema = record(
        ("one", ADDRESS),
        ("maybe", ["null", "Address"]),
        ("list", {"type": "array", "items": "t.Address"}),
        ("map", {"type": "map", "values": "string"}),
    )
    schema["fields"][0]["type"] = {**ADDRESS, "namespace": "t"}
    schema["fields"][1]["type"] = ["null", "t.Address"]
    value = {
        "one": Person("a"),
        "maybe": types.MappingProxyType({"city": "b"}),
        "list": collections.deque([Person("c")]),
        "map": types.MappingProxyType({"k": "d"}),
    }
    made, _ = walked(schema, types.MappingProxyType(value))
    assert made == {"one": {"city": "A"}, "maybe": {"city": "B"}, "list": [{"city": "C"}], "map": {"k": "D"}}


def test_the_branch_is_the_one_that_is_written() -> None:
    schema = record(("u", [{"type": "int", "logicalType": "date"}, ADDRESS, PHONE, "double", "long"]))
    made, seen = walked(schema, {"u": 5})
    assert (made, [kind for _, kind, _ in seen]) == ({"u": 5}, ["LONG"])
    made, seen = walked(schema, {"u": ("Phone", Person("a"))})
    assert (made, [name for name, _, _ in seen]) == ({"u": ("Phone", {"city": "A"})}, ["t.Phone.city"])
