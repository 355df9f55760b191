"""Generated JSON Schemas and Protobuf schemas with matching values: out and back, and never a wrong value accepted."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st

from registry import Schema
from serdes import MessageField, SerializationContext, SerializationError
from serdes.formats.protobuf.codec import load
from serdes.frames.framing import pack_indexes, unpack_indexes
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.protobuf import ProtobufDeserializer, ProtobufSerializer
from tests.unit.serdes.fake import FakeRegistry

CONTEXT = SerializationContext("orders", MessageField.VALUE)
NAMES = st.text("abcdefgh", min_size=1, max_size=5)

# --- JSON: schemas with strategies of their values

JSON_LEAVES: list[tuple[dict[str, Any], st.SearchStrategy[Any]]] = [
    ({"type": "integer"}, st.integers(-(2**63), 2**63 - 1)),
    ({"type": "number"}, st.floats(allow_nan=False, allow_infinity=False)),
    ({"type": "string"}, st.text(max_size=10)),
    ({"type": "boolean"}, st.booleans()),
    ({"type": "null"}, st.none()),
    ({"type": "integer", "minimum": 5, "maximum": 9}, st.integers(5, 9)),
    ({"type": "string", "format": "date"}, st.dates().map(str)),
    ({"type": "string", "format": "uuid"}, st.uuids().map(str)),
    ({"enum": ["a", 1, None]}, st.sampled_from(["a", 1, None])),
]


@st.composite
def json_cases(draw: st.DrawFn, depth: int = 2) -> tuple[dict[str, Any], st.SearchStrategy[Any]]:
    kind = draw(st.integers(0, 5)) if depth else 0
    if kind < 3:
        return draw(st.sampled_from(JSON_LEAVES))
    if kind == 3:
        schema, values = draw(json_cases(depth - 1))
        return {"type": "array", "items": schema}, st.lists(values, max_size=3)
    if kind == 4:
        (one, ones), (two, twos) = draw(json_cases(depth - 1)), draw(json_cases(depth - 1))
        return {"anyOf": [one, two]}, st.one_of(ones, twos)
    parts = draw(st.dictionaries(NAMES, json_cases(depth - 1), max_size=4))
    properties = {name: schema for name, (schema, _) in parts.items()}
    required = sorted(draw(st.sets(st.sampled_from(sorted(parts))))) if parts else []
    document = {"type": "object", "properties": properties, "additionalProperties": False}
    inner = {name: strategy for name, (_, strategy) in parts.items()}
    return {**document, **({"required": required} if required else {})}, st.fixed_dictionaries(
        {name: inner[name] for name in required},
        optional={name: inner[name] for name in inner if name not in required},
    )


@given(json_cases(), st.data())
def test_json_out_and_back(case: tuple[dict[str, Any], st.SearchStrategy[Any]], data: st.DataObject) -> None:
    schema, values = case
    registry: Any = FakeRegistry()
    value = data.draw(values)
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    frame = JSONSerializer(json.dumps(document), registry, lambda value, ctx: value[0])([value], CONTEXT)
    assert JSONDeserializer(None, schema_registry_client=registry)(frame, CONTEXT) == value


@given(json_cases(), json_cases(), st.data())
def test_json_of_another_schema_is_read_or_refused(one: Any, other: Any, data: st.DataObject) -> None:
    registry: Any = FakeRegistry()
    frame = JSONSerializer(json.dumps(one[0]), registry, lambda value, ctx: value[0])([data.draw(one[1])], CONTEXT)
    assert frame is not None
    with contextlib.suppress(SerializationError):
        JSONDeserializer(json.dumps(other[0]))(frame, CONTEXT)


# --- Protobuf

SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "int32": st.integers(-(2**31), 2**31 - 1),
    "sint64": st.integers(-(2**63), 2**63 - 1),
    "uint32": st.integers(0, 2**32 - 1),
    "fixed64": st.integers(0, 2**64 - 1),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "float": st.floats(width=32, allow_nan=False, allow_infinity=False),
    "bool": st.booleans(),
    "string": st.text(max_size=10),
}


@st.composite
def proto_fields(draw: st.DrawFn, inner: str = "") -> tuple[str, st.SearchStrategy[dict[str, Any]]]:
    """The fields of a message, and values in Protobuf's JSON form."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    numbers = draw(st.lists(st.integers(1, 3000), min_size=len(names), max_size=len(names), unique=True))
    lines: list[str] = []
    values: dict[str, st.SearchStrategy[Any]] = {}
    for name, number in zip(names, numbers, strict=True):
        kind = draw(st.sampled_from(sorted(SCALARS)))
        label = draw(st.sampled_from(["", "repeated ", "optional ", "map"]))
        if label == "map":
            lines.append(f"map<string, {kind}> {name} = {number};")
            values[name] = st.dictionaries(st.text(max_size=5), SCALARS[kind], max_size=3)
        else:
            lines.append(f"{label}{kind} {name} = {number};")
            values[name] = st.lists(SCALARS[kind], max_size=3) if label == "repeated " else SCALARS[kind]
    return " ".join(lines), st.fixed_dictionaries({}, optional=values)


@st.composite
def proto_cases(draw: st.DrawFn) -> tuple[str, str, st.SearchStrategy[dict[str, Any]]]:
    first, _ = draw(proto_fields())
    nested, nested_values = draw(proto_fields())
    outer, outer_values = draw(proto_fields())
    text = (
        f'syntax = "proto3"; package p; message First {{ {first} }} '
        f"message Outer {{ message Nested {{ {nested} }} {outer} }}"
    )
    name, values = draw(st.sampled_from([("p.Outer", outer_values), ("p.Outer.Nested", nested_values)]))
    return text, name, values


@given(proto_cases(), st.data())
def test_protobuf_out_and_back(case: tuple[str, str, Any], data: st.DataObject) -> None:
    text, name, values = case
    registry: Any = FakeRegistry()
    message = json_format.ParseDict(data.draw(values), load(Schema(text, "PROTOBUF")).named(name)())
    frame = ProtobufSerializer(text, registry, {"message.type": name})(message, CONTEXT)
    found = ProtobufDeserializer(None, None, registry)(frame, CONTEXT)
    assert found.DESCRIPTOR.full_name == name
    assert found.SerializeToString(deterministic=True) == message.SerializeToString(deterministic=True)


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=6), st.booleans(), st.binary(max_size=4))
def test_paths_of_message_types(path: list[int], zigzag: bool, rest: bytes) -> None:
    packed = pack_indexes(path, zigzag)
    assert unpack_indexes(packed + rest, 0, zigzag) == (path, len(packed))
