"""The data source `kserdes` against Spark's own Kafka source and sink: reading, decoding inside, writing, streams.

`python -m benchmarks.spark_source [rows [parts]]` prints rates as `benchmarks.spark` does: medians of interleaved
rounds, as ratios to Spark's own in the same run; a row for each goal, which is one of wall time, is at the end. One
real broker on the same machine, topics of four partitions, local[2]. The parts: raw, large, avro, json, sink, stream,
junk; all without a choice. Protobuf has no peer here (see `benchmarks.spark`) and stands beside Spark's Avro of the
same record.
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

from benchmarks.goals import Row
from benchmarks.serdes import JSON_ORDER, ORDER, proto_order, text_of
from benchmarks.spark import ROUNDS, Job, Measured, cpu_s, measure, print_goals, run, session
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
TRIGGERS = {20_000: 1.5, 100_000: 1.0}
"""Rows of a batch → the most that it may take, to Spark's own time."""
BATCHES = 12
STREAM_ROUNDS = 5


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
        reader = self.spark.readStream.format(kind)
        if kind == "floor":
            reader = reader.options(rows=size, batches=BATCHES)
        else:
            reader = reader.options(**self._servers, subscribe=topic)
            reader = reader.options(startingOffsets="earliest", maxOffsetsPerTrigger=str(size))
        writer = (
            reader.load().writeStream.format("noop").option("checkpointLocation", str(self.folder / str(uuid.uuid4())))
        )
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        spent = [one["durationMs"]["triggerExecution"] for one in query.recentProgress if one["numInputRows"]]
        return statistics.median(spent[1:])


def repeated(value: bytes | None, rows: int) -> pa.Array:
    assert value is not None
    return pa.array([value] * rows, pa.binary())


def raw(bench: Bench, rows: int) -> list[Row]:
    """Records as they are."""
    values = orders(bench, rows)
    print(f"{rows} records of {len(values[0].as_py())} bytes")
    found = measure(bench.spark, beside(bench, "orders"), rows, "kafka")
    return [found.goal("raw records, to Spark's source", "kserdes", "kafka", 2)]


def large(bench: Bench, rows: int) -> list[Row]:
    """Records of 5 MB."""
    bench.make("large", repeated(b"x" * LARGE_BYTES, LARGE_ROWS))
    print(f"{LARGE_ROWS} records of 5 MB")
    found = measure(bench.spark, beside(bench, "large"), LARGE_ROWS, "kafka")
    return [found.goal("records of 5 MB, to Spark's source", "kserdes", "kafka", 1)]


def avro(bench: Bench, rows: int) -> list[Row]:
    """Avro and Protobuf decoded inside the source."""
    from pyspark.sql import functions
    from pyspark.sql.avro.functions import from_avro

    orders(bench, rows)
    message = ProtobufSerializer(text_of("order.proto"), bench.client)(proto_order(), context("messages"))
    bench.make("messages", repeated(message, rows))
    jvm = from_avro(functions.expr("substring(value, 6)"), text_of("order.avsc")).alias("v")
    print(f"Avro, order of 12 fields, {rows} rows")
    peer, inside, two = "kafka + from_avro", "kserdes, decoded inside", "kserdes, 2 of 12 columns"
    protobuf = "kserdes, Protobuf decoded inside"
    contestants: dict[str, tuple[bool, Job]] = {
        peer: (False, lambda: bench.read("kafka", "orders").select(jvm)),
        inside: (False, lambda: bench.decoded("orders")),
        two: (False, lambda: bench.decoded("orders", value__columns="id,total")),
        protobuf: (False, lambda: bench.decoded("messages")),
    }
    found = measure(bench.spark, contestants, rows, peer)
    return [
        found.goal("Avro decoded inside, to kafka + from_avro", inside, peer, 1.8),
        found.goal("2 of 12 columns inside, to all of them", two, inside, 1.5),
        found.goal("Protobuf decoded inside, to kafka + from_avro", protobuf, peer, 1),
    ]


def json_texts(bench: Bench, rows: int) -> list[Row]:
    """JSON decoded inside the source."""
    from pyspark.sql import functions

    value: Any = JSON_ORDER
    serialize = JSONSerializer(text_of("order.schema.json"), bench.client)
    bench.make("texts", repeated(serialize(value, context("texts")), rows // 2))
    told = infer_schema({"url": bench.registry_url}, topic="texts")
    jvm = functions.from_json(functions.expr("cast(substring(value, 6) as string)"), told).alias("v")
    print(f"JSON, order of 12 fields, {rows // 2} rows")
    peer, inside = "kafka + from_json", "kserdes, decoded inside"
    contestants: dict[str, tuple[bool, Job]] = {
        peer: (False, lambda: bench.read("kafka", "texts").select(jvm)),
        inside: (False, lambda: bench.decoded("texts")),
    }
    found = measure(bench.spark, contestants, rows // 2, peer)
    return [found.goal("JSON decoded inside, to kafka + from_json", inside, peer, 1)]


def orders(bench: Bench, rows: int) -> pa.Array:
    """The topic `orders`, if it is not there yet, and its values."""
    frame = AvroSerializer(bench.client, text_of("order.avsc"))(ORDER, context("orders"))
    return bench.make("orders", repeated(frame, rows))


def beside(bench: Bench, topic: str) -> dict[str, tuple[bool, Job]]:
    return {kind: (False, partial(bench.read, kind, topic)) for kind in ("kafka", "kserdes")}


def writing(bench: Bench, rows: int) -> list[Row]:
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
    found = measure(bench.spark, sinks, rows, "kafka")
    return [found.goal("the sink, to Spark's", "kserdes", "kafka", 1.2)]


def streams(bench: Bench, rows: int) -> list[Row]:
    """The time of a batch of a stream to the sink `noop`; `floor` is that of a source that has nothing to read."""
    from benchmarks.spark_floor import FloorSource

    bench.spark.dataSource.register(FloorSource)
    goals = []
    for size, wanted in TRIGGERS.items():
        topic = f"stream-{size}"
        bench.make(topic, repeated(b"x" * 100, size * BATCHES))
        spent: dict[str, list[tuple[float, float]]] = {"kafka": [], "kserdes": [], "floor": []}
        for number in range(STREAM_ROUNDS + 1):
            for kind, them in spent.items():
                begun_s = cpu_s()
                took = bench.batch_ms(kind, topic, size)
                if number:
                    them.append((took, cpu_s() - begun_s))
        walls, cpus = (
            {kind: statistics.median(one[at] for one in them) for kind, them in spent.items()} for at in (0, 1)
        )
        shown = ", ".join(f"{kind} {walls[kind]:.0f} ms" for kind in spent)
        print(f"A batch of {size} rows of a stream: {shown}", flush=True)
        path = f"a batch of {size} rows of a stream, to Spark's"
        goals.append(Measured(walls, cpus).limit(path, "kserdes", "kafka", wanted))
    return goals


def junk(bench: Bench, rows: int) -> list[Row]:
    """Records that each name another schema, and none is there; ids that were asked for once are known, so new ones."""
    orders(bench, rows)
    walls, cpus = [], []
    for number in range(ROUNDS):
        ids = range((number + 1) * 1_000_000, (number + 1) * 1_000_000 + JUNK_IDS)
        bench.make(f"junk-{number}", pa.array([b"\0" + one.to_bytes(4, "big") + b"x" for one in ids], pa.binary()))
        more = {"value__format": "auto", "value__subject": "orders-value", "mode": "PERMISSIVE"}
        begun_s, begun_cpu_s = time.perf_counter(), cpu_s()
        run(bench.read("kserdes", f"junk-{number}", **more))
        walls.append(time.perf_counter() - begun_s)
        cpus.append(cpu_s() - begun_cpu_s)
    cpu = f"CPU {statistics.median(cpus):.1f} s"
    path = f"{JUNK_IDS:,} ids that no schema has, PERMISSIVE"
    return [Row(path, statistics.median(walls), 10, " s", least=False, beside=cpu)]


def context(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


PARTS: dict[str, Callable[[Bench, int], list[Row]]] = {
    "raw": raw,
    "large": large,
    "avro": avro,
    "json": json_texts,
    "sink": writing,
    "stream": streams,
    "junk": junk,
}


def main(rows: int, parts: Sequence[str]) -> None:
    """Prints the tables, and the one of goals."""
    with (
        tempfile.TemporaryDirectory() as name,
        RealKafka(extra={"message.max.bytes": str(2 * LARGE_BYTES)}) as kafka,
        serve() as server,
        SchemaRegistryClient({"url": server.url}) as client,
        session() as spark,
    ):
        bench = Bench(spark, kafka.bootstrap_servers, client, server.url, Path(name))
        goals = [row for part in parts for row in PARTS[part](bench, rows)]
    print_goals(goals)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS, sys.argv[2:] or list(PARTS))
