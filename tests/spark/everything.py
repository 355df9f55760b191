"""Every use of `pipeline`, once each, in whatever session is given: classic, Spark Connect, a cluster.

`python -m tests.spark.everything KIND AT BOOTSTRAP REGISTRY FOLDER` does it in a session of its own (KIND is `master`
or `remote`). Must call no method that only classic sessions have. What each part promises in detail, other tests of
this folder look at; here it is whether the parts work in this kind of session at all.
"""

from __future__ import annotations

import json
import sys
import traceback
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from kafka_core import Consumer, Producer, TopicPartition
from kafka_core.admin import AdminClient, NewTopic
from pipeline import (
    OptionError,
    PlanError,
    decode_frame,
    encode_frame,
    explain_schema,
    forget_plans,
    from_registry,
    infer_schema,
    register_functions,
    schema_id,
    split,
    to_registry,
    tune,
)
from registry import Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaRegistryClient
from serdes import MessageField, SerializationContext
from serdes.avro import AvroSerializer
from serdes.json_schema import JSONSerializer
from serdes.protobuf import ProtobufSerializer
from tests.patience import PROCESS_S
from tests.spark.conftest import PATIENT, finished, frame, register

WAIT_S = 60.0
ORDER: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
}
WIDER: dict[str, Any] = {**ORDER, "fields": [*ORDER["fields"], {"name": "more", "type": "int", "default": 7}]}
PAYMENT = {"type": "record", "name": "Payment", "fields": [{"name": "sum", "type": "double"}]}
PROTO = 'syntax = "proto3"; package shop; message Parcel { string id = 1; repeated int32 sizes = 2; }'
JSON_PERSON = {"title": "Person", "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@dataclass(frozen=True, slots=True)
class World:
    """The parts of a run.

    Attributes:
        spark: the session.
        bootstrap: the brokers.
        url: of the registry.
        folder: a place for files that all processes see.
        name: with which names of topics and subjects begin.
    """

    spark: Any
    bootstrap: str
    url: str
    folder: Path
    name: str

    @property
    def registry(self) -> dict[str, object]:
        """Configuration of a registry client."""
        return {"url": self.url}

    def topic(self, name: str, partitions: int = 1) -> str:
        """A new topic."""
        full = f"{self.name}-{name}"
        with AdminClient({"bootstrap.servers": self.bootstrap}) as admin:
            for answer in admin.create_topics([NewTopic(full, partitions, 1)]).values():
                answer.result(WAIT_S)
        return full

    def registered(self, subject: str, schema: Any) -> int:
        """The id of an Avro schema."""
        with SchemaRegistryClient({"url": self.url}) as client:
            return register(client, subject, schema)

    def send(self, topic: str, values: Sequence[bytes | None], partition: int = 0) -> None:
        """Writes records with keys and a header."""
        with Producer({"bootstrap.servers": self.bootstrap}) as producer:
            for at, value in enumerate(values):
                producer.produce(topic, value, b"k%d" % at, partition=partition, headers=[("h", b"1")])
            assert producer.flush(WAIT_S) == 0

    def orders(self, topic: str, count: int, *, junk: bool = False) -> int:
        """Writes orders, perhaps with a value between that is none; their schema's id."""
        number = self.registered(f"{topic}-value", ORDER)
        values: list[bytes | None] = [frame(number, ORDER, {"id": at, "note": f"n{at}"}) for at in range(count)]
        self.send(topic, [*values[:1], b"junk", *values[1:]] if junk else values)
        return number

    def options(self, **more: str) -> dict[str, str]:
        """Options of the source and the sink."""
        return {"kafka.bootstrap.servers": self.bootstrap, "schema.registry.url": self.url, **more}

    def load(self, topic: str, **more: str) -> Any:
        """A topic as a frame."""
        return self.spark.read.format("kserdes").options(**self.options(subscribe=topic, **more)).load()

    def stream(self, topic: str, **more: str) -> Any:
        """A topic as a stream from its beginning."""
        given = self.options(subscribe=topic, startingOffsets="earliest", **more)
        return self.spark.readStream.format("kserdes").options(**given).load()

    def save(self, rows: Any, topic: str, **more: str) -> None:
        """Writes a frame to a topic."""
        rows.write.format("kserdes").options(**self.options(topic=topic, **more)).mode("append").save()

    def run(self, writer: Any, name: str) -> None:
        """Runs a stream to its end, with a checkpoint of that name."""
        writer = writer.option("checkpointLocation", str(self.folder / f"{name}-checkpoint"))
        finished(writer.trigger(availableNow=True).start)

    def records(self, topic: str, count: int) -> list[Any]:
        """The first records of a topic, as readers with read_committed see them."""
        conf = {"bootstrap.servers": self.bootstrap, "group.id": "g", "isolation.level": "read_committed"}
        with Consumer(conf) as consumer:
            consumer.assign([TopicPartition(topic, 0, 0)])
            return consumer.consume(count, timeout=WAIT_S)


def same(what: str, found: object, expected: object) -> None:
    """Raises an AssertionError that shows both."""
    if found != expected:
        raise AssertionError(f"{what}: {found!r} instead of {expected!r}")


def refused(what: str, told: str, work: Callable[[], object], kind: type[Exception] | None = None) -> None:
    """Raises an AssertionError if the work succeeds, or fails in other words."""
    from pyspark.errors import PySparkException

    expected = kind or PySparkException
    try:
        work()
    except expected as error:
        if told not in str(error):
            raise AssertionError(f"{what}: {told!r} is not told: {error}") from error
    else:
        raise AssertionError(f"{what}: nothing was raised")


# ---- functions


def functions_decode(world: World) -> None:
    """from_registry: rows, filters, modes, evolution, columns; tune; infer_schema; schema_id."""
    topic = world.topic("decode")
    first = world.orders(topic, 3, junk=True)
    tune(world.spark)
    raw = world.load(topic, includeHeaders="true")
    chosen = raw.select("offset", schema_id("value").alias("id"), from_registry("value", world.registry, topic=topic))
    rows = chosen.toDF("offset", "id", "v").where("v.id > 0").collect()
    same("filtered", [(row.offset, row.id, row.v.note) for row in rows], [(2, first, "n1"), (3, first, "n2")])
    told = raw.select(from_registry("value", world.registry, topic=topic, error_field="_error").alias("v")).select(
        "v.*"
    )
    same("reasons", ["magic" in row._error for row in told.where("_error is not null").collect()], [True])
    strict = raw.select(from_registry("value", world.registry, topic=topic, mode="FAILFAST"))
    refused("FAILFAST", "row 1 of a batch can't be decoded", strict.collect)
    second = world.registered(f"{topic}-value", WIDER)
    world.send(topic, [frame(second, WIDER, {"id": 9, "note": None, "more": 1})])
    raw = world.load(topic, includeHeaders="true")  # Spark plans a Python source once for each load
    stops = raw.select(from_registry("value", world.registry, topic=topic, version=1, evolution="restart"))
    same("the plan before", [row[0] and row[0].id for row in stops.collect()], [0, None, 1, 2, 9])
    forget_plans()
    newest = from_registry("value", world.registry, topic=topic, columns=["more", "id"]).alias("v")
    same("newest", [row.v and tuple(row.v) for row in raw.select(newest).collect()][-2:], [(2, 7), (9, 1)])
    inferred = infer_schema(world.registry, topic=topic)
    same("inferred", inferred.simpleString(), "struct<id:bigint,note:string,more:int>")  # type: ignore[attr-defined]


def functions_formats(world: World) -> None:
    """from_registry and to_registry: Protobuf, JSON Schema, several types in a column, a primitive."""
    from pyspark.sql import functions

    values: list[tuple[str, bytes | None, Any]] = []
    with SchemaRegistryClient({"url": world.url}) as client:
        for kind, serialize, value in (
            ("proto", ProtobufSerializer(PROTO, client), {"id": "p", "sizes": [1, 2]}),
            ("json", JSONSerializer(json.dumps(JSON_PERSON), client), {"name": "Ada"}),
            ("text", AvroSerializer(client, '"string"'), "x"),
        ):
            subject = f"{world.name}-{kind}"
            payload: Any = serialize(value, SerializationContext(subject, MessageField.VALUE))
            values.append((subject, payload, value))
    for subject, payload, value in values:
        one = world.spark.createDataFrame([(payload,)], "value binary")
        column = from_registry("value", world.registry, topic=subject, mode="FAILFAST").alias("v")
        decoded = one.select(column)
        (row,) = decoded.collect()
        same(subject, row.v.asDict() if hasattr(row.v, "asDict") else row.v, value)
        again = decoded.select(to_registry("v", world.registry, topic=subject).alias("value"))
        same(f"{subject} again", [bytes(row.value) for row in again.collect()], [payload])
    subject = f"{world.name}-events"
    ids = [world.registered(f"{subject}-{one['name']}", one) for one in (ORDER, PAYMENT)]
    frames = [(frame(ids[0], ORDER, {"id": 4, "note": None}),), (frame(ids[1], PAYMENT, {"sum": 0.5}),)]
    events = world.spark.createDataFrame(frames, "value binary").select(
        from_registry(
            "value", world.registry, topic=subject, strategy="topic_record", types=["Order", "Payment"]
        ).alias("e")
    )
    told = events.select(functions.expr("e.Order.id"), functions.expr("e.Payment.sum")).collect()
    same("types", {tuple(row) for row in told}, {(4, None), (None, 0.5)})


def functions_frames(world: World) -> None:
    """decode_frame and encode_frame, with a user's own Arrow function and pandas function between."""
    from pyspark.sql import functions

    topic = world.topic("frames")
    world.orders(topic, 3, junk=True)
    told = decode_frame(world.load(topic), "value", world.registry, topic=topic, into="order")
    strict = decode_frame(world.load(topic), "value", world.registry, topic=topic, mode="FAILFAST")
    refused("FAILFAST", f"topic {topic}, partition 0, offset 1 can't be decoded", strict.collect)

    import pandas as pd

    def doubled(ids: pa.Array) -> pa.Array:
        import pyarrow.compute as pc

        return pc.multiply(ids, 2)

    def lengths(notes: Any) -> Any:
        return notes.str.len()

    doubled.__annotations__ = {"ids": pa.Array, "return": pa.Array}
    lengths.__annotations__ = {"notes": pd.Series, "return": pd.Series}
    as_arrow: Any = functions.arrow_udf  # type: ignore[attr-defined]
    as_pandas: Any = functions.pandas_udf
    orders = told.where("order is not null").select("order.*")
    made = orders.select(
        as_arrow(doubled, "bigint")("id").alias("id"), "note", as_pandas(lengths, "bigint")("note").alias("n")
    )
    values = made.selectExpr("struct(id, note, n) as v")
    written = encode_frame(values, "v", world.registry, topic=f"{topic}-made", schema="derived", name="Made")
    back = written.select(from_registry("v", world.registry, topic=f"{topic}-made", mode="FAILFAST").alias("v"))
    same("made", [tuple(row.v) for row in back.collect()], [(0, "n0", 2), (2, "n1", 2), (4, "n2", 2)])
    dest = functions.concat(functions.lit(f"{topic}-"), functions.col("v.id").cast("string"))
    by_row = encode_frame(values, "v", world.registry, topic=dest, schema="derived", name="Made")
    with SchemaRegistryClient({"url": world.url}) as client:
        same("a frame", len({bytes(row.v)[1:5] for row in by_row.collect()}), 1)  # one schema, and three subjects
        found = [name for name in client.get_subjects() if name in {f"{topic}-{at}-value" for at in (0, 2, 4)}]
        same("subjects", len(found), 3)


def functions_letters(world: World) -> None:
    """split: bad rows become letters in a topic, with their headers."""
    topic, letters = world.topic("split"), world.topic("split-letters")
    world.orders(topic, 2, junk=True)
    decoded = world.load(topic, includeHeaders="true").withColumn(
        "value", from_registry("value", world.registry, topic=topic, mode="DEADLETTER")
    )
    good, bad = split(decoded)
    same("good", [row.id for row in good.select("value.id").collect()], [0, 1])
    world.save(bad, letters)
    (letter,) = world.records(letters, 1)
    headers = dict(letter.headers())
    same("letter", (letter.key(), letter.value(), headers["h"]), (b"k1", b"junk", b"1"))
    same("origin", (headers["__dlq.topic"], headers["__dlq.offset"]), (topic.encode(), b"1"))


def functions_sql(world: World) -> None:
    """Views of loaded frames, explain_schema, register_functions."""
    topic = world.topic("sql")
    number = world.orders(topic, 3, junk=True)
    raw = world.load(topic)
    counted = {row.schema_id: (row.rows, row.name) for row in explain_schema(raw, "value", world.registry).collect()}
    same("explained", counted, {number: (3, "Order"), None: (1, None)})
    raw.createOrReplaceTempView("raw_orders")
    world.load(topic, **{"value.format": "auto", "mode": "PERMISSIVE"}).createOrReplaceTempView("orders")
    register_functions(world.spark, world.registry, order_of={"topic": topic})
    query = "select kserdes_schema_id(value) i, order_of(value).note n from raw_orders where offset > 0 order by offset"
    same(
        "by name",
        [tuple(row) for row in world.spark.sql(query).collect()],
        [(None, None), (number, "n1"), (number, "n2")],
    )
    summed = world.spark.sql("select count(*) rows, sum(value.id) ids from orders").collect()
    same("a view", [tuple(row) for row in summed], [(4, 3)])


def functions_rules(world: World) -> None:
    """A field that is encrypted on executors and decrypted on executors, with a secret that is in no plan."""
    person = {
        "type": "record",
        "name": "Person",
        "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": "string", "confluent:tags": ["PII"]}],
    }
    keys = {"encrypt.kek.name": world.name, "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "demo"}
    rule = Rule("pii", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITEREAD, type="ENCRYPT", tags=["PII"], params=keys)
    subject = f"{world.name}-person"
    with SchemaRegistryClient({"url": world.url}) as client:
        client.register_schema(subject, Schema(json.dumps(person), "AVRO", rule_set=RuleSet(domain_rules=[rule])))
    secret = world.folder / "secret"
    secret.write_text("known to executors, not to the plan")
    given: dict[str, Any] = {"subject": subject, "rule_conf": {"secret": f"${{file:{secret}}}"}}
    people = world.spark.range(3).selectExpr("named_struct('id', id, 'name', concat('person ', id)) as v")
    written = people.select(to_registry("v", world.registry, **given).alias("value"))
    frames = [bytes(row.value) for row in written.collect()]
    same("names that can be read", sum(b"person" in one for one in frames), 0)
    stored = world.spark.createDataFrame([(one,) for one in frames], "value binary")
    back = stored.select(from_registry("value", world.registry, mode="FAILFAST", **given).alias("v"))
    same("decrypted", sorted(tuple(row.v) for row in back.collect()), [(at, f"person {at}") for at in range(3)])


# ---- the data source


def source_batch(world: World) -> None:
    """The source, raw and decoded inside: columns, ranges, tasks, filters, a pattern, letters."""
    topic, letters = world.topic("source", 2), world.topic("source-letters")
    world.orders(topic, 20, junk=True)
    world.send(topic, [b"raw"], 1)
    raw = world.load(topic, includeHeaders="true", minPartitions="4", endingOffsets=json.dumps({topic: {"1": 0}}))
    rows = raw.selectExpr("partition", "offset", "headers[0].key as h", "spark_partition_id() as task").collect()
    same("rows", sorted((row.partition, row.offset, row.h) for row in rows), [(0, at, "h") for at in range(21)])
    same("tasks", len({row.task for row in rows}), 4)
    inside = {"value.format": "auto", "value.columns": "id", "mode": "DEADLETTER", "deadLetterTopic": letters}
    found = world.load(topic, **inside).groupBy("partition").agg({"value.id": "sum"}).collect()
    same("inside", [tuple(row) for row in found], [(0, 190)])
    same("letters", sorted(record.value() for record in world.records(letters, 2)), [b"junk", b"raw"])
    strict = world.load(topic, **{"value.format": "avro"})
    refused("FAILFAST", f"topic {topic}, partition", strict.collect)
    reader = world.spark.read.format("kserdes").options(**world.options(subscribePattern=f"^{topic}$"))
    world.spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        kept = reader.option("pushFilters", "true").load().where("partition = 0 and offset >= 19")
        same("filters", [row.offset for row in kept.select("offset").collect()], [19, 20])
    finally:
        world.spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def sink_batch(world: World) -> None:
    """The sink: structs with a schema made of their type, exactly once by an id; bytes; letters."""
    topic, letters = world.topic("sink"), world.topic("sink-letters")
    rows = world.spark.range(0, 4, 1, 2).selectExpr(
        "cast(id as string) as key",
        "named_struct('id', id, 'note', concat('n', id)) as value",
        "array(named_struct('key', 'h', 'value', cast('x' as binary))) as headers",
    )
    inside = {"value.format": "avro", "autoRegister": "true", "delivery": "exactly-once", "deliveryId": topic}
    for _ in range(2):
        world.save(rows, topic, **inside)
    back = world.load(
        topic, includeHeaders="true", **{"value.format": "auto", "kafka.isolation.level": "read_committed"}
    )
    found = back.selectExpr("cast(key as string) k", "value.id", "value.note", "headers[0].key h").collect()
    same("once", sorted(tuple(row) for row in found), [(str(at), at, f"n{at}", "h") for at in range(4)])
    narrow = world.topic("sink-narrow")
    world.registered(f"{narrow}-value", {**ORDER, "fields": [{"name": "id", "type": "int"}]})
    large = world.spark.range(1).selectExpr("named_struct('id', 3000000000L) as value")
    told = {"value.format": "avro", "mode": "DEADLETTER", "deadLetterTopic": letters}
    world.save(large, narrow, **told)
    (letter,) = world.records(letters, 1)
    same("letter", json.loads(letter.value()), {"id": 3_000_000_000})


def streams(world: World) -> None:
    """Streams: topic to topic exactly once, in small batches, on from a checkpoint; and decoded inside, into files."""
    topic, copy = world.topic("stream"), world.topic("stream-copy")
    for first in (0, 5):
        world.send(topic, [b"%d" % at for at in range(first, first + 5)])
        rows = world.stream(topic, maxOffsetsPerTrigger="3").select("key", "value")
        writer = rows.writeStream.format("kserdes").options(**world.options(topic=copy, delivery="exactly-once"))
        world.run(writer, "copy")
    same("copied", [int(record.value()) for record in world.records(copy, 10)], list(range(10)))
    world.orders(f"{world.topic('stream-orders')}", 4)
    orders = world.stream(f"{world.name}-stream-orders", **{"value.format": "auto"}).select("offset", "value.*")
    world.run(orders.writeStream.format("parquet").option("path", str(world.folder / "orders")), "orders")
    files = world.spark.read.parquet(str(world.folder / "orders")).orderBy("offset").collect()
    same("files", [tuple(row) for row in files], [(at, at, f"n{at}") for at in range(4)])


def streams_with_functions(world: World) -> None:
    """A stream whose batches a function gets: from_registry in the stream, and again inside the function."""
    topic = world.topic("batches")
    world.orders(topic, 3)
    registry, out = world.registry, str(world.folder / "batches")

    def batch(rows: Any, number: int) -> None:
        again = rows.select("decoded", from_registry("value", registry, topic=topic, columns=["note"]).alias("v"))
        again.selectExpr("decoded.id", "v.note").write.mode("overwrite").parquet(f"{out}/{number}")

    rows = world.stream(topic).select("value", from_registry("value", registry, topic=topic).alias("decoded"))
    world.run(rows.writeStream.foreachBatch(batch), "batches")
    found = world.spark.read.parquet(f"{out}/*").orderBy("id").collect()
    same("batches", [tuple(row) for row in found], [(at, f"n{at}") for at in range(3)])


def errors(world: World) -> None:
    """Errors of arguments and options, and of missing topics, are in our words."""
    topic = world.topic("errors")
    world.orders(topic, 1)
    refused(
        "an option", "did you mean 'startingOffsets'", lambda: world.load(topic, startingOffset="earliest").collect()
    )
    refused("a topic", "topic 'nowhere' can't be read", lambda: world.load("nowhere").collect())
    refused("a stream's end", "a stream has no end", lambda: _start(world.stream(topic, endingOffsets="latest")))
    missing = {"value.format": "auto", "value.subject": f"{world.name}-nothing"}
    refused("a subject", f"{world.name}-nothing", lambda: world.load(topic, **missing).collect())
    refused("an argument", "either topic", lambda: from_registry("value", world.registry), OptionError)
    nothing = f"{world.name}-nothing"
    refused("no subject", nothing, lambda: from_registry("value", world.registry, subject=nothing), PlanError)
    text = world.spark.range(1).selectExpr("cast(id as string) as value")
    refused("no bytes", "binary", lambda: text.select(from_registry("value", world.registry, topic=topic)).collect())
    numbers = world.spark.range(1).selectExpr("id as value")
    refused("a sink's column", "'value' must be binary or string, not bigint", lambda: world.save(numbers, topic))


def _start(stream: Any) -> None:
    stream.writeStream.format("noop").trigger(availableNow=True).start().awaitTermination(PROCESS_S)


CHECKS: tuple[Callable[[World], None], ...] = (
    functions_decode,
    functions_formats,
    functions_frames,
    functions_letters,
    functions_sql,
    functions_rules,
    source_batch,
    sink_batch,
    streams,
    streams_with_functions,
    errors,
)


def run(world: World) -> Iterator[tuple[str, str]]:
    """The name of each check, and what went wrong with it, empty for nothing."""
    for check in CHECKS:
        try:
            check(world)
        except Exception:
            yield check.__name__, traceback.format_exc()
        else:
            yield check.__name__, ""


def session(kind: str, at: str) -> Any:
    """A session of its own."""
    from pyspark.sql import SparkSession

    builder = getattr(SparkSession.builder, kind)(at)
    settings = {
        **PATIENT,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(argv: Sequence[str]) -> None:
    kind, at, bootstrap, url, folder = argv
    spark = session(kind, at)
    try:
        for name, wrong in run(World(spark, bootstrap, url, Path(folder), f"e-{uuid.uuid4().hex[:8]}")):
            print(f"{name}: {wrong!r}", flush=True)
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
