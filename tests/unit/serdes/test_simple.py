from __future__ import annotations

import math
from typing import Any

import pytest

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
        (StringDeserializer(), b"\xff", "1 bytes that are not utf-8 text"),
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
