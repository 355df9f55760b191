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
import pytest

from registry.schemas.avro.model import AvroType, TypeName, UnionType
from serdes.formats.avro.codec import Tags, decoder, encoder, load_texts
from serdes.formats.avro.resolution import parts_of
from tests.strategies.avro_cases import pairs, text_of, without_logical_types

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
