from __future__ import annotations

import datetime
import enum
import json
import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from registry import Schema, SchemaReference
from serdes.engine.drivers import drive
from serdes.errors import SerializationError
from serdes.formats.avro.format import AvroFormat
from serdes.formats.avro.logical import Duration
from serdes.options import WriteOptions


def test_a_schema_of_two_parts() -> None:
    form = AvroFormat()
    part = Schema('{"type":"enum","name":"x.C","symbols":["A"]}')
    parsed = form.parse(Schema('{"type":"array","items":"x.C"}'), [(SchemaReference("x.C", "c", 1), part)])
    assert (form.name(parsed), form.name(form.parse(part, []))) == ("array", "x.C")
    assert form.encoder(parsed, b"!")(["A"]) == b"!\x02\x00\x00"
    assert form.decoder(parsed, None, 1, None)(b"!\x02\x00\x00") == ["A"]
    schema = Schema('"int"')
    assert drive(None, form.complete(schema, None, WriteOptions())) is schema


def test_strict_and_names() -> None:
    text = (
        '{"type":"record","name":"R","fields":[{"name":"u","type":["null",{"type":"record","name":"P","fields":[]}]}]}'
    )
    form = AvroFormat(strict=True, return_record_name=True)
    parsed = form.parse(Schema(text), [])
    with pytest.raises(SerializationError, match="'more' is not a field of record R"):
        form.encoder(parsed, b"")({"u": None, "more": 1})
    assert form.decoder(parsed, None, 0, None)(b"\x02") == {"u": ("P", {})}


class Kind(enum.Enum):
    A = "A"


@dataclass
class R:
    n: int


AT = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
NANOS = {"type": "long", "logicalType": "timestamp-nanos"}
DATE = {"type": "int", "logicalType": "date"}
ID = {"type": "fixed", "name": "Id", "size": 16, "logicalType": "uuid"}
TEXT_ID = {"type": "string", "logicalType": "uuid"}
SPAN = {"type": "fixed", "name": "Span", "size": 12, "logicalType": "duration"}
ENUM = {"type": "enum", "name": "Kind", "symbols": ["A"]}
RECORDS = [{"type": "record", "name": name, "fields": [{"name": "n", "type": "int"}]} for name in ("x.R", "x.S")]


def encoded(kind: Any, value: Any) -> bytes:
    form = AvroFormat()
    return form.encoder(form.parse(Schema(json.dumps(kind)), []), b"")(value)


@pytest.mark.parametrize(
    ("union", "value", "branch"),
    [
        (["double", NANOS], AT, 1),
        ([NANOS, "double"], AT, 0),
        ([DATE, NANOS], AT, 1),
        ([NANOS, DATE], AT, 0),
        (["bytes", ID], uuid.UUID(int=5), 1),
        ([ID, TEXT_ID], uuid.UUID(int=5), 0),
        (["bytes", SPAN], datetime.timedelta(days=1), 1),
        ([{"type": "array", "items": "int"}, SPAN], Duration(1, 2, 3), 1),
        ([{"type": "array", "items": "int"}, SPAN], (1, 2, 3), 0),
        (["string", ENUM], Kind.A, 1),
        (["string", {"type": "array", "items": ENUM}], [Kind.A], 1),
        (["null", {"type": "map", "values": ENUM}], {"a": Kind.A}, 1),
    ],
)
def test_a_value_goes_into_the_branch_it_was_converted_for(union: Any, value: Any, branch: int) -> None:
    assert encoded(union, value)[0] == 2 * branch


def test_what_was_written_before_does_not_matter() -> None:
    form = AvroFormat()
    encode = form.encoder(form.parse(Schema(json.dumps([DATE, NANOS, ENUM])), []), b"")
    before = encode(AT)
    assert encode(Kind.A) == b"\x04\x00"
    assert encode(AT) == before


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (RECORDS, ("x.R", {"n": 2**31})),
        (["null", RECORDS[0]], ("x.R", {"n": 2**31})),
        (RECORDS, R(2**31)),
        (["null", {"type": "array", "items": "int"}], ("array", [2**31])),
        (["null", {"type": "map", "values": RECORDS}], {"a": ("x.S", {"n": 2**31})}),
    ],
)
def test_numbers_in_named_branches_have_to_fit_too(kind: Any, value: Any) -> None:
    with pytest.raises(SerializationError, match="out of the range of int"):
        encoded(kind, value)


def test_faults_in_named_branches_are_located() -> None:
    with pytest.raises(SerializationError) as caught:
        encoded(RECORDS, ("x.R", {"n": "x"}))
    assert (caught.value.path, caught.value.reason) == ("n", "a value of type str does not fit int")
    with pytest.raises(SerializationError, match=r"out of the range of long \(timestamp-nanos\)"):
        encoded([NANOS, "double"], datetime.datetime(9999, 1, 1))
