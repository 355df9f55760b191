from __future__ import annotations

import datetime
import enum
import json
import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import attrs
import pydantic
import pytest

from registry import Schema
from serdes import SerializationError
from serdes.avro_format import AvroFormat
from serdes.avro_values import Duration, as_dict


def both(kind: Any, return_record_name: bool = False) -> tuple[Any, Any]:
    form = AvroFormat(return_record_name=return_record_name)
    parsed = form.parse(Schema(json.dumps(kind)), [])
    return form.encoder(parsed, b""), form.decoder(parsed, None, 0, None)


def back(kind: Any, value: Any) -> Any:
    encode, decode = both({"type": "record", "name": "R", "fields": [{"name": "f", "type": kind}]})
    return decode(encode({"f": value}))["f"]


@dataclass
class Card:
    number: str


@attrs.define
class Cash:
    amount: int


class Transfer(pydantic.BaseModel):
    iban: str
    card: Card | None = None


class Colour(enum.Enum):
    RED = "RED"
    BLUE = 2


CARD = {"type": "record", "name": "shop.Card", "fields": [{"name": "number", "type": "string"}]}
CASH = {"type": "record", "name": "shop.Cash", "fields": [{"name": "amount", "type": "int"}]}
TRANSFER = {
    "type": "record",
    "name": "shop.Transfer",
    "fields": [{"name": "iban", "type": "string"}, {"name": "card", "type": ["null", "shop.Card"]}],
}
NANOS = {"type": "long", "logicalType": "timestamp-nanos"}
LOCAL_NANOS = {"type": "long", "logicalType": "local-timestamp-nanos"}
DURATION = {"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"}
FIXED_UUID = {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (Card("1"), ("shop.Card", {"number": "1"})),
        (Cash(5), ("shop.Cash", {"amount": 5})),
        (Transfer(iban="x", card=Card("1")), ("shop.Transfer", {"iban": "x", "card": ("shop.Card", {"number": "1"})})),
        (("shop.Cash", {"amount": 5}), ("shop.Cash", {"amount": 5})),
        (("shop.Cash", Cash(5)), ("shop.Cash", {"amount": 5})),
        ({"amount": 5}, ("shop.Cash", {"amount": 5})),
        (None, None),
    ],
)
def test_records_in_unions_by_name_and_by_value(value: Any, result: Any) -> None:
    encode, decode = both(["null", CARD, CASH, TRANSFER], return_record_name=True)
    assert decode(encode(value)) == result
    assert decode(encode(value)) == result


def test_an_object_of_another_name_is_known_by_its_fields() -> None:
    @dataclass
    class Other:
        amount: int

    encode, decode = both([CARD, CASH], return_record_name=True)
    assert decode(encode(Other(5))) == ("shop.Cash", {"amount": 5})


def test_objects_in_arrays_maps_and_recursive_records() -> None:
    @dataclass
    class Node:
        name: str
        next: Any = None

    node = {
        "type": "record",
        "name": "Node",
        "fields": [{"name": "name", "type": "string"}, {"name": "next", "type": ["null", "Node"], "default": None}],
    }
    encode, decode = both(node)
    assert decode(encode(Node("a", Node("b")))) == {"name": "a", "next": {"name": "b", "next": None}}
    assert back({"type": "array", "items": CARD}, [Card("1")]) == [{"number": "1"}]
    assert back({"type": "map", "values": CARD}, {"a": Card("1")}) == {"a": {"number": "1"}}


def test_members_of_enums() -> None:
    kind = {"type": "enum", "name": "C", "symbols": ["RED", "BLUE"]}
    assert back(kind, Colour.RED) == "RED"
    assert back(kind, Colour.BLUE) == "BLUE"


@pytest.mark.parametrize("kind", [NANOS, LOCAL_NANOS])
def test_nanoseconds_are_exact(kind: Any) -> None:
    assert back(kind, -1) == -1
    assert back(kind, datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)) == -1000
    at = datetime.datetime(2026, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
    assert back(kind, at) == 1_767_225_600_000_000_000
    assert back(["null", kind], at) == 1_767_225_600_000_000_000


def test_durations() -> None:
    assert back(DURATION, Duration(1, 2, 3)) == Duration(1, 2, 3)
    assert back(DURATION, (1, 2, 2**32 - 1)) == Duration(1, 2, 2**32 - 1)
    assert back(DURATION, datetime.timedelta(days=1, milliseconds=5)) == Duration(0, 1, 5)
    assert back(DURATION, b"\x01\x00\x00\x00" * 3) == Duration(1, 1, 1)
    assert back(["null", DURATION], Duration(1, 2, 3)) == Duration(1, 2, 3)
    for bad in ((1, 2, 2**32), (-1, 0, 0), datetime.timedelta(microseconds=1)):
        with pytest.raises(SerializationError, match="a duration"):
            back(DURATION, bad)


def test_uuids_of_16_bytes() -> None:
    some = uuid.UUID(int=7)
    assert back(FIXED_UUID, some) == some
    assert back({"type": "array", "items": ["null", FIXED_UUID]}, [some, None]) == [some, None]
    assert back({"type": "map", "values": FIXED_UUID}, {"a": some}) == {"a": some}


@pytest.mark.parametrize("text", ["999.99", "-999.99", "0.01", "-0.01", "0", "1", "1E+2"])
def test_decimals_that_fit(text: str) -> None:
    assert back(DECIMAL, Decimal(text)) == Decimal(text)


@pytest.mark.parametrize("text", ["1000", "0.001", "1.005", "NaN", "Infinity", "-1E+5"])
def test_decimals_that_do_not_fit_are_errors(text: str) -> None:
    with pytest.raises(SerializationError):
        back(DECIMAL, Decimal(text))


def test_decimals_of_others_are_never_rounded() -> None:
    _, decode = both({"type": "record", "name": "R", "fields": [{"name": "f", "type": ["null", DECIMAL]}]})
    number = int("123456789" * 12)
    data = number.to_bytes(60, "big", signed=True)
    assert str(decode(b"\x02\x78" + data)["f"]) == str(number)[:-2] + "." + str(number)[-2:]


def test_what_is_not_an_object() -> None:
    assert as_dict({"a": 1}) is None
    assert as_dict(Card) is None
    encode, _ = both(CARD)
    with pytest.raises(SerializationError, match="does not fit record"):
        encode(5)
