from __future__ import annotations

import json
from typing import Any

import pytest

from registry import Schema, SchemaReference
from serdes import SerializationError, json_codec
from serdes.json_codec import decoder, dumps, encoder, load, loads, validator_of


@pytest.fixture(params=["fast", "plain"], autouse=True)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With and without the packages of the extra `fast-json`."""
    if request.param == "plain":
        monkeypatch.setattr(json_codec, "HAS_FAST", False)
        monkeypatch.setattr(json_codec, "HAS_ORJSON", False)
    else:
        assert json_codec.HAS_FAST
        assert json_codec.HAS_ORJSON
    return str(request.param)


def schema(**document: Any) -> json_codec.JsonSchema:
    return load(Schema(json.dumps(document), "JSON"))


def refused(parsed: json_codec.JsonSchema, value: Any) -> SerializationError:
    with pytest.raises(SerializationError) as caught:
        parsed.check(value)
    return caught.value


ORDER = {
    "title": "shop.Order",
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "items": {
            "type": "array",
            "items": {"type": "object", "properties": {"price": {"type": "number", "minimum": 0}}},
        },
        "kind": {"enum": ["a", "b"]},
        "never": False,
    },
}


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"id": 5}, "id", "an integer where string is needed"),
        ({}, "", "'id' is required and missing"),
        ({"id": "x", "items": [{}, {"price": "1"}]}, "items[1].price", "a string where number is needed"),
        ({"id": "x", "items": [{"price": -1.5}]}, "items[0].price", "a number that breaks 'minimum': 0"),
        ({"id": "x", "more": 1}, "", "it has properties that the schema does not allow"),
        ({"id": "x", "kind": "c"}, "kind", 'a string that breaks \'enum\': ["a", "b"]'),
        ({"id": "x", "never": 1}, "", "the schema allows no value here"),
        ([], "", "an array where object is needed"),
        (True, "", "a boolean where object is needed"),
        ({"id": object()}, "id", "a value of type object where string is needed"),
        ({"id": None}, "id", "null where string is needed"),
    ],
)
def test_errors_say_where_and_what_but_no_values(value: Any, path: str, reason: str) -> None:
    error = refused(schema(**ORDER), value)
    assert (error.path, error.reason) == (path, reason)


def test_valid_values_pass() -> None:
    parsed = schema(**ORDER)
    parsed.check({"id": "x", "items": [{"price": 2**70}]})
    assert parsed.name == "shop.Order"
    assert validator_of(parsed).is_valid({"id": "x"})


@pytest.mark.parametrize(
    ("draft", "rule", "value"),
    [
        ("http://json-schema.org/draft-04/schema#", {"maximum": 5, "exclusiveMaximum": True}, 5),
        ("http://json-schema.org/draft-06/schema#", {"exclusiveMaximum": 5}, 5),
        ("http://json-schema.org/draft-07/schema#", {"if": {"type": "string"}, "then": {"minLength": 2}}, "x"),
        ("https://json-schema.org/draft/2019-09/schema", {"dependentRequired": {"a": ["b"]}}, {"a": 1}),
        ("https://json-schema.org/draft/2020-12/schema", {"prefixItems": [{"type": "string"}]}, [5]),
    ],
)
def test_every_draft_has_its_own_rules(draft: str, rule: dict[str, Any], value: Any) -> None:
    refused(schema(**{"$schema": draft, **rule}), value)


def test_draft_7_without_a_word() -> None:
    schema(prefixItems=[{"type": "string"}]).check([5])
    refused(schema(**{"if": {"type": "string"}, "then": {"minLength": 2}}), "x")


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date-time", "2026-01-02T03:04:05.678+01:00", "2026-13-02T03:04:05Z"),
        ("date-time", "2026-01-02t03:04:05z", "2026-01-02 03:04:05"),
        ("date", "2026-01-02", "2026-02-30"),
        ("time", "03:04:05Z", "25:04:05Z"),
        ("email", "a@b.example", "ab"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("ipv6", "::1", "::g"),
        ("uri", "https://a.example/b", "a b"),
        ("hostname", "a-b.example", "-a"),
        ("json-pointer", "/a/~0", "a/~2"),
    ],
)
def test_formats_are_checked(name: str, good: str, bad: str) -> None:
    parsed = schema(format=name)
    parsed.check(good)
    parsed.check(5)
    refused(parsed, bad)


def test_references_are_found_among_the_schemas_at_hand() -> None:
    main = Schema('{"properties":{"a":{"$ref":"part.json#/definitions/n"},"b":{"$ref":"#/properties/a"}}}', "JSON")
    part = Schema('{"definitions":{"n":{"$ref":"leaf.json"}}}', "JSON")
    leaf = Schema('{"type":"integer"}', "JSON")
    references = [(SchemaReference("leaf.json", "l", 1), leaf), (SchemaReference("part.json", "p", 1), part)]
    parsed = load(main, references)
    parsed.check({"a": 1, "b": 2})
    assert refused(parsed, {"b": "x"}).path == "b"


def test_nothing_is_fetched() -> None:
    parsed = schema(**{"$ref": "http://127.0.0.1:9/schema.json"})
    assert "which it has no reference for" in refused(parsed, 5).reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON"),
        ("[]", "an object or a boolean, not list"),
        ('{"properties": {"x": {"type": "text"}}}', r"is not valid at \$\.properties\.x\.type: "),
        ('{"$schema":"http://json-schema.org/draft-04/schema#","required":[]}', "is not valid"),
    ],
)
def test_bad_schemas(text: str, reason: str) -> None:
    with pytest.raises(SerializationError, match=reason):
        load(Schema(text, "JSON"))


def test_a_boolean_is_a_schema() -> None:
    load(Schema("true", "JSON")).check(5)
    assert refused(load(Schema("false", "JSON")), 5).reason == "the schema allows no value here"


def test_bytes() -> None:
    assert dumps({"ä": [1, 0.1, None, True], "b": "€"}) == '{"ä":[1,0.1,null,true],"b":"€"}'.encode()
    assert dumps(2**70) == str(2**70).encode()
    assert loads(b' {"a": [1, "\\u00e4"]} ') == {"a": [1, "ä"]}
    for bad, text in ((object(), "not a JSON value"), ({(1, 2): 1}, "not a JSON value")):
        with pytest.raises(SerializationError, match=text):
            dumps(bad)
    for data, text in (
        (b"{", "is not JSON"),
        (b'"\xff"', "not UTF-8|is not JSON"),
        (b"NaN", "NaN is not JSON"),
        (b"1e400", "too large"),
    ):
        with pytest.raises(SerializationError, match=text):
            loads(data)


def test_depth_is_an_error(library: str) -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(SerializationError, match="nested too deeply"):
        dumps(deep)
    with pytest.raises(SerializationError, match="nested too deeply"):
        loads(b"[" * 100_000 + b"]" * 100_000)
    recursive = schema(type="array", items={"$ref": "#"})
    with pytest.raises(SerializationError, match="deeper than 250 levels"):
        recursive.check(deep)
    for depth, good in ((240 if library == "fast" else 40, True), (260, False), (900, False)):
        payload = b"[" * depth + b"]" * depth
        if good:
            assert encoder(recursive, b"", True)(decoder(recursive, 0, True)(payload)) == payload
        else:
            with pytest.raises(SerializationError, match="deeper than 250 levels"):
                decoder(recursive, 0, True)(payload)


def test_own_encoders_and_no_check() -> None:
    parsed = schema(type="integer")
    assert encoder(parsed, b"!", True, lambda value: f"<{value}>")(5) == b"!<5>"
    assert encoder(parsed, b"", False, lambda value: b"x")("no integer") == b"x"
    assert decoder(parsed, 1, False, lambda data: data.decode())(b"!x") == "x"
    assert decoder(None, 0, True)(b"[]") == []
    with pytest.raises(SerializationError, match="where integer is needed"):
        decoder(parsed, 0, True)(b'"x"')


def test_patterns_of_ecma_262_that_python_does_not_know(library: str) -> None:
    if library == "plain":
        with pytest.raises(SerializationError, match="is not a 'regex'"):
            schema(pattern=r"^\p{L}+$")
        return
    parsed = schema(pattern=r"^\p{L}+$")
    parsed.check("é")
    assert "does not match" in str(refused(parsed, "1"))
    with pytest.raises(SerializationError, match="is not a 'regex'"):
        schema(pattern="(")


def test_what_jsonschema_can_not_check_is_an_error() -> None:
    draft = {"$schema": "https://json-schema.org/draft/2019-09/schema", "unevaluatedItems": False, "items": True}
    assert refused(schema(**draft, maxItems=1), [1, 2]).reason


def test_numbers_that_can_not_be_divided(library: str) -> None:
    parsed = schema(multipleOf=0.5)
    if library == "plain":
        assert "can't be checked against its schema: OverflowError" in str(refused(parsed, 10**400 + 1))
    else:
        parsed.check(10**400)
