from __future__ import annotations

import pytest

from registry import Schema
from serdes import SerializationError
from serdes.engine.drivers import drive
from serdes.formats.json.format import JsonFormat
from serdes.options import WriteOptions

INTEGER, STRING = Schema('{"title":"N","type":"integer"}', "JSON"), Schema('{"type":"string"}', "JSON")


def test_the_readers_schema_counts() -> None:
    form = JsonFormat()
    writer, reader = form.parse(INTEGER, []), form.parse(STRING, [])
    assert (form.name(writer), form.name(reader), form.indexes(writer)) == ("N", None, None)
    assert form.decoder(writer, None, 1, None)(b"!5") == 5
    with pytest.raises(SerializationError, match="an integer where string"):
        form.decoder(writer, reader, 1, None)(b"!5")
    with pytest.raises(SerializationError, match="a string where integer"):
        form.encoder(writer, b"")("x")
    assert JsonFormat(validate=False).encoder(writer, b"!")("x") == b'!"x"'
    assert drive(None, form.complete(INTEGER, None, WriteOptions())) is INTEGER
