"""Generated schemas with matching values: out and back, as objects and as columns; hostile bytes."""

from __future__ import annotations

import random
import uuid
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry import Schema
from registry.schemas.avro.model import ArrayType, AvroType, MapType, RecordType, TypeName, UnionType
from serdes.columnar import ColumnarDecoder
from serdes.columnar.avro.types import arrow_type
from serdes.errors import SerializationError
from serdes.formats.avro.codec import Decode, Tags, decoder, encoder, load_texts
from serdes.formats.avro.logical import Duration
from serdes.frames.framing import frame_prefix
from tests.strategies.avro import Case, cases
from tests.strategies.avro_cases import pairs


@given(cases(), st.data())
def test_values_come_back(case: Case, data: st.DataObject) -> None:
    schema = load_texts(case.text)
    value = data.draw(case.values)
    assert decoder(schema)(encoder(schema)(value)) == value


@given(cases(), st.data())
def test_columns_hold_what_objects_hold(case: Case, data: st.DataObject) -> None:
    schema = load_texts(case.text)
    values = data.draw(st.lists(case.values, max_size=5))
    encode = encoder(schema, frame_prefix(7))
    columns = ColumnarDecoder(lambda _: Schema(case.text), Schema(case.text))
    result = columns.decode(pa.array([encode(value) for value in values], pa.binary()))
    assert result.errors.null_count == len(values)
    assert result.struct.equals(pa.array([plain(value) for value in values], columns.arrow_type))


def plain(value: Any) -> Any:
    """A value as pyarrow takes it, made in another way than the decoder does."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return str(value) if type(value).__name__ == "UUID" else value


@given(cases(), st.data(), st.randoms(use_true_random=False))
def test_hostile_payloads_give_a_value_or_a_clear_error(case: Case, data: st.DataObject, rng: random.Random) -> None:
    schema = load_texts(case.text)
    payload = bytearray(encoder(schema)(data.draw(case.values)))
    for _ in range(rng.randint(1, 3)):
        mutate(payload, rng)
    survive(decoder(schema), bytes(payload))


def survive(decode: Decode, payload: bytes) -> None:
    """A value or a `SerializationError` with a text, nothing else."""
    message = "a value"
    try:
        decode(payload)
    except SerializationError as error:
        message = str(error)
    assert message


def mutate(payload: bytearray, rng: random.Random) -> None:
    kind = rng.choice(["cut", "flip", "insert", "length"])
    at = rng.randrange(len(payload) + 1)
    if kind == "cut":
        del payload[at:]
    elif kind == "insert":
        payload[at:at] = rng.randbytes(rng.randint(1, 6))
    elif kind == "length":
        payload[at:at] = b"\xfe\xff\xff\xff\x0f"
    elif at < len(payload):
        payload[at] ^= 1 << rng.randrange(8)


@given(cases(), st.binary(max_size=60))
def test_random_bytes(case: Case, payload: bytes) -> None:
    survive(decoder(load_texts(case.text)), payload)


def test_columns_and_objects_are_the_same_for_every_pair_of_schemas() -> None:
    """Resolution, defaults and unions: where the object path refuses, so do columns, with the same reason."""
    compared = refused = 0
    for pair in pairs(11, 120, 4):
        writer, reader = Schema(pair.texts[0]), Schema(pair.texts[1])
        if '"again"' in pair.texts[1] or "n.Added" in pair.texts[1]:
            continue  # recursive records have no columns
        columns = ColumnarDecoder({7: writer}.__getitem__, reader)
        written, wanted = load_texts(writer.schema_str), load_texts(reader.schema_str)
        encode, decode = encoder(written, frame_prefix(7)), decoder(written, wanted, skip=5, tags=Tags.PLACES)
        frames = [encode(drawn.value) for drawn in pair.values]
        result = columns.decode(pa.array(frames, pa.binary()))
        rows, errors = result.struct.to_pylist(), result.errors.to_pylist()
        for frame, row, error in zip(frames, rows, errors, strict=True):
            if error is not None:
                with pytest.raises(SerializationError) as failure:
                    decode(frame)
                assert failure.value.reason in error
                refused += 1
                continue
            value = decode(frame)
            expected = pa.array([in_columns(wanted.model, value)], columns.arrow_type).to_pylist()
            assert repr(expected) == repr([row]), pair.texts
            compared += 1
    assert compared > 100
    assert refused > 20


def in_columns(avro: AvroType, value: Any) -> Any:
    """A decoded value as pyarrow takes it, made in another way than the columns are."""
    if isinstance(avro, RecordType):
        return {item.name: in_columns(item.type, value[item.name]) for item in avro.fields}
    if isinstance(avro, ArrayType):
        return [in_columns(avro.items, item) for item in value]
    if isinstance(avro, MapType):
        return [(key, in_columns(avro.values, item)) for key, item in value.items()]
    if isinstance(avro, UnionType) and value is not None:
        members = [branch for branch in avro.branches if branch.kind is not TypeName.NULL]
        if len(members) == 1:
            return in_columns(members[0], value)
        place, inner = value
        made = in_columns(avro.branches[place], inner)
        if pa.types.is_struct(arrow_type(avro)):
            return {f"member{members.index(avro.branches[place])}": made}
        return made
    if isinstance(value, uuid.UUID):
        return str(value) if avro.kind is TypeName.STRING else value.bytes
    if isinstance(value, Duration):
        return b"".join(number.to_bytes(4, "little") for number in value)
    return value
