from __future__ import annotations

import math
import uuid
from typing import Any

import pytest

import serdes
from serdes import (
    DoubleDeserializer,
    DoubleSerializer,
    IntegerDeserializer,
    IntegerSerializer,
    MessageField,
    SerializationContext,
    SerializationError,
    StringDeserializer,
    StringSerializer,
)

CONTEXT = SerializationContext("orders", MessageField.KEY)


@pytest.mark.parametrize(
    ("serialize", "deserialize", "value", "data"),
    [
        (StringSerializer(), StringDeserializer(), "Jürgen €", "Jürgen €".encode()),
        (StringSerializer("utf_16_le"), StringDeserializer("utf_16_le"), "é", b"\xe9\x00"),
        (StringSerializer(), StringDeserializer(), "", b""),
        (IntegerSerializer(), IntegerDeserializer(), -2, b"\xff\xff\xff\xfe"),
        (IntegerSerializer(), IntegerDeserializer(), 2**31 - 1, b"\x7f\xff\xff\xff"),
        (DoubleSerializer(), DoubleDeserializer(), 1.5, b"\x3f\xf8" + bytes(6)),
        (DoubleSerializer(), DoubleDeserializer(), math.inf, b"\x7f\xf0" + bytes(6)),
    ],
)
def test_out_and_back(serialize: Any, deserialize: Any, value: Any, data: bytes) -> None:
    assert serialize(value, CONTEXT) == data
    assert deserialize(data) == value


@pytest.mark.parametrize(
    "function",
    [
        StringSerializer(),
        StringDeserializer(),
        IntegerSerializer(),
        IntegerDeserializer(),
        DoubleSerializer(),
        DoubleDeserializer(),
    ],
)
def test_none_stays_none(function: Any) -> None:
    assert function(None, CONTEXT) is None


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        (StringSerializer(), 5, "a str is needed, not int"),
        (StringSerializer("ascii"), "é", "can't be encoded as ascii"),
        (StringDeserializer(), b"\xff", "1 bytes that are not utf_8 text"),
        (IntegerSerializer(), 2**31, "32 bits"),
        (IntegerSerializer(), "1", "32 bits"),
        (IntegerDeserializer(), b"123", "4 bytes, not 3"),
        (IntegerDeserializer(), b"", "4 bytes, not 0"),
        (IntegerDeserializer(), b"12345", "4 bytes, not 5"),
        (DoubleSerializer(), "x", "64 bits"),
        (DoubleSerializer(), 10**400, "64 bits"),
        (DoubleDeserializer(), b"1234", "8 bytes, not 4"),
    ],
)
def test_errors_name_the_place(function: Any, value: Any, text: str) -> None:
    with pytest.raises(SerializationError, match=text) as caught:
        function(value, CONTEXT)
    assert (caught.value.topic, caught.value.field) == ("orders", "key")
    with pytest.raises(SerializationError, match=text):
        function(value)


def test_unknown_codec() -> None:
    with pytest.raises(LookupError):
        StringSerializer("utf-9")
    with pytest.raises(LookupError):
        StringDeserializer("utf-9")


@pytest.mark.parametrize(
    ("name", "value", "data"),
    [
        ("Long", -(2**63), b"\x80" + bytes(7)),
        ("Short", -2, b"\xff\xfe"),
        ("Float", 1.5, b"\x3f\xc0\x00\x00"),
        ("Bytes", b"\x00\xff", b"\x00\xff"),
        ("UUID", uuid.UUID(int=10), b"00000000-0000-0000-0000-00000000000a"),
        ("Null", None, None),
    ],
)
def test_the_other_types_have_javas_bytes(name: str, value: Any, data: bytes | None) -> None:
    serialize, deserialize = getattr(serdes, f"{name}Serializer")(), getattr(serdes, f"{name}Deserializer")()
    assert serialize(value, CONTEXT) == data
    assert deserialize(data, CONTEXT) == value
    assert serialize(None, CONTEXT) is None
    assert deserialize(None, CONTEXT) is None


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("LongSerializer", 2**63, "an int of 64 bits"),
        ("ShortSerializer", 2**15, "an int of 16 bits"),
        ("ShortDeserializer", b"1", "a short has 2 bytes, not 1"),
        ("LongDeserializer", b"1", "a long has 8 bytes, not 1"),
        ("FloatSerializer", 1e300, "a float of 32 bits"),
        ("FloatDeserializer", b"1", "a float has 4 bytes, not 1"),
        ("BytesSerializer", "x", "bytes are needed, not str"),
        ("UUIDSerializer", "x", "a UUID is needed, not str"),
        ("UUIDDeserializer", b"x" * 36, "36 bytes that are not the text of a UUID"),
        ("UUIDDeserializer", b"0" * 32, "32 bytes that are not the text of a UUID"),
        ("NullSerializer", 5, "None is needed, not int"),
        ("NullDeserializer", b"", "null is needed, not 0 bytes"),
    ],
)
def test_errors_of_the_other_types(name: str, value: Any, text: str) -> None:
    with pytest.raises(SerializationError, match=text) as caught:
        getattr(serdes, name)()(value, CONTEXT)
    assert caught.value.topic == "orders"


def test_any_buffer_is_bytes() -> None:
    assert serdes.BytesSerializer()(bytearray(b"x")) == b"x"  # type: ignore[arg-type]
