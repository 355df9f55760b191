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
from registry.schemas.avro.model import parse
from serdes import SerializationError
from serdes.formats.avro.format import AvroFormat
from serdes.formats.avro.logical import Duration, described
from serdes.kernels.misfit import as_dict


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
    zone = datetime.UTC if kind is NANOS else None
    assert back(kind, -1) == -1
    assert back(kind, datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, zone)) == -1000
    at = datetime.datetime(2026, 1, 1, tzinfo=zone)
    assert back(kind, at) == 1_767_225_600_000_000_000
    assert back(["null", kind], at) == 1_767_225_600_000_000_000


def logical(kind: str, name: str) -> dict[str, Any]:
    return {"type": kind, "logicalType": name}


MILLIS, MICROS = logical("long", "timestamp-millis"), logical("long", "timestamp-micros")
EAST = datetime.timezone(datetime.timedelta(hours=5))


@pytest.mark.parametrize("kind", [MILLIS, MICROS])
def test_a_datetime_without_a_zone_is_local_time_as_everywhere_in_python(kind: Any) -> None:
    naive = datetime.datetime(2026, 7, 1, 12)
    assert back(kind, naive) == naive.astimezone(datetime.UTC)
    assert back(logical("long", f"local-{kind['logicalType']}"), naive) == naive


@pytest.mark.parametrize(
    ("kind", "value", "result"),
    [
        (
            MILLIS,
            datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, datetime.UTC),
            datetime.timedelta(milliseconds=-1),
        ),
        (MILLIS, datetime.datetime(1970, 1, 1, 0, 0, 0, 1999, datetime.UTC), datetime.timedelta(milliseconds=1)),
        (MILLIS, datetime.datetime(1970, 1, 1, 5, tzinfo=EAST), datetime.timedelta()),
        (MILLIS, 5, datetime.timedelta(milliseconds=5)),
        (MICROS, -1, datetime.timedelta(microseconds=-1)),
    ],
)
def test_points_in_time_are_cut_to_the_unit_as_java_does(kind: Any, value: Any, result: datetime.timedelta) -> None:
    assert back(kind, value) == datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + result


@pytest.mark.parametrize("kind", [MILLIS, MICROS, logical("int", "date")])
def test_all_that_is_written_can_be_read(kind: Any) -> None:
    whole = {"date": (1, -719162, 2932896)}.get(kind["logicalType"])
    if whole is None:
        units = 10**3 if kind is MILLIS else 10**6
        whole = (units, -62135596800 * units, 253402300800 * units - 1)
    _, first, last = whole
    assert (back(kind, first).year, back(kind, last).year) == (1, 9999)
    assert back(kind, back(kind, first)) == back(kind, first)
    for bad in (first - 1, last + 1):
        with pytest.raises(SerializationError, match="out of the range"):
            back(kind, bad)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (logical("int", "date"), datetime.datetime(2020, 1, 1, 5)),
        (logical("int", "date"), "yesterday"),
        (logical("int", "date"), 1.0),
        (logical("int", "time-millis"), datetime.time(1, tzinfo=datetime.UTC)),
        (logical("int", "time-millis"), 86_400_000),
        (logical("long", "time-micros"), -1),
        (MILLIS, datetime.date(2020, 1, 1)),
        (MILLIS, "2020-01-01T00:00:00Z"),
        (MILLIS, datetime.datetime(9999, 12, 31, 23, tzinfo=datetime.timezone(datetime.timedelta(hours=-5)))),
        (MILLIS, datetime.datetime(1, 1, 1, tzinfo=EAST)),
        (MILLIS, True),
        (NANOS, datetime.datetime(2300, 1, 1, tzinfo=datetime.UTC)),
        (logical("long", "local-timestamp-micros"), datetime.datetime(2020, 1, 1, tzinfo=EAST)),
        (logical("string", "uuid"), "no uuid"),
        (logical("string", "uuid"), "{12345678-1234-5678-1234-567812345678}"),
        (FIXED_UUID, b"short"),
        (FIXED_UUID, "12345678-1234-5678-1234-567812345678"),
        (DURATION, (1, 2)),
        (DURATION, ("1", 2, 3)),
        (DURATION, b"short"),
        (DECIMAL, 1.5),
        (DECIMAL, 1),
    ],
)
def test_lossy_logical_values_are_refused(kind: Any, value: Any) -> None:
    with pytest.raises(SerializationError) as caught:
        back(kind, value)
    assert caught.value.path == "R.f"


@pytest.mark.parametrize(
    ("kind", "value", "payload"),
    [
        (logical("bytes", "timestamp-millis"), b"x", b"x"),
        (logical("string", "date"), "x", "x"),
        (logical("int", "timestamp-millis"), 5, 5),
        ({"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 5}, b"x", b"x"),
        ({"type": "bytes", "logicalType": "decimal"}, b"x", b"x"),
        ({"type": "bytes", "logicalType": "decimal", "precision": True}, b"x", b"x"),
        ({"type": "fixed", "name": "F", "size": 2, "logicalType": "decimal", "precision": 10}, b"xy", b"xy"),
        ({"type": "fixed", "name": "F", "size": 2, "logicalType": "uuid"}, b"xy", b"xy"),
        ({"type": "fixed", "name": "F", "size": 2, "logicalType": "duration"}, b"xy", b"xy"),
        ({"type": "long", "logicalType": 5}, 5, 5),
        ({"type": "long", "logicalType": "made-up"}, 5, 5),
    ],
)
def test_a_logical_type_that_is_not_valid_is_ignored(kind: Any, value: Any, payload: Any) -> None:
    assert back(kind, value) == payload
    assert "(" not in described(parse(json.dumps(kind)))


def test_durations() -> None:
    assert back(DURATION, Duration(1, 2, 3)) == Duration(1, 2, 3)
    assert back(DURATION, (1, 2, 2**32 - 1)) == Duration(1, 2, 2**32 - 1)
    assert back(DURATION, datetime.timedelta(days=1, milliseconds=5)) == Duration(0, 1, 5)
    assert back(DURATION, b"\x01\x00\x00\x00" * 3) == Duration(1, 1, 1)
    assert back(["null", DURATION], Duration(1, 2, 3)) == Duration(1, 2, 3)
    for bad in ((1, 2, 2**32), (-1, 0, 0), datetime.timedelta(microseconds=1)):
        with pytest.raises(SerializationError, match="a duration"):
            back(DURATION, bad)
    assert back(DURATION, back(DURATION, (1, 2, 3))) == Duration(1, 2, 3)


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


def test_dicts_classes_and_numbers_are_no_objects() -> None:
    assert as_dict({"a": 1}) is None
    assert as_dict(Card) is None
    encode, _ = both(CARD)
    with pytest.raises(SerializationError, match="does not fit record"):
        encode(5)
