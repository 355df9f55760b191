"""serdes.variants: what is built is read back, hostile bytes are refused; tests/interop/test_variants_peers.py compares
with the peer.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import json
import math
import pickle
import struct
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.schemas.protobuf.sources import built_in
from serdes.variants import Variant, VariantBuilder, VariantError, VariantType, from_bytes, parse_json, to_json_string
from serdes.variants.encoding import DEPTH
from serdes.variants.messages import DESCRIPTOR, protobuf_to_variant, variant_to_protobuf
from serdes.variants.messages import Variant as Message

EMPTY = b"\x01\x00\x00"
"""A dictionary without keys."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**38) + 1, 10**38 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
)


def built(*calls: tuple[Any, ...]) -> Variant:
    builder = VariantBuilder()
    for name, *given_ in calls:
        getattr(builder, name)(*given_)
    return builder.build()


@given(JSON)
@settings(deadline=None)
def test_json_comes_back(tree: Any) -> None:
    text = json.dumps(tree)
    found = parse_json(text)
    assert json.loads(found.to_json()) == json.loads(text)
    assert parse_json(found.to_json()).to_json() == found.to_json()
    assert from_bytes(found.value, found.metadata) == found
    assert protobuf_to_variant(variant_to_protobuf(found)) == found


@pytest.mark.parametrize(
    ("call", "kind", "getter", "value", "text"),
    [
        (("append_null",), "NULL", None, None, "null"),
        (("append_boolean", True), "BOOLEAN", "boolean", True, "true"),
        (("append_boolean", False), "BOOLEAN", "boolean", False, "false"),
        (("append_byte", -128), "BYTE", "byte", -128, "-128"),
        (("append_short", 300), "SHORT", "short", 300, "300"),
        (("append_int", -70000), "INT", "int", -70000, "-70000"),
        (("append_long", 2**62), "LONG", "long", 2**62, str(2**62)),
        (("append_float", 0.1), "FLOAT", "float", struct.unpack("<f", struct.pack("<f", 0.1))[0], "0.1"),
        (("append_float", 1e38), "FLOAT", "float", struct.unpack("<f", struct.pack("<f", 1e38))[0], "1e+38"),
        (("append_double", -0.0), "DOUBLE", "double", -0.0, "-0.0"),
        (("append_double", math.inf), "DOUBLE", "double", math.inf, "Infinity"),
        (("append_float", -math.inf), "FLOAT", "float", -math.inf, "-Infinity"),
        (("append_decimal", decimal.Decimal("1.50")), "DECIMAL4", "decimal", decimal.Decimal("1.50"), "1.50"),
        (("append_decimal", 10**17, 18), "DECIMAL8", "decimal", decimal.Decimal("0.1"), "0.100000000000000000"),
        (("append_decimal", b"\xff", 20), "DECIMAL16", "decimal", decimal.Decimal("-1e-20"), "-0." + "0" * 19 + "1"),
        (("append_string", "é"), "STRING", "string", "é", '"é"'),
        (("append_string", "x" * 64), "STRING", "string", "x" * 64, f'"{"x" * 64}"'),
        (("append_binary", b"\x00\xff"), "BINARY", "binary", b"\x00\xff", '"AP8="'),
        (("append_uuid", uuid.UUID(int=5)), "UUID", "uuid", uuid.UUID(int=5), f'"{uuid.UUID(int=5)}"'),
        (("append_uuid", bytes(16)), "UUID", "uuid", uuid.UUID(int=0), f'"{uuid.UUID(int=0)}"'),
        (("append_date", -1), "DATE", "long", -1, '"1969-12-31"'),
        (("append_time", 1), "TIME", "long", 1, '"00:00:00.000001"'),
        (("append_timestamp_tz", -1000), "TIMESTAMP_TZ", "long", -1000, '"1969-12-31T23:59:59.999Z"'),
        (("append_timestamp_ntz", 0), "TIMESTAMP_NTZ", "long", 0, '"1970-01-01T00:00:00"'),
        (("append_timestamp_nanos_tz", 1), "TIMESTAMP_NANOS_TZ", "long", 1, '"1970-01-01T00:00:00.000000001Z"'),
        (("append_timestamp_nanos_ntz", -1), "TIMESTAMP_NANOS_NTZ", "long", -1, '"1969-12-31T23:59:59.999999999"'),
    ],
)
def test_single_values(call: tuple[Any, ...], kind: str, getter: str | None, value: Any, text: str) -> None:
    found = built(call)
    assert found.get_type() is VariantType(kind)
    assert getter is None or getattr(found, f"get_{getter}")() == value
    assert to_json_string(found) == text


def test_numbers_are_as_wide_as_asked_for_or_narrower() -> None:
    for name, reads in (("byte", 4), ("short", 3), ("int", 2), ("long", 1)):
        found = built((f"append_{name}", 7))
        getters = [found.get_long, found.get_int, found.get_short, found.get_byte]
        assert [getter() for getter in getters[:reads]] == [7] * reads
        for getter in getters[reads:]:
            with pytest.raises(VariantError, match=r"not BYTE"):
                getter()


def test_fields_and_elements() -> None:
    found = parse_json('{"b": [1, {"c": null}], "a": "x"}')
    assert found.num_object_fields() == 2
    assert found.get_field_at_index(0)[0] == "a"
    inner = found.get_field_by_key("b")
    assert inner is not None
    assert inner.num_array_elements() == 2
    assert inner.get_element_at_index(2) is inner.get_element_at_index(-1) is found.get_field_by_key("c") is None
    last = inner.get_element_at_index(1)
    assert last is not None
    assert last.to_json() == '{"c":null}'
    assert Variant(last.standalone_value_bytes(), last.metadata).to_json() == '{"c":null}'
    with pytest.raises(VariantError, match="field 2 of an object of 2"):
        found.get_field_at_index(2)
    with pytest.raises(VariantError, match="OBJECT, not ARRAY"):
        found.num_array_elements()


@pytest.mark.parametrize("size", [1, 31, 32, 33, 300])
def test_every_key_of_an_object_is_found(size: int) -> None:
    tree = {f"k{number * 7919 % 1000}é": number for number in range(size)}
    found = parse_json(json.dumps(tree))
    for key, number in tree.items():
        field = found.get_field_by_key(key)
        assert field is not None
        assert field.get_long() == number
    assert [found.get_field_by_key(key) for key in ("", "k", "k5", "z")] == [None] * 4


def test_equal_variants_hash_and_pickle() -> None:
    one, two = parse_json("[1, 2]"), parse_json("[1,2]")
    assert one == two != parse_json("[2, 1]")
    assert {one, two, pickle.loads(pickle.dumps(one))} == {one}
    assert one != "[1, 2]"
    assert repr(one) == "<Variant ARRAY>"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1,",
        "[" * 100_000,
        "1" * 39,
        "1" * 5000,
        '"\\ud800"',
        '{"\\ud800": 1}',
        f'"{"x" * 2**24}"',
        " " * 2**25 + "1",
    ],
    ids=lambda text: f"{text[:9]!r} {len(text)}",
)
def test_texts_that_are_no_variant(text: str) -> None:
    with pytest.raises(VariantError):
        parse_json(text)


@pytest.mark.parametrize(
    "calls",
    [
        [],
        [("start_array",)],
        [("append_null",), ("append_null",)],
        [("append_key", "a")],
        [("start_array",), ("append_key", "a")],
        [("start_object",), ("append_null",)],
        [("start_object",), ("append_key", "a"), ("append_key", "b")],
        [("start_object",), ("append_key", "a"), ("append_null",), ("append_key", "a")],
        [("start_object",), ("append_key", "a"), ("end_object",)],
        [("start_object",), ("end_array",)],
        [("end_object",)],
        [("append_byte", 128)],
        [("append_long", 2**63)],
        [("append_float", 1e39)],
        [("append_decimal", decimal.Decimal("NaN"))],
        [("append_decimal", decimal.Decimal("1E+2"))],
        [("append_decimal", decimal.Decimal("1E-39"))],
        [("append_decimal", 10**38, 0)],
        [("append_decimal", decimal.Decimal(1), 1)],
        [("append_decimal", 1)],
        [("append_decimal", "1", 1)],
        [("append_uuid", b"x")],
        [("append_string", "\ud800")],
        [("start_array",)] * (DEPTH + 1),
        [("append_binary", bytes(2**24))],
    ],
)
def test_invalid_builder_calls_are_refused(calls: list[tuple[Any, ...]]) -> None:
    with pytest.raises(VariantError):
        built(*calls)


def test_a_refused_call_changes_nothing() -> None:
    builder = VariantBuilder(size_limit=20)
    builder.start_object()
    builder.append_key("a")
    for call in (
        lambda: builder.append_byte(200),
        lambda: builder.append_string("x" * 30),
        builder.end_object,
        lambda: builder.append_key("b"),
    ):
        with pytest.raises(VariantError):
            call()
    builder.append_byte(20)
    with pytest.raises(VariantError):
        builder.append_key("k" * 30)
    builder.end_object()
    assert builder.build().to_json() == '{"a":20}'


# --- hostile bytes


@given(st.binary(max_size=60), st.binary(max_size=30))
@settings(deadline=None)
def test_any_bytes_are_read_or_refused(value: bytes, metadata: bytes) -> None:
    ask_everything(value, b"\x01" + metadata)


@given(JSON, st.data())
@settings(deadline=None)
def test_damaged_bytes_are_read_or_refused(tree: Any, data: st.DataObject) -> None:
    good = parse_json(json.dumps(tree))
    parts = [bytearray(good.value), bytearray(good.metadata)]
    for part in parts:
        for _ in range(data.draw(st.integers(0, 3))):
            part[data.draw(st.integers(0, len(part) - 1))] = data.draw(st.integers(0, 255))
        del part[data.draw(st.integers(0, len(part))) :]
    ask_everything(bytes(parts[0]), bytes(parts[1]))


def ask_everything(value: bytes, metadata: bytes) -> None:
    """All that a reader can do with bytes; nothing but VariantError may come of it."""
    try:
        found = Variant(value, metadata)
    except VariantError:
        return
    repr(found)
    with_argument = {"get_field_by_key": "a", "get_field_at_index": 0, "get_element_at_index": 0}
    for name in dir(found):
        if name.startswith(("get_", "num_", "to_")):
            given_ = [with_argument[name]] if name in with_argument else []
            with contextlib.suppress(VariantError):
                getattr(found, name)(*given_)


@pytest.mark.parametrize(
    ("value", "metadata", "why"),
    [
        (b"", EMPTY, "not within"),
        (b"\x00", b"", "not within"),
        (b"\x00", b"\x02\x00\x00", "version: 2"),
        (bytes([21 << 2]), EMPTY, "primitive type: 21"),
        (bytes([6 << 2, 1]), EMPTY, "8 bytes at 1"),
        (bytes([16 << 2]) + b"\xff\xff\xff\xff", EMPTY, "4294967295 bytes"),
        (b"\x05\xff", EMPTY, "not UTF-8"),
        (bytes([8 << 2, 10, 1, 0, 0, 0]), EMPTY, "at most 9 digits"),
        (bytes([8 << 2, 0, 0xFF, 0xFF, 0xFF, 0x7F]), EMPTY, "at most 9 digits"),
        (b"\x13\xff\xff\xff\xff\xff", EMPTY, "4294967295 values"),
        (b"\x42\xff\xff\xff\xff\xff", EMPTY, "255|4294967295 values|not within"),
        (b"\x03\x01\x07\x01", EMPTY, "not within"),
        (b"\x02\x01\x00\x00\x01\x00", EMPTY, "key 0 of a dictionary of 0"),
        (b"\x02\x01\x00\x00\x01\x00", b"\x01\x01\x02\x01ab", "ends before it begins"),
        (b"\x02\x01\x00\x00\x01\x00", b"\x01\x01\x00\x09a", "not within"),
        (b"\x02\x01\x00\x00\x01\x00", b"\xc1\xff\xff\xff\xff", "not within"),
        (bytes([12 << 2]) + b"\xff" * 7 + b"\x7f", EMPTY, "years 1 to 9999"),
        (bytes([11 << 2]) + b"\xff\xff\xff\x7f", EMPTY, "years 1 to 9999"),
        (bytes([17 << 2]) + b"\xff" * 8, EMPTY, "not within a day"),
    ],
)
def test_malformed_bytes_say_what_is_wrong(value: bytes, metadata: bytes, why: str) -> None:
    with pytest.raises(VariantError, match=why):
        Variant(value, metadata).to_json()


def test_values_that_name_one_another_do_not_multiply() -> None:
    """Each array names the next one fifty times: 50 ** 20 values in 1,100 bytes."""
    value = b"\x00"
    for _ in range(20):
        offsets = b"".join(number.to_bytes(2, "little") for number in [0] * 50 + [len(value)])
        value = b"\x07\x32" + offsets + value
    with pytest.raises(VariantError, match="share bytes"):
        Variant(value, EMPTY).to_json()


def test_a_key_written_for_every_field_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serdes.variants.rendering.MOST", 10_000)
    text = json.dumps([{"k" * 1000: 1}] * 11)
    with pytest.raises(VariantError, match="more than 10,000 characters"):
        parse_json(text).to_json()


def test_depth_has_an_end() -> None:
    value = b"\x00"
    for level in range(DEPTH + 1):
        size = max(1, (len(value).bit_length() + 7) // 8)
        value = bytes([size - 1 << 2 | 3, 1]) + bytes(size) + len(value).to_bytes(size, "little") + value
        if level == DEPTH - 1:
            assert Variant(value, EMPTY).to_json() == "[" * DEPTH + "null" + "]" * DEPTH
    with pytest.raises(VariantError, match="more than 1,000 levels"):
        Variant(value, EMPTY).to_json()


def test_the_message_is_that_of_the_built_in_file() -> None:
    assert DESCRIPTOR.name == "confluent/type/variant.proto"
    text = built_in(DESCRIPTOR.name)
    assert text is not None
    for field in Message.DESCRIPTOR.fields:
        assert f"bytes {field.name} = {field.number};" in text
    with pytest.raises(VariantError):
        protobuf_to_variant(Message())


def test_times_are_those_of_python() -> None:
    for moment in (datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)):
        micros = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
        assert built(("append_timestamp_ntz", micros)).to_json() == f'"{moment.isoformat()}"'
