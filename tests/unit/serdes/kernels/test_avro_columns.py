"""The compiled reader of Avro columns: hostile payloads, places of errors, keys that come twice, leaks."""

from __future__ import annotations

import json
import resource
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from registry import Schema
from serdes.columnar import ColumnarDecoder, ColumnOptions, DecodeResult
from serdes.frames.framing import frame_prefix

pytest.importorskip("serdes.kernels.native.avro_columns")

MANY = b"\xfe" + b"\xff" * 7 + b"\x7f"  # an item count of 2**62 - 1
ITEM = {"type": "record", "name": "Item", "fields": [{"name": "price", "type": "int"}]}


def schema(*fields: tuple[str, Any]) -> Schema:
    made = [{"name": name, "type": kind} for name, kind in fields]
    return Schema(json.dumps({"type": "record", "name": "Order", "fields": made}))


def decode(given: Schema, payloads: Sequence[bytes], reader: Schema | None = None, **options: Any) -> DecodeResult:
    decoder = ColumnarDecoder(lambda _: given, reader or given, options=ColumnOptions(**options), impl="native")
    result = decoder.decode(pa.array([frame_prefix(7) + payload for payload in payloads], pa.binary()))
    result.struct.validate(full=True)
    return result


def error(given: Schema, payload: bytes, reader: Schema | None = None, **options: Any) -> str:
    (text,) = decode(given, [payload], reader, **options).errors.to_pylist()
    assert text is not None
    return str(text)


def array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


@pytest.mark.parametrize(
    ("kind", "payload", "text"),
    [
        (array("null"), MANY, "too many array items that take no bytes"),
        (array("null"), b"\xff" * 9 + b"\x01" + b"\x00", "too many array items that take no bytes"),
        (array("int"), MANY, "ends inside the value"),
        (array("int"), b"\xff" * 9 + b"\x01" + b"\x00", "ends inside the value"),
        (array("int"), b"\x01\x03", "a block of a negative size"),
        ({"type": "map", "values": "null"}, MANY, "ends inside the value"),
        ("string", MANY, "ends inside the value"),
        ("string", b"\x01", "ends inside the value"),
        ("string", b"\x04\xc3\x28", "not UTF-8"),
        ("string", b"\x06\xed\xa0\x80", "not UTF-8"),
        ("string", b"\x08\xf4\x90\x80\x80", "not UTF-8"),
        ("long", b"\x80" * 10 + b"\x00", "more than 64 bits"),
        ("long", b"\xff" * 9 + b"\x02", "more than 64 bits"),
        ("long", b"\x80", "ends inside the value"),
        ("int", b"\x80\x80\x80\x80\x10", "more than 32 bits"),
        ("boolean", b"\x02", "neither 0 nor 1"),
        (["null", "int"], b"\x04", "branch 2 of a union of 2"),
        (["int", "string", "null"], b"\x01", "branch -1 of a union of 3"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\x02", "symbol 1 of an enum of 1"),
        ({"type": "fixed", "name": "F", "size": 2**30}, b"\x00", "ends inside the value"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 2}, b"\x02\x64", "a decimal of more than 2 digits"),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 2},
            b"\x80\x08" + b"\x7f" * 512,
            "more than 2 digits",
        ),
        ({"type": "int", "logicalType": "date"}, b"\xfe\xff\xff\xff\x0f", "years 1 to 9999"),
        ({"type": "string", "logicalType": "uuid"}, b"\x02x", "not a UUID"),
        ("int", b"\x00\x00", "1 bytes are left over"),
    ],
)
def test_hostile_payloads_are_refused_before_anything_is_allocated(kind: Any, payload: bytes, text: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = error(schema(("v", kind)), payload)
    assert text in found
    assert found.startswith("schema id 7, at Order")
    assert "at byte" in found
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


@pytest.mark.parametrize("payload", [b"\x80\x80\x00", b"\x01\x00\x00", b"\xff\x01\x00\x00"])
def test_counts_that_are_written_otherwise_are_counts(payload: bytes) -> None:
    """Bytes of zero at the end of a number, negative counts with their size, blocks without bytes."""
    assert decode(schema(("v", array("null"))), [payload]).errors.null_count == 1


def test_a_row_has_no_more_room_than_it_may_have() -> None:
    wide = {"type": "record", "name": "W", "fields": [{"name": "b", "type": "boolean"}]}
    more = [{"name": f"f{at}", "type": "string", "default": "x" * 1000} for at in range(20)]
    reader = schema(("v", array({**wide, "fields": [*wide["fields"], *more]})))
    payload = b"\xd0\x0f" + b"\x01" * 1000 + b"\x00"
    assert "max_row_bytes" in error(schema(("v", array(wide))), payload, reader, max_row_bytes=10_000_000)
    assert decode(schema(("v", array(wide))), [payload], reader, max_row_bytes=50_000_000).errors.null_count == 1


def test_the_place_of_an_error_is_its_path_and_byte() -> None:
    given = schema(("name", "string"), ("items", array(ITEM)), ("more", {"type": "map", "values": array(ITEM)}))
    items = b"\x08" + b"\x02" * 3 + b"\xff\xff\xff\xff\xff\x7f\x00\x00"
    assert "at Order.items[3].price: " in error(given, b"\x02x" + items)
    assert "(at byte 6)" in error(given, b"\x02x" + items)
    inner = b"\x00" + b"\x04\x02a\x00\x02b\x04\x02\x80\x80\x80\x80\x10"
    assert "at Order.more[entry 1][1].price: " in error(given, b"\x02x" + inner)


def test_places_in_what_is_skipped_of_recursive_writers() -> None:
    node = {
        "type": "record",
        "name": "Node",
        "fields": [{"name": "value", "type": "boolean"}, {"name": "kids", "type": array("Node")}],
    }
    given, reader = schema(("tree", node), ("n", "int")), schema(("n", "int"))
    good = b"\x00\x04\x01\x00\x01\x02\x00\x00\x00\x00" + b"\x0e"
    assert decode(given, [good], reader).struct.to_pylist() == [{"n": 7}]
    assert "at Order.tree.kids[1].kids[0].value: " in error(given, b"\x00\x04\x01\x00\x01\x02\x05", reader)
    deep = b"\x00\x02" * 2000
    assert "nested deeper than 1000 levels" in error(given, deep, reader)


def test_blocks_that_say_their_size_are_passed_in_one_step() -> None:
    given, reader = schema(("v", array("string")), ("n", "int")), schema(("n", "int"))
    assert decode(given, [b"\x03\x08\xff\xff\xff\xff\x00\x0e"], reader).struct.to_pylist() == [{"n": 7}]
    assert "ends inside" in error(given, b"\x03\x0a\x00\x00\x00\x0e", reader)


def test_of_entries_with_one_key_the_last_is_kept() -> None:
    given = schema(("m", {"type": "map", "values": {"type": "map", "values": "string"}}), ("after", "int"))
    inner = b"\x06\x02a\x02x\x02b\x02y\x02a\x02z\x00"
    few = b"\x04\x02k" + inner + b"\x02k" + inner + b"\x00\x02"
    many = (
        b"\x28"
        + b"".join(b"\x02" + bytes([97 + at % 10]) + b"\x02\x02q\x02" + bytes([65 + at]) + b"\x00" for at in range(20))
        + b"\x00\x02"
    )
    result = decode(given, [few, many, few])
    assert result.errors.null_count == 3
    rows = result.struct.to_pylist()
    assert rows[0] == rows[2] == {"m": [("k", [("b", "y"), ("a", "z")])], "after": 1}
    assert rows[1]["m"] == [(chr(97 + at), [("q", chr(75 + at))]) for at in range(10)]


@pytest.mark.parametrize("digits", [1, 18, 19, 20, 38, 39, 76])
def test_decimals_of_all_sizes_and_scales(digits: int) -> None:
    bound = 10**digits - 1
    for number in (0, 1, -1, 7, -(2**7), 2**7, bound, -bound, bound // 3, -(bound // 7)):
        if abs(number) > bound:
            continue
        data = number.to_bytes((number.bit_length() + 8) // 8, "big", signed=True)
        for padded in (data, (b"\xff" if number < 0 else b"\x00") * 40 + data):
            size = len(padded) * 2
            payload = (bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])) + padded
            scale = 1 if digits > 1 else 0
            kind = {"type": "bytes", "logicalType": "decimal", "precision": digits, "scale": scale}
            (row,) = decode(schema(("v", kind)), [payload]).struct.to_pylist()
            with_scale = Decimal((number < 0, tuple(map(int, str(abs(number)))), -scale))
            assert row["v"] == with_scale
            assert "more than" in error(schema(("v", kind)), b"\xc8\x01" + b"\x7f" + bytes(99))
