"""Avro payloads to Arrow columns: the compiled decoder against the one by way of objects, and against fastavro.

`python -m benchmarks.columns [seconds]` prints records per second of CPU time, the best of several alternating rounds,
with ratios; then what a batch of ten rows takes and what memory a decode needs beside its output. On one core: a batch
runs on the thread that asks for it. Records differ from one another (`benchmarks.varied`); `records alike` is one order
over and over, whose branches the processor foresees.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks import varied
from benchmarks.serdes import ORDER, proto_order, text_of
from registry import Schema
from serdes.columnar import ColumnarDecoder
from serdes.formats.avro.codec import encoder, load_texts
from serdes.frames.framing import PREFIX_BYTES, frame_prefix

ROWS = 100_000
FEW = 2_000
ROUNDS = 5


def nullable(text: str) -> str:
    """A record with every field nullable."""
    schema = json.loads(text)
    for field in schema["fields"]:
        field["type"] = field["type"] if isinstance(field["type"], list) else ["null", field["type"]]
        field.pop("default", None)
    return json.dumps(schema)


def evolved(text: str) -> str:
    """The order as a later reader has it: a field more with a default, one less, int as long, two in another order."""
    schema = json.loads(text)
    fields = {field["name"]: field for field in schema["fields"]}
    fields["quantity"]["type"] = "long"
    del fields["coupon"]
    added = {"name": "channel", "type": "string", "default": "web"}
    swapped = [fields.pop("weight_kg"), *reversed(fields.values()), added]
    return json.dumps({**schema, "fields": swapped})


Records = Callable[[int], list[dict[str, Any]]]
Case = tuple[str, str, Records, tuple[str, ...] | None]
"""Writer's schema, reader's schema, what makes so many records, columns."""


def alike(count: int) -> list[dict[str, Any]]:
    """One order, over and over."""
    return [ORDER] * count


def cases() -> dict[str, Case]:
    order, flight = text_of("order.avsc"), nullable(text_of("flight.avsc"))
    return {
        "order, 12 fields": (order, order, varied.orders, None),
        "order, other reader": (order, evolved(order), varied.orders, None),
        "order, 2 of 12": (order, order, varied.orders, ("id", "total")),
        "order, records alike": (order, order, alike, None),
        "flight, 19 nullable": (flight, flight, varied.flights, None),
    }


def decoding(case: Case, impl: str) -> ColumnarDecoder:
    writer, reader, _, columns = case
    return ColumnarDecoder(lambda _: Schema(writer), Schema(reader), columns=columns, impl=impl)


def frames(case: Case, rows: int) -> pa.BinaryArray:
    encode = encoder(load_texts(case[0]), frame_prefix(1))
    distinct = [encode(record) for record in case[2](min(rows, varied.DISTINCT))]
    return pa.array(varied.repeated(distinct, rows), pa.binary())


def fastavro_objects(case: Case) -> Callable[[], int]:
    import fastavro

    writer, reader = (fastavro.parse_schema(json.loads(text)) for text in case[:2])
    payloads = [frame[PREFIX_BYTES:] for frame in frames(case, FEW).to_pylist()]
    given = None if case[0] == case[1] else reader

    def run() -> int:
        for payload in payloads:
            fastavro.schemaless_reader(io.BytesIO(payload), writer, given)
        return FEW

    return run


def fastavro_columns(case: Case) -> Callable[[], int]:
    """The way before there were plans: objects by fastavro, columns of those by Arrow."""
    import fastavro

    writer, reader = (fastavro.parse_schema(json.loads(text)) for text in case[:2])
    given = None if case[0] == case[1] else reader
    batch, kind = frames(case, FEW), decoding((*case[:3], None), "native").arrow_type

    def run() -> int:
        payloads = [frame[PREFIX_BYTES:] for frame in batch.to_pylist()]
        rows = [fastavro.schemaless_reader(io.BytesIO(payload), writer, given) for payload in payloads]
        assert len(pa.array(rows, kind)) == FEW
        return FEW

    return run


def columns(case: Case, impl: str, rows: int) -> Callable[[], int]:
    decoder, batch = decoding(case, impl), frames(case, rows)

    def run() -> int:
        assert decoder.decode(batch).errors.null_count == rows
        return rows

    return run


def rate(run: Callable[[], int], seconds: float) -> float:
    """Records per second of CPU time."""
    count, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        count += run()
    return count / spent


def measure(seconds: float) -> dict[str, dict[str, float]]:
    """Case → contestant → records per second."""
    made = {
        name: {
            "kernel": columns(case, "native", ROWS),
            "objects": columns(case, "pure", FEW),
            "fastavro": fastavro_objects(case),
            "fastavro to Arrow": fastavro_columns(case),
        }
        for name, case in cases().items()
    }
    best: dict[str, dict[str, float]] = {name: dict.fromkeys(runs, 0.0) for name, runs in made.items()}
    for _ in range(ROUNDS):
        for name, runs in made.items():
            for contestant, run in runs.items():
                best[name][contestant] = max(best[name][contestant], rate(run, seconds))
    return best


def small_batch() -> float:
    """Microseconds of CPU time for a batch of ten rows."""
    case = cases()["order, 12 fields"]
    decoder, batch = decoding(case, "native"), frames(case, 10)
    best = float("inf")
    for _ in range(10):
        start = time.process_time()
        for _ in range(1000):
            decoder.decode(batch)
        best = min(best, (time.process_time() - start) * 1e3)
    return best


def memory(form: str) -> float:
    """Peak memory of one decode beyond what there was before, in sizes of its output; in a process of its own."""
    found = subprocess.run(
        [sys.executable, "-m", "benchmarks.columns", "--memory", form], capture_output=True, check=True
    )
    return float(found.stdout)


def _memory(form: str) -> None:
    decoder, batch = FORMATS[form](1_000_000)
    decoder.decode(batch[:10])
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _peak()
    result = decoder.decode(batch)
    assert result.errors.null_count == len(batch)
    print((_peak() - before) / result.struct.nbytes)


def _avro(rows: int) -> tuple[ColumnarDecoder, pa.Array]:
    case = cases()["order, 12 fields"]
    return decoding(case, "native"), frames(case, rows)


def _others(
    name: str, kind: str, payloads: Callable[[int], list[bytes]]
) -> Callable[[int], tuple[ColumnarDecoder, pa.Array]]:
    def made(rows: int) -> tuple[ColumnarDecoder, pa.Array]:
        schema = Schema(text_of(name), kind)
        distinct = [frame_prefix(1) + payload for payload in payloads(min(rows, varied.DISTINCT))]
        return ColumnarDecoder({1: schema}.__getitem__, schema), pa.array(varied.repeated(distinct, rows))

    return made


FORMATS = {
    "avro": _avro,
    "protobuf": _others(
        "order.proto",
        "PROTOBUF",
        lambda count: [b"\0" + one.SerializeToString() for one in varied.proto_orders(proto_order(), count)],
    ),
    "json": _others(
        "order.schema.json", "JSON", lambda count: [json.dumps(one).encode() for one in varied.json_orders(count)]
    ),
}


def _peak() -> int:
    """The most memory this process had, in bytes (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    if "--memory" in sys.argv:
        _memory(sys.argv[-1])
        return
    found = measure(float(sys.argv[1]) if len(sys.argv) > 1 else 0.3)
    print(
        f"{'records/s of CPU time':22} {'fastavro':>10} {'to Arrow':>10} {'objects':>10} {'kernel':>12}"
        f" {'to objects':>11}{'to order':>9}"
    )
    first = found["order, 12 fields"]["kernel"]
    for name, rates in found.items():
        others = " ".join(f"{rates[one]:>10,.0f}" for one in ("fastavro", "fastavro to Arrow", "objects"))
        numbers = f"{others} {rates['kernel']:>12,.0f}"
        print(f"{name:22} {numbers} {rates['kernel'] / rates['objects']:>11.1f}{rates['kernel'] / first:>9.2f}")
    print("fastavro: to objects alone, and to columns by pa.array; objects: our path without kernels for columns")
    print(f"a batch of 10 orders: {small_batch():.1f} µs of CPU time")
    for form in FORMATS:
        print(f"memory of a decode, {form}: {memory(form):.2f} times its output")


if __name__ == "__main__":
    main()
