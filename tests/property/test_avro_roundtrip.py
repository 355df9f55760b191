"""Generated schemas with matching values: out and back, as objects and as columns; hostile bytes."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from registry import Schema
from serdes.avro_codec import Decode, decoder, encoder, load_texts
from serdes.columnar import ColumnarDecoder
from serdes.errors import SerializationError
from serdes.framing import frame_prefix
from tests.strategies.avro import Case, cases


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
