"""Protobuf ↔ Arrow columns against ptars and protarrow, in one run on orders that differ from one another.

`python -m benchmarks.columns_protobuf [rows]` prints records per second of CPU time as the median of several rounds,
with ratios to the peers (`benchmarks.peers`). The rounds of all contestants alternate.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from benchmarks import peers, varied
from benchmarks.serdes import proto_order, text_of
from registry import Schema
from serdes.columnar.contract import ColumnOptions
from serdes.columnar.encoder import ColumnarEncoder
from serdes.columnar.frames import frames_of
from serdes.columnar.protobuf.format import ProtobufColumns
from serdes.formats.protobuf.codec import load
from serdes.frames.framing import frame_prefix

ROWS = 200_000
ROUNDS = 9
FEW = 10
SLOW = 20
"""The divisor of the rows for a contestant that works on Python objects."""
Contestant = tuple[Callable[[], Any], int]


def ways(rows: int) -> dict[str, dict[str, Contestant]]:
    """Both directions, with who takes part."""
    message = proto_order()
    distinct = [one.SerializeToString() for one in varied.proto_orders(message, varied.DISTINCT)]
    payloads = varied.repeated(distinct, rows)
    schema = Schema(text_of("order.proto"), "PROTOBUF")
    head = frame_prefix(7) + b"\x00"
    frames = pa.array([head + payload for payload in payloads], pa.binary())
    struct = reading(schema, frames, "native", ColumnOptions())().struct
    encoder = ColumnarEncoder(schema, 7)
    found: dict[str, dict[str, Contestant]] = {
        "Protobuf -> Arrow": {
            "kserdes": (reading(schema, frames, "native", ColumnOptions()), rows),
            "2 of 12 columns": (reading(schema, frames, "native", ColumnOptions(columns=("id", "quantity"))), rows),
            "10 rows": (repeated(reading(schema, frames[:FEW], "native", ColumnOptions()), 1000), FEW * 1000),
            "pure": (reading(schema, frames[: rows // SLOW], "pure", ColumnOptions()), rows // SLOW),
        },
        "Arrow -> Protobuf": {
            "kserdes": (lambda: encoder.encode(struct), rows),
            "10 rows": (repeated(lambda: encoder.encode(struct[:FEW]), 1000), FEW * 1000),
        },
    }
    add_peers(found, message, payloads, rows)
    return found


def reading(schema: Schema, frames: pa.Array, impl: str, options: ColumnOptions) -> Callable[[], Any]:
    """A function that reads all frames once."""
    columns = ProtobufColumns(impl)
    parsed = load(schema)
    plan = columns.plan(parsed, parsed, options)

    def once() -> Any:
        rows = frames_of(frames, impl=impl)
        return columns.decode(rows, [plan], rows.plan_of_row([0]), options)

    return once


def repeated(once: Callable[[], Any], times: int) -> Callable[[], None]:
    def many() -> None:
        for _ in range(times):
            once()

    return many


def add_peers(found: dict[str, dict[str, Contestant]], message: Any, given: list[bytes], rows: int) -> None:
    """Those that are installed."""
    reads, writes = found.values()
    try:
        ptars = importlib.import_module("ptars")
        protarrow = importlib.import_module("protarrow")
    except ImportError as missing:
        print(f"without peers: {missing}")
        return
    payloads = pa.array(given, pa.binary())
    handler = ptars.HandlerPool([message.DESCRIPTOR.file]).get_for_message(message.DESCRIPTOR)
    batch = handler.array_to_record_batch(payloads)
    reads["ptars"] = (lambda: handler.array_to_record_batch(payloads), rows)
    writes["ptars"] = (lambda: handler.record_batch_to_array(batch), rows)
    kind, few = type(message), given[: rows // SLOW]
    reads["protarrow"] = (
        lambda: protarrow.messages_to_record_batch([kind.FromString(one) for one in few], kind),
        len(few),
    )
    kept = [type(getattr(message, name)) for name in ("created_at", "address")]  # protarrow needs their classes alive
    smaller = protarrow.messages_to_record_batch([kind.FromString(one) for one in few], kind)

    def write() -> list[bytes]:
        assert kept
        return [one.SerializeToString() for one in protarrow.record_batch_to_messages(smaller, kind)]

    writes["protarrow"] = (write, len(few))


def medians(contestants: dict[str, Contestant]) -> dict[str, float]:
    """Records per second of each; all take turns."""
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, (once, rows) in contestants.items():
            start = time.process_time()
            once()
            rates[name].append(rows / (time.process_time() - start))
    return {name: statistics.median(found) for name, found in rates.items()}


def main(rows: int) -> None:
    """Measures both ways and prints a table."""
    peers.add_peers()
    for way, contestants in ways(rows).items():
        rates = medians(contestants)
        print(way)
        for name, rate in rates.items():
            ratio = rates["kserdes"] / rate
            print(f"  {name:<16} {rate / 1e6:8.2f} M records/s   kserdes is {ratio:6.2f} times as fast")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
