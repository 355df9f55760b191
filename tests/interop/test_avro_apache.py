"""Values between our Avro and the Apache project's in Python, both ways; resolution is compared with Java's.

Known deviations of the peer: its logical types lose precision, so schemas are given to it without them; its unions take
the first branch that fits, so it writes only where there is none to choose.
"""

from __future__ import annotations

import io
import json

import avro.errors
import avro.io
import avro.schema
import pyarrow as pa
import pytest

from registry import Schema
from registry.schemas.avro.model import AvroType, TypeName, UnionType
from serdes.columnar import ColumnarDecoder, ColumnOptions
from serdes.errors import SerializationError
from serdes.formats.avro.codec import Tags, decoder, encoder, load_texts
from serdes.formats.avro.resolution import parts_of
from serdes.frames.framing import frame_prefix
from tests.strategies.avro_cases import pairs, text_of, without_logical_types
from tests.strategies.columns import decoded

OPTIONS = ColumnOptions(unions="dense")
pytestmark = pytest.mark.interop


def test_apache_reads_what_we_write_and_we_read_what_apache_writes() -> None:
    compared = written = 0
    for pair in pairs(7, 200, 10):
        raw = json.dumps(without_logical_types(pair.writer))
        try:
            theirs = avro.schema.parse(raw)
        except avro.errors.SchemaParseException:
            assert '"namespace": ""' in raw, raw  # it does not find names without a namespace from inside of one
            continue
        ours, plain = load_texts(pair.texts[0]), load_texts(raw)
        encode, decode, again = encoder(ours), decoder(ours, tags=Tags.PLACES), decoder(plain)
        for drawn in pair.values:
            payload = encode(drawn.value)
            value = avro.io.DatumReader(theirs).read(avro.io.BinaryDecoder(io.BytesIO(payload)))
            assert comparable(value) == comparable(again(payload)), (raw, drawn)
            assert text_of(ours.model, decode(payload)) == drawn.text
            if not chooses(plain.model):
                out = io.BytesIO()
                avro.io.DatumWriter(theirs).write(value, avro.io.BinaryEncoder(out))
                assert comparable(again(out.getvalue())) == comparable(value), (raw, drawn)
                written += 1
            compared += 1
    assert compared > 1000
    assert written > 300


@pytest.mark.parametrize("count", [300, pytest.param(12_000, marks=pytest.mark.slow)])
def test_columns_have_what_apache_resolves_to(count: int) -> None:
    """Every row of the columns is what the peer reads with both schemas, if it can.

    It knows neither aliases nor a writer's union for a reader's other type, and makes UTF-8 of the defaults of bytes:
    the schemas get defaults in ASCII, and what it refuses is not compared (Java's is).
    """
    compared = 0
    for pair in pairs(8, count, 10):
        schemas = [json.dumps(without_logical_types(schema)) for schema in (pair.writer, pair.reader)]
        writer, reader = (text.replace("\\u00ff", "z") for text in schemas)
        try:
            theirs = avro.io.DatumReader(avro.schema.parse(writer), avro.schema.parse(reader))
            decoder = ColumnarDecoder({7: Schema(writer)}.__getitem__, Schema(reader), options=OPTIONS)
        except (avro.errors.AvroException, SerializationError):
            continue  # as above; and recursive readers have no columns
        encode = encoder(load_texts(pair.texts[0]), frame_prefix(7))
        frames = [encode(drawn.value) for drawn in pair.values]
        found = decoder.decode(pa.array(frames, pa.binary()))
        values = decoded(load_texts(reader).model, found.struct, places=False)
        for frame, value, error in zip(frames, values, found.errors.to_pylist(), strict=True):
            try:
                wanted = theirs.read(avro.io.BinaryDecoder(io.BytesIO(frame[5:])))
            except avro.errors.AvroException:
                continue
            assert error is None, (writer, reader, frame, wanted)
            assert comparable(value) == comparable(wanted), (writer, reader, frame)
            compared += 1
    assert compared > 2 * count


def chooses(avro: AvroType) -> bool:
    """Whether the peer has to choose between branches that it can't tell apart."""
    waiting, seen = [avro], set()
    while waiting:
        made = waiting.pop()
        if id(made) not in seen:
            seen.add(id(made))
            waiting += parts_of(made)
            if isinstance(made, UnionType) and sum(part.kind is not TypeName.NULL for part in made.branches) > 1:
                return True
    return False


def comparable(value: object) -> object:
    """A value in which NaN equals itself."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return "NaN" if value != value else value
