from __future__ import annotations

import json
from typing import Any

import pytest

from registry.compat.avro_model import parse
from serdes.avro_codec import decoder, encoder, load_texts
from serdes.avro_guard import MAX_DEPTH, MAX_EMPTY_ITEMS, guard_for
from serdes.errors import SerializationError


def list_schema(*more: dict[str, Any]) -> str:
    return json.dumps({"type": "record", "name": "L", "fields": [*more, {"name": "next", "type": ["null", "L"]}]})


EMPTY = {"type": "record", "name": "Nothing", "fields": [{"name": "n", "type": "null"}]}


@pytest.mark.parametrize(
    ("node", "guarded"),
    [
        ("int", False),
        ({"type": "array", "items": "int"}, False),
        ({"type": "map", "values": "null"}, False),
        ({"type": "array", "items": "null"}, True),
        ({"type": "array", "items": EMPTY}, True),
        ({"type": "array", "items": {"type": "fixed", "name": "F", "size": 0}}, True),
        (json.loads(list_schema()), True),
    ],
)
def test_only_what_needs_it_is_guarded(node: Any, guarded: bool) -> None:
    assert (guard_for(parse(json.dumps(node))) is not None) is guarded


def test_deep_payloads_are_an_error_not_a_crash() -> None:
    decode = decoder(load_texts(list_schema()))
    decode(b"\x02" * (MAX_DEPTH // 2 - 10) + b"\x00")
    for depth in (MAX_DEPTH + 10, 100_000, 1_000_000):
        with pytest.raises(SerializationError, match="nested deeper"):
            decode(b"\x02" * depth + b"\x00")


def test_long_but_flat_payloads_of_a_recursive_schema_are_fine() -> None:
    every: list[dict[str, Any]] = [
        {"name": "s", "type": "string"},
        {"name": "a", "type": {"type": "array", "items": "long"}},
        {"name": "m", "type": {"type": "map", "values": ["double", "boolean", "float", "null"]}},
        {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}},
        {"name": "f", "type": {"type": "fixed", "name": "F", "size": 3}},
        {"name": "b", "type": "bytes"},
    ]
    schema = load_texts(list_schema(*every))
    value = {
        "s": "x" * 2000,
        "a": list(range(-50, 50)),
        "m": {"p": 1.5, "q": True, "r": None},
        "e": "B",
        "f": b"abc",
        "b": b"y" * 500,
        "next": None,
    }
    value = {**value, "next": value}
    assert decoder(schema)(encoder(schema)(value)) == value


def test_blocks_with_sizes_are_walked() -> None:
    schema = load_texts(list_schema({"name": "a", "type": {"type": "array", "items": "long"}}))
    block = b"\x03\x04\x02\x04" + b"\x00"  # count -2, size 2, items 1 and 2, end
    padding = b"\x02\x00" * MAX_DEPTH  # a chain of short lists makes it long enough to be walked
    with pytest.raises(SerializationError):
        decoder(schema)(block + padding)
    assert decoder(schema)(block + b"\x00")["a"] == [1, 2]


@pytest.mark.parametrize("count", [MAX_EMPTY_ITEMS + 1, 2**40])
def test_items_without_bytes_are_counted(count: int) -> None:
    head = bytearray()
    number = count << 1
    while number > 0x7F:
        head.append(number & 0x7F | 0x80)
        number >>= 7
    head.append(number)
    with pytest.raises(SerializationError, match="array items that take no bytes"):
        decoder(load_texts('{"type":"array","items":"null"}'))(bytes(head) + b"\x00")


def test_a_few_items_without_bytes_are_fine() -> None:
    assert decoder(load_texts('{"type":"array","items":"null"}'))(b"\x06\x00") == [None] * 3


@pytest.mark.parametrize("tail", [b"\x06", b"\x80" * 11, b"\x02\x08", b"\x02"])
def test_truncated_while_walking(tail: bytes) -> None:
    schema = load_texts(json.dumps({"type": "array", "items": [EMPTY, "string"]}))
    assert schema.guard is None  # a union has an index byte
    guarded = load_texts(json.dumps({"type": "record", "name": "R", "fields": [
        {"name": "a", "type": {"type": "array", "items": "null"}}, {"name": "u", "type": ["null", "string"]},
    ]}))  # fmt: skip
    with pytest.raises(SerializationError):
        decoder(guarded)(b"\x00" + tail)


def test_cyclic_values_are_an_error_not_a_crash() -> None:
    encode = encoder(load_texts(list_schema()))
    value: dict[str, Any] = {}
    value["next"] = value
    with pytest.raises(SerializationError, match="nested deeper"):
        encode(value)
    assert encode({"next": {"next": None}}) == b"\x02\x00"
