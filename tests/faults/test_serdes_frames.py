"""Hostile frames: valid ones, mutated at random, never do worse than a SerializationError."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from registry import Schema
from serdes import MessageField, SerializationContext, SerializationError
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.protobuf import ProtobufDeserializer, ProtobufSerializer
from tests.unit.serdes.fake import FakeRegistry

CONTEXT = SerializationContext("orders", MessageField.VALUE)
NODE = {
    "type": "record",
    "name": "Node",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "n", "type": "long"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "nulls", "type": {"type": "array", "items": "null"}},
        {"name": "counts", "type": {"type": "map", "values": "double"}},
        {"name": "next", "type": ["null", "Node"]},
    ],
}
JSON_NODE = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "format": "date-time"},
        "n": {"type": "integer", "maximum": 10},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}, "uniqueItems": True},
        "next": {"$ref": "#"},
    },
    "required": ["id"],
}
PROTO_NODE = """syntax = "proto3"; package p;
message Other { int32 a = 1; }
message Node { string id = 1; int64 n = 2; repeated string tags = 3; map<string, double> counts = 4; Node next = 5;
  oneof how { bytes card = 6; bool cash = 7; } repeated sint32 packed = 8; double ratio = 9;
  message In { Node up = 1; } }
"""


def avro() -> tuple[bytes, Callable[[bytes], Any]]:
    import datetime
    import decimal
    import uuid

    registry = FakeRegistry()
    value: dict[str, Any] = {
        "id": "ä-1",
        "n": 2**40,
        "price": decimal.Decimal("1.50"),
        "at": datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
        "day": datetime.date(2026, 1, 1),
        "key": uuid.UUID(int=5),
        "kind": "B",
        "tags": ["a", "b"],
        "nulls": [None, None],
        "counts": {"x": 0.5},
        "next": None,
    }
    frame = AvroSerializer(registry, json.dumps(NODE))({**value, "next": value}, CONTEXT)
    read = AvroDeserializer(registry)
    return bytes(frame or b""), lambda data: read(data, CONTEXT)


def json_schema() -> tuple[bytes, Callable[[bytes], Any]]:
    registry = FakeRegistry()
    value = {"id": "2026-01-02T03:04:05Z", "n": 5, "tags": ["a", "b"]}
    frame = JSONSerializer(json.dumps(JSON_NODE), registry)({**value, "next": value}, CONTEXT)
    read = JSONDeserializer(None, schema_registry_client=registry)
    return bytes(frame or b""), lambda data: read(data, CONTEXT)


def protobuf() -> tuple[bytes, Callable[[bytes], Any]]:
    registry = FakeRegistry()
    value = {"id": "ä", "n": 5, "tags": ["a"], "counts": {"a": 0.5}, "card": "AAAA", "packed": [1, -1], "ratio": 0.5}
    write = ProtobufSerializer(PROTO_NODE, registry, {"message.type": "p.Node"})
    frame = write({**value, "next": value}, CONTEXT)
    read = ProtobufDeserializer(None, None, registry)
    return bytes(frame or b""), lambda data: read(data, CONTEXT)


FORMATS = pytest.mark.parametrize("make", [avro, json_schema, protobuf])


def mutated(frame: bytes, chance: random.Random) -> bytes:
    """A frame with a few changes: bits, bytes, numbers, cuts, repetitions."""
    data = bytearray(frame)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data)) if data else 0
        change = chance.randrange(8)
        if change == 0 and data:
            data[at] ^= 1 << chance.randrange(8)
        elif change == 1 and data:
            data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF, ord("["), ord('"')))
        elif change == 2:
            del data[at : at + chance.randint(1, 8)]
        elif change == 3:
            data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 8)))
        elif change == 4:
            del data[at:]
        elif change == 5:
            data[at:at] = data[at : at + chance.randint(1, 20)] * chance.randint(1, 5)
        elif change == 6:
            data[at:at] = b"\xfe\xff\xff\xff\x0f"  # a length of 2 GB
        else:
            data[at : at + 5] = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
    return bytes(data)


def storm(make: Any, count: int, seed: int) -> tuple[int, int]:
    """Reads mutated frames; how many were read, and how many refused."""
    frame, read = make()
    chance = random.Random(seed)
    good = bad = 0
    for _ in range(count):
        data = mutated(frame, chance)
        try:
            read(data)
            good += 1
        except SerializationError as error:
            bad += error.topic == "orders"
    return good, bad


@FORMATS
def test_mutated_frames(make: Any) -> None:
    good, bad = storm(make, 1500, 5)
    assert good + bad == 1500
    assert min(good, bad) > 5


@pytest.mark.slow
@FORMATS
def test_many_mutated_frames(make: Any) -> None:
    good, bad = storm(make, 70_000, 7)
    assert good + bad == 70_000
    assert min(good, bad) > 500


@pytest.mark.parametrize("make", [avro, json_schema])
@pytest.mark.parametrize("cut", range(0, 60, 3))
def test_cut_frames_are_refused(make: Any, cut: int) -> None:
    frame, read = make()
    assert cut < len(frame)
    with pytest.raises(SerializationError):
        read(frame[:cut])


@FORMATS
@pytest.mark.parametrize(
    ("start", "text"),
    [
        (b"", "the frame is empty"),
        (b"\x00", "alone need 5"),
        (b"\x05\x00\x00\x00\x01", "Invalid magic byte 5"),
        (b"\x00\x00\x00\x00\x63\x00", "Schema 99 not found"),
        (b"\x01" + bytes(16) + b"\x00", "not found"),
        (b"\x01\x00", "alone need 17"),
    ],
)
def test_frames_without_a_schema(make: Any, start: bytes, text: str) -> None:
    _, read = make()
    with pytest.raises(SerializationError, match=text):
        read(start)


@pytest.mark.parametrize("make", [avro, json_schema])
def test_trailing_bytes(make: Any) -> None:
    frame, read = make()
    with pytest.raises(SerializationError):
        read(frame + b"\x00")


HUGE = {
    "avro string": (avro, b"\xfe\xff\xff\xff\x0f"),
    "avro string, 64 bits": (avro, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
    "avro array of nulls": (avro, b"\x02a\x00\x00\x00\x00" + b"\x48" + b"a" * 36 + b"\x00\x00\xfe\xff\xff\xff\x0f"),
    "protobuf string": (protobuf, b"\x0a\xff\xff\xff\xff\x07"),
    "protobuf packed": (protobuf, b"\x42\xff\xff\xff\xff\x07"),
}


@pytest.mark.parametrize("name", HUGE)
def test_lengths_that_claim_2_gb_take_no_memory(name: str) -> None:
    make, body = HUGE[name]
    frame, read = make()
    start = frame[:7] if make is protobuf else frame[:5]
    tracemalloc.start()
    try:
        with pytest.raises(SerializationError):
            read(start + body)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def nested(make: Any, depth: int) -> bytes:
    frame, _ = make()
    if make is json_schema:
        return bytes(frame[:5]) + b'{"id":"2026-01-02T03:04:05Z","next":' * depth + b"5" + b"}" * depth
    if make is avro:
        level = b"\x02a\x00\x02\x00\x00\x00" + b"\x48" + b"00000000-0000-0000-0000-000000000000" + b"\x00\x00\x00\x00"
        return bytes(frame[:5]) + (level + b"\x02") * depth + level + b"\x00"
    body = b""
    for _ in range(depth):
        length, size = len(body), bytearray()
        while length > 0x7F:
            size.append(length & 0x7F | 0x80)
            length >>= 7
        body = b"\x2a" + bytes(size) + bytes((length,)) + body
    return bytes(frame[:7]) + body


@FORMATS
@pytest.mark.parametrize("depth", [10_000, 100_000])
def test_deep_values(make: Any, depth: int) -> None:
    if make is protobuf and depth > 10_000:
        depth = 20_000  # building the frame is quadratic
    _, read = make()
    with pytest.raises(SerializationError):
        read(nested(make, depth))


@FORMATS
def test_some_levels_are_fine(make: Any) -> None:
    if make is not json_schema:  # whose innermost value is no object here
        assert make()[1](nested(make, 20)) is not None


def test_an_unknown_schema_of_another_format_is_refused() -> None:
    registry = FakeRegistry()
    registry.register_schema("a", Schema('"int"'))
    for read in (
        JSONDeserializer(None, schema_registry_client=registry),
        ProtobufDeserializer(None, None, registry),
    ):
        with pytest.raises(SerializationError, match="the schema is Avro"):
            read(b"\x00\x00\x00\x00\x01\x00", CONTEXT)
