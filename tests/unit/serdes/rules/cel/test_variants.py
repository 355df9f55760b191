"""serdes.rules.cel.variants: variants in rules; tests/interop/test_variants_peers.py compares with the peer."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from registry import Schema
from serdes.formats.protobuf.codec import load
from serdes.rules import RuleError
from serdes.rules.bounds import MAX_SIZE, Bounds
from serdes.rules.cel.executor import evaluate
from serdes.rules.cel.values import field_to_cel, from_cel, to_cel
from serdes.rules.cel.variants import LONGEST, steps
from serdes.variants import Variant, VariantBuilder, parse_json
from serdes.variants.messages import protobuf_to_variant, variant_to_protobuf

HOLDING = """syntax = "proto3"; package t; import "confluent/type/variant.proto";
message Holding { confluent.type.Variant payload = 1; string text = 2; }"""
DOCUMENT = '{"a": [1, {"b c": "x"}, null], "d": 12345678901234567890}'


def result(expression: str, this: Any = 5) -> Any:
    return evaluate(expression, {"this": field_to_cel(this, None)}, Bounds("r"))


def of(*calls: tuple[Any, ...]) -> Any:
    builder = VariantBuilder()
    for name, *given in calls:
        getattr(builder, name)(*given)
    return variant_to_protobuf(builder.build())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("$", json.dumps(json.loads(DOCUMENT), separators=(",", ":"))),
        ("$.a", '[1,{"b c":"x"},null]'),
        ("$.a[0]", "1"),
        ("$['a'][1][\"b c\"]", '"x"'),
        ("$.a[2]", "null"),
        ("$.a[3]", None),
        ("$.a.b", None),
        ("$.d[0]", None),
        ("$.x.y", None),
    ],
)
def test_paths(path: str, text: str | None) -> None:
    found = result("variants.path(variants.parseJson(this[0]), this[1])", [DOCUMENT, path])
    assert (None if found is None else found.to_json()) == text


def test_a_path_is_keys_and_indexes() -> None:
    assert steps(r"""$.a_1[07]['\'\\']["'"]""") == ("a_1", 7, "'\\", "'")
    for path in ("", "a", "$.", "$.1a", "$[-1]", "$['a", r"$['\n']", "$[2147483648]", "$x", "$" + ".a" * LONGEST):
        with pytest.raises(ValueError, match=r"path|name|index|key"):
            steps(path)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("variants.as(variants.parseJson('3'), 'int') + 1", 4),
        ("variants.as(variants.parseJson('2.5'), 'double')", 2.5),
        ("variants.as(variants.parseJson('true'), 'boolean')", True),
        ("variants.as(variants.parseJson('\"x\"'), 'string')", "x"),
        ("variants.as(variants.parseJson('12345678901234567890'), 'decimal')", Decimal("12345678901234567890")),
        ("variants.tryAs(variants.parseJson('3'), 'string') == null", True),
        ("variants.tryAs(variants.parseJson('3'), 'unknown') == null", True),
        ("variants.type(variants.parseJson('[]'))", "array"),
        ("variants.type(variants.parseJson('1'))", "int"),
        ("variants.isNull(variants.parseJson('null'))", True),
        ("variants.isNull(null) || variants.isNull(1) || variants.isNull('x')", False),
        ("variants.tryParseJson('[') == null", True),
        ("variants.parseJson('[1]') == variants.parseJson('[1]')", True),
        ("variants.toJson(variants.index(variants.parseJson('[1, [2]]'), 1))", "[2]"),
        ("variants.field(null, 'a') == null && variants.index(null, 1) == null", True),
        ("[1, 2].all(i, variants.as(variants.index(variants.parseJson('[0, 1, 2]'), i), 'int') == i)", True),
    ],
)
def test_functions(expression: str, value: Any) -> None:
    assert result(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "variants.parseJson('[')",
        "variants.parseJson(1)",
        "variants.as(variants.parseJson('1'), 'string')",
        "variants.as(variants.parseJson('1'), 'unknown')",
        "variants.tryAs(variants.parseJson('1'), 'object')",
        "variants.path(variants.parseJson('1'), 'x')",
        "variants.field(variants.parseJson('{}'), 1)",
        "variants.index(variants.parseJson('[]'), 1.0)",
        "variants.field('x', 'a')",
        "variants.type(variant(b'', b'\\x01\\x00\\x00'))",
        "variants.toJson(variant(b'\\x03\\xff', b'\\x01\\x00\\x00'))",
        "variant('{}')",
        "variant({})",
        "variant(b'\\x00', b'')",
    ],
)
def test_refused(expression: str) -> None:
    with pytest.raises(RuleError):
        result(expression)


def test_a_timestamp_that_cel_cannot_have() -> None:
    late = of(("append_timestamp_tz", 2**62))
    assert result("variants.tryAs(this, 'timestamp') == null", late)
    with pytest.raises(RuleError, match="years 1 to 9999"):
        result("variants.as(this, 'timestamp')", late)
    assert result(
        "variants.as(this, 'timestamp') == timestamp('1970-01-01T00:00:01Z')", of(("append_timestamp_ntz", 10**6))
    )


def test_a_field_of_a_message_is_a_variant_and_may_be_given_one() -> None:
    made = load(Schema(HOLDING, "PROTOBUF")).named("t.Holding")
    message: Any = made(text="kept")
    message.payload.ParseFromString(variant_to_protobuf(parse_json(DOCUMENT)).SerializeToString())
    names = {"message": to_cel(message)}
    assert evaluate("variants.as(variants.path(message.payload, '$.a[0]'), 'int') == 1", names, Bounds("r"))
    changed = evaluate(
        "{'payload': variants.path(message.payload, '$.a[1]'), 'text': message.text}", names, Bounds("r")
    )
    back: Any = from_cel(changed, message)
    assert protobuf_to_variant(back.payload).to_json() == '{"b c":"x"}'
    assert back.text == "kept"
    assert from_cel(evaluate("message", names, Bounds("r")), message) == message
    assert evaluate("variants.type(message.payload) == null", {"message": to_cel(made())}, Bounds("r"))


def test_a_map_of_bytes_is_a_variant_and_comes_back_as_one() -> None:
    found = parse_json(DOCUMENT)
    as_map = {"metadata": found.metadata, "value": found.value}
    assert result("variants.toJson(variants.field(this, 'a'))", as_map) == '[1,{"b c":"x"},null]'
    back = from_cel(result("{'payload': variants.field(this, 'a')}", as_map), None)["payload"]
    assert Variant(back["value"], back["metadata"]).to_json() == '[1,{"b c":"x"},null]'
    assert {type(back["value"]), type(back["metadata"])} == {bytes}


def test_a_few_letters_fill_no_memory() -> None:
    """A small part of a variant keeps all of its bytes; parts of one variant keep the same."""
    text = json.dumps([1, "x" * (MAX_SIZE // 6)])
    once = "variants.as(variants.index(variants.parseJson(this), 0), 'int') == 1"
    assert result(once, text)
    with pytest.raises(RuleError, match="larger than"):
        result("[1, 2, 3, 4, 5, 6, 7].map(i, variants.index(variants.parseJson(this), 0))", text)
    with pytest.raises(RuleError, match="larger than"):
        result("[1, 2, 3, 4, 5, 6, 7].map(i, variants.parseJson(this))", json.dumps({"k" * (MAX_SIZE // 6): 1}))
    found = parse_json(text)
    as_map = {"metadata": found.metadata, "value": found.value}
    assert len(result("[1, 2, 3, 4, 5, 6, 7].map(i, variants.index(variant(this), 0))", as_map)) == 7
