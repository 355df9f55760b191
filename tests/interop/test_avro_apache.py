"""Values between our Avro and the Apache project's in Python, both ways; resolution is compared with Java's.

Known deviations of the peer: its logical types lose precision, so schemas are given to it without them; its unions take
the first branch that fits, so it writes only where there is none to choose.
"""

from __future__ import annotations

import io
import json
import struct

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
from tests.strategies.avro_cases import AvroPair, pairs, text_of, without_logical_types
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


@pytest.mark.parametrize(("seed", "count"), [(9, 200), pytest.param(20_261_123, 20_000, marks=pytest.mark.slow)])
def test_objects_are_what_apache_resolves_to(seed: int, count: int) -> None:
    """Every value is what the peer reads with both schemas, if it can; see the test of columns for what it can't.

    Fields and types that the reader renames get their old names: Java's resolution is compared with aliases. The slow
    one compares more than 100,000 values.
    """
    compared = refused = 0
    for pair in pairs(seed, count, 10):
        writer, reader = schemas_for_apache(pair)
        reader = without_aliases(reader)
        try:
            theirs = avro.io.DatumReader(avro.schema.parse(writer), avro.schema.parse(reader))
        except avro.errors.AvroException:
            continue
        encode = encoder(load_texts(pair.texts[0]))
        decode = decoder(load_texts(writer), load_texts(reader))
        for drawn in pair.values:
            payload = encode(drawn.value)
            try:
                wanted = theirs.read(avro.io.BinaryDecoder(io.BytesIO(payload)))
            except avro.errors.AvroException:
                refused += 1
                continue
            assert same(decode(payload), wanted), (writer, reader, payload)
            compared += 1
    assert compared > 5 * count, (compared, refused)


@pytest.mark.parametrize("count", [300, pytest.param(12_000, marks=pytest.mark.slow)])
def test_columns_have_what_apache_resolves_to(count: int) -> None:
    """Every row of the columns is what the peer reads with both schemas, if it can.

    It knows neither aliases nor a writer's union for a reader's other type, and makes UTF-8 of the defaults of bytes:
    the schemas get defaults in ASCII, and what it refuses is not compared (Java's is).
    """
    compared = 0
    for pair in pairs(8, count, 10):
        writer, reader = schemas_for_apache(pair)
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
            assert same(value, wanted), (writer, reader, frame)
            compared += 1
    assert compared > 2 * count


def schemas_for_apache(pair: AvroPair) -> tuple[str, str]:
    """Both schemas as the peer can take them: without logical types, and with ASCII alone in defaults."""
    writer, reader = (json.dumps(without_logical_types(schema)) for schema in (pair.writer, pair.reader))
    return writer.replace("\\u00ff", "z"), reader.replace("\\u00ff", "z")


def without_aliases(reader: str) -> str:
    """A reader's schema with the names that the writer has: those that were renamed end so, and by nothing else."""
    return reader.replace('_new"', '"').replace('New"', '"')


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


def same(ours: object, theirs: object) -> bool:
    """Whether both are one value; the peer leaves whole numbers that are promoted to floats as they are."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(item, theirs[key]) for key, item in ours.items())
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, float) and type(theirs) is int:
        return ours in (float(theirs), struct.unpack("<f", struct.pack("<f", theirs))[0])
    return type(ours) is type(theirs) and (ours == theirs or (ours != ours and theirs != theirs))


def comparable(value: object) -> object:
    """A value in which NaN equals itself."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return "NaN" if value != value else value
