"""AvroSerializer and AvroDeserializer against bare fastavro and confluent-kafka, in one run on one record.

`python -m benchmarks.serdes_avro [seconds]` prints records/s as the median of several rounds, and ratios to fastavro.
The rounds of all contestants alternate, so that a busy machine slows all of them.
"""

from __future__ import annotations

import datetime
import decimal
import io
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro

from registry import SchemaRegistryClient
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.context import MessageField, SerializationContext

SCHEMA = (Path(__file__).parent.parent / "schemas" / "order.avsc").read_text()
RECORD: dict[str, Any] = {
    "id": "ord-2026-000317",
    "customer_id": 48_151_623,
    "score": 0.8125,
    "created_at": datetime.datetime(2026, 3, 14, 15, 9, 26, 535000, tzinfo=datetime.UTC),
    "status": "PAID",
    "coupon": "SPRING",
    "tags": ["new", "gift"],
    "total": decimal.Decimal("149.90"),
    "address": {"city": "Hamburg", "postcode": "20095"},
    "quantity": 3,
    "gift": True,
    "weight_kg": 1.25,
}
ROUNDS = 9


def bare() -> tuple[Callable[[], Any], Callable[[], Any]]:
    schema = fastavro.parse_schema(json.loads(SCHEMA))
    buffer = io.BytesIO()
    fastavro.schemaless_writer(buffer, schema, RECORD)
    payload = buffer.getvalue()

    def write() -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, RECORD)
        return out.getvalue()

    return write, lambda: fastavro.schemaless_reader(io.BytesIO(payload), schema, None)


def ours() -> tuple[Callable[[], Any], Callable[[], Any]]:
    client = SchemaRegistryClient({"url": "mock://benchmark"})
    context = SerializationContext("orders", MessageField.VALUE)
    serialize, deserialize = AvroSerializer(client, SCHEMA), AvroDeserializer(client)
    frame = serialize(RECORD, context)
    return lambda: serialize(RECORD, context), lambda: deserialize(frame, context)


def confluent() -> tuple[Callable[[], Any], Callable[[], Any]] | None:
    warnings.simplefilter("ignore")
    try:
        from confluent_kafka import schema_registry, serialization
        from confluent_kafka.schema_registry import avro
    except ImportError as error:
        print(f"confluent-kafka is left out: {error}", file=sys.stderr)
        return None
    client = schema_registry.SchemaRegistryClient.new_client({"url": "mock://benchmark"})
    context = serialization.SerializationContext("orders", serialization.MessageField.VALUE)
    conf = {"subject.name.strategy": schema_registry.topic_subject_name_strategy}
    serialize = avro.AvroSerializer(client, SCHEMA, conf=conf)
    deserialize = avro.AvroDeserializer(client, conf=conf)
    frame = serialize(RECORD, context)
    return lambda: serialize(RECORD, context), lambda: deserialize(frame, context)


def rate(function: Callable[[], Any], seconds: float) -> float:
    """Calls per second of CPU time."""
    count, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        for _ in range(500):
            function()
        count += 500
    return count / spent


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.3
    pairs = {"fastavro": bare(), "kserdes": ours(), "confluent-kafka": confluent()}
    contestants = {name: pair for name, pair in pairs.items() if pair is not None}
    rates: dict[tuple[str, int], list[float]] = {(name, way): [] for name in contestants for way in (0, 1)}
    for _ in range(ROUNDS):
        for name, pair in contestants.items():
            for way in (0, 1):
                rates[name, way].append(rate(pair[way], seconds))
    print(f"{'':16} {'serialize':>12} {'ratio':>6} {'deserialize':>12} {'ratio':>6}")
    for name in contestants:
        written, read = (statistics.median(rates[name, way]) for way in (0, 1))
        base = [statistics.median(rates["fastavro", way]) for way in (0, 1)]
        print(f"{name:16} {written:>10,.0f}/s {written / base[0]:>6.2f} {read:>10,.0f}/s {read / base[1]:>6.2f}")


if __name__ == "__main__":
    main()
