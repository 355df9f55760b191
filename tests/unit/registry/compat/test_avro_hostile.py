"""Schemas made to break a checker: each gets an answer or a clear error, within bounds that no real schema reaches."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from registry import InvalidSchemaError, Schema, SchemaReference
from registry.compat import CompatibilityResult, check
from registry.compat import avro as avro_diff
from registry.schemas.canonical import canonical_text, fingerprint, schema_guid, validate_new


def record(name: str, *fields: Any, **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def against(candidate: Any, registered: Any) -> CompatibilityResult:
    return check(Schema(json.dumps(candidate)), [Schema(json.dumps(registered))])


NESTED: dict[str, Callable[[int, str], str]] = {
    "arrays": lambda depth, leaf: '{"type":"array","items":' * depth + leaf + "}" * depth,
    "maps": lambda depth, leaf: '{"type":"map","values":' * depth + leaf + "}" * depth,
    "unions": lambda depth, leaf: '["null",{"type":"array","items":' * depth + leaf + "}]" * depth,
    "records": lambda depth, leaf: "".join(
        f'{{"type":"record","name":"R{at}","fields":[{{"name":"a","type":' for at in range(depth)
    ) + leaf + "}]}" * depth,
}  # fmt: skip


@pytest.mark.parametrize("kind", NESTED)
def test_deep_nesting_is_compared(kind: str) -> None:
    make = NESTED[kind]
    old = Schema(make(300, '"int"'))
    assert check(Schema(make(300, '"long"')), [old]).compatible
    assert len(check(Schema(make(300, '"null"')), [old]).differences) == 1
    assert canonical_text(old) == old.schema_str
    assert fingerprint(old)
    validate_new(old)


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("depth", [10_000, 100_000])
def test_nesting_that_no_registry_takes_is_invalid(kind: str, depth: int) -> None:
    text = NESTED[kind](depth, '"int"')
    for use in (lambda s: check(s, [s]), canonical_text, fingerprint, validate_new):
        with pytest.raises(InvalidSchemaError, match="nested deeper than 1000 levels"):
            use(Schema(text))


def test_types_nested_deep_through_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def chain(leaf: str, length: int) -> list[Any]:
        last = record(f"R{length}", field("a", leaf))
        return [*(record(f"R{at}", field("a", f"R{at + 1}")) for at in range(length)), last]

    assert against(chain("long", 2_000), chain("int", 2_000)).compatible
    found = against(chain("null", 2_000), chain("int", 2_000)).differences
    assert len(found) == 2_001
    assert max(len(item.path) for item in found) < 500  # long paths are cut in the middle
    monkeypatch.setattr(avro_diff, "MAX_AVRO_PAIR_DEPTH", 1_000)
    with pytest.raises(InvalidSchemaError, match="types are nested deeper than 1000 levels"):
        against(chain("int", 2_000), chain("int", 2_000))


def test_paths_are_cut_in_the_middle() -> None:
    def chain(leaf: str, length: int) -> Any:
        kind: Any = leaf
        for _ in range(length):
            kind = {"type": "array", "items": kind}
        return kind

    (short,) = against(chain("int", 16), chain("null", 16)).differences
    (long,) = against(chain("int", 17), chain("null", 17)).differences
    assert short.path == "/" + "/".join(["items"] * 16)
    assert long.path == "/" + "/".join(["items"] * 8 + ["…"] + ["items"] * 8)


def test_recursive_and_mutual_types() -> None:
    def pair(leaf: str) -> Any:
        b = record("B", field("a", ["null", "A"]), field("x", leaf))
        return record("A", field("b", ["null", b]), field("self", {"type": "map", "values": "A"}))

    assert against(pair("long"), pair("int")).compatible
    assert [item.kind for item in against(pair("int"), pair("long")).differences] == ["MISSING_UNION_BRANCH"]


def test_every_pair_of_two_cycles_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    def cycle(length: int) -> Any:
        parts = [
            field(f"d{at}", record(f"R{at}", field("next", f"R{at - 1}")), default=None) for at in range(1, length)
        ]
        return record("R0", field("next", f"R{length - 1}"), *parts)

    assert not against(cycle(20), cycle(21)).compatible
    monkeypatch.setattr(avro_diff, "MAX_AVRO_PAIRS", 300)
    with pytest.raises(InvalidSchemaError, match="more than 300 pairs"):
        against(cycle(20), cycle(21))


def test_exponentially_many_paths_are_one_comparison_each() -> None:
    def doubling(leaf: str) -> Any:
        more = [record(f"R{at}", field("a", f"R{at - 1}"), field("b", f"R{at - 1}")) for at in range(1, 500)]
        return [record("R0", field("x", leaf)), *more]

    assert against(doubling("long"), doubling("int")).compatible
    assert len(against(doubling("int"), doubling("long")).differences) == 500


def test_a_hundred_thousand_fields() -> None:
    many = [field(f"f{at}", ["null", "int"] if at % 2 else "int") for at in range(100_000)]
    assert len(against(record("R", *many), record("R", *many[:10])).differences) == 99_990


def test_ten_thousand_branches() -> None:
    def union(prefix: str, leaf: str) -> list[Any]:
        return [record(f"{prefix}{at}", field("a", leaf)) for at in range(10_000)]

    assert len(against(union("R", "int"), [*union("R", "long")[:50], *union("Q", "int")]).differences) == 10_050


@pytest.mark.parametrize(
    "node",
    [
        record("R", field("a", "int", doc="x" * 5_000_000)),
        {"type": "enum", "name": "E", "symbols": [f"S{at}" for at in range(300_000)]},
        record("R", field("a", "int", aliases=[f"b{at}" for at in range(300_000)])),
    ],
    ids=["doc", "symbols", "aliases"],
)
def test_documents_of_five_megabytes(node: Any) -> None:
    assert against(node, node).compatible


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("5", "5 is not an Avro schema"),
        ("[" * 2_000_000, "nested deeper"),
        ('"' * 2_000_001, "not JSON"),
        ('"/' * 1_000_000, "not JSON"),
        ("/*" * 1_000_000, "not JSON"),
        ('{"type":"int","p":NaN}', "NaN is not JSON"),
        ('{"type":"int","p":-Infinity}', "Infinity is not JSON"),
        ('{"type":"int","p":' + "9" * 1_000_000 + "}", "not JSON"),
        ('{"type":"record","name":"\\ud800","fields":[]}', "illegal name"),
        ('{"type":"record","name":"R","fields":[]}\x00', "not JSON"),
        (b'\xff\xfe"int"'.decode("utf-8", "surrogateescape"), "not JSON"),
        ('{"type":"record","name":"' + "n" * 1_000_000 + '","fields":[]}', "a name is longer than 1000 characters"),
        (json.dumps([f"U{at}" for at in range(50_000)]), "undefined name: 'U0'"),
    ],
)
def test_errors_about_values_that_are_no_schema_are_short(text: str, reason: str) -> None:
    with pytest.raises(InvalidSchemaError, match=reason) as raised:
        check(Schema(text), [Schema('"int"')])
    assert len(raised.value.error_message) < 400


def test_odd_values_that_are_json() -> None:
    fields = '[{"name":"a","type":"double","default":1e999}]'
    text = f'{{"type":"record","name":"R","doc":"\\ud800","fields":{fields},"fields":[]}}'
    schema = Schema(text)
    assert check(schema, [schema], "FULL").compatible
    assert canonical_text(schema) == '{"type":"record","name":"R","doc":"\ud800","fields":[]}'
    assert schema_guid(Schema(canonical_text(schema)))


def test_cyclic_references_are_an_error() -> None:
    table = {
        "a": Schema('{"type":"array","items":"B"}', references=[SchemaReference("B", "b", 1)]),
        "b": Schema('{"type":"array","items":"A"}', references=[SchemaReference("A", "a", 1)]),
    }
    with pytest.raises(
        InvalidSchemaError, match="the new schema: schema references form a cycle through 'b' version 1"
    ):
        check(table["a"], [table["a"]], resolve=lambda reference: table[reference.subject])
