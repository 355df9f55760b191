"""Columns written as Avro and JSON, and JSON read into columns, against the libraries, in one run on order records.

`python -m benchmarks.columns_encode [rounds]` prints records per second of CPU time as the median of several rounds,
with the ratio to each library. The rounds of all contestants alternate, so that a busy machine slows all of them.
"""

from __future__ import annotations

import io
import json
import statistics
import sys
import time
from array import array
from collections.abc import Callable, Mapping

import pyarrow as pa

from benchmarks import varied
from benchmarks.serdes import text_of
from registry import Schema
from serdes.columnar import ColumnarDecoder, ColumnarEncoder, json_schema_of
from serdes.columnar.contract import ColumnOptions
from serdes.columnar.frames import frames_of
from serdes.columnar.json.format import JsonColumns

ROUNDS = 7
ROWS = 50_000
SLOW_ROWS = 2_000
"""For contestants that go row by row."""
Contestant = tuple[int, Callable[[], object]]


def writing() -> Mapping[str, Contestant]:
    """Arrow → Avro."""
    import fastavro

    schema = Schema(text_of("order.avsc"))
    rows = varied.orders(ROWS)
    struct = pa.array(rows, ColumnarDecoder(lambda schema_id: schema, schema).arrow_type)
    encoder, prefix = ColumnarEncoder(schema, 1), b"\0\0\0\0\1"
    parsed = fastavro.parse_schema(json.loads(schema.schema_str))
    few = struct[:SLOW_ROWS]

    def by_fastavro() -> pa.Array:
        frames = []
        for row in few.to_pylist():
            out = io.BytesIO()
            out.write(prefix)
            fastavro.schemaless_writer(out, parsed, row)
            frames.append(out.getvalue())
        return pa.array(frames, pa.binary())

    assert encoder.encode(few).frames.equals(by_fastavro())
    ten = struct[:10]
    return {
        "ours": (ROWS, lambda: encoder.encode(struct)),
        "ours, batches of 10": (10_000, lambda: [encoder.encode(ten) for _ in range(1000)]),
        "to_pylist and fastavro": (SLOW_ROWS, by_fastavro),
    }


def writing_json() -> Mapping[str, Contestant]:
    """Arrow → JSON."""
    import orjson

    schema = Schema(text_of("order.schema.json"), "JSON")
    struct = pa.array(varied.json_orders(ROWS))
    encoder, prefix = ColumnarEncoder(schema, 1), b"\0\0\0\0\1"
    free = ColumnarEncoder(Schema(json_schema_of(struct.type), "JSON"), 1)
    few = struct[:SLOW_ROWS]

    def by_orjson() -> pa.Array:
        return pa.array([prefix + orjson.dumps(row) for row in few.to_pylist()], pa.binary())

    assert free.encode(few).frames.equals(by_orjson())
    return {
        "ours": (ROWS, lambda: free.encode(struct)),
        "ours, with rules that are asked for every row": (SLOW_ROWS, lambda: encoder.encode(few)),
        "to_pylist and orjson": (SLOW_ROWS, by_orjson),
    }


def reading() -> Mapping[str, Contestant]:
    """JSON → Arrow, without validation."""
    import orjson
    from pyarrow import json as pyarrow_json

    documents = [orjson.dumps(order) for order in varied.json_orders(ROWS)]
    frames = pa.array([b"\0\0\0\0\1" + document for document in documents], pa.binary())
    columns, options = JsonColumns(), ColumnOptions()
    parsed = columns.load(Schema(text_of("order.schema.json"), "JSON"), None)
    plan = columns.plan(parsed, parsed, options)
    rows = array("i", [0] * ROWS).tobytes()
    text = b"\n".join(documents)
    # It reads no times with a zone: without one, the text must end in Z.
    fields = [pa.field("created_at", pa.timestamp("us")) if one.name == "created_at" else one for one in plan.plan.type]
    wanted = pyarrow_json.ParseOptions(explicit_schema=pa.schema(fields))
    one_thread = pyarrow_json.ReadOptions(use_threads=False)
    plain = pa.struct([one for one in plan.plan.type if one.name != "created_at"])

    return {
        "ours": (ROWS, lambda: columns.decode(frames_of(frames), [plan], rows, options)),
        "pyarrow.json": (ROWS, lambda: pyarrow_json.read_json(io.BytesIO(text), one_thread, wanted)),
        "orjson and pa.array, without times": (
            SLOW_ROWS,
            lambda: pa.array([orjson.loads(document) for document in documents[:SLOW_ROWS]], plain),
        ),
    }


def rates(contestants: Mapping[str, Contestant], rounds: int) -> dict[str, list[float]]:
    """Records per second of each round."""
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, (rows, run) in contestants.items():
            start = time.process_time()
            run()
            found[name].append(rows / (time.process_time() - start))
    return found


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    for title, contestants in (
        ("Arrow to Avro", writing()),
        ("Arrow to JSON", writing_json()),
        ("JSON to Arrow", reading()),
    ):
        print(title)
        found = rates(contestants, rounds)
        ours = found["ours"]
        for name, rounds_of_one in found.items():
            ratio = statistics.median(mine / other for mine, other in zip(ours, rounds_of_one, strict=True))
            print(f"  {name:<36} {statistics.median(rounds_of_one):>12,.0f} records/s   ours is {ratio:.2f}x")


if __name__ == "__main__":
    main()
