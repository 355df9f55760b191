"""The data source `kserdes` against Spark's own Kafka source and sink: reading, decoding inside, writing, streams.

`python -m benchmarks.spark_source [rows [parts]]` prints rates as `benchmarks.spark` does: medians of interleaved
rounds, as ratios to Spark's own in the same run. One real broker on the same machine, topics of four partitions,
local[2]. The parts: raw, large, avro, json, sink, stream, junk; all without a choice. Protobuf has no peer here (see
`benchmarks.spark`) and stands beside Spark's Avro of the same record.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.serdes import JSON_ORDER, ORDER, proto_order, text_of
from benchmarks.spark import ROUNDS, Job, measure, run, session
from kafka_core import Producer
from kafka_core.admin import AdminClient, NewTopic
from pipeline import infer_schema
from registry import SchemaRegistryClient
from registry.dev import serve
from serdes import MessageField, SerializationContext
from serdes.avro import AvroSerializer
from serdes.json_schema import JSONSerializer
from serdes.protobuf import ProtobufSerializer
from tools.real_kafka import RealKafka

ROWS = 1_000_000
PARTITIONS = 4
LARGE_BYTES = 5 * 2**20
LARGE_ROWS = 60
JUNK_IDS = 10_000
TRIGGERS = (20_000, 100_000)
BATCHES = 6


class Bench:
    """A session, a broker and a registry, and the readers and writers to compare."""

    def __init__(self, spark: Any, bootstrap: str, client: SchemaRegistryClient, registry: str, folder: Path) -> None:
        self.spark, self.client, self.registry_url, self.folder = spark, client, registry, folder
        self._servers = {"kafka.bootstrap.servers": bootstrap}
        self._bootstrap = bootstrap
        self._made: dict[str, pa.Array] = {}

    def make(self, topic: str, values: pa.Array) -> pa.Array:
        """A topic of these values, unless it was made before; the values."""
        if topic in self._made:
            return self._made[topic]
        with AdminClient({"bootstrap.servers": self._bootstrap}) as admin:
            config = {"max.message.bytes": str(2 * LARGE_BYTES)}
            for made in admin.create_topics([NewTopic(topic, PARTITIONS, 1, config=config)]).values():
                made.result()
        conf = {"bootstrap.servers": self._bootstrap, "message.max.bytes": 2 * LARGE_BYTES, "linger.ms": 20}
        with Producer(conf) as producer:
            numbers = pa.array([at % PARTITIONS for at in range(len(values))], pa.int32())
            records = pa.RecordBatch.from_pydict({"value": values, "partition": numbers})
            while records.num_rows:
                records = records.slice(producer.produce_arrow(topic, records))
                producer.poll(0.05 if records.num_rows else 0)
        return self._made.setdefault(topic, values)

    def read(self, kind: str, topic: str, **options: str) -> Any:
        """A frame of a topic; `kind` is `kserdes` or `kafka`."""
        reader = self.spark.read.format(kind).options(**self._servers, subscribe=topic)
        if kind == "kserdes":
            reader = reader.option("schema.registry.url", self.registry_url)
        return reader.options(**{name.replace("__", "."): value for name, value in options.items()}).load()

    def decoded(self, topic: str, **options: str) -> Any:
        """The values of a topic, decoded inside our source."""
        return self.read("kserdes", topic, value__format="auto", **options).select("value")

    def write(self, kind: str, frame: Any, topic: str, **options: str) -> None:
        """Appends a frame to a topic."""
        writer = frame.write.format(kind).options(**self._servers, topic=topic, **options)
        writer.mode("append").save()

    def batch_ms(self, kind: str, topic: str, size: int) -> float:
        """The median time of a batch of a stream, in ms; the first one warms up."""
        reader = self.spark.readStream.format(kind).options(**self._servers, subscribe=topic)
        stream = reader.options(startingOffsets="earliest", maxOffsetsPerTrigger=str(size)).load()
        writer = stream.writeStream.format("noop").option("checkpointLocation", str(self.folder / str(uuid.uuid4())))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        spent = [one["durationMs"]["triggerExecution"] for one in query.recentProgress if one["numInputRows"]]
        return statistics.median(spent[1:])


def repeated(value: bytes | None, rows: int) -> pa.Array:
    assert value is not None
    return pa.array([value] * rows, pa.binary())


def raw(bench: Bench, rows: int) -> None:
    """Records as they are."""
    values = orders(bench, rows)
    print(f"{rows} records of {len(values[0].as_py())} bytes")
    measure(bench.spark, beside(bench, "orders"), rows, "kafka")


def large(bench: Bench, rows: int) -> None:
    """Records of 5 MB."""
    bench.make("large", repeated(b"x" * LARGE_BYTES, LARGE_ROWS))
    print(f"{LARGE_ROWS} records of 5 MB")
    measure(bench.spark, beside(bench, "large"), LARGE_ROWS, "kafka")


def avro(bench: Bench, rows: int) -> None:
    """Avro and Protobuf decoded inside the source."""
    from pyspark.sql import functions
    from pyspark.sql.avro.functions import from_avro

    orders(bench, rows)
    message = ProtobufSerializer(text_of("order.proto"), bench.client)(proto_order(), context("messages"))
    bench.make("messages", repeated(message, rows))
    jvm = from_avro(functions.expr("substring(value, 6)"), text_of("order.avsc")).alias("v")
    print(f"Avro, order of 12 fields, {rows} rows")
    contestants: dict[str, tuple[bool, Job]] = {
        "kafka + from_avro": (False, lambda: bench.read("kafka", "orders").select(jvm)),
        "kserdes, decoded inside": (False, lambda: bench.decoded("orders")),
        "kserdes, 2 of 12 columns": (False, lambda: bench.decoded("orders", value__columns="id,total")),
        "kserdes, Protobuf decoded inside": (False, lambda: bench.decoded("messages")),
    }
    measure(bench.spark, contestants, rows, "kafka + from_avro")


def json_texts(bench: Bench, rows: int) -> None:
    """JSON decoded inside the source."""
    from pyspark.sql import functions

    value: Any = JSON_ORDER
    serialize = JSONSerializer(text_of("order.schema.json"), bench.client)
    bench.make("texts", repeated(serialize(value, context("texts")), rows // 2))
    told = infer_schema({"url": bench.registry_url}, topic="texts")
    jvm = functions.from_json(functions.expr("cast(substring(value, 6) as string)"), told).alias("v")
    print(f"JSON, order of 12 fields, {rows // 2} rows")
    contestants: dict[str, tuple[bool, Job]] = {
        "kafka + from_json": (False, lambda: bench.read("kafka", "texts").select(jvm)),
        "kserdes, decoded inside": (False, lambda: bench.decoded("texts")),
    }
    measure(bench.spark, contestants, rows // 2, "kafka + from_json")


def orders(bench: Bench, rows: int) -> pa.Array:
    """The topic `orders`, if it is not there yet, and its values."""
    frame = AvroSerializer(bench.client, text_of("order.avsc"))(ORDER, context("orders"))
    return bench.make("orders", repeated(frame, rows))


def beside(bench: Bench, topic: str) -> dict[str, tuple[bool, Job]]:
    return {kind: (False, partial(bench.read, kind, topic)) for kind in ("kafka", "kserdes")}


def writing(bench: Bench, rows: int) -> None:
    """The sinks, fed from parquet."""
    orders(bench, rows)
    path = str(bench.folder / "values")
    bench.read("kafka", "orders").selectExpr("cast(offset as string) as key", "value").write.parquet(path)
    values = bench.spark.read.parquet(path)
    bench.make("copies", pa.array([], pa.binary()))
    print(f"Writing keys and values, {rows} rows")
    sinks: dict[str, tuple[bool, Job]] = {
        "kafka": (False, lambda: bench.write("kafka", values, "copies")),
        "kserdes": (False, lambda: bench.write("kserdes", values, "copies")),
        "kserdes, exactly once": (False, lambda: bench.write("kserdes", values, "copies", delivery="exactly-once")),
    }
    measure(bench.spark, sinks, rows, "kafka")


def streams(bench: Bench, rows: int) -> None:
    """The time of a batch of a stream to the sink `noop`."""
    for size in TRIGGERS:
        topic = f"stream-{size}"
        bench.make(topic, repeated(b"x" * 100, min(rows, size * BATCHES)))
        spent: dict[str, list[float]] = {"kafka": [], "kserdes": []}
        for number in range(ROUNDS + 1):
            for kind, them in spent.items():
                took = bench.batch_ms(kind, topic, size)
                if number:
                    them.append(took)
        ours, theirs = statistics.median(spent["kserdes"]), statistics.median(spent["kafka"])
        print(f"A batch of {size} rows of a stream: kafka {theirs:.0f} ms, kserdes {ours:.0f} ms, {ours / theirs:.2f}x")


def junk(bench: Bench, rows: int) -> None:
    """Records that each name another schema, and none is there; ids that were asked for once are known, so new ones."""
    orders(bench, rows)
    spent = []
    for number in range(ROUNDS):
        ids = range((number + 1) * 1_000_000, (number + 1) * 1_000_000 + JUNK_IDS)
        bench.make(f"junk-{number}", pa.array([b"\0" + one.to_bytes(4, "big") + b"x" for one in ids], pa.binary()))
        more = {"value__format": "auto", "value__subject": "orders-value", "mode": "PERMISSIVE"}
        begun_s = time.perf_counter()
        run(bench.read("kserdes", f"junk-{number}", **more))
        spent.append(time.perf_counter() - begun_s)
    print(f"{JUNK_IDS} records with as many ids that no schema has, PERMISSIVE: {statistics.median(spent):.1f} s")


def context(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


PARTS: dict[str, Callable[[Bench, int], None]] = {
    "raw": raw,
    "large": large,
    "avro": avro,
    "json": json_texts,
    "sink": writing,
    "stream": streams,
    "junk": junk,
}


def main(rows: int, parts: Sequence[str]) -> None:
    """Prints the table."""
    with (
        tempfile.TemporaryDirectory() as name,
        RealKafka(extra={"message.max.bytes": str(2 * LARGE_BYTES)}) as kafka,
        serve() as server,
        SchemaRegistryClient({"url": server.url}) as client,
        session() as spark,
    ):
        bench = Bench(spark, kafka.bootstrap_servers, client, server.url, Path(name))
        for part in parts:
            PARTS[part](bench, rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS, sys.argv[2:] or list(PARTS))
