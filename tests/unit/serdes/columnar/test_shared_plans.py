"""Threads share plans: what each makes of its own batch is what one alone makes of it, in every format, both ways."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from benchmarks import varied
from benchmarks.serdes import text_of
from registry import Schema
from serdes.columnar import ColumnarDecoder, ColumnarEncoder, avro_schema_of, json_schema_of
from serdes.kernels import IMPL

ORDERS = Schema(text_of("order.avsc"))
PROTO = """syntax = "proto3"; message Row { int64 n = 1; string text = 2; repeated int32 list = 3;
  map<string, double> map = 4; }"""
KIND = pa.struct(
    [
        ("n", pa.int64()),
        ("text", pa.string()),
        ("list", pa.list_(pa.int32())),
        ("map", pa.map_(pa.string(), pa.float64())),
    ]
)
SCHEMAS = {
    "AVRO": Schema(avro_schema_of(KIND, name="Row")),
    "JSON": Schema(json_schema_of(KIND), "JSON"),
    "PROTOBUF": Schema(PROTO, "PROTOBUF"),
}
THREADS = 4


def rows(seed: int) -> pa.Array:
    """Rows that differ from those of other threads."""
    made = [
        {
            "n": seed * 1000 + at,
            "text": f"{seed}" * (at % 40),
            "list": [seed, at] * (at % 5),
            "map": [(f"{seed}-{at}", at / 3)],
        }
        for at in range(200)
    ]
    return pa.array(made, KIND)


@pytest.mark.parametrize("form", [*SCHEMAS])
def test_threads_share_encoders_and_decoders(form: str) -> None:
    schema = SCHEMAS[form]
    encoder = ColumnarEncoder(schema, 7)
    decoder = ColumnarDecoder({7: schema}.__getitem__, schema)
    given = [rows(seed) for seed in range(THREADS)]
    wanted = [one.to_pylist() for one in given]
    alone = [encoder.encode(one).frames.to_pylist() for one in given]
    bad = [frame[: len(frame) - 1 - at % 3] if at % 7 == 0 else frame for at, frame in enumerate(alone[0])]

    def there_and_back(at: int) -> None:
        for _ in range(4):
            frames = encoder.encode(given[at]).frames
            assert frames.to_pylist() == alone[at]
            assert decoder.decode(frames).struct.to_pylist() == wanted[at]
            errors = decoder.decode(pa.array(bad, pa.binary())).errors
            assert [row for row, error in enumerate(errors.to_pylist()) if error] == wrong

    wrong = [row for row, error in enumerate(decoder.decode(pa.array(bad, pa.binary())).errors.to_pylist()) if error]
    assert len(wrong) > 10
    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(there_and_back, at) for at in range(THREADS)]:
            done.result()


def test_one_reader_of_many_writers_is_shared() -> None:
    """Plans of writers are made while other threads decode by the same decoder."""
    from serdes.formats.avro.codec import encoder, load_texts
    from serdes.frames.framing import frame_prefix

    text = text_of("order.avsc")
    frames = [
        pa.array([encoder(load_texts(text), frame_prefix(at))(record) for record in varied.orders(200)], pa.binary())
        for at in range(THREADS)
    ]
    decoder = ColumnarDecoder(lambda _: Schema(text), ORDERS, columns=("id", "total"), impl=IMPL)
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda batch: decoder.decode(batch).struct, frames * 3))
    assert all(one.equals(found[0]) for one in found)
