from __future__ import annotations

import pytest

from registry import Schema, SchemaReference
from serdes.avro_format import AvroFormat
from serdes.blocking import drive
from serdes.errors import SerializationError
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
    with pytest.raises(SerializationError, match="exactly the fields"):
        form.encoder(parsed, b"")({"u": None, "more": 1})
    assert form.decoder(parsed, None, 0, None)(b"\x02") == {"u": ("P", {})}
